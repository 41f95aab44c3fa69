//! Shadow memory: which thread used which bytes, and how.
//!
//! A [`Shadow`] keeps *lanes*: one value per (bytes, thread, kind of use). Bytes are stored in granules of eight with a
//! mask, so that cells of different sizes and alignments meet exactly where they overlap. A cell of more than 1024
//! bytes is one lane of its own, so that clearing a megabyte costs no more than clearing a page. Lanes that differ only in
//! the thread are together, so that uses which do not matter cost the same for a thousand threads as for one.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{Cell, ThreadId, work};

/// Cells longer than this are not split into granules.
const WIDE: u32 = 1024;

/// One value for each thread that uses some bytes in one way, by thread.
type Users<V> = SmallVec<[(ThreadId, V); 1]>;

/// The uses of some bytes in one way.
#[derive(Clone, Debug)]
struct Lanes<K, V> {
    bytes: u8,
    kind: K,
    users: Users<V>,
}

/// The uses of a large cell in one way.
#[derive(Clone, Debug)]
struct WideLanes<K, V> {
    cell: Cell,
    kind: K,
    users: Users<V>,
}

type Granule<K, V> = SmallVec<[Lanes<K, V>; 2]>;

/// Lanes by their bytes.
#[derive(Clone, Debug)]
pub struct Shadow<K, V> {
    granules: FxHashMap<u64, Granule<K, V>>,
    wide: Vec<WideLanes<K, V>>,
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

/// The value of a thread, made if it is missing, and whether it is new.
fn value_of<V: Default>(users: &mut Users<V>, thread: ThreadId) -> (&mut V, bool) {
    let found = users.binary_search_by_key(&thread, |(user, _)| *user);
    if let Err(at) = found {
        users.insert(at, (thread, V::default()));
    }
    let (Ok(at) | Err(at)) = found;
    (&mut users[at].1, found.is_err())
}

impl<K: Copy + Eq, V> Shadow<K, V> {
    /// Visits every lane that shares a byte with the cell. A lane that spans several granules is visited once for
    /// each.
    #[inline]
    pub fn visit(&self, cell: Cell, mut f: impl FnMut(ThreadId, K, &V)) {
        self.visit_uses(cell, |kind, users| {
            work::count(users.len());
            users.iter().for_each(|(thread, value)| f(*thread, kind, value));
        });
    }

    /// Visits every use of bytes of the cell, with the value of each thread that uses them so, by thread. A use that spans
    /// several granules is visited once for each.
    #[inline]
    pub fn visit_uses(&self, cell: Cell, mut f: impl FnMut(K, &[(ThreadId, V)])) {
        if let Some((granule, bytes)) = only_piece(cell) {
            let uses = self.granules.get(&granule).map_or(&[][..], SmallVec::as_slice);
            work::count(uses.len());
            for lanes in uses {
                if lanes.bytes & bytes != 0 {
                    f(lanes.kind, &lanes.users);
                }
            }
            self.visit_wide(cell, f);
            return;
        }
        self.visit_pieces(cell, f);
    }

    fn visit_pieces(&self, cell: Cell, mut f: impl FnMut(K, &[(ThreadId, V)])) {
        let mut visit_granule = |(granule, bytes)| {
            work::count(self.granules.get(&granule).map_or(0, SmallVec::len));
            let uses = self.granules.get(&granule).into_iter().flatten();
            uses.filter(|lanes| lanes.bytes & bytes != 0).for_each(|lanes| f(lanes.kind, &lanes.users));
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

    fn visit_wide(&self, cell: Cell, mut f: impl FnMut(K, &[(ThreadId, V)])) {
        if self.wide.is_empty() {
            return;
        }
        let in_page = |page: u64| self.wide_by_page.get(&page).map_or(&[][..], SmallVec::as_slice);
        let mut visit = |at: u32| {
            let lanes = &self.wide[at as usize];
            if lanes.cell.overlaps(&cell) {
                f(lanes.kind, &lanes.users);
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
        let mut any_new = false;
        if cell.len > WIDE {
            let known = |at: &u32| {
                let lanes = &self.wide[*at as usize];
                lanes.cell == cell && lanes.kind == kind
            };
            let here = self.wide_by_page.get(&(cell.start.0 >> PAGE));
            let at = here.and_then(|lanes| lanes.iter().copied().find(known)).unwrap_or_else(|| {
                let at = self.wide.len() as u32;
                self.wide.push(WideLanes { cell, kind, users: Users::new() });
                pages(cell).for_each(|page| self.wide_by_page.entry(page).or_default().push(at));
                at
            });
            let (value, new) = value_of(&mut self.wide[at as usize].users, thread);
            f(value);
            return new;
        }
        for (granule, bytes) in pieces(cell) {
            let uses = self.granules.entry(granule).or_default();
            work::count(uses.len());
            let known = |lanes: &Lanes<K, V>| lanes.bytes == bytes && lanes.kind == kind;
            let at = uses.iter().position(known).unwrap_or_else(|| {
                uses.push(Lanes { bytes, kind, users: Users::new() });
                uses.len() - 1
            });
            let (value, new) = value_of(&mut uses[at].users, thread);
            f(value);
            any_new |= new;
        }
        any_new
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
