//! Where the arguments of a call come from.

use crate::memory::{Plain, read, read_at};

/// How an argument is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// An integer or a pointer.
    Word,
    /// A `double`.
    Double,
    /// A `long double`.
    LongDouble,
}

/// Where the arguments of the conversions come from.
pub(super) trait Args {
    /// The next argument; floating ones may have any value.
    fn next(&mut self, class: Class) -> u64;
}

/// Arguments widened to 64 bits, as instrumentation hands them over; further ones are 0.
pub(super) struct Widened {
    array: u64,
    count: u32,
    used: u32,
}

impl Widened {
    /// `count` arguments in the array at this address.
    pub(super) fn new(array: u64, count: u32) -> Self {
        Self { array, count, used: 0 }
    }
}

impl Args for Widened {
    fn next(&mut self, _class: Class) -> u64 {
        if self.used == self.count {
            return 0;
        }
        self.used += 1;
        read_at(self.array, u64::from(self.used) - 1)
    }
}

/// A copy of a `va_list`.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct List {
    general: u32,
    floating: u32,
    overflow: u64,
    saved: u64,
}

// SAFETY: integers only.
unsafe impl Plain for List {}

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
        read(at as *const u64)
    }
}

/// A copy of a `va_list`.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct List {
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
        read(at as *const u64)
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
impl List {
    /// A list with so many bytes of registers used up.
    pub(super) fn new(general: u32, floating: u32, overflow: &[u64], saved: &[u64]) -> Self {
        Self { general, floating, overflow: overflow.as_ptr() as u64, saved: saved.as_ptr() as u64 }
    }
}
