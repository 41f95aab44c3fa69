//! Smaller traces with the same races.
//!
//! After Carril, who filters and groups what is traced. Two independent steps:
//!
//! - [`reduce`] omits accesses to memory that only one thread uses, or that no thread writes. They cannot race, their
//!   reads read the same in every reordering, and they do not affect other threads; so all predictions stay.
//!   [`crate::predict`] does this first.
//! - [`group`] keeps one of several variables that are used alike: by the same threads, in the same ways, between the
//!   same other operations. It is for models that know only names of variables, such as [`crate::cspm`], where what
//!   holds for one holds for all. It also omits variables that are always used under a common lock.
//!
//! *Deviation*: the paper also omits variables whose accesses are ordered in the observed run, which may hide races;
//! this omits nothing that could race.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::{Access, AccessKind, Addr, Cell, Event, EventId, IndexVec, LockMode, Op, Step, ThreadId, Trace};
use rustc_hash::FxHashMap;

use crate::object::ObjectOp;
use crate::tracker::{Survey, Tracker};

/// A trace that consists of some events of another trace.
#[derive(Clone, Debug)]
pub struct Reduced<'t> {
    /// The events kept, renumbered in their threads. The other trace itself where all are.
    pub trace: Cow<'t, Trace>,
    /// By thread: the kept events' positions in the other trace; `None` where all are kept.
    kept: Option<IndexVec<ThreadId, Vec<u32>>>,
}

/// Which thread uses some bytes, and whether they are written.
#[derive(Clone, Copy)]
struct Usage {
    /// `None` if several threads do.
    thread: Option<ThreadId>,
    written: bool,
}

impl Usage {
    fn join(&mut self, other: Self) {
        self.written |= other.written;
        if self.thread != other.thread {
            self.thread = None;
        }
    }

    fn is_shared(self) -> bool {
        self.thread.is_none() && self.written
    }
}

/// Longer cells are not split: what one thread does to a megabyte costs no more than what it does to a page.
const WIDE: u32 = 1 << 12;

/// Memory that several threads use and one writes.
struct Shared {
    /// Eight bytes each.
    granules: FxHashMap<u64, Usage>,
    /// Start → end and usage of memory that wide cells cover, together with all that lies in it. They do not overlap.
    wide: BTreeMap<u64, (u64, Usage)>,
    objects: BTreeSet<Addr>,
}

fn granules(cell: Cell) -> std::ops::Range<u64> {
    if cell.len == 0 { 0..0 } else { cell.start.0 / 8..(cell.end() - 1) / 8 + 1 }
}

impl Shared {
    fn of(trace: &Trace) -> Self {
        let mut shared = Self { granules: FxHashMap::default(), wide: BTreeMap::new(), objects: BTreeSet::new() };
        let mut wide = FxHashMap::<Cell, Usage>::default();
        for event in &trace.events {
            for access in event.op.accesses() {
                let usage = Usage { thread: Some(event.id.thread), written: access.kind.writes() };
                if access.cell.len > WIDE {
                    wide.entry(access.cell).or_insert(usage).join(usage);
                    continue;
                }
                for granule in granules(access.cell) {
                    shared.granules.entry(granule).or_insert(usage).join(usage);
                }
            }
            shared.objects.extend(objects(&event.op).into_iter().flatten());
        }
        shared.join_wide(wide);
        shared
    }

    /// Joins wide cells that overlap, and granules in them.
    fn join_wide(&mut self, cells: FxHashMap<Cell, Usage>) {
        let mut cells: Vec<(Cell, Usage)> = cells.into_iter().collect();
        cells.sort_unstable_by_key(|(cell, _)| *cell);
        for (cell, usage) in cells {
            match self.wide.last_entry() {
                Some(mut last) if cell.start.0 < last.get().0 => {
                    let (end, joined) = last.get_mut();
                    *end = (*end).max(cell.end());
                    joined.join(usage);
                }
                _ => drop(self.wide.insert(cell.start.0, (cell.end(), usage))),
            }
        }
        if self.wide.is_empty() {
            return;
        }
        #[allow(clippy::iter_over_hash_type, reason = "usages are joined in any order")]
        for (granule, usage) in &self.granules {
            let (start, end) = (granule * 8, granule.saturating_mul(8).saturating_add(8));
            for (_, (_, joined)) in self.wide.range_mut(..end).rev().take_while(|(_, (to, _))| *to > start) {
                joined.join(*usage);
            }
        }
    }

    fn may_matter(&self, access: &Access) -> bool {
        let Access { cell, .. } = *access;
        let is_shared = |granule| self.granules.get(&granule).is_some_and(|usage| usage.is_shared());
        let wide = self.wide.range(..cell.end()).rev().take_while(|(_, (end, _))| *end > cell.start.0);
        wide.into_iter().any(|(_, (_, usage))| usage.is_shared())
            || (cell.len <= WIDE && granules(cell).any(is_shared))
            || (access.kind == AccessKind::Free && self.frees_object(cell))
    }

    /// Whether the freed memory contains a synchronisation object, whose end of life may affect other threads.
    fn frees_object(&self, cell: Cell) -> bool {
        self.objects.range(cell.start..Addr(cell.end())).next().is_some()
    }

    fn keeps(&self, event: &Event) -> bool {
        let accesses = event.op.accesses();
        accesses.is_empty() || accesses.iter().any(|access| self.may_matter(access))
    }
}

/// The synchronisation objects an operation names.
fn objects(op: &Op) -> [Option<Addr>; 2] {
    match op {
        Op::WaitBegin { cond, lock } => [Some(*cond), Some(*lock)],
        Op::Acquire { lock: addr, .. }
        | Op::TryAcquire { lock: addr, .. }
        | Op::Release { lock: addr, .. }
        | Op::Init(addr)
        | Op::Destroy(addr)
        | Op::WaitEnd { cond: addr, .. }
        | Op::Signal { cond: addr }
        | Op::Broadcast { cond: addr }
        | Op::BarrierArrive { barrier: addr }
        | Op::BarrierLeave { barrier: addr }
        | Op::Meet { barrier: addr }
        | Op::SemPost { sem: addr }
        | Op::SemWait { sem: addr }
        | Op::SemTryWait { sem: addr, .. }
        | Op::SemGet { sem: addr }
        | Op::OnceBegin { once: addr, .. }
        | Op::OnceEnd { once: addr } => [Some(*addr), None],
        _ => [None, None],
    }
}

/// Omits accesses to memory that only one thread uses, or that no thread writes.
pub fn reduce(trace: &Trace) -> Reduced<'_> {
    let shared = Shared::of(trace);
    Reduced::new(trace, |_, event| shared.keeps(event).then(|| event.op.clone()))
}

/// The same, unless so few events would go that a copy of the others is not worth its memory.
pub(crate) fn reduce_if_worthwhile(trace: &Trace) -> Reduced<'_> {
    let shared = Shared::of(trace);
    let omitted = trace.events.iter().filter(|event| !shared.keeps(event)).count();
    if omitted * 8 <= trace.events.len() {
        return Reduced { trace: Cow::Borrowed(trace), kept: None };
    }
    Reduced::new(trace, |_, event| shared.keeps(event).then(|| event.op.clone()))
}

/// A trace with one of several variables that are used alike.
#[derive(Clone, Debug)]
pub struct Grouped {
    /// The trace.
    pub reduced: Reduced<'static>,
    /// Kept variables, each with those it represents.
    pub groups: BTreeMap<Cell, Vec<Cell>>,
    /// Variables omitted because a lock always guards them.
    pub guarded: Vec<Cell>,
}

/// How a variable is used: in trace order, the thread, its number of synchronisations so far, and the access.
type Signature = Vec<(ThreadId, u32, AccessKind)>;

/// What is known about a variable.
#[derive(Default)]
struct Variable {
    signature: Signature,
    /// Locks held exclusively at every access so far; `None` before the first.
    guards: Option<BTreeSet<Addr>>,
    /// Whether it is used atomically, or overlaps another variable.
    special: bool,
}

/// Keeps one of several variables that are used alike, and none that are always used under a common lock.
///
/// Variables with atomic accesses, and those that overlap others, are left as they are. Relaxed predictions of a kept
/// variable are unchanged and hold for all variables it represents; those omitted for their lock have none.
pub fn group(trace: &Trace) -> Grouped {
    let mut variables = BTreeMap::<Cell, Variable>::new();
    let mut synchronised = IndexVec::<ThreadId, u32>::filled(trace.threads.len(), 0);
    let survey = Survey::of(trace);
    let mut tracker = Tracker::new(&survey);
    let mut held = IndexVec::<ThreadId, BTreeSet<Addr>>::filled(trace.threads.len(), BTreeSet::new());
    for (step, event) in trace.events.iter_enumerated() {
        let thread = event.id.thread;
        let actions = tracker.step(trace, step);
        for action in actions.iter().filter(|action| action.outermost && !tracker.slots[action.object].is_rigid()) {
            match (&event.op, action.op) {
                (Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. }, ObjectOp::Acquire(LockMode::Exclusive)) => {
                    held[thread].insert(*lock);
                }
                (Op::Release { lock, .. } | Op::WaitBegin { lock, .. }, _) => {
                    held[thread].remove(lock);
                }
                _ => {}
            }
        }
        if event.op.accesses().is_empty() {
            synchronised[thread] += 1;
        }
        for access in event.op.accesses() {
            let variable = variables.entry(access.cell).or_default();
            variable.special |= access.atomic.is_some() || access.kind == AccessKind::Free;
            variable.signature.push((thread, synchronised[thread], access.kind));
            match &mut variable.guards {
                Some(guards) => guards.retain(|lock| held[thread].contains(lock)),
                None => variable.guards = Some(held[thread].clone()),
            }
        }
    }
    mark_overlapping(&mut variables);
    let mut kept = BTreeSet::new();
    let (mut groups, mut guarded) = (BTreeMap::<Cell, Vec<Cell>>::new(), Vec::new());
    let mut alike = BTreeMap::<Signature, Cell>::new();
    for (cell, variable) in variables {
        if !variable.special && variable.guards.is_some_and(|guards| !guards.is_empty()) {
            guarded.push(cell);
            continue;
        }
        let same = if variable.special { None } else { alike.get(&variable.signature).copied() };
        match same {
            Some(representative) => groups.entry(representative).or_default().push(cell),
            None => {
                kept.insert(cell);
                groups.entry(cell).or_default();
                if !variable.special {
                    alike.insert(variable.signature, cell);
                }
            }
        }
    }
    let reduced = Reduced::new(trace, |_, event| {
        let accesses = event.op.accesses();
        let left: Vec<Access> = accesses.iter().filter(|a| kept.contains(&a.cell)).copied().collect();
        match left[..] {
            _ if left.len() == accesses.len() => Some(event.op.clone()),
            _ if !event.op.choices().is_empty() => Some(event.op.clone()),
            [] => None,
            [access] => Some(Op::Access(access)),
            _ => Some(Op::Accesses(left.into_boxed_slice())),
        }
    });
    Grouped { reduced, groups, guarded }
}

/// Marks the variables that share bytes with others.
fn mark_overlapping(variables: &mut BTreeMap<Cell, Variable>) {
    // Ascending by first byte: a variable overlaps an earlier one if it starts before the largest end so far.
    let mut overlapping = BTreeSet::new();
    let mut furthest: Option<Cell> = None;
    for cell in variables.keys().copied() {
        if let Some(last) = furthest.filter(|last| cell.start.0 < last.end()) {
            overlapping.extend([last, cell]);
        }
        if furthest.is_none_or(|last| cell.end() > last.end()) {
            furthest = Some(cell);
        }
    }
    for cell in overlapping {
        if let Some(variable) = variables.get_mut(&cell) {
            variable.special = true;
        }
    }
}

impl Reduced<'_> {
    /// The events for which `keep` returns an operation. All others must be accesses.
    pub fn new(trace: &Trace, mut keep: impl FnMut(Step, &Event) -> Option<Op>) -> Reduced<'static> {
        let mut kept = IndexVec::<ThreadId, Vec<u32>>::filled(trace.threads.len(), Vec::new());
        let mut events = IndexVec::<Step, Event>::new();
        let mut threads = trace.threads.clone();
        // For each step of the trace, the number of events kept before it.
        let mut before = Vec::with_capacity(trace.events.len() + 1);
        for (step, event) in trace.events.iter_enumerated() {
            before.push(events.next_id());
            let Some(op) = keep(step, event) else { continue };
            if let Op::Create { child } = op
                && let Some(info) = threads.get_mut(child)
            {
                info.created = Some(events.next_id());
            }
            let positions = &mut kept[event.id.thread];
            let id = EventId { thread: event.id.thread, position: positions.len() as u32 };
            positions.push(event.id.position);
            events.push(Event { id, site: event.site, op });
        }
        let count = events.next_id();
        let new_step = |step: Step| before.get(step.0 as usize).copied().unwrap_or(count);
        let mut runnable: Vec<_> = trace.runnable.iter().map(|(from, set)| (new_step(*from), set.clone())).collect();
        // Of several entries for one state, the last one comes after the omitted events and is kept.
        runnable.reverse();
        runnable.dedup_by_key(|(from, _)| *from);
        runnable.reverse();
        let pending = trace.pending.iter().cloned().map(|mut pending| {
            pending.event.id.position = kept[pending.event.id.thread].len() as u32;
            pending
        });
        let moved = |step: &mut Step| *step = new_step(*step);
        let mut trace = Trace {
            threads,
            runnable,
            pending: pending.collect(),
            allocations: trace.allocations.clone(),
            misuses: trace.misuses.clone(),
            unmodelled: trace.unmodelled.clone(),
            opened: trace.opened.clone(),
            peers: trace.peers.clone(),
            end: trace.end.clone(),
            events,
        };
        trace.allocations.iter_mut().for_each(|allocation| moved(&mut allocation.before));
        trace.misuses.iter_mut().for_each(|misuse| moved(&mut misuse.before));
        trace.opened.iter_mut().for_each(|file| moved(&mut file.before));
        trace.peers.iter_mut().for_each(|peer| moved(&mut peer.before));
        Reduced { trace: Cow::Owned(trace), kept: Some(kept) }
    }

    /// An event's position in the other trace; for the index after the last event, the position after it.
    pub(crate) fn position(&self, thread: ThreadId, position: u32) -> u32 {
        let Some(kept) = &self.kept else { return position };
        let kept = &kept[thread];
        let last = || kept.last().map_or(0, |last| last + 1);
        kept.get(position as usize).copied().unwrap_or_else(last)
    }

    /// An event's identity in the other trace.
    pub fn whole(&self, event: EventId) -> EventId {
        EventId { position: self.position(event.thread, event.position), ..event }
    }
}
