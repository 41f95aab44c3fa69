//! Memory that was never written: which bytes of the program's objects that is, if the environment may leave any value
//! there.
//!
//! Only objects are looked at whose every write is an event or part of one: heap blocks that instrumented code allocates
//! and locals that other threads may reach. A load of such a byte before any write is reported.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;

use wire::layout::environment;
use wire::{Record, Tag};

use crate::cell::{Checked, OneThread};
use crate::hooks::HOT;
use crate::{choice, memory, sched};

/// The bytes of an object, with whether each was written.
type Written = Vec<bool>;

/// Objects by their first byte. No two overlap.
static OBJECTS: OneThread<Checked<BTreeMap<u64, Written>>> = OneThread::new(Checked::new(BTreeMap::new()));

/// Whether there are objects to look at.
static ANY: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));

/// What fills the object that is about to be made, if its content is to be looked at.
static FILL: OneThread<Cell<Option<u8>>> = OneThread::new(Cell::new(None));

/// The contents that are tried: zeros, and what is neither zero nor a valid pointer.
const CONTENTS: [u8; 2] = [0, 0xff];

/// Whether accesses have to be looked at.
#[inline]
pub fn any() -> bool {
    ANY.get()
}

/// The program is about to make an object: its content is chosen.
pub fn choose_content() {
    if sched::running() && sched::may(environment::UNINITIALISED) {
        FILL.set(Some(CONTENTS[choice::choose(0, 1) as usize]));
    }
}

/// The value of a register that was never written; reported where the program reads it.
pub fn register(is_read: bool) -> i32 {
    let value = -(choice::choose(0, 1) as i32);
    if is_read {
        sched::misuse(0, wire::UNWRITTEN);
    }
    value
}

/// An object was made whose content is known: a copy of something else.
pub fn made_as_copy(start: u64, size: u64) {
    forget(start, size);
}

/// An object was made. Its first bytes, `kept` of them, have been written before. Without a chosen content, nothing is
/// known of what is written there.
pub fn made(start: u64, size: usize, kept: usize) {
    let Some(content) = FILL.take() else { return forget(start, size as u64) };
    forget(start, size as u64);
    let unwritten = start + kept as u64;
    memory::write_bytes(unwritten, &alloc::vec![content; size - kept]);
    let mut written = alloc::vec![false; size];
    written[..kept].fill(true);
    OBJECTS.with(|objects| objects.insert(start, written));
    ANY.set(true);
    HOT.watch_next();
}

/// What is in the range is an object no longer.
pub fn forget(start: u64, len: u64) {
    if any() {
        OBJECTS.with(|objects| {
            let end = start.saturating_add(len.max(1));
            let gone = |(first, written): (&u64, &Written)| first + written.len() as u64 > start;
            while let Some(first) = objects.range(..end).next_back().filter(|at| gone(*at)).map(|(first, _)| *first) {
                objects.remove(&first);
            }
        });
    }
}

/// Does something with the part of an object that a range covers.
fn with_part<R>(start: u64, len: u64, use_it: impl FnOnce(&mut [bool]) -> R) -> Option<R> {
    OBJECTS.with(|objects| {
        let (first, written) = objects.range_mut(..=start).next_back()?;
        let from = (start - first) as usize;
        let until = from.saturating_add(len as usize).min(written.len());
        written.get_mut(from..until).filter(|part| !part.is_empty()).map(use_it)
    })
}

/// Bytes were written.
pub fn write(start: u64, len: u64) {
    with_part(start, len, |part| part.fill(true));
}

/// Most bytes of a load that may be one of a number or pointer; larger ones copy objects.
const LARGEST_LOAD: u64 = 8;

/// An event of this record: a write counts, and a load is reported of which no byte was written, once. A copy of an object
/// may read parts of it that were never written, so it is not reported.
#[cold]
pub fn access(record: &Record) {
    let (start, len) = (record.address(), u64::from(record.argument()));
    match record.tag() {
        Some(Tag::Write | Tag::ReadModifyWrite) => write(start, len),
        Some(Tag::Read) if len <= LARGEST_LOAD && with_part(start, len, |part| !part.contains(&true)) == Some(true) => {
            sched::misuse(start, wire::UNWRITTEN);
            write(start, len);
        }
        _ => {}
    }
}
