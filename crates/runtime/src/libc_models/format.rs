//! Format strings of `printf` and `scanf`: which memory their conversions touch.
//!
//! [`walk`] reads a format once for the types of its arguments and once to act on them, so that numbered arguments
//! (`%2$s`) work like unnumbered ones.

use wire::Tag;

/// Most arguments of one call.
const MAX_ARGS: usize = 64;

/// How an argument is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// An integer or a pointer.
    Word,
    /// A `double`.
    Double,
    /// A `long double`.
    LongDouble,
}

/// Where the arguments of the conversions come from.
pub trait Args {
    /// The next argument; floating ones may have any value.
    fn next(&mut self, class: Class) -> u64;
}

/// What a conversion does with its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    /// Uses its value.
    Value(Class),
    /// Reads a string through it: bytes or `wchar_t`.
    ReadString { wide: bool },
    /// Writes this many bytes through it.
    Write { len: u64 },
    /// Writes a string through it, with or (`%c`) without a terminator; `allocates` stores a pointer to new memory.
    WriteString { wide: bool, terminated: bool, allocates: bool },
    /// Has none (`%%`, `%m`, a suppressed assignment).
    Nothing,
}

/// A number in a conversion: width, precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Absent,
    Given(u64),
    /// In an argument: its number from 1, or the next one.
    Argument(Option<usize>),
}

/// One conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Conversion {
    /// The argument's number from 1; `None` for the next one.
    position: Option<usize>,
    width: Number,
    precision: Number,
    action: Action,
    /// Whether `scanf` counts it in its result.
    counted: bool,
}

/// What a format cannot be walked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// A conversion that is not known.
    UnknownConversion(char),
    /// More arguments than are looked at.
    TooManyArguments,
}

/// The characters of a format.
#[derive(Clone, Copy)]
pub struct Text {
    at: usize,
    wide: bool,
}

impl Text {
    /// The string at this address.
    ///
    /// # Safety
    /// It is a terminated string of this kind and stays so.
    pub unsafe fn new(at: u64, wide: bool) -> Self {
        Self { at: at as usize, wide }
    }
    fn peek(&self) -> u32 {
        // Safety: promised to `new`; `advance` stops at the terminator.
        unsafe { if self.wide { *(self.at as *const u32) } else { u32::from(*(self.at as *const u8)) } }
    }
    fn is(&self, c: u8) -> bool {
        self.peek() == u32::from(c)
    }
    fn advance(&mut self) {
        if self.peek() != 0 {
            self.at += if self.wide { 4 } else { 1 };
        }
    }
    fn eat(&mut self, c: u8) -> bool {
        let found = self.is(c);
        if found {
            self.advance();
        }
        found
    }
    fn number(&mut self) -> Option<u64> {
        let mut value: Option<u64> = None;
        while let Some(digit) = char::from_u32(self.peek()).and_then(|c| c.to_digit(10)) {
            value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(u64::from(digit)));
            self.advance();
        }
        value
    }
    /// `12$` if that is next.
    fn position(&mut self) -> Option<usize> {
        let start = *self;
        match self.number() {
            Some(n) if n > 0 && self.eat(b'$') => Some(n as usize),
            _ => {
                *self = start;
                None
            }
        }
    }
    /// `*`, `*3$` or digits.
    fn parameter(&mut self) -> Number {
        if self.eat(b'*') {
            return Number::Argument(self.position());
        }
        self.number().map_or(Number::Absent, Number::Given)
    }
    /// The size of the integer a length modifier names, and whether it was `l`, whether `L`.
    fn length(&mut self) -> (u64, bool, bool) {
        if self.eat(b'h') {
            return (if self.eat(b'h') { 1 } else { 2 }, false, false);
        }
        if self.eat(b'l') {
            self.eat(b'l');
            return (8, true, false);
        }
        if self.eat(b'L') || self.eat(b'q') {
            return (8, false, true);
        }
        let word = [b'j', b'z', b'Z', b't'].into_iter().any(|c| self.eat(c));
        (if word { 8 } else { 4 }, false, false)
    }

    /// The next conversion; `None` at the end.
    fn conversion(&mut self, scan: bool) -> Result<Option<Conversion>, Error> {
        while !self.is(b'%') {
            if self.is(0) {
                return Ok(None);
            }
            self.advance();
        }
        self.advance();
        if scan { self.scan_conversion() } else { self.print_conversion() }.map(Some)
    }

    fn print_conversion(&mut self) -> Result<Conversion, Error> {
        let position = self.position();
        while b"-+ #0'I".iter().any(|&c| self.eat(c)) {}
        let width = self.parameter();
        let precision = if self.eat(b'.') {
            match self.parameter() {
                Number::Absent => Number::Given(0),
                number => number,
            }
        } else {
            Number::Absent
        };
        let (size, long, long_double) = self.length();
        let action = match self.letter()? {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'b' | b'B' | b'c' | b'C' | b'p' => Action::Value(Class::Word),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                Action::Value(if long_double { Class::LongDouble } else { Class::Double })
            }
            b's' => Action::ReadString { wide: long },
            b'S' => Action::ReadString { wide: true },
            b'n' => Action::Write { len: size },
            b'm' | b'%' => Action::Nothing,
            other => return Err(Error::UnknownConversion(char::from(other))),
        };
        Ok(Conversion { position, width, precision, action, counted: false })
    }

    fn scan_conversion(&mut self) -> Result<Conversion, Error> {
        let position = self.position();
        let mut suppressed = false;
        while self.is(b'*') || self.is(b'\'') || self.is(b'I') {
            suppressed |= self.is(b'*');
            self.advance();
        }
        let width = self.number().map_or(Number::Absent, Number::Given);
        let allocates = self.eat(b'm');
        let (size, long, long_double) = self.length();
        let string = |wide, terminated| Action::WriteString { wide, terminated, allocates };
        let letter = self.letter()?;
        let action = match letter {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'b' | b'n' => Action::Write { len: size },
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => Action::Write {
                len: if long_double {
                    size_of_long_double()
                } else if long {
                    8
                } else {
                    4
                },
            },
            b'p' => Action::Write { len: 8 },
            b's' => string(long, true),
            b'S' => string(true, true),
            b'c' => string(long, false),
            b'C' => string(true, false),
            b'[' => {
                self.skip_set();
                string(long, true)
            }
            b'%' => Action::Nothing,
            other => return Err(Error::UnknownConversion(char::from(other))),
        };
        let assigns = !suppressed && action != Action::Nothing;
        Ok(Conversion {
            position,
            width,
            precision: Number::Absent,
            action: if assigns { action } else { Action::Nothing },
            counted: assigns && letter != b'n',
        })
    }

    fn letter(&mut self) -> Result<u8, Error> {
        let c = self.peek();
        self.advance();
        match u8::try_from(c) {
            Ok(letter) => Ok(letter),
            Err(_) => Err(Error::UnknownConversion(char::from_u32(c).unwrap_or('\u{fffd}'))),
        }
    }

    /// The rest of `[...]`, where a bracket at the start is a member.
    fn skip_set(&mut self) {
        self.eat(b'^');
        self.eat(b']');
        while !self.is(0) && !self.eat(b']') {
            self.advance();
        }
    }
}

/// In memory, padding included where it is stored.
const fn size_of_long_double() -> u64 {
    if cfg!(target_arch = "x86_64") { 10 } else { 16 }
}

/// The arguments of one call, fetched in order.
struct Fetched {
    values: [u64; MAX_ARGS],
    next: usize,
}

impl Fetched {
    /// Reads the format for the types of its arguments and fetches them.
    fn new(format: Text, scan: bool, args: &mut dyn Args) -> Result<Self, Error> {
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
///
/// # Safety
/// `format` and the strings the arguments point to can be read: the call itself reads them, or has written them.
pub unsafe fn walk(
    format: Text,
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
                // Safety: the call reads the string too.
                touch(Tag::Read, argument, unsafe { string_len(argument, wide, precision.unwrap_or(u64::MAX)) });
            }
            Action::Write { len } => touch(Tag::Write, argument, len),
            Action::WriteString { wide, terminated, allocates } => {
                // Safety: the call has just stored the pointer.
                let (start, unit) =
                    (if allocates { unsafe { *(argument as *const u64) } } else { argument }, unit(wide));
                if allocates {
                    touch(Tag::Write, argument, 8);
                }
                let len = match (terminated, width) {
                    (false, width) => width.unwrap_or(1).saturating_mul(unit),
                    // Not known to be stored: at most its width, without looking at it.
                    (true, Some(width)) if assigned.is_none() => (width + 1).saturating_mul(unit),
                    (true, None) if assigned.is_none() => unit,
                    // Safety: the call has just stored the string.
                    (true, _) => unsafe { string_len(start, wide, u64::MAX) },
                };
                touch(Tag::Write, start, len);
            }
        }
    }
    Ok(())
}

fn unit(wide: bool) -> u64 {
    if wide { 4 } else { 1 }
}

/// Bytes of a string up to and with its terminator, at most `max` characters.
///
/// # Safety
/// They can be read.
pub unsafe fn string_len(at: u64, wide: bool, max: u64) -> u64 {
    let mut len = 0;
    while len < max {
        len += 1;
        let end = if wide {
            unsafe { *(at as *const u32).add(len as usize - 1) == 0 }
        } else {
            unsafe { *(at as *const u8).add(len as usize - 1) == 0 }
        };
        if end {
            break;
        }
    }
    len * unit(wide)
}

/// Arguments widened to 64 bits, as instrumentation hands them over; further ones are 0.
pub struct Slice<'a>(pub &'a [u64]);

impl Args for Slice<'_> {
    fn next(&mut self, _class: Class) -> u64 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }
}

/// A copy of a `va_list`.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct List {
    general: u32,
    floating: u32,
    overflow: u64,
    saved: u64,
}

#[cfg(target_arch = "x86_64")]
impl Args for List {
    fn next(&mut self, class: Class) -> u64 {
        let at = match class {
            Class::Word if self.general < 48 => {
                self.general += 8;
                self.saved + u64::from(self.general) - 8
            }
            Class::Double if self.floating < 176 => {
                self.floating += 16;
                self.saved + u64::from(self.floating) - 16
            }
            Class::LongDouble => {
                let at = self.overflow.next_multiple_of(16);
                self.overflow = at + 16;
                at
            }
            Class::Word | Class::Double => {
                self.overflow += 8;
                self.overflow - 8
            }
        };
        // Safety: the caller of the `va_list` function passed this argument.
        unsafe { *(at as *const u64) }
    }
}

/// A copy of a `va_list`.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct List {
    stack: u64,
    general_top: u64,
    vector_top: u64,
    general: i32,
    vector: i32,
}

#[cfg(target_arch = "aarch64")]
impl Args for List {
    fn next(&mut self, class: Class) -> u64 {
        let at = match class {
            Class::Word if self.general < 0 => {
                self.general += 8;
                self.general_top.wrapping_add_signed(i64::from(self.general) - 8)
            }
            Class::Double | Class::LongDouble if self.vector < 0 => {
                self.vector += 16;
                self.vector_top.wrapping_add_signed(i64::from(self.vector) - 16)
            }
            Class::LongDouble => {
                let at = self.stack.next_multiple_of(16);
                self.stack = at + 16;
                at
            }
            Class::Word | Class::Double => {
                self.stack += 8;
                self.stack - 8
            }
        };
        // Safety: the caller of the `va_list` function passed this argument.
        unsafe { *(at as *const u64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn touched(format: &str, scan: bool, assigned: Option<i32>, args: &[u64]) -> Result<Vec<(Tag, u64, u64)>, Error> {
        let format = std::format!("{format}\0");
        let mut found = Vec::new();
        unsafe {
            let text = Text::new(format.as_ptr() as u64, false);
            walk(text, scan, assigned, &mut Slice(args), &mut |tag, at, len| found.push((tag, at, len)))?;
        }
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
        let list = List { general: 8, floating: 48, overflow: overflow.as_ptr() as u64, saved: saved.as_ptr() as u64 };
        let mut found = Vec::new();
        let format = b"%d %s %f %d %d %d %s\0";
        unsafe {
            let text = Text::new(format.as_ptr() as u64, false);
            walk(text, false, None, &mut { list }, &mut |_, at, len| found.push((at, len))).unwrap();
        }
        assert_eq!(found, [(s, 4), (s, 4)]);
    }
}
