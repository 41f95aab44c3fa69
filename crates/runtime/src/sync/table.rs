//! A map from addresses to small values.
//!
//! Open addressing with linear probing. Addresses are the same in every run, so lookups and iteration are
//! deterministic. Address 0 is never a key: no object of a program lies there.

use alloc::vec::Vec;

/// Values by address.
#[derive(Clone, Debug)]
pub struct Table<V> {
    /// A power of two of slots, or none; at most three quarters are used, so probing ends.
    slots: Vec<Option<(u64, V)>>,
    len: usize,
    /// All keys lie in `low..=high`, so that a range without objects is recognised at once.
    low: u64,
    high: u64,
}

impl<V: Copy> Table<V> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), len: 0, low: u64::MAX, high: 0 }
    }

    fn home(&self, key: u64) -> usize {
        // The high bits of the product depend on all bits of the address.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.slots.len() - 1)
    }

    /// The slot with `key`, or the free one where it would go.
    fn slot(&self, key: u64) -> usize {
        let mut at = self.home(key);
        while self.slots[at].is_some_and(|(found, _)| found != key) {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// The value at `key`.
    pub fn get(&self, key: u64) -> Option<&V> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(key)].as_ref().map(|(_, value)| value)
    }

    /// The value at `key`, mutable.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.slot(key);
        self.slots[at].as_mut().map(|(_, value)| value)
    }

    /// Puts a value at `key`, replacing the one there.
    pub fn insert(&mut self, key: u64, value: V) {
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let at = self.slot(key);
        self.len += usize::from(self.slots[at].is_none());
        self.slots[at] = Some((key, value));
        self.low = self.low.min(key);
        self.high = self.high.max(key);
    }

    fn grow(&mut self) {
        let larger = (self.slots.len() * 2).max(16);
        let old = core::mem::replace(&mut self.slots, alloc::vec![None; larger]);
        for (key, value) in old.into_iter().flatten() {
            let at = self.slot(key);
            self.slots[at] = Some((key, value));
        }
    }

    /// Takes the value at `key` out.
    pub fn remove(&mut self, key: u64) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let mut hole = self.slot(key);
        let (_, value) = self.slots[hole].take()?;
        self.len -= 1;
        // Move later entries of the same run back, so that none is behind a free slot it was probed over.
        let mask = self.slots.len() - 1;
        let mut at = (hole + 1) & mask;
        while let Some((key, _)) = self.slots[at] {
            let distance_home = at.wrapping_sub(self.home(key)) & mask;
            if distance_home >= (at.wrapping_sub(hole) & mask) {
                self.slots[hole] = self.slots[at].take();
                hole = at;
            }
            at = (at + 1) & mask;
        }
        Some(value)
    }

    /// All entries, in the table's own order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.slots.iter().flatten().map(|(key, value)| (*key, value))
    }

    /// The smallest key from `start` on, `len` bytes.
    pub fn first_in(&self, start: u64, len: u64) -> Option<u64> {
        let end = start.saturating_add(len);
        if self.len == 0 || end <= self.low || start > self.high {
            return None;
        }
        if len < self.slots.len() as u64 {
            return (start..end).find(|key| self.get(*key).is_some());
        }
        self.iter().map(|(key, _)| key).filter(|key| (start..end).contains(key)).min()
    }
}

impl<V: Copy> Default for Table<V> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_an_ordered_map() {
        let (mut table, mut map) = (Table::new(), BTreeMap::new());
        let mut random = 12345u64;
        for round in 0..20_000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let key = 0x1000 + (random >> 40) % 300 * 8;
            if (random >> 20).is_multiple_of(3) {
                assert_eq!(table.remove(key), map.remove(&key));
            } else {
                table.insert(key, round);
                map.insert(key, round);
            }
            let start = 0x1000 + (random >> 30) % 2400;
            for len in [16, 5000] {
                assert_eq!(table.first_in(start, len), map.range(start..start + len).next().map(|(k, _)| *k));
            }
        }
        let mut entries: Vec<_> = table.iter().map(|(k, v)| (k, *v)).collect();
        entries.sort();
        assert_eq!(entries, map.into_iter().collect::<Vec<_>>());
    }
}
