//! All correct reorderings of a small trace, computed in a slow and obvious way.
//!
//! Tries every next event in every state. A state is the number of events done per thread, the last write of every
//! byte, and all objects; each is visited once. Shares no code with the crate under test.

use std::collections::{BTreeMap, BTreeSet};

use model::race::{SitePair, could_race};
use model::{AccessKind, Addr, Event, EventId, LockMode, Op, Step, ThreadId, Trace, WakeCause};

type Count = BTreeMap<ThreadId, u32>;

/// The state of all objects and of memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct World {
    done: Vec<usize>,
    bytes: BTreeMap<u64, EventId>,
    exclusive: BTreeMap<Addr, (ThreadId, u32)>,
    shared: BTreeMap<Addr, Count>,
    given_up: BTreeMap<(Addr, ThreadId), u32>,
    waiters: BTreeMap<Addr, BTreeSet<ThreadId>>,
    /// The threads that may consume each signal, oldest first.
    permits: BTreeMap<Addr, Vec<BTreeSet<ThreadId>>>,
    waiting: BTreeMap<Addr, BTreeSet<ThreadId>>,
    values: BTreeMap<Addr, i64>,
    once: BTreeMap<Addr, bool>,
}

/// What an event observed when it was executed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Found {
    sources: BTreeMap<u64, Option<EventId>>,
    value: Option<i64>,
}

struct Brute<'a> {
    trace: &'a Trace,
    threads: Vec<Vec<Step>>,
    found: Vec<Found>,
    /// Initial values of semaphores, sizes of barriers.
    values: BTreeMap<Addr, i64>,
    sizes: BTreeMap<Addr, usize>,
    last_arrivals: BTreeSet<EventId>,
    visited: BTreeSet<World>,
    pairs: BTreeSet<SitePair>,
}

/// The pairs of sites that some correct reordering brings side by side; `None` beyond `limit` states. The trace must be
/// free of misuse and initialise each object at most once, before its use.
pub(crate) fn side_by_side(trace: &Trace, limit: usize) -> Option<BTreeSet<SitePair>> {
    let mut brute = Brute::new(trace);
    let start = World { done: vec![0; trace.threads.len()], ..World::default() };
    let mut to_visit = vec![start];
    while let Some(world) = to_visit.pop() {
        if brute.visited.len() >= limit {
            return None;
        }
        if !brute.visited.insert(world.clone()) {
            continue;
        }
        brute.collect(&world);
        for thread in 0..world.done.len() {
            if let Some(step) = brute.next(&world, thread)
                && brute.possible(&world, step)
            {
                let mut after = world.clone();
                brute.execute(&mut after, step);
                to_visit.push(after);
            }
        }
    }
    Some(brute.pairs)
}

fn object(op: &Op) -> Option<Addr> {
    match op {
        Op::Acquire { lock: addr, .. }
        | Op::TryAcquire { lock: addr, .. }
        | Op::Release { lock: addr, .. }
        | Op::WaitBegin { cond: addr, .. }
        | Op::WaitEnd { cond: addr, .. }
        | Op::Signal { cond: addr }
        | Op::Broadcast { cond: addr }
        | Op::BarrierArrive { barrier: addr }
        | Op::BarrierLeave { barrier: addr }
        | Op::SemPost { sem: addr }
        | Op::SemWait { sem: addr }
        | Op::SemTryWait { sem: addr, .. }
        | Op::SemGet { sem: addr }
        | Op::OnceBegin { once: addr, .. }
        | Op::OnceEnd { once: addr } => Some(*addr),
        _ => None,
    }
}

fn reaped(op: &Op) -> Option<ThreadId> {
    match op {
        Op::Join { child } | Op::TryJoin { child, .. } | Op::Detach { child } => Some(*child),
        _ => None,
    }
}

impl<'a> Brute<'a> {
    fn new(trace: &'a Trace) -> Self {
        let mut brute = Self {
            trace,
            threads: vec![Vec::new(); trace.threads.len()],
            found: Vec::new(),
            values: BTreeMap::new(),
            sizes: BTreeMap::new(),
            last_arrivals: BTreeSet::new(),
            visited: BTreeSet::new(),
            pairs: BTreeSet::new(),
        };
        let (mut balance, mut arrived) = (BTreeMap::<Addr, i64>::new(), BTreeMap::<Addr, usize>::new());
        for (step, event) in trace.events.iter_enumerated() {
            brute.threads[event.id.thread.0 as usize].push(step);
            match event.op {
                Op::SemPost { sem } => *balance.entry(sem).or_default() += 1,
                Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => {
                    let balance = balance.entry(sem).or_default();
                    *balance -= 1;
                    let least = brute.values.entry(sem).or_default();
                    *least = (*least).max(-*balance);
                }
                Op::BarrierArrive { barrier } => {
                    let arrived = arrived.entry(barrier).or_default();
                    *arrived += 1;
                    if trace.runnable_at(Step(step.0 + 1)).contains(event.id.thread) {
                        brute.last_arrivals.insert(event.id);
                        brute.sizes.insert(barrier, *arrived);
                        *arrived = 0;
                    }
                }
                _ => {}
            }
        }
        let mut world = World { done: vec![0; trace.threads.len()], ..World::default() };
        for (step, event) in trace.events.iter_enumerated() {
            let found = brute.look(&world, event);
            brute.found.push(found);
            brute.execute(&mut world, step);
        }
        brute
    }

    fn next(&self, world: &World, thread: usize) -> Option<Step> {
        self.threads[thread].get(world.done[thread]).copied()
    }

    fn value(&self, world: &World, sem: Addr) -> i64 {
        let first = self.values.get(&sem).copied().unwrap_or(0);
        world.values.get(&sem).copied().unwrap_or(first)
    }

    fn look(&self, world: &World, event: &Event) -> Found {
        let mut found = Found::default();
        for access in event.op.accesses().iter().filter(|a| a.kind.reads()) {
            for byte in access.cell.start.0..access.cell.end() {
                found.sources.insert(byte, world.bytes.get(&byte).copied());
            }
        }
        if let Op::SemGet { sem } = event.op {
            found.value = Some(self.value(world, sem));
        }
        found
    }

    fn is_done(&self, world: &World, step: Step) -> bool {
        let id = self.trace.events[step].id;
        world.done[id.thread.0 as usize] > id.position as usize
    }

    fn is_created(&self, world: &World, thread: ThreadId) -> bool {
        self.trace.threads[thread].created.is_none_or(|step| self.is_done(world, step))
    }

    fn exit(&self, thread: ThreadId) -> Option<Step> {
        self.threads[thread.0 as usize].iter().copied().find(|s| self.trace.events[*s].op == Op::Exit)
    }

    fn can_take(world: &World, thread: ThreadId, lock: Addr, mode: LockMode) -> bool {
        match (world.exclusive.get(&lock), mode) {
            (Some((holder, _)), LockMode::Exclusive) => *holder == thread,
            (Some(_), LockMode::Shared) => false,
            (None, LockMode::Shared) => true,
            (None, LockMode::Exclusive) => world.shared.get(&lock).is_none_or(BTreeMap::is_empty),
        }
    }

    fn possible(&self, world: &World, step: Step) -> bool {
        let event = &self.trace.events[step];
        let thread = event.id.thread;
        let earlier = |step: Step| self.trace.events.iter_enumerated().take_while(move |(s, _)| *s < step);
        if !self.is_created(world, thread) || self.look(world, event) != self.found[step.0 as usize] {
            return false;
        }
        // Initialisation keeps its order with all uses, and so do joins and detachments of a thread.
        let used = |e: &Event, addr: Addr| {
            object(&e.op) == Some(addr) || matches!(e.op, Op::WaitBegin { lock, .. } if lock == addr)
        };
        let before = |e: &Event| match (&e.op, &event.op) {
            (Op::Init(a) | Op::Destroy(a), Op::Init(b) | Op::Destroy(b)) => a == b,
            (Op::Init(a) | Op::Destroy(a), _) => used(event, *a),
            (_, Op::Init(b) | Op::Destroy(b)) => used(e, *b),
            _ => reaped(&e.op).is_some() && reaped(&e.op) == reaped(&event.op),
        };
        if earlier(step).any(|(s, e)| before(e) && !self.is_done(world, s)) {
            return false;
        }
        let permit = |cond: &Addr| world.permits.get(cond).into_iter().flatten().any(|p| p.contains(&thread));
        match &event.op {
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                Self::can_take(world, thread, *lock, *mode)
            }
            Op::TryAcquire { lock, mode, success: false } => {
                let own = world.exclusive.get(lock).is_some_and(|(holder, _)| *holder == thread);
                own || !Self::can_take(world, thread, *lock, *mode)
            }
            Op::WaitEnd { cond, cause } => permit(cond) == (*cause == WakeCause::Signalled),
            Op::BarrierArrive { barrier } => {
                let waiting = world.waiting.get(barrier).map_or(0, BTreeSet::len);
                let last = self.sizes.get(barrier).is_some_and(|size| waiting + 1 >= *size);
                last == self.last_arrivals.contains(&event.id)
            }
            Op::BarrierLeave { barrier } => !world.waiting.get(barrier).is_some_and(|w| w.contains(&thread)),
            Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => self.value(world, *sem) > 0,
            Op::SemTryWait { sem, success: false } => self.value(world, *sem) == 0,
            Op::OnceBegin { once, run: true } => !world.once.contains_key(once),
            Op::OnceBegin { once, run: false } => world.once.get(once) == Some(&true),
            Op::Join { child } | Op::TryJoin { child, success: true } => {
                self.exit(*child).is_some_and(|exit| self.is_done(world, exit))
            }
            Op::TryJoin { child, success: false } => {
                let exited = |exit: Step| self.is_done(world, exit);
                self.exit(*child).is_some_and(exited) == self.exit(*child).is_some_and(|exit| exit < step)
            }
            _ => true,
        }
    }

    fn execute(&self, world: &mut World, step: Step) {
        let event = &self.trace.events[step];
        let (id, thread) = (event.id, event.id.thread);
        world.done[thread.0 as usize] += 1;
        for access in event.op.accesses().iter().filter(|a| a.kind.writes()) {
            for byte in access.cell.start.0..access.cell.end() {
                world.bytes.insert(byte, id);
            }
        }
        match &event.op {
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                let levels = world.given_up.remove(&(*lock, thread)).unwrap_or(1);
                match mode {
                    LockMode::Exclusive => world.exclusive.entry(*lock).or_insert((thread, 0)).1 += levels,
                    LockMode::Shared => *world.shared.entry(*lock).or_default().entry(thread).or_default() += levels,
                }
            }
            Op::Release { lock, mode: LockMode::Exclusive } => {
                if let Some((_, levels)) = world.exclusive.get_mut(lock) {
                    *levels -= 1;
                    if *levels == 0 {
                        world.exclusive.remove(lock);
                    }
                }
            }
            Op::Release { lock, mode: LockMode::Shared } => {
                let holders = world.shared.entry(*lock).or_default();
                *holders.entry(thread).or_default() -= 1;
                holders.retain(|_, levels| *levels > 0);
            }
            Op::WaitBegin { cond, lock } => {
                if let Some((_, levels)) = world.exclusive.remove(lock) {
                    world.given_up.insert((*lock, thread), levels);
                }
                world.waiters.entry(*cond).or_default().insert(thread);
            }
            Op::WaitEnd { cond, .. } => {
                let permits = world.permits.entry(*cond).or_default();
                if let Some(at) = permits.iter().position(|p| p.contains(&thread)) {
                    permits.remove(at);
                }
                for permit in permits.iter_mut() {
                    permit.remove(&thread);
                }
                permits.retain(|p| !p.is_empty());
                world.waiters.entry(*cond).or_default().remove(&thread);
            }
            Op::Signal { cond } => {
                let waiters = world.waiters.entry(*cond).or_default();
                let permits = world.permits.entry(*cond).or_default();
                if permits.len() < waiters.len() {
                    permits.push(waiters.clone());
                }
            }
            Op::Broadcast { cond } => {
                let waiters = world.waiters.entry(*cond).or_default();
                world.permits.insert(*cond, waiters.iter().map(|w| BTreeSet::from([*w])).collect());
            }
            Op::BarrierArrive { barrier } => {
                let waiting = world.waiting.entry(*barrier).or_default();
                if self.last_arrivals.contains(&id) {
                    waiting.clear();
                } else {
                    waiting.insert(thread);
                }
            }
            Op::SemPost { sem } => drop(world.values.insert(*sem, self.value(world, *sem) + 1)),
            Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => {
                world.values.insert(*sem, self.value(world, *sem) - 1);
            }
            Op::OnceBegin { once, run: true } => drop(world.once.insert(*once, false)),
            Op::OnceEnd { once } => drop(world.once.insert(*once, true)),
            _ => {}
        }
    }

    /// Whether the event can come next and race: its footprint does not depend on what it reads, or it reads its
    /// observed value.
    fn can_race(&self, world: &World, step: Step) -> bool {
        let event = &self.trace.events[step];
        let accesses = event.op.accesses();
        let single = accesses.len() == 1 && accesses[0].kind != AccessKind::ReadModifyWrite;
        self.is_created(world, event.id.thread) && (single || self.look(world, event) == self.found[step.0 as usize])
    }

    fn collect(&mut self, world: &World) {
        let next: Vec<Step> = (0..world.done.len()).filter_map(|thread| self.next(world, thread)).collect();
        for (at, one) in next.iter().enumerate() {
            for other in &next[at + 1..] {
                let (a, b) = (&self.trace.events[*one], &self.trace.events[*other]);
                let meet = a.op.accesses().iter().any(|x| b.op.accesses().iter().any(|y| could_race(x, y)));
                if meet && self.can_race(world, *one) && self.can_race(world, *other) {
                    self.pairs.insert((a.site.min(b.site), a.site.max(b.site)));
                }
            }
        }
    }
}
