//! Happens-before computed in a slow and obvious way: a graph of program order and synchronises-with edges, and
//! reachability.
//!
//! Edges into an event come only from earlier ones, so two events that are unordered when the later one is added stay
//! unordered. This file shares no code with the clocks of `model`, which are tested against it.
//!
//! Edges: a release of a lock to later acquisitions of it (except from shared to shared; the start of a wait releases
//! its mutex), all arrivals of a barrier's generation to its departures, a semaphore's posts to later successful waits,
//! the end of a once-routine to later entries, create to start, exit to join, and C11's release–acquire through atomics
//! and fences (`seq_cst` is `acq_rel` here). Signals, failed try-operations, reads of a semaphore's value,
//! initialisation and destruction give none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Access, Addr, Event, EventId, LockMode, Op, Order, SiteId, ThreadId};

use crate::machine::Machine;

/// An event with the events it directly follows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Node {
    event: Event,
    /// Without its predecessor in the same thread.
    after: BTreeSet<EventId>,
}

type Events = BTreeSet<EventId>;

/// What later events may synchronise with.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Sources {
    exclusive_releases: BTreeMap<Addr, Events>,
    shared_releases: BTreeMap<Addr, Events>,
    /// Arrivals by barrier and generation.
    arrivals: BTreeMap<(Addr, u32), Events>,
    /// The generation in which each thread last arrived.
    generation: BTreeMap<(Addr, ThreadId), u32>,
    posts: BTreeMap<Addr, Events>,
    once_ends: BTreeMap<Addr, Events>,
    creations: BTreeMap<ThreadId, EventId>,
    exits: BTreeMap<ThreadId, EventId>,
    /// By byte: what an acquiring read of its current value synchronises with.
    published: BTreeMap<u64, Events>,
    /// By thread: its last release fence.
    release_fences: BTreeMap<ThreadId, EventId>,
    /// By thread: what its relaxed reads saw published, for a later acquire fence.
    seen: BTreeMap<ThreadId, Events>,
}

/// The events so far and their order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct History {
    /// By thread, in program order.
    threads: Vec<Vec<Arc<Node>>>,
    sources: Sources,
}

impl History {
    /// Adds an event that the machine has executed; `before` is the state before it. Returns the pairs of sites, the
    /// smaller first, at which it races with earlier events.
    pub(crate) fn add(&mut self, before: &Machine, event: &Event) -> Vec<(SiteId, SiteId)> {
        let after = self.synchronise(before, event);
        let thread = event.id.thread.0 as usize;
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Vec::new());
        }
        self.threads[thread].push(Arc::new(Node { event: event.clone(), after }));
        if event.op.accesses().is_empty() { Vec::new() } else { self.races_with(event) }
    }

    /// The events that happen before this one, itself included, as a count of first events per thread.
    ///
    /// With an event all earlier ones of its thread happen before, so the set is a prefix of each thread.
    fn past(&self, event: EventId) -> Vec<u32> {
        let mut reached = vec![0; self.threads.len()];
        let mut to_visit = vec![event];
        while let Some(EventId { thread, position }) = to_visit.pop() {
            let thread = thread.0 as usize;
            for earlier in (reached[thread]..=position).rev() {
                to_visit.extend(&self.threads[thread][earlier as usize].after);
            }
            reached[thread] = reached[thread].max(position + 1);
        }
        reached
    }

    fn races_with(&self, event: &Event) -> Vec<(SiteId, SiteId)> {
        let past = self.past(event.id);
        let mut races = Vec::new();
        for (thread, nodes) in self.threads.iter().enumerate() {
            let concurrent = nodes.iter().skip(past[thread] as usize).map(|node| &node.event);
            races.extend(concurrent.flat_map(|other| racing_sites(event, other)));
        }
        races
    }

    /// Computes what the event synchronises with, and updates what later ones may synchronise with.
    fn synchronise(&mut self, before: &Machine, event: &Event) -> Events {
        let (id, thread) = (event.id, event.id.thread);
        let s = &mut self.sources;
        let mut after = Events::new();
        match &event.op {
            Op::Access(_) | Op::Accesses(_) | Op::Section { .. } => {
                for access in event.op.accesses() {
                    s.access(id, access, &mut after);
                }
            }
            Op::Fence(order) => {
                if order.acquires() {
                    after.extend(s.seen.get(&thread).into_iter().flatten());
                }
                if order.releases() {
                    s.release_fences.insert(thread, id);
                }
            }
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                after.extend(s.exclusive_releases.get(lock).into_iter().flatten());
                if *mode == LockMode::Exclusive {
                    after.extend(s.shared_releases.get(lock).into_iter().flatten());
                }
            }
            Op::Release { lock, mode: LockMode::Shared } => {
                s.shared_releases.entry(*lock).or_default().insert(id);
            }
            Op::Release { lock, mode: LockMode::Exclusive } | Op::WaitBegin { lock, .. } => {
                s.exclusive_releases.entry(*lock).or_default().insert(id);
            }
            Op::BarrierArrive { barrier } | Op::Meet { barrier } => {
                let generation = before.barrier_generation(*barrier);
                s.arrivals.entry((*barrier, generation)).or_default().insert(id);
                s.generation.insert((*barrier, thread), generation);
            }
            Op::BarrierLeave { barrier } => {
                let generation = s.generation.get(&(*barrier, thread)).copied().unwrap_or_default();
                after.extend(s.arrivals.get(&(*barrier, generation)).into_iter().flatten());
            }
            Op::SemPost { sem } => {
                s.posts.entry(*sem).or_default().insert(id);
            }
            Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => {
                after.extend(s.posts.get(sem).into_iter().flatten());
            }
            Op::OnceBegin { once, .. } => after.extend(s.once_ends.get(once).into_iter().flatten()),
            Op::OnceEnd { once } => {
                s.once_ends.entry(*once).or_default().insert(id);
            }
            Op::Create { child } => {
                s.creations.insert(*child, id);
            }
            Op::Start => after.extend(s.creations.get(&thread)),
            Op::Exit => {
                s.exits.insert(thread, id);
            }
            Op::Join { child } | Op::TryJoin { child, success: true } => after.extend(s.exits.get(child)),
            Op::TryAcquire { success: false, .. }
            | Op::SemTryWait { success: false, .. }
            | Op::TryJoin { success: false, .. }
            | Op::SemGet { .. }
            | Op::Init(_)
            | Op::Destroy(_)
            | Op::WaitEnd { .. }
            | Op::Signal { .. }
            | Op::Broadcast { .. }
            | Op::Detach { .. }
            | Op::Cancel { .. }
            | Op::Cancelled
            | Op::Choose(_)
            | Op::Await { .. }
            | Op::Critical(_)
            | Op::Yield => {}
        }
        after.retain(|source| source.thread != thread);
        after
    }
}

impl Sources {
    fn access(&mut self, id: EventId, access: &Access, after: &mut Events) {
        let bytes = access.cell.start.0..access.cell.end();
        let Some(order) = access.atomic else {
            if access.kind.writes() {
                bytes.for_each(|byte| drop(self.published.remove(&byte)));
            }
            return;
        };
        if access.kind.reads() {
            let read = self.published.range(bytes.clone()).flat_map(|(_, events)| events).copied();
            if order.acquires() {
                after.extend(read);
            } else {
                self.seen.entry(id.thread).or_default().extend(read);
            }
        }
        if access.kind.writes() {
            let mut heads = Events::new();
            if order.releases() {
                heads.insert(id);
            }
            heads.extend(self.release_fences.get(&id.thread));
            for byte in bytes {
                let published = self.published.entry(byte).or_default();
                // A read-modify-write continues the release sequence it reads from; a store starts a new one. In C a
                // store also continues those that its thread heads.
                if !access.kind.reads() {
                    published.retain(|head| order == Order::Continuing && head.thread == id.thread);
                }
                published.extend(&heads);
            }
            self.published.retain(|_, events| !events.is_empty());
        }
    }
}

/// The sites at which two unordered events race: conflicting accesses by different threads, at least one of them plain.
fn racing_sites(a: &Event, b: &Event) -> Vec<(SiteId, SiteId)> {
    let racy = |x: &Access, y: &Access| x.conflicts_with(y) && (x.atomic.is_none() || y.atomic.is_none());
    let mut sites = Vec::new();
    for (i, x) in a.op.accesses().iter().enumerate() {
        for (j, y) in b.op.accesses().iter().enumerate() {
            if let (Some(s), Some(t)) = (a.site_of(i), b.site_of(j))
                && a.id.thread != b.id.thread
                && racy(x, y)
            {
                sites.push((s.min(t), s.max(t)));
            }
        }
    }
    sites
}
