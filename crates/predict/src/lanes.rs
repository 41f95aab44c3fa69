//! Conflicting accesses that happens-before and locksets leave undecided.
//!
//! A *lane* is the accesses of one thread, at one site, to one cell, of one kind, under the same locks. Two lanes whose
//! threads hold a common lock, one of them exclusively, cannot come side by side in any reordering, since a thread
//! holds the same locks at an event in all of them; that is the lockset filter. Rigid locks do not count.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use model::race::SitePair;
use model::shadow::Shadow;
use model::{Access, Cell, Event, IndexVec, LockMode, SiteId, Step, ThreadId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::object::ObjectOp;
use crate::tracker::{ObjectAction, ObjectId, Tracker};

model::index_type! {
    /// A lane.
    pub(crate) struct LaneId("lane ");
    /// A set of locks, each with its mode.
    pub(crate) struct LocksetId("locks ");
}

/// What the accesses of a lane have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct LaneKey {
    thread: ThreadId,
    site: Option<SiteId>,
    cell: Cell,
    writes: bool,
    plain: bool,
    locks: LocksetId,
    /// Whether the racing access does the same whatever it reads; see [`is_steady`].
    steady: bool,
}

/// Accesses with a common key. A trace may have millions, so they are small.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    kind: LaneKey,
    /// Another lane that is found in the same place, among them all that differ in their locks only.
    next: Option<LaneId>,
    /// Their steps, ascending.
    pub(crate) steps: SmallVec<[Step; 4]>,
}

impl Lane {
    /// Whether the accesses are single loads or stores, which do the same whatever they read.
    pub(crate) fn is_steady(&self) -> bool {
        self.kind.steady
    }
}

/// Whether an event touches the same bytes in the same way whatever it reads: a load or a store. A read-modify-write
/// may be a compare-exchange, which fails on another value, and a library function's footprint may depend on the data
/// it finds.
pub(crate) fn is_steady(event: &Event) -> bool {
    match event.op.accesses() {
        [access] => !(access.kind.reads() && access.kind.writes()),
        accesses => !accesses.iter().any(|a| a.kind.reads()),
    }
}

type Lockset = Vec<(ObjectId, LockMode)>;

/// The set without locks.
const NO_LOCKS: LocksetId = LocksetId(0);

/// Locksets by which accesses are told apart that have everything else in common. Further ones count as holding nothing,
/// which filters less.
const LOCKSETS: usize = 16;

/// Pairs of lanes that are kept for a pair of sites, and that are looked at for a whole trace besides one for each event.
const LANE_PAIRS: usize = 1 << 12;
const LOOKED_AT: u64 = 1 << 25;

/// The pairs of lanes of a pair of sites that could race.
#[derive(Clone, Debug)]
pub(crate) struct FoundLanes {
    pub(crate) lanes: Vec<(LaneId, LaneId)>,
    /// Whether these are all.
    pub(crate) complete: bool,
}

/// Collects lanes along a trace.
#[derive(Debug)]
pub(crate) struct Lanes {
    wanted: FxHashSet<SitePair>,
    sites: FxHashSet<Option<SiteId>>,
    held: IndexVec<ThreadId, Lockset>,
    current: IndexVec<ThreadId, LocksetId>,
    locksets: IndexVec<LocksetId, Lockset>,
    lockset_ids: FxHashMap<Lockset, LocksetId>,
    /// By hash of a key without locks: the newest lane there.
    places: FxHashMap<u64, LaneId>,
    /// Accesses so far.
    accesses: u64,
    lanes: IndexVec<LaneId, Lane>,
    cells: Shadow<LaneId, ()>,
}

impl Lanes {
    /// Collects accesses of these pairs of sites.
    pub(crate) fn new(threads: usize, wanted: impl IntoIterator<Item = SitePair>) -> Self {
        let wanted: FxHashSet<SitePair> = wanted.into_iter().collect();
        #[allow(clippy::iter_over_hash_type, reason = "a set is made of a set")]
        let sites = wanted.iter().flat_map(|(one, other)| [*one, *other]).collect();
        Self {
            wanted,
            sites,
            held: IndexVec::filled(threads, Lockset::new()),
            current: IndexVec::filled(threads, NO_LOCKS),
            locksets: IndexVec::from_raw(vec![Lockset::new()]),
            lockset_ids: FxHashMap::from_iter([(Lockset::new(), NO_LOCKS)]),
            places: FxHashMap::default(),
            accesses: 0,
            lanes: IndexVec::new(),
            cells: Shadow::default(),
        }
    }

    pub(crate) fn lane(&self, lane: LaneId) -> &Lane {
        &self.lanes[lane]
    }

    /// Adds the next event of the trace.
    pub(crate) fn step(&mut self, tracker: &Tracker<'_>, event: &Event, step: Step, actions: &[ObjectAction]) {
        let thread = event.id.thread;
        for action in actions.iter().filter(|a| a.outermost) {
            self.hold(tracker, thread, action);
        }
        if event.op.accesses().is_empty() || !self.sites.contains(&event.site) {
            return;
        }
        let steady = is_steady(event);
        for access in event.op.accesses() {
            let Access { kind, atomic, cell } = *access;
            let locks = self.current[thread];
            let (writes, plain) = (kind.writes(), atomic.is_none());
            let kind = LaneKey { thread, site: event.site, cell, writes, plain, locks, steady };
            let lane = self.lane_of(kind);
            self.accesses += 1;
            let steps = &mut self.lanes[lane].steps;
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
    }

    fn lane_of(&mut self, mut kind: LaneKey) -> LaneId {
        let bare = |kind: &LaneKey| LaneKey { locks: NO_LOCKS, ..*kind };
        let place = FxBuildHasher.hash_one(bare(&kind));
        let first = self.places.get(&place).copied();
        let here = || std::iter::successors(first, |lane| self.lanes[*lane].next);
        let find = |kind: &LaneKey| here().find(|lane| self.lanes[*lane].kind == *kind);
        if let Some(known) = find(&kind) {
            return known;
        }
        if here().filter(|lane| bare(&self.lanes[*lane].kind) == bare(&kind)).count() >= LOCKSETS {
            kind.locks = NO_LOCKS;
            if let Some(known) = find(&kind) {
                return known;
            }
        }
        let id = self.lanes.push(Lane { kind, next: first, steps: SmallVec::new() });
        self.places.insert(place, id);
        self.cells.update(kind.cell, kind.thread, id, |()| {});
        id
    }

    fn hold(&mut self, tracker: &Tracker<'_>, thread: ThreadId, action: &ObjectAction) {
        // Operating on a lock the thread does not hold makes the lock rigid, so its holds prove nothing.
        if tracker.slots[action.object].is_rigid() {
            return;
        }
        let held = &mut self.held[thread];
        let (mode, take) = match action.op {
            ObjectOp::Acquire(mode) => (mode, true),
            ObjectOp::Release(mode) => (mode, false),
            ObjectOp::ReleaseToWait => (LockMode::Exclusive, false),
            _ => return,
        };
        let entry = (action.object, mode);
        match held.binary_search(&entry) {
            Ok(at) if !take => drop(held.remove(at)),
            Err(at) if take => held.insert(at, entry),
            _ => return,
        }
        self.current[thread] = match self.lockset_ids.get(held) {
            Some(id) => *id,
            None => {
                let id = self.locksets.push(held.clone());
                self.lockset_ids.insert(held.clone(), id);
                id
            }
        };
    }

    /// Whether holders of these two locksets exclude each other.
    fn exclude(&self, one: LocksetId, other: LocksetId) -> bool {
        let (one, other) = (&self.locksets[one], &self.locksets[other]);
        let exclusive = |mode: &LockMode| *mode == LockMode::Exclusive;
        one.iter().any(|(lock, mode)| {
            other.iter().any(|(theirs, their_mode)| lock == theirs && (exclusive(mode) || exclusive(their_mode)))
        })
    }

    /// The pairs of lanes that could race, by pair of sites. Contains every requested pair of sites.
    pub(crate) fn pairs(&self) -> BTreeMap<SitePair, FoundLanes> {
        let none = FoundLanes { lanes: Vec::new(), complete: true };
        #[allow(clippy::iter_over_hash_type, reason = "an ordered map is made")]
        let mut pairs: BTreeMap<SitePair, FoundLanes> = self.wanted.iter().map(|s| (*s, none.clone())).collect();
        let mut left = self.accesses + LOOKED_AT;
        for (id, lane) in self.lanes.iter_enumerated() {
            if left == 0 {
                break;
            }
            self.cells.visit(lane.kind.cell, |thread, other, ()| {
                left = left.saturating_sub(1);
                if other <= id || thread == lane.kind.thread {
                    return;
                }
                let theirs = &self.lanes[other].kind;
                let mine = &lane.kind;
                let could_race = (mine.writes || theirs.writes) && (mine.plain || theirs.plain);
                if !could_race || self.exclude(mine.locks, theirs.locks) {
                    return;
                }
                let sites = (mine.site.min(theirs.site), mine.site.max(theirs.site));
                let Some(found) = pairs.get_mut(&sites) else { return };
                if found.lanes.len() < LANE_PAIRS {
                    found.lanes.push((id, other));
                } else {
                    found.complete = false;
                }
            });
        }
        for found in pairs.values_mut() {
            found.complete &= left > 0;
            found.lanes.sort_unstable();
            found.lanes.dedup();
        }
        pairs
    }
}
