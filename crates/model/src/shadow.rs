//! Shadow memory: which thread used which bytes, and how.
//!
//! A [`Shadow`] keeps *lanes*: one value per (bytes, thread, kind of use). Bytes are stored in granules of eight with a
//! mask, so that cells of different sizes and alignments meet exactly where they overlap. A cell of more than 1024
//! bytes is one lane of its own, so that clearing a megabyte costs no more than clearing a page.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{Cell, ThreadId, work};

/// Cells longer than this are not split into granules.
const WIDE: u32 = 1024;

/// One value for the uses of some bytes by one thread in one way.
#[derive(Clone, Debug)]
struct Lane<K, V> {
    bytes: u8,
    thread: ThreadId,
    kind: K,
    value: V,
}

#[derive(Clone, Debug)]
struct WideLane<K, V> {
    cell: Cell,
    thread: ThreadId,
    kind: K,
    value: V,
}

type Granule<K, V> = SmallVec<[Lane<K, V>; 2]>;

/// Lanes by their bytes.
#[derive(Clone, Debug)]
pub struct Shadow<K, V> {
    granules: FxHashMap<u64, Granule<K, V>>,
    wide: Vec<WideLane<K, V>>,
    /// By page: the wide lanes that reach into it, ascending.
    wide_by_page: FxHashMap<u64, SmallVec<[u32; 4]>>,
}

/// Bytes of a page, as a power of two. A lane is entered into every page it reaches into.
const PAGE: u32 = 12;

/// The pages of a cell.
fn pages(cell: Cell) -> std::ops::RangeInclusive<u64> {
    cell.start.0 >> PAGE..=cell.end().saturating_sub(1).max(cell.start.0) >> PAGE
}

impl<K, V> Default for Shadow<K, V> {
    fn default() -> Self {
        Self { granules: FxHashMap::default(), wide: Vec::new(), wide_by_page: FxHashMap::default() }
    }
}

/// The granules of a cell, each with the bytes it covers.
pub(crate) fn pieces(cell: Cell) -> impl Iterator<Item = (u64, u8)> {
    let (start, end) = (cell.start.0, cell.end());
    let granules = if start < end { start / 8..(end - 1) / 8 + 1 } else { 0..0 };
    granules.map(move |granule| (granule, mask(granule, start, end)))
}

/// The granule and bytes of a cell that lies within one granule.
#[inline]
fn only_piece(cell: Cell) -> Option<(u64, u8)> {
    let (start, end) = (cell.start.0, cell.end());
    let granule = start / 8;
    (start < end && granule == (end - 1) / 8).then(|| (granule, mask(granule, start, end)))
}

/// The bytes from `start` to `end` that lie in the granule.
pub(crate) fn mask(granule: u64, start: u64, end: u64) -> u8 {
    let first = granule * 8;
    let from = start.saturating_sub(first).min(8);
    let to = end.saturating_sub(first).min(8);
    let below = |n: u64| ((1u16 << n) - 1) as u8;
    below(to) & !below(from)
}

impl<K: Copy + Eq, V> Shadow<K, V> {
    /// Visits every lane that shares a byte with the cell. A lane that spans several granules is visited once for
    /// each.
    #[inline]
    pub fn visit(&self, cell: Cell, mut f: impl FnMut(ThreadId, K, &V)) {
        if let Some((granule, bytes)) = only_piece(cell) {
            let lanes = self.granules.get(&granule).map_or(&[][..], SmallVec::as_slice);
            work::count(lanes.len());
            for lane in lanes {
                if lane.bytes & bytes != 0 {
                    f(lane.thread, lane.kind, &lane.value);
                }
            }
            self.visit_wide(cell, f);
            return;
        }
        self.visit_pieces(cell, f);
    }

    fn visit_pieces(&self, cell: Cell, mut f: impl FnMut(ThreadId, K, &V)) {
        let mut visit_granule = |(granule, bytes)| {
            work::count(self.granules.get(&granule).map_or(0, SmallVec::len));
            let lanes = self.granules.get(&granule).into_iter().flatten();
            lanes.filter(|l: &&Lane<K, V>| l.bytes & bytes != 0).for_each(|l| f(l.thread, l.kind, &l.value));
        };
        if cell.len > WIDE && cell.len as usize / 8 > self.granules.len() {
            let (start, end) = (cell.start.0, cell.end());
            let range = start / 8..=(end - 1) / 8;
            let mut known: Vec<u64> = self.granules.keys().copied().filter(|g| range.contains(g)).collect();
            known.sort_unstable();
            known.into_iter().map(|g| (g, mask(g, start, end))).for_each(visit_granule);
        } else {
            pieces(cell).for_each(&mut visit_granule);
        }
        self.visit_wide(cell, f);
    }

    fn visit_wide(&self, cell: Cell, mut f: impl FnMut(ThreadId, K, &V)) {
        if self.wide.is_empty() {
            return;
        }
        let in_page = |page: u64| self.wide_by_page.get(&page).map_or(&[][..], SmallVec::as_slice);
        let mut visit = |lane: u32| {
            let lane = &self.wide[lane as usize];
            if lane.cell.overlaps(&cell) {
                f(lane.thread, lane.kind, &lane.value);
            }
        };
        let pages = pages(cell);
        if pages.start() == pages.end() {
            in_page(*pages.start()).iter().copied().for_each(visit);
            return;
        }
        let mut lanes: Vec<u32> = pages.flat_map(in_page).copied().collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes.into_iter().for_each(&mut visit);
    }

    /// Updates the lanes of exactly these bytes, this thread and this kind, one per granule, creating missing ones with
    /// `V::default()`. Returns whether one is new.
    pub fn update(&mut self, cell: Cell, thread: ThreadId, kind: K, mut f: impl FnMut(&mut V)) -> bool
    where
        V: Default,
    {
        let mut new = false;
        if cell.len > WIDE {
            let known = |at: &u32| {
                let lane = &self.wide[*at as usize];
                lane.cell == cell && lane.thread == thread && lane.kind == kind
            };
            let here = self.wide_by_page.get(&(cell.start.0 >> PAGE));
            let at = here.and_then(|lanes| lanes.iter().copied().find(known)).map_or_else(
                || {
                    new = true;
                    let at = self.wide.len() as u32;
                    self.wide.push(WideLane { cell, thread, kind, value: V::default() });
                    pages(cell).for_each(|page| self.wide_by_page.entry(page).or_default().push(at));
                    at as usize
                },
                |at| at as usize,
            );
            f(&mut self.wide[at].value);
            return new;
        }
        for (granule, bytes) in pieces(cell) {
            let lanes = self.granules.entry(granule).or_default();
            work::count(lanes.len());
            let known = |l: &Lane<K, V>| l.bytes == bytes && l.thread == thread && l.kind == kind;
            let at = lanes.iter().position(known).unwrap_or_else(|| {
                new = true;
                lanes.push(Lane { bytes, thread, kind, value: V::default() });
                lanes.len() - 1
            });
            f(&mut lanes[at].value);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Addr;

    fn cell(start: u64, len: u32) -> Cell {
        Cell { start: Addr(start), len }
    }

    /// Lanes meet exactly when cells overlap, whatever their sizes.
    #[test]
    fn meets_where_cells_overlap() {
        let starts = [0, 1, 4, 7, 8, 13, 1000, 1020, 1024, 4096, u64::MAX - 2000, u64::MAX - 4];
        let lengths = [0, 1, 2, 3, 4, 8, 9, 16, 24, 1024, 1025, 5000];
        let cells: Vec<Cell> = starts.iter().flat_map(|s| lengths.map(|l| cell(*s, l))).collect();
        for a in &cells {
            let mut shadow = Shadow::<char, u32>::default();
            assert!(shadow.update(*a, ThreadId(1), 'a', |n| *n += 1) || a.len == 0);
            let only: Vec<(u64, u8)> = pieces(*a).collect();
            assert_eq!(only_piece(*a), (only.len() == 1).then(|| only[0]), "{a:?}");
            assert!(!shadow.update(*a, ThreadId(1), 'a', |n| *n += 1));
            for b in &cells {
                let mut met = false;
                shadow.visit(*b, |thread, kind, n| {
                    assert_eq!((thread, kind, *n), (ThreadId(1), 'a', 2));
                    met = true;
                });
                assert_eq!(met, a.overlaps(b), "{a:?} {b:?}");
            }
        }
    }
}
