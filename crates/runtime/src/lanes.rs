//! `simd` loops: whether two iterations that may run at the same time, in *lanes*, touch the same memory.
//!
//! A run executes the iterations of such a loop one after the other. If no two of those that may run together conflict,
//! lanes compute the same; a conflict is a data race between lanes and is reported. So iterations are compared here
//! whichever events the run records: instrumentation tells where one begins and what it touches.
//!
//! Each iteration has for itself what `__rp_lane_own` names, the frames of functions that it calls, and what it allocates.
//! What it does inside `ordered simd` has an order with what others do there.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::c_void;
use core::ops::Range;

use wire::Tag;
use wire::record::order;

use crate::cell::OneThread;
use crate::run::RUN;
use crate::text::text;
use crate::{hooks, sched};

/// Most entries that are kept of one loop.
const MOST_TOUCHED: usize = 1 << 20;

/// The loops that threads are in.
static OPEN: OneThread<Cell<u32>> = OneThread::new(Cell::new(0));

/// Whether some thread is in such a loop.
#[inline]
pub fn any() -> bool {
    OPEN.get() > 0
}

/// How an iteration touches bytes. Two of them conflict unless both read, both are atomic, or both come in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Use {
    writes: bool,
    is_atomic: bool,
    is_in_order: bool,
}

impl Use {
    fn conflicts(self, other: Self) -> bool {
        (self.writes || other.writes)
            && !(self.is_atomic && other.is_atomic)
            && !(self.is_in_order && other.is_in_order)
    }
}

/// Eight bytes, which of them, how and from where: in the order in which they are looked up.
type Key = (u64, u8, Use, u32);

/// All keys of these groups of eight bytes.
fn keys(granules: Range<u64>) -> Range<Key> {
    let least = Use { writes: false, is_atomic: false, is_in_order: false };
    (granules.start, 0, least, 0)..(granules.end, 0, least, 0)
}

/// The last two iterations that made such an access, counted from 1; 0 for none.
type Latest = [u64; 2];

/// A loop that a thread is in.
struct LaneLoop {
    /// Its number in its function, and the frame of that.
    of: (u32, usize),
    /// How many iterations may run together.
    together: u64,
    /// The current one, from 1.
    iteration: u64,
    /// Where the frames of functions end that an iteration calls.
    called: usize,
    own: Vec<Range<u64>>,
    touched: BTreeMap<Key, Latest>,
    /// More was touched than is kept.
    is_full: bool,
}

impl LaneLoop {
    fn is_own(&self, at: u64, stack: &Range<usize>) -> bool {
        let address = at as usize;
        stack.contains(&address) && address < self.called || self.own.iter().any(|own| own.contains(&at))
    }

    /// Notes that the current iteration touches bytes. Says from where another one that may run at the same time does.
    fn touch(&mut self, bytes: &Range<u64>, how: Use, site: u32) -> Option<u32> {
        let mut conflict = None;
        let mut at = bytes.start;
        while at < bytes.end {
            let granule = at / 8;
            let end = bytes.end.min(8 * granule + 8);
            let mask = (((1u16 << (end - at)) - 1) << (at % 8)) as u8;
            for ((_, other, of, theirs), latest) in self.touched.range(keys(granule..granule + 1)) {
                let earlier = latest.iter().find(|iteration| **iteration != self.iteration).copied().unwrap_or(0);
                let may_meet = earlier > 0 && self.iteration - earlier < self.together;
                if conflict.is_none() && may_meet && other & mask != 0 && how.conflicts(*of) {
                    conflict = Some(*theirs);
                }
            }
            if self.touched.len() < MOST_TOUCHED {
                let latest = self.touched.entry((granule, mask, how, site)).or_default();
                if latest[0] != self.iteration {
                    *latest = [self.iteration, latest[0]];
                }
            } else {
                self.is_full = true;
                return conflict;
            }
            at = end;
        }
        conflict
    }

    fn forget(&mut self, bytes: &Range<u64>) {
        let gone = self.touched.range(keys(bytes.start / 8..bytes.end.div_ceil(8)));
        for key in gone.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.touched.remove(&key);
        }
    }
}

/// The loops that a thread is in, the outermost first.
#[derive(Default)]
pub struct Lanes {
    open: Vec<LaneLoop>,
    is_in_order: bool,
    /// The places of conflicts that were reported.
    reported: Vec<(u32, u32)>,
}

impl Lanes {
    /// An iteration of a loop begins.
    fn begin(&mut self, of: (u32, usize), together: u64, again: bool, called: usize) {
        // Stacks grow down: what is below has returned.
        self.close(|open| open.of.1 < of.1);
        match self.open.iter_mut().find(|open| open.of == of).filter(|_| again) {
            Some(open) => {
                open.iteration += 1;
                open.called = called;
            }
            None => {
                self.close(|open| open.of == of);
                OPEN.set(OPEN.get() + 1);
                let (own, touched) = (Vec::new(), BTreeMap::new());
                self.open.push(LaneLoop { of, together, iteration: 1, called, own, touched, is_full: false });
            }
        }
    }

    fn close(&mut self, is_over: impl Fn(&LaneLoop) -> bool) {
        let before = self.open.len();
        self.open.retain(|open| !is_over(open));
        OPEN.set(OPEN.get() - (before - self.open.len()) as u32);
    }
}

fn with<R>(use_it: impl FnOnce(&mut Lanes) -> R) -> R {
    RUN.with_thread(sched::current(), |entry| use_it(&mut entry.lanes))
}

/// The running thread touches memory.
pub fn access(tag: Tag, order: u8, start: u64, len: u64, site: u32) {
    if !any() || !sched::running() || len == 0 {
        return;
    }
    let stack = sched::current_slot().stack();
    let bytes = start..start.saturating_add(len);
    let (conflict, is_full) = with(|lanes| {
        let is_atomic = order & order::MASK != order::PLAIN;
        let how = Use { writes: tag != Tag::Read, is_atomic, is_in_order: lanes.is_in_order };
        let (mut conflict, mut is_full) = (None, false);
        for open in lanes.open.iter_mut().filter(|open| !open.is_own(start, &stack)) {
            let was_full = open.is_full;
            conflict = conflict.or(open.touch(&bytes, how, site));
            is_full |= open.is_full && !was_full;
        }
        let pair = conflict.map(|other| (site.min(other), site.max(other)));
        let is_new = pair.is_some_and(|pair| !lanes.reported.contains(&pair));
        lanes.reported.extend(pair.filter(|_| is_new));
        (conflict.filter(|_| is_new), is_full)
    });
    if let Some(other) = conflict {
        hooks::set_site(site);
        sched::misuse(start, text!("{}{other}", wire::LANES).as_str());
    }
    if is_full {
        sched::unmodelled("touches more memory in a `simd` loop than is compared");
    }
}

/// The running thread got a block of memory: it is another one than those that were there before.
pub fn allocated(start: u64, size: u64) {
    if any() && sched::running() {
        with(|lanes| lanes.open.iter_mut().for_each(|open| open.forget(&(start..start.saturating_add(size)))));
    }
}

/// An iteration of loop `number` of the function with this frame begins; `again`: not the first one. `together` iterations may
/// run at the same time, any number if it is 0. Frames of functions that it calls end at `called`.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_lane(number: u32, together: u32, again: u32, frame: *const c_void, called: *const c_void) {
    if sched::running() {
        let together = if together == 0 { u64::MAX } else { together.into() };
        with(|lanes| lanes.begin((number, frame as usize), together, again != 0, called as usize));
    }
}

/// The running thread has left loop `number` of the function with this frame.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_lanes_end(number: u32, frame: *const c_void) {
    if any() && sched::running() {
        with(|lanes| lanes.close(|open| open.of == (number, frame as usize) || open.of.1 < frame as usize));
    }
}

/// Each iteration of the innermost loop has this memory for itself.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_lane_own(p: *const c_void, size: u64) {
    if !sched::running() {
        return;
    }
    let own = p as u64..(p as u64).saturating_add(size);
    with(|lanes| {
        if let Some(open) = lanes.open.last_mut().filter(|open| !open.own.contains(&own)) {
            open.own.push(own);
        }
    });
}

/// The part of an iteration begins that iterations execute in order, or ends.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_lane_order(begins: u32) {
    if sched::running() {
        with(|lanes| lanes.is_in_order = begins != 0);
    }
}

/// An iteration touches memory; `kind_order` as of `__rp_atomic`.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_lane_access(p: *const c_void, size: u64, kind_order: u32, site: u32) {
    let (tag, order) = hooks::kind(kind_order);
    access(tag, order, p as u64, size, site);
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Use = Use { writes: false, is_atomic: false, is_in_order: false };
    const WRITE: Use = Use { writes: true, ..READ };

    fn open(together: u64) -> Lanes {
        let mut lanes = Lanes::default();
        lanes.begin((0, 1000), together, false, 900);
        lanes
    }

    #[test]
    fn iterations_that_run_together_conflict() {
        for (distance, together, conflicts) in [(4, 4, false), (3, 4, true), (100, u64::MAX, true)] {
            let mut lanes = open(together);
            assert_eq!(lanes.open[0].touch(&(64..68), WRITE, 1), None);
            assert_eq!(lanes.open[0].touch(&(64..68), READ, 2), None, "one iteration is in order with itself");
            (0..distance).for_each(|_| lanes.begin((0, 1000), together, true, 900));
            assert_eq!(lanes.open[0].touch(&(67..70), READ, 3).is_some(), conflicts, "{distance} of {together}");
            assert_eq!(lanes.open[0].touch(&(68..70), READ, 3), None, "other bytes");
        }
    }

    #[test]
    fn a_loop_that_was_left_is_forgotten() {
        let mut lanes = open(u64::MAX);
        assert_eq!(lanes.open[0].touch(&(0..4), WRITE, 1), None);
        lanes.begin((0, 1000), u64::MAX, false, 900);
        assert_eq!(lanes.open.len(), 1, "it begins anew");
        assert_eq!(lanes.open[0].touch(&(0..4), WRITE, 1), None);
        lanes.begin((3, 500), u64::MAX, false, 400);
        assert_eq!(lanes.open.len(), 2, "a loop of a function that is called");
        lanes.begin((0, 1000), u64::MAX, true, 900);
        assert_eq!(lanes.open.len(), 1, "which has returned");
        assert_eq!(lanes.open[0].touch(&(0..4), WRITE, 1), Some(1));
        lanes.open[0].forget(&(0..8));
        assert_eq!(lanes.open[0].touch(&(0..4), WRITE, 1), None);
    }

    #[test]
    fn what_is_atomic_or_in_order_does_not_conflict() {
        let (atomic, ordered) = (Use { is_atomic: true, ..WRITE }, Use { is_in_order: true, ..WRITE });
        assert!(!atomic.conflicts(atomic) && !ordered.conflicts(ordered) && !READ.conflicts(READ));
        assert!(atomic.conflicts(WRITE) && ordered.conflicts(WRITE) && atomic.conflicts(ordered));
    }
}
