//! What is to be known of a whole recording before its trace is made: which memory can matter, and what did not happen.
//!
//! Memory matters if several threads use it and one of them writes. Accesses to other memory cannot race, their reads read
//! the same in every reordering, and nobody else notices them; a recording of a program that computes consists of little
//! else. Eight bytes are looked at together. A block that is freed while none of it matters is forgotten, so that the
//! survey needs room for what lives at a time, not for all that ever lived.

use rustc_hash::{FxHashMap, FxHashSet};
use wire::Tag;
use wire::log::tag;

use super::lives::Lives;
use super::sites::{Sites, address_of};
use super::streams::Visitor;

/// Of a granule: its one user plus one, or these.
type Use = u32;
/// Several threads use it.
const SHARED: Use = 1 << 31;
/// Somebody writes it.
const WRITTEN: Use = 1 << 30;
const USER: Use = WRITTEN - 1;

/// Granules of eight bytes in a page.
const PAGE: usize = 512;
type Page = [Use; PAGE];

/// Who uses which memory.
pub(super) struct Usage {
    /// By number of a page: its place among `pages`.
    places: FxHashMap<u64, usize>,
    pages: Vec<Page>,
    /// Places of pages that are no more.
    free: Vec<usize>,
    /// The last pages that were asked for, by some bits of their numbers, with their places.
    last: [(u64, usize); Self::LAST],
}

/// The granules of a range: page, first, and last plus one.
fn granules(start: u64, len: u64) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let (first, end) = (start / 8, start.saturating_add(len).div_ceil(8));
    let pages = first / PAGE as u64..end.div_ceil(PAGE as u64);
    pages.map(move |page| {
        let base = page * PAGE as u64;
        let within = |granule: u64| granule.saturating_sub(base).min(PAGE as u64) as usize;
        (page, within(first)..within(end))
    })
}

impl Usage {
    const LAST: usize = 256;
    const NONE: (u64, usize) = (u64::MAX, 0);

    fn new() -> Self {
        Self { places: FxHashMap::default(), pages: Vec::new(), free: Vec::new(), last: [Self::NONE; Self::LAST] }
    }

    fn place(&mut self, page: u64) -> Option<usize> {
        let last = &mut self.last[page as usize % Self::LAST];
        if last.0 != page {
            *last = (page, *self.places.get(&page)?);
        }
        Some(last.1)
    }

    /// The page with this number, made if there is none.
    fn page(&mut self, page: u64) -> &mut Page {
        let place = self.place(page).unwrap_or_else(|| {
            let place = self.free.pop().unwrap_or(self.pages.len());
            if place == self.pages.len() {
                self.pages.push([0; PAGE]);
            }
            self.places.insert(page, place);
            place
        });
        &mut self.pages[place]
    }

    fn touch(&mut self, thread: u32, start: u64, len: u64, writes: bool) {
        let user = (thread + 1) & USER;
        // Most accesses are within eight bytes.
        if len != 0 && start % 8 + len <= 8 {
            let granule = start / 8;
            let granule = &mut self.page(granule / PAGE as u64)[granule as usize % PAGE];
            *granule = used(*granule, user, writes);
            return;
        }
        for (page, range) in granules(start, len) {
            self.page(page)[range].iter_mut().for_each(|granule| *granule = used(*granule, user, writes));
        }
    }

    /// A thread frees a block: it writes what somebody has used of it.
    fn free(&mut self, thread: u32, start: u64, len: u64) {
        let user = (thread + 1) & USER;
        for (number, range) in granules(start, len) {
            let Some(place) = self.place(number) else { continue };
            let page = &mut self.pages[place];
            let whole = range == (0..PAGE);
            let touched = page[range].iter_mut().filter(|granule| **granule != 0);
            touched.for_each(|granule| *granule = used(*granule, user, true));
            if whole && !page.iter().any(|granule| matters(*granule)) {
                page.fill(0);
                self.free.push(place);
                self.places.remove(&number);
                self.last[number as usize % Self::LAST] = Self::NONE;
            }
        }
    }

    /// Whether an access to this range can race.
    pub(super) fn matters(&mut self, start: u64, len: u64) -> bool {
        granules(start, len)
            .any(|(page, range)| self.place(page).is_some_and(|at| self.pages[at][range].iter().copied().any(matters)))
    }
}

fn used(granule: Use, user: Use, writes: bool) -> Use {
    let shared = if granule & USER == 0 || granule & USER == user { 0 } else { SHARED };
    let written = if writes { WRITTEN } else { 0 };
    granule & (SHARED | WRITTEN) | user | shared | written
}

fn matters(granule: Use) -> bool {
    granule & (SHARED | WRITTEN) == SHARED | WRITTEN
}

/// The survey of a recording.
pub(super) struct Survey<'a> {
    sites: &'a Sites,
    lives: Lives,
    /// Who uses which memory.
    pub(super) usage: Usage,
    /// Threads whose creation failed.
    pub(super) failed: FxHashSet<u32>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(sites: &'a Sites) -> Self {
        Self { sites, lives: Lives::default(), usage: Usage::new(), failed: FxHashSet::default() }
    }
}

impl Visitor for Survey<'_> {
    fn plain(&mut self, thread: u32, word: u64) -> Result<(), String> {
        let start = self.lives.address(address_of(word));
        for &(_, writes, len) in self.sites.of(word) {
            self.usage.touch(thread, start, len.into(), writes);
        }
        Ok(())
    }

    fn record(&mut self, thread: u32, record: &[u64; 4]) -> Result<(), String> {
        self.lives.record(record);
        let (number, raw) = ((record[0] >> 48) as u8, record[0] & ((1 << 48) - 1));
        let argument = (record[1] >> 32) as u32;
        if number == tag::CREATE_FAILED {
            self.failed.insert(argument);
        }
        match Tag::from_u8(number) {
            Some(tag @ (Tag::Read | Tag::Write | Tag::ReadModifyWrite)) => {
                let start = self.lives.address(raw);
                self.usage.touch(thread, start, argument.into(), tag != Tag::Read);
            }
            Some(Tag::Free) if self.lives.is_block(raw) => {
                let start = self.lives.address(raw);
                let len = self.lives.end_block(raw);
                self.usage.free(thread, start, len.into());
            }
            _ => {}
        }
        Ok(())
    }
}
