//! `getopt`: words of the command line and descriptions of options.

use crate::Sink;
use crate::memory::read_at;
use crate::strings::string_len;

/// Whether a word is an option, or says that none follow.
fn is_option(word: u64) -> bool {
    read_at::<u8>(word, 0) == b'-' && read_at::<u8>(word, 1) != 0
}

/// The words that `getopt` looks at from its position on: those before the next option, it, and the word after it.
/// Unless the letters begin with `+` or `-`, it moves words before an option behind it.
pub fn words<S: Sink>(count: u64, words: u64, letters: u64) {
    unsafe extern "C" {
        static optind: i32;
    }
    // SAFETY: a variable of the C library, which the call that is described reads as well.
    let position = unsafe { core::ptr::read_volatile(&raw const optind) };
    words_from::<S>(u64::try_from(position).unwrap_or(0).max(1), count, words, letters);
}

fn words_from<S: Sink>(first: u64, count: u64, words: u64, letters: u64) {
    let count = u64::from(count as u32);
    if words == 0 || first >= count {
        return;
    }
    let permutes = letters != 0 && !matches!(read_at::<u8>(letters, 0), b'+' | b'-');
    let mut last = first;
    while last < count {
        let word: u64 = read_at(words, last);
        if word == 0 {
            break;
        }
        S::read(word, string_len(word, false, u64::MAX));
        if is_option(word) || !permutes {
            break;
        }
        last += 1;
    }
    // An option may take the word after it.
    let end = (last + 2).min(count);
    S::read(words + 8 * first, 8 * (end - first));
    if last > first && last < count {
        S::write(words + 8 * first, 8 * (end - first));
    }
}

/// `getopt_long`: the descriptions of options with their names, up to the one that is all zeros.
pub fn long_options<S: Sink>(options: u64) {
    const SIZE: u64 = 32;
    if options == 0 {
        return;
    }
    let mut count = 0;
    loop {
        let name: u64 = read_at(options, count * SIZE / 8);
        count += 1;
        if name == 0 {
            break;
        }
        S::read(name, string_len(name, false, u64::MAX));
    }
    S::read(options, count * SIZE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{R, Seen, W, at, seen};

    #[test]
    fn words_before_an_option_are_moved() {
        let list = [at(b"p\0"), at(b"x\0"), at(b"-a\0"), at(b"y\0")];
        let words = list.as_ptr() as u64;
        words_from::<Seen>(1, 4, words, at(b"a\0"));
        assert_eq!(seen(), [(R, list[1], 2), (R, list[2], 3), (R, words + 8, 24), (W, words + 8, 24)]);
        words_from::<Seen>(1, 4, words, at(b"+a\0"));
        assert_eq!(seen(), [(R, list[1], 2), (R, words + 8, 16)]);
        words_from::<Seen>(4, 4, words, at(b"a\0"));
        assert_eq!(seen(), []);
    }

    #[test]
    fn options_end_with_zeros() {
        let options = [[at(b"all\0"), 0, 0, 0], [0; 4]];
        long_options::<Seen>(options.as_ptr() as u64);
        assert_eq!(seen(), [(R, options[0][0], 4), (R, options.as_ptr() as u64, 64)]);
    }
}
