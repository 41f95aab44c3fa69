//! What memory holds before and after the events that threads stop at, for reports.
//!
//! Like stacks ([`crate::stack`]), values are only written where the host asks for notes. The bytes of an event's accesses are
//! read when its thread goes on to execute it, and again when the same thread stops next: nothing else runs in between.

use core::cell::Cell;

use wire::record::flag;
use wire::{Record, Tag};

use crate::cell::OneThread;
use crate::{hooks, sys};

/// Most accesses of an event that are looked at: those of most statements. Copies of whole objects have more, and are told in
/// other words.
const MOST: usize = 4;

/// Addresses and sizes.
type Executed = [Option<(u64, u32)>; MOST];

/// The accesses of the event that the running thread executes.
static EXECUTED: OneThread<Cell<Executed>> = OneThread::new(Cell::new([None; MOST]));

/// Writes what the accesses of an event find that is executed next.
#[cold]
pub fn before(pending: &[Record]) {
    let mut executed: Executed = [None; MOST];
    if pending.len() <= MOST {
        for (kept, record) in executed.iter_mut().zip(pending) {
            let is_access = matches!(record.tag(), Some(Tag::Read | Tag::Write | Tag::ReadModifyWrite));
            let fits = matches!(record.argument(), 1 | 2 | 4 | 8);
            *kept = (is_access && fits).then(|| (record.address(), record.argument()));
        }
    }
    executed.iter().flatten().for_each(|(address, size)| write(*address, *size, 0));
    EXECUTED.set(executed);
}

/// Writes what the accesses of the event left that the running thread executed last.
#[cold]
pub fn after() {
    let executed = EXECUTED.replace([None; MOST]);
    executed.iter().flatten().for_each(|(address, size)| write(*address, *size, flag::AFTER));
}

fn write(address: u64, size: u32, flags: u8) {
    let Some(value) = read(address, size) else { return };
    hooks::append_all(&[Record::new(Tag::Value, flags, address, wire::NO_SITE, size), Record { w0: value, w1: 0 }]);
}

/// Up to eight bytes as a number; `None` where there is no memory, as before an access that will crash.
fn read(address: u64, size: u32) -> Option<u64> {
    let address = address as usize;
    let last = address.checked_add(size as usize - 1)?;
    let is_there = is_readable(address) && is_readable(last);
    let bytes = |at: usize| (address + at) as *const u8;
    // SAFETY: the kernel has just read the aligned words that contain the first and the last byte, and no other thread runs.
    let byte = |at: usize| unsafe { bytes(at).read_volatile() };
    is_there.then(|| (0..size as usize).rev().fold(0, |value, at| value << 8 | u64::from(byte(at))))
}

/// Whether the aligned word of eight bytes around an address can be read. The kernel reads it as a set of signals before it finds
/// that it is not asked for anything that it knows.
fn is_readable(address: usize) -> bool {
    const NOTHING: usize = usize::MAX;
    const WORD: usize = 8;
    // SAFETY: without a valid first argument the call changes nothing.
    let refused = unsafe { sys::call(libc::SYS_rt_sigprocmask, [NOTHING, address & !(WORD - 1), 0, WORD, 0, 0]) };
    refused == -(libc::EINVAL as isize)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_memory_is_read() {
        let number = 0x1234_5678_9abc_def0u64;
        let address = &raw const number as u64;
        assert_eq!(read(address, 8), Some(number));
        assert_eq!(read(address, 2), Some(0xdef0));
        assert_eq!(read(address + 7, 1), Some(0x12));
        assert_eq!(read(8, 4), None);
        assert_eq!(read(u64::MAX - 2, 4), None);
        let signal: i8 = -1;
        assert_eq!(read(&raw const signal as u64, 1), Some(0xff));
    }
}
