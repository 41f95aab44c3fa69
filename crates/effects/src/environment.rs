//! The environment: an array of strings that the program may look at and change itself.

use crate::Sink;
use crate::memory::{equals, read_at, read_bytes};
use crate::strings::string_len;

/// The longest name that is compared; a longer one is taken for different from all others.
const MOST: usize = 256;

/// Where the array is that `environ` points to.
fn array() -> u64 {
    unsafe extern "C" {
        static environ: *const u64;
    }
    // SAFETY: the C library defines the variable. A program that changes it while another thread is in `getenv` has the
    // data race that is being looked for.
    unsafe { core::ptr::read_volatile(&raw const environ) as u64 }
}

/// Covers the strings of the environment that the program was started with, and nothing else: nothing follows them. The length is always the same, so that a run does not depend on what else is in the environment.
const STARTED_WITH: u64 = 1 << 20;

/// Whether a string is one that the kernel started the process with.
pub fn is_of_kernel(string: u64) -> bool {
    const RANDOM: u64 = 25;
    const NAME: u64 = 31;
    unsafe extern "C" {
        fn getauxval(kind: u64) -> u64;
    }
    // SAFETY: looks a number up in a table that never changes. The kernel puts the strings between the two.
    let (start, end) = unsafe { (getauxval(RANDOM), getauxval(NAME)) };
    (start..end).contains(&string)
}

/// Searches the environment for a name (`kind` 1) or changes the variable of that name, which may move the array
/// (`kind` 2). The name ends at its first `=`.
pub fn environment<S: Sink>(kind: u64, name: u64) {
    environment_at::<S>(array(), kind, name);
}

fn environment_at<S: Sink>(array: u64, kind: u64, name: u64) {
    if array == 0 || name == 0 {
        return;
    }
    let mut text = [0; MOST];
    let whole = string_len(name, false, MOST as u64) as usize;
    read_bytes(name, &mut text[..whole]);
    let len = text.iter().position(|c| matches!(c, b'=' | 0)).unwrap_or(MOST);
    let name = &text[..len];
    let (mut count, mut first) = (0, None);
    loop {
        let string: u64 = read_at(array, count);
        count += 1;
        if string == 0 {
            break;
        }
        let found = equals(string, name) && read_at::<u8>(string, len as u64) == b'=';
        if S::is_started_with(string) {
            let first = *first.get_or_insert(string);
            if found && kind != 1 {
                S::write(first, STARTED_WITH);
            }
        } else {
            let same = name.iter().zip(0..).take_while(|(c, i)| read_at::<u8>(string, *i) == **c).count() as u64;
            S::read(string, same + 1);
            // What a search returned may be overwritten when the variable is changed.
            if found && kind != 1 {
                S::write(string, string_len(string, false, u64::MAX));
            }
        }
        if found && kind == 1 {
            break;
        }
    }
    if let Some(first) = first {
        S::read(first, STARTED_WITH);
    }
    S::read(array, SLOT);
    if kind != 1 {
        S::write(array, SLOT);
    }
}

/// Stands for the whole array, whose length is no affair of a run's.
const SLOT: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{R, Seen, W, at, seen};

    #[test]
    fn a_search_compares_names_up_to_the_one_it_finds() {
        let strings = [at(b"AX=1\0"), at(b"AB=2\0"), at(b"B=3\0"), 0];
        let array = strings.as_ptr() as u64;
        environment_at::<Seen>(array, 1, at(b"AB\0"));
        assert_eq!(seen(), [(R, strings[0], 2), (R, strings[1], 3), (R, array, 8)]);
        environment_at::<Seen>(array, 1, at(b"C\0"));
        assert_eq!(seen().last(), Some(&(R, array, 8)));
    }

    #[test]
    fn a_change_writes_the_array_and_the_old_string() {
        let strings = [at(b"AX=1\0"), at(b"AB=2\0"), 0];
        let array = strings.as_ptr() as u64;
        environment_at::<Seen>(array, 2, at(b"AB=9\0"));
        let found = seen();
        assert!(found.contains(&(W, strings[1], 5)) && found.contains(&(W, array, 8)));
        assert!(!found.contains(&(W, strings[0], 5)));
    }
}
