//! `printf` and `scanf`: which memory the conversions of a format touch.
//!
//! `walk` reads a format once for the types of its arguments and once to act on them, so that numbered arguments
//! (`%2$s`) work like unnumbered ones.

mod arguments;
mod parse;

use wire::Tag;

use crate::Sink;
use crate::memory::read;
use crate::strings::{string_len, unit};
use crate::text::text;
use arguments::{Args, Class, List, Widened};
use parse::{Action, Error, Format, Number};

/// Most arguments of one call.
const MAX_ARGS: usize = 64;

/// Flags of a hook: a scan, not a print.
const SCAN: u32 = 1;
/// Flags of a hook: the format consists of `wchar_t`.
const WIDE: u32 = 2;

/// A format with `count` arguments, widened to 64 bits, in an array.
pub fn with_arguments<S: Sink>(format: u64, flags: u32, count: u32, arguments: u64) {
    formatted::<S>(format, flags, &mut Widened::new(arguments, count));
}

/// A format with a `va_list`, which is left as it is.
pub fn with_list<S: Sink>(format: u64, flags: u32, list: u64) {
    formatted::<S>(format, flags, &mut read(list as *const List));
}

/// What a call touches: the format, and what its conversions say.
fn formatted<S: Sink>(format: u64, flags: u32, args: &mut dyn Args) {
    let (scan, wide) = (flags & SCAN != 0, flags & WIDE != 0);
    // The result of a scan plus 2; 0 if it is not known.
    let assigned = (flags >> 8).checked_sub(2).map_or((flags >> 8 == 1).then_some(-1), |n| Some(n as i32));
    S::read(format, string_len(format, wide, u64::MAX));
    let what = match walk(Format::new(format, wide), scan, assigned, args, &mut S::access) {
        Ok(()) => return,
        Err(Error::UnknownConversion(c)) => text!("uses the conversion `%{}` in a format", c.escape_default()),
        Err(Error::TooManyArguments) => text!("uses a format with more than 64 arguments"),
    };
    S::unmodelled(what.as_str());
}

/// The arguments of one call, fetched in order.
struct Fetched {
    values: [u64; MAX_ARGS],
    next: usize,
}

impl Fetched {
    /// Reads the format for the types of its arguments and fetches them.
    fn new(format: Format, scan: bool, args: &mut dyn Args) -> Result<Self, Error> {
        let mut classes = [Class::Word; MAX_ARGS];
        let (mut next, mut count) = (0, 0);
        let mut see = |position: Option<usize>, class| {
            let index = position.map_or(next, |p| p - 1);
            if position.is_none() {
                next += 1;
            }
            *classes.get_mut(index).ok_or(Error::TooManyArguments)? = class;
            count = count.max(index + 1);
            Ok(())
        };
        let mut text = format;
        while let Some(conversion) = text.conversion(scan)? {
            for number in [conversion.width, conversion.precision] {
                if let Number::Argument(position) = number {
                    see(position, Class::Word)?;
                }
            }
            match conversion.action {
                Action::Nothing => {}
                Action::Value(class) => see(conversion.position, class)?,
                _ => see(conversion.position, Class::Word)?,
            }
        }
        let mut values = [0; MAX_ARGS];
        for (value, class) in values.iter_mut().zip(classes).take(count) {
            *value = args.next(class);
        }
        Ok(Self { values, next: 0 })
    }

    fn take(&mut self, position: Option<usize>) -> u64 {
        let index = position.map_or(self.next, |p| p - 1);
        if position.is_none() {
            self.next += 1;
        }
        self.values[index]
    }

    /// A width or precision; a negative precision counts as absent.
    fn number(&mut self, number: Number) -> Option<u64> {
        match number {
            Number::Absent => None,
            Number::Given(n) => Some(n),
            Number::Argument(position) => u64::try_from(self.take(position) as i32).ok(),
        }
    }
}

/// Calls `touch` with kind, address and number of bytes of everything the call touches through its arguments. For a
/// `scanf`, `assigned` is how many conversions were stored: its result, or `None` if that is not known.
///
/// # Errors
/// When the format has something unknown; nothing was touched then.
fn walk(
    format: Format,
    scan: bool,
    assigned: Option<i32>,
    args: &mut dyn Args,
    touch: &mut dyn FnMut(Tag, u64, u64),
) -> Result<(), Error> {
    let mut values = Fetched::new(format, scan, args)?;
    let mut text = format;
    let mut left = assigned.unwrap_or(i32::MAX);
    while let Some(conversion) = text.conversion(scan)? {
        let width = values.number(conversion.width);
        let precision = values.number(conversion.precision);
        if conversion.action == Action::Nothing {
            continue;
        }
        let argument = values.take(conversion.position);
        if conversion.counted {
            left -= 1;
        }
        // A conversion that was not reached stored nothing. (`%n` stores after the last one that was.)
        if argument == 0 || (scan && left < 0) {
            continue;
        }
        match conversion.action {
            Action::Nothing | Action::Value(_) => {}
            Action::ReadString { wide } => {
                touch(Tag::Read, argument, string_len(argument, wide, precision.unwrap_or(u64::MAX)));
            }
            Action::Write { len } => touch(Tag::Write, argument, len),
            Action::WriteString { wide, terminated, allocates } => {
                // Where memory was allocated, the call has stored a pointer to it.
                let start = if allocates { read(argument as *const u64) } else { argument };
                let unit = unit(wide);
                if allocates {
                    touch(Tag::Write, argument, 8);
                }
                let len = match (terminated, width) {
                    (false, width) => width.unwrap_or(1).saturating_mul(unit),
                    // Not known to be stored: at most its width, without looking at it.
                    (true, Some(width)) if assigned.is_none() => width.saturating_add(1).saturating_mul(unit),
                    (true, None) if assigned.is_none() => unit,
                    // The call has just stored the string.
                    (true, _) => string_len(start, wide, u64::MAX),
                };
                touch(Tag::Write, start, len);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse::size_of_long_double;
    use super::*;
    use crate::seen::{R, Seen, seen};
    use std::vec::Vec;

    fn touched(format: &str, scan: bool, assigned: Option<i32>, args: &[u64]) -> Result<Vec<(Tag, u64, u64)>, Error> {
        let format = std::format!("{format}\0");
        let mut found = Vec::new();
        let mut args = Widened::new(args.as_ptr() as u64, args.len() as u32);
        let format = Format::new(format.as_ptr() as u64, false);
        walk(format, scan, assigned, &mut args, &mut |tag, at, len| found.push((tag, at, len)))?;
        Ok(found)
    }
    fn print(format: &str, args: &[u64]) -> Vec<(Tag, u64, u64)> {
        touched(format, false, None, args).unwrap()
    }

    #[test]
    fn printf_reads_its_strings() {
        let s = c"hello".as_ptr() as u64;
        let wide: Vec<u32> = "wide\0".chars().map(u32::from).collect();
        let w = wide.as_ptr() as u64;
        assert_eq!(print("%d %s %5.2f", &[1, s, 0]), [(Tag::Read, s, 6)]);
        assert_eq!(
            print("%.3s|%.*s|%.*s", &[s, 2, s, u64::from(u32::MAX), s]),
            [(Tag::Read, s, 3), (Tag::Read, s, 2), (Tag::Read, s, 6)]
        );
        assert_eq!(print("%*d%s", &[7, 1, s]), [(Tag::Read, s, 6)]);
        assert_eq!(print("%ls %S", &[w, w]), [(Tag::Read, w, 20), (Tag::Read, w, 20)]);
        assert_eq!(print("100%% %m %s", &[s]), [(Tag::Read, s, 6)]);
        assert_eq!(print("%.0s%.s", &[s, s]), [(Tag::Read, s, 0), (Tag::Read, s, 0)]);
        assert_eq!(print("%s", &[0]), []);
        assert_eq!(print("%p %-+ #08lld", &[s, 3]), []);
    }

    #[test]
    fn numbered_arguments_come_in_any_order() {
        let s = c"abc".as_ptr() as u64;
        assert_eq!(print("%2$d %1$s %1$s", &[s, 5]), [(Tag::Read, s, 4), (Tag::Read, s, 4)]);
        assert_eq!(print("%3$.*2$s %1$d", &[7, 2, s]), [(Tag::Read, s, 2)]);
    }

    #[test]
    fn percent_n_writes_by_length() {
        for (format, len) in [("%n", 4), ("%hhn", 1), ("%hn", 2), ("%ln", 8), ("%lln", 8), ("%zn", 8), ("%jn", 8)] {
            assert_eq!(print(format, &[0x1000]), [(Tag::Write, 0x1000, len)], "{format}");
        }
    }

    #[test]
    fn scanf_writes_what_was_assigned() {
        let scan = |format, assigned, args: &[u64]| touched(format, true, Some(assigned), args).unwrap();
        let s = c"word".as_ptr() as u64;
        assert_eq!(scan("%d %lf", 2, &[8, 16]), [(Tag::Write, 8, 4), (Tag::Write, 16, 8)]);
        assert_eq!(scan("%d %lf", 1, &[8, 16]), [(Tag::Write, 8, 4)]);
        assert_eq!(scan("%d", -1, &[8]), []);
        assert_eq!(scan("%*d %hd %s", 2, &[8, s]), [(Tag::Write, 8, 2), (Tag::Write, s, 5)]);
        assert_eq!(
            scan("%[^]x] %4c %n", 2, &[s, 32, 40]),
            [(Tag::Write, s, 5), (Tag::Write, 32, 4), (Tag::Write, 40, 4)]
        );
        assert_eq!(
            scan("%Lf %f %e %llx", 4, &[16, 32, 48, 64]),
            [(Tag::Write, 16, size_of_long_double()), (Tag::Write, 32, 4), (Tag::Write, 48, 4), (Tag::Write, 64, 8)]
        );
        let pointer: u64 = s;
        let at = &raw const pointer as u64;
        assert_eq!(scan("%ms", 1, &[at]), [(Tag::Write, at, 8), (Tag::Write, s, 5)]);
        assert_eq!(touched("%9s", true, None, &[64]).unwrap(), [(Tag::Write, 64, 10)]);
    }

    #[test]
    fn unknown_conversions_are_errors() {
        assert_eq!(touched("%y", false, None, &[0]), Err(Error::UnknownConversion('y')));
        assert_eq!(touched("%99$d", false, None, &[0]), Err(Error::TooManyArguments));
        assert_eq!(touched("%", false, None, &[]), Err(Error::UnknownConversion('\0')));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn va_lists_are_walked_without_changing_them() {
        let s = c"xyz".as_ptr() as u64;
        // Six general registers, eight vector registers of 16 bytes; one general register was used up.
        let mut saved = [0u64; 6 + 16];
        saved[1] = 7;
        saved[2] = s;
        let overflow = [s, 0, 1, 1, s];
        let list = List::new(8, 48, &overflow, &saved);
        let mut found = Vec::new();
        let format = b"%d %s %f %d %d %d %s\0";
        let text = Format::new(format.as_ptr() as u64, false);
        walk(text, false, None, &mut { list }, &mut |_, at, len| found.push((at, len))).unwrap();
        assert_eq!(found, [(s, 4), (s, 4)]);
    }

    #[test]
    fn hooks_report_the_format_too() {
        let (format, s) = (c"%s %d".as_ptr() as u64, c"str".as_ptr() as u64);
        with_arguments::<Seen>(format, 0, 2, [s, 1].as_ptr() as u64);
        assert_eq!(seen(), [(R, format, 6), (R, s, 4)]);
        let format = c"%d".as_ptr() as u64;
        for (result, writes) in [(1, 1), (0, 0), (-1, 0)] {
            let flags = SCAN | ((result + 2) as u32) << 8;
            with_arguments::<Seen>(format, flags, 1, [64u64].as_ptr() as u64);
            assert_eq!(seen().len(), 1 + writes, "{result}");
        }
    }
}
