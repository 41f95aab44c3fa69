//! Addresses that stand for objects.
//!
//! Where the heap hands out an address again, or a thread gets the stack of one that ended, the new object gets an address
//! that nothing else has. An access belongs to the object that is there when its thread's last numbered event happened.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wire::Tag;
use wire::log::tag;
use wire::record::flag;

/// Objects whose addresses were used before, by first byte: last byte plus one, and what to add to addresses in them.
#[derive(Default)]
pub(super) struct Lives {
    moved: BTreeMap<u64, (u64, u64)>,
    /// Ranges that were objects before, by first byte.
    used: BTreeMap<u64, u64>,
    next: u64,
    /// Ranges of which it is known what to add, by some bits of the address; to be forgotten when an object comes.
    known: Known,
    /// Sizes of heap blocks by their real address.
    blocks: FxHashMap<u64, u64>,
}

/// First byte, last byte plus one, what to add.
type Range = (u64, u64, u64);

/// The last ranges that were asked for.
struct Known([Range; Self::SIZE]);

impl Known {
    const SIZE: usize = 64;
    /// Addresses up to this size have the same place.
    const TOGETHER: u32 = 16;
}

impl Default for Known {
    fn default() -> Self {
        Self([(0, 0, 0); Self::SIZE])
    }
}

/// Addresses from here on are used by nothing else.
const FRESH: u64 = 1 << 52;

impl Lives {
    /// The address that stands for this one now.
    pub(super) fn address(&mut self, address: u64) -> u64 {
        let place = (address >> Known::TOGETHER) as usize % Known::SIZE;
        let (start, end, offset) = self.known.0[place];
        if start <= address && address < end {
            return address.wrapping_add(offset);
        }
        let before = self.moved.range(..=address).next_back();
        self.known.0[place] = match before {
            Some((start, (end, offset))) if address < *end => (*start, *end, *offset),
            _ => {
                let start = before.map_or(0, |(_, (end, _))| *end);
                let next = self.moved.range(address..).next();
                (start, next.map_or(u64::MAX, |(start, _)| *start), 0)
            }
        };
        address.wrapping_add(self.known.0[place].2)
    }

    /// What a record says about objects: a stack, a heap block.
    pub(super) fn record(&mut self, record: &[u64; 4]) {
        let (tag, flags) = ((record[0] >> 48) as u8, (record[0] >> 56) as u8 & 0x7f);
        let raw = record[0] & ((1 << 48) - 1);
        if tag == tag::RANGE {
            self.begin(raw, record[3]);
        } else if tag == Tag::Alloc as u8 && flags & flag::STACK == 0 {
            let size = record[1] >> 32;
            self.begin(raw, size);
            self.blocks.insert(raw, size);
        }
    }

    /// Whether a heap block starts here.
    pub(super) fn is_block(&self, raw: u64) -> bool {
        self.blocks.contains_key(&raw)
    }

    /// The heap block that starts here is no more; its size.
    pub(super) fn end_block(&mut self, raw: u64) -> u32 {
        let size = self.blocks.remove(&raw).unwrap_or(1).max(1);
        u32::try_from(size).unwrap_or(u32::MAX)
    }

    /// An object comes into being.
    fn begin(&mut self, start: u64, size: u64) {
        self.known = Known::default();
        let end = start.saturating_add(size.max(1));
        let overlaps = |map: &BTreeMap<u64, u64>| map.range(..end).next_back().is_some_and(|(_, used)| *used > start);
        let again = overlaps(&self.used);
        // What lay here before is gone.
        let mut gone = Vec::new();
        for (at, (last, _)) in self.moved.range(..end).rev() {
            if *last <= start {
                break;
            }
            gone.push(*at);
        }
        for at in gone {
            self.moved.remove(&at);
        }
        if again {
            self.next = (self.next.max(FRESH) + 63) & !63;
            // The same place in a cache line, for accesses that are not aligned.
            let fresh = self.next + start % 64;
            self.moved.insert(start, (end, fresh.wrapping_sub(start)));
            self.next = fresh + size.max(1);
        }
        let merged: Vec<(u64, u64)> = {
            let touching = self.used.range(..=end).rev().take_while(|(_, last)| **last >= start);
            touching.map(|(at, last)| (*at, *last)).collect()
        };
        let from = merged.iter().map(|(at, _)| *at).min().unwrap_or(start).min(start);
        let to = merged.iter().map(|(_, last)| *last).max().unwrap_or(end).max(end);
        for (at, _) in merged {
            self.used.remove(&at);
        }
        self.used.insert(from, to);
    }
}
