//! Strings: searched, compared, copied, split, and read as numbers.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::memory::{read, read_at};
use crate::{Sink, tag};

/// Flag of a hook: the characters are `wchar_t`.
pub const WIDE: u64 = 1;
/// Flag of a hook: letters are compared without regard to case.
pub const FOLD: u64 = 2;

/// Bytes of a character.
pub fn unit(wide: bool) -> u64 {
    if wide { 4 } else { 1 }
}

/// The character at an index of a string.
fn character(string: u64, index: u64, wide: bool) -> u32 {
    if wide { read_at(string, index) } else { u32::from(read_at::<u8>(string, index)) }
}

/// Bytes of a string up to and with its terminator, at most `max` characters.
pub fn string_len(at: u64, wide: bool, max: u64) -> u64 {
    let end = (0..max).find(|index| character(at, *index, wide) == 0);
    end.map_or(max, |index| index + 1).saturating_mul(unit(wide))
}

/// Whether a character is in a string of delimiters.
fn is_member(c: u32, set: u64, wide: bool) -> bool {
    (0..).map(|index| character(set, index, wide)).take_while(|found| *found != 0).any(|found| found == c)
}

/// A number at the start of a string, in this base; base `u64::MAX` for a floating one.
pub fn number<S: Sink>(string: u64, base: u64) {
    let at = |i| read_at::<u8>(string, i);
    let mut len = 0;
    while at(len).is_ascii_whitespace() || at(len) == 0x0b {
        len += 1;
    }
    let floating = base == u64::MAX;
    let part = |c: u8| match floating {
        true => c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.'),
        false => {
            // `0x` makes the base 16 where none is given; letters end the number in smaller bases.
            let radix = if base as u32 == 0 { 16 } else { (base as u32).clamp(2, 36) };
            char::from(c).is_digit(radix) || matches!(c, b'x' | b'X')
        }
    };
    if matches!(at(len), b'+' | b'-') {
        len += 1;
    }
    while part(at(len)) {
        len += 1;
    }
    S::read(string, len + 1);
}

/// `memccpy`: what was copied ends before the result, or has `max` bytes.
pub fn copied<S: Sink>(to: u64, from: u64, result: u64, max: u64) {
    let len = if result == 0 { max } else { result.wrapping_sub(to) };
    S::read(from, len);
    S::write(to, len);
}

/// Bytes up to and with the one the result points to, or `max`.
pub fn until<S: Sink>(kind: u64, at: u64, result: u64, max: u64) {
    S::access(tag(kind), at, if result == 0 { max } else { result.wrapping_sub(at).wrapping_add(1) });
}

/// Two strings up to their first difference.
pub fn compare<S: Sink>(left: u64, right: u64, max: u64, flags: u64) {
    let wide = flags & WIDE != 0;
    let fold = |c: u32| match flags & FOLD {
        0 => c,
        _ => u32::from((c as u8).to_ascii_lowercase()),
    };
    let ends = |index: &u64| {
        let (l, r) = (character(left, *index, wide), character(right, *index, wide));
        fold(l) != fold(r) || l == 0
    };
    let len = (0..max).find(ends).map_or(max, |index| index + 1);
    let bytes = len.saturating_mul(unit(wide));
    S::read(left, bytes);
    S::read(right, bytes);
}

/// `strcat`: the second string goes behind the first, without its end if it has `max` characters or more.
pub fn append<S: Sink>(to: u64, from: u64, max: u64, flags: u64) {
    let wide = flags & WIDE != 0;
    let unit = unit(wide);
    let old = string_len(to, wide, u64::MAX);
    let added = string_len(from, wide, max);
    S::read(to, old);
    S::read(from, added);
    let ended = added > 0 && character(from, added / unit - 1, wide) == 0;
    S::write(to + old - unit, if ended { added } else { added + unit });
}

/// The position `strtok` keeps, followed here since the library does not show its own. Threads that use `strtok` at the
/// same time overwrite each other's position, as they do in the library.
static STRTOK: AtomicU64 = AtomicU64::new(0);

/// `strtok_r`, or `strtok` if there is no address where the position is kept.
pub fn token<S: Sink>(string: u64, delimiters: u64, position: u64) {
    if position == 0 {
        let start = if string == 0 { STRTOK.load(Ordering::Relaxed) } else { string };
        STRTOK.store(next_token::<S>(start, delimiters, false), Ordering::Relaxed);
    } else {
        token_from::<S>(string, delimiters, position, false);
    }
}

/// `wcstok`.
pub fn token_wide<S: Sink>(string: u64, delimiters: u64, position: u64) {
    token_from::<S>(string, delimiters, position, true);
}

/// The next token of a string, or of what is left from the kept position on.
fn token_from<S: Sink>(string: u64, delimiters: u64, position: u64, wide: bool) {
    let start = if string == 0 { read(position as *const u64) } else { string };
    S::update(position, 8);
    next_token::<S>(start, delimiters, wide);
}

/// What finding the next token touches, from `start` on; where the one after it starts (0: there is none).
fn next_token<S: Sink>(start: u64, delimiters: u64, wide: bool) -> u64 {
    let unit = unit(wide);
    S::read(delimiters, string_len(delimiters, wide, u64::MAX));
    if start == 0 {
        return 0;
    }
    let at = |i| character(start, i, wide);
    let mut i = 0;
    while at(i) != 0 && is_member(at(i), delimiters, wide) {
        i += 1;
    }
    let empty = at(i) == 0;
    while at(i) != 0 && !is_member(at(i), delimiters, wide) {
        i += 1;
    }
    S::read(start, (i + 1) * unit);
    if at(i) == 0 {
        return if empty || wide { 0 } else { start + i * unit };
    }
    S::write(start + i * unit, unit);
    start + (i + 1) * unit
}

/// `strsep`: the token ends at the first delimiter.
pub fn separate<S: Sink>(string: u64, delimiters: u64) {
    S::read(string, 8);
    let start = read(string as *const u64);
    if start == 0 {
        return;
    }
    S::read(delimiters, string_len(delimiters, false, u64::MAX));
    let at = |i| character(start, i, false);
    let mut len = 0;
    while at(len) != 0 && !is_member(at(len), delimiters, false) {
        len += 1;
    }
    S::read(start, len + 1);
    if at(len) != 0 {
        S::write(start + len, 1);
    }
    S::write(string, 8);
}

/// The string that a pointer at an address points to; at most `max` characters.
pub fn string_behind<S: Sink>(at: u64, wide: u64, max: u64) {
    if at == 0 {
        return;
    }
    S::read(at, 8);
    let string = read(at as *const u64);
    if string != 0 {
        S::read(string, string_len(string, wide != 0, max));
    }
}

/// `mbsrtowcs`: so many characters of so many bytes were stored, with an end if the pointer to what is left is null now.
pub fn converted<S: Sink>(to: u64, from: u64, result: u64, unit: u64) {
    if to == 0 || from == 0 {
        return;
    }
    S::write(from, 8);
    let ended = u64::from(read(from as *const u64) == 0);
    if result != u64::MAX {
        S::write(to, result.saturating_add(ended).saturating_mul(unit));
    }
}

/// A string was stored unless the result is null; `wide` is 1 for `wchar_t`.
pub fn string_result<S: Sink>(wide: u64, at: u64, result: u64, max: u64) {
    if result != 0 && at != 0 {
        S::write(at, string_len(at, wide != 0, max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::write;
    use crate::seen::{R, Seen, W, at, seen};

    #[test]
    fn strings_are_compared_up_to_the_difference() {
        let (a, b) = (at(b"same\0"), at(b"sAme..\0"));
        compare::<Seen>(a, b, u64::MAX, 0);
        assert_eq!(seen(), [(R, a, 2), (R, b, 2)]);
        compare::<Seen>(a, b, u64::MAX, FOLD);
        assert_eq!(seen(), [(R, a, 5), (R, b, 5)]);
        compare::<Seen>(a, a, 3, 0);
        assert_eq!(seen(), [(R, a, 3), (R, a, 3)]);
    }

    #[test]
    fn appending_writes_from_the_old_end() {
        let (to, from) = (at(b"ab\0..."), at(b"xyz\0"));
        append::<Seen>(to, from, u64::MAX, 0);
        assert_eq!(seen(), [(R, to, 3), (R, from, 4), (W, to + 2, 4)]);
        append::<Seen>(to, from, 2, 0);
        assert_eq!(seen(), [(R, to, 3), (R, from, 2), (W, to + 2, 3)]);
    }

    #[test]
    fn tokens_are_followed() {
        let mut text = *b",,ab,c\0";
        let (s, delimiters) = (text.as_mut_ptr() as u64, at(b",\0"));
        token::<Seen>(s, delimiters, 0);
        assert_eq!(seen(), [(R, delimiters, 2), (R, s, 5), (W, s + 4, 1)]);
        write((s + 4) as *mut u8, 0);
        token::<Seen>(0, delimiters, 0);
        assert_eq!(seen(), [(R, delimiters, 2), (R, s + 5, 2)]);
        token::<Seen>(0, delimiters, 0);
        assert_eq!(seen(), [(R, delimiters, 2), (R, s + 6, 1)]);
        let mut rest = s;
        let position = &raw mut rest as u64;
        separate::<Seen>(position, delimiters);
        assert_eq!(seen(), [(R, position, 8), (R, delimiters, 2), (R, s, 1), (W, s, 1), (W, position, 8)]);
    }

    #[test]
    fn numbers_end_at_the_first_other_character() {
        for (text, base, len) in [
            (&b"  -12x\0"[..], 10u64, 6),
            (b"0x1fg", 16, 5),
            (b"777,8", 0, 4),
            (b"1.5e+3;", u64::MAX, 7),
            (b"\0", 10, 1),
        ] {
            number::<Seen>(at(text), base);
            let found = seen()[0].2;
            // One more where a letter could have gone on.
            assert!(found == len || found == len + 1, "{text:?}: {found}");
        }
    }
}
