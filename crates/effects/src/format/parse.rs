//! Reading formats.

use super::arguments::Class;
use crate::memory::read;
use crate::strings::unit;

/// What a conversion does with its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
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
pub(super) enum Number {
    Absent,
    Given(u64),
    /// In an argument: its number from 1, or the next one.
    Argument(Option<usize>),
}

/// One conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conversion {
    /// The argument's number from 1; `None` for the next one.
    pub(super) position: Option<usize>,
    pub(super) width: Number,
    pub(super) precision: Number,
    pub(super) action: Action,
    /// Whether `scanf` counts it in its result.
    pub(super) counted: bool,
}

/// What a format cannot be walked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Error {
    /// A conversion that is not known.
    UnknownConversion(char),
    /// More arguments than are looked at.
    TooManyArguments,
}

/// The characters of a format that are left to read.
#[derive(Clone, Copy)]
pub(super) struct Format {
    at: usize,
    wide: bool,
}

impl Format {
    /// The string at this address.
    pub(super) fn new(at: u64, wide: bool) -> Self {
        Self { at: at as usize, wide }
    }
    fn peek(&self) -> u32 {
        if self.wide { read(self.at as *const u32) } else { u32::from(read(self.at as *const u8)) }
    }
    fn is(&self, c: u8) -> bool {
        self.peek() == u32::from(c)
    }
    fn advance(&mut self) {
        if self.peek() != 0 {
            self.at += unit(self.wide) as usize;
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
    pub(super) fn conversion(&mut self, scan: bool) -> Result<Option<Conversion>, Error> {
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
pub(super) const fn size_of_long_double() -> u64 {
    if cfg!(target_arch = "x86_64") { 10 } else { 16 }
}
