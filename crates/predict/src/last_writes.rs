//! The last write of each byte.
//!
//! Bytes are kept in granules of eight with a mask. A write of more than [`WIDE`] bytes, such as freeing a block of a hundred
//! megabytes, is one range however long it is. Both have the step of the write, so that where a granule and a range meet the
//! later one counts, and neither has to be changed when the other comes.

use std::collections::BTreeMap;

use model::{Cell, EventId, Step};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Writes of more bytes are ranges.
const WIDE: u32 = 1024;

#[derive(Clone, Copy, Debug)]
struct Write {
    event: EventId,
    step: Step,
}

#[derive(Debug, Default)]
pub(crate) struct LastWrites {
    /// By eight bytes: masks of bytes with their last write that is no range; the masks are disjoint.
    granules: FxHashMap<u64, SmallVec<[(u8, Write); 1]>>,
    /// By first byte: last byte plus one and the last write of a range. They do not overlap.
    ranges: BTreeMap<u64, (u64, Write)>,
}

/// The granules of a cell, each with its mask of bytes.
fn pieces(cell: Cell) -> impl Iterator<Item = (u64, u8)> {
    let granules = if cell.len == 0 { 0..0 } else { cell.start.0 / 8..(cell.end() - 1) / 8 + 1 };
    granules.map(move |granule| (granule, mask(granule, cell.start.0, cell.end())))
}

/// The bytes from `start` to `end` that lie in the granule.
fn mask(granule: u64, start: u64, end: u64) -> u8 {
    let first = granule.saturating_mul(8);
    let below = |n: u64| ((1u16 << n.saturating_sub(first).min(8)) - 1) as u8;
    below(end) & !below(start)
}

impl LastWrites {
    pub(crate) fn write(&mut self, cell: Cell, event: EventId, step: Step) {
        let write = Write { event, step };
        if cell.len > WIDE {
            self.write_range(cell.start.0, cell.end(), write);
            return;
        }
        for (granule, bytes) in pieces(cell) {
            let entries = self.granules.entry(granule).or_default();
            match entries.as_mut_slice() {
                [(at, last)] if *at == bytes => *last = write,
                _ => {
                    entries.retain(|(at, _)| {
                        *at &= !bytes;
                        *at != 0
                    });
                    entries.push((bytes, write));
                }
            }
        }
    }

    fn write_range(&mut self, start: u64, end: u64, write: Write) {
        let met = self.ranges.range(..end).rev().take_while(|(_, (last, _))| *last > start);
        let met: Vec<(u64, u64, Write)> = met.map(|(first, (last, write))| (*first, *last, *write)).collect();
        for (first, last, write) in met {
            self.ranges.remove(&first);
            if first < start {
                self.ranges.insert(first, (start, write));
            }
            if last > end {
                self.ranges.insert(end, (last, write));
            }
        }
        self.ranges.insert(start, (end, write));
    }

    /// Calls `f` with every write from which a read of the cell gets a byte; with some more than once.
    pub(crate) fn read(&self, cell: Cell, mut f: impl FnMut(EventId)) {
        if self.ranges.is_empty() && cell.len <= WIDE {
            for (granule, bytes) in pieces(cell) {
                let entries = self.granules.get(&granule).into_iter().flatten();
                entries.filter(|(at, _)| at & bytes != 0).for_each(|(_, write)| f(write.event));
            }
            return;
        }
        let mut at = cell.start.0;
        let met = self.ranges.range(..cell.end()).rev().take_while(|(_, (last, _))| *last > at);
        let met: SmallVec<[(u64, u64, Write); 2]> = met.map(|(from, (to, write))| (*from, *to, *write)).collect();
        for (from, to, write) in met.into_iter().rev() {
            self.read_between(at, from, None, &mut f);
            let (from, to) = (from.max(at), to.min(cell.end()));
            self.read_between(from, to, Some(write), &mut f);
            at = to;
        }
        self.read_between(at, cell.end(), None, &mut f);
    }

    /// Reads bytes that all lie in a range with this write, or in none.
    fn read_between(&self, start: u64, end: u64, range: Option<Write>, f: &mut impl FnMut(EventId)) {
        if start >= end {
            return;
        }
        let counts = |write: &Write| range.is_none_or(|range| write.step >= range.step);
        // Bytes that were written after the range was.
        let mut later = 0;
        let mut visit = |granule: u64, entries: &[(u8, Write)]| {
            let bytes = mask(granule, start, end);
            for (at, write) in entries.iter().filter(|(at, write)| at & bytes != 0 && counts(write)) {
                later += u64::from((at & bytes).count_ones());
                f(write.event);
            }
        };
        let granules = start / 8..=(end - 1) / 8;
        if (end - start) / 8 > self.granules.len() as u64 {
            #[allow(clippy::iter_over_hash_type, reason = "what is read from is a set")]
            for (granule, entries) in self.granules.iter().filter(|(granule, _)| granules.contains(granule)) {
                visit(*granule, entries);
            }
        } else {
            granules.filter_map(|at| Some((at, self.granules.get(&at)?))).for_each(|(at, entries)| visit(at, entries));
        }
        if let Some(range) = range.filter(|_| later < end - start) {
            f(range.event);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Addr, ThreadId};

    use super::*;

    fn cell(start: u64, len: u32) -> Cell {
        Cell { start: Addr(start), len }
    }

    /// Any mixture of short and long writes is read as byte by byte.
    #[test]
    fn every_byte_is_read_from_its_last_write() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for _ in 0..200 {
            let (mut writes, mut bytes) = (LastWrites::default(), BTreeMap::<u64, EventId>::new());
            for step in 0..60 {
                let len = if next(3) == 0 { 1025 + next(3000) } else { 1 + next(24) } as u32;
                let touched = cell(next(6000), len);
                if next(2) == 0 {
                    let event = EventId { thread: ThreadId(next(3) as u32), position: step };
                    writes.write(touched, event, Step(step));
                    bytes.extend((touched.start.0..touched.end()).map(|byte| (byte, event)));
                    continue;
                }
                let mut found = Vec::new();
                writes.read(touched, |event| found.push(event));
                let mut expected: Vec<EventId> =
                    (touched.start.0..touched.end()).filter_map(|byte| bytes.get(&byte).copied()).collect();
                for events in [&mut found, &mut expected] {
                    events.sort_unstable();
                    events.dedup();
                }
                assert_eq!(found, expected, "{touched:?}");
            }
        }
    }
}
