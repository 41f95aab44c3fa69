//! Follows the synchronisation objects of a trace in its own order.
//!
//! Objects are named by (address, life): initialising, destroying or freeing an object ends its life, and every
//! operation stays in the life in which it was observed. Three things about an object are not in the trace's events and
//! are worked out by a [`Survey`] first:
//!
//! - the *first value of a semaphore*: the smallest one with which the trace is possible. The true one is no smaller, so
//!   what is possible with this one is possible;
//! - *how many threads a barrier waits for*: the arrivals of its first complete generation;
//! - whether an object is *rigid*. The operations on a rigid object keep their order, so all have the results they had.
//!   An object is rigid when the trace says it was misused, or shows something the rules do not allow (such as giving
//!   back a lock that another thread holds, or a wake-up that no signal explains), and when the trace does not say when
//!   a barrier's generations were complete. The reaping of a thread is rigid always.

use std::collections::{BTreeMap, BTreeSet};

use model::{AccessKind, Addr, IndexVec, LockMode, Op, Step, ThreadId, ThreadSet, Trace};
use smallvec::SmallVec;

use crate::object::{Deed, Facts, Lock, Object};

model::index_type! {
    /// One life of a synchronisation object, numbered in the order of first use.
    pub(crate) struct ObjectId("o");
}

/// What names an object at one time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Name {
    At(Addr),
    Life(ThreadId),
}

/// An object and what was done to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    object: Object,
    facts: Facts,
    /// How many deeds were done.
    pub(crate) done: u32,
    /// Whether it exists: false before its `Birth`.
    pub(crate) born: bool,
}

impl Slot {
    fn new(facts: Facts) -> Self {
        Self { object: Object::Unused, facts, done: 0, born: true }
    }

    /// Whether the operations on it keep their order.
    pub(crate) fn is_rigid(&self) -> bool {
        self.facts.rigid
    }

    /// The object if it is a lock.
    pub(crate) fn lock(&self) -> Option<&Lock> {
        match &self.object {
            Object::Lock(lock) => Some(lock),
            _ => None,
        }
    }

    /// The object's state.
    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    /// Whether the thread can do this now, with this result.
    pub(crate) fn allows(&self, thread: ThreadId, act: &Act) -> bool {
        match act.deed {
            Deed::Birth => true,
            Deed::End => self.done == act.nth,
            _ if !self.born => false,
            _ if self.facts.rigid => self.done == act.nth,
            deed if self.object == Object::Unused => Object::fresh(deed, &self.facts).allows(thread, deed),
            deed => self.object.allows(thread, deed),
        }
    }

    /// Does it.
    pub(crate) fn perform(&mut self, thread: ThreadId, deed: Deed) {
        self.done += 1;
        self.born = true;
        if self.object == Object::Unused {
            self.object = Object::fresh(deed, &self.facts);
        }
        self.object.perform(thread, deed);
    }
}

/// A deed done to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Act {
    pub(crate) object: ObjectId,
    pub(crate) deed: Deed,
    /// How many deeds the trace did to the object before.
    pub(crate) nth: u32,
    /// For deeds on locks: whether it changed whether the thread holds the lock at all.
    pub(crate) outermost: bool,
}

/// What an event does to objects.
pub(crate) type Acts = SmallVec<[Act; 2]>;

/// The objects after some first events of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Tracker<'a> {
    survey: &'a Survey,
    names: BTreeMap<Name, ObjectId>,
    pub(crate) slots: IndexVec<ObjectId, Slot>,
    exited: ThreadSet,
}

impl<'a> Tracker<'a> {
    /// Before the first event.
    pub(crate) fn new(survey: &'a Survey) -> Self {
        Self { survey, names: BTreeMap::new(), slots: IndexVec::new(), exited: ThreadSet::new() }
    }

    fn create(&mut self, name: Name) -> ObjectId {
        let mut facts = self.survey.facts.get(self.slots.next_id()).copied().unwrap_or_default();
        facts.rigid |= matches!(name, Name::Life(_));
        let id = self.slots.push(Slot::new(facts));
        self.names.insert(name, id);
        id
    }

    fn find(&mut self, name: Name) -> ObjectId {
        self.names.get(&name).copied().unwrap_or_else(|| self.create(name))
    }

    /// Whether the thread's last event has been taken in.
    pub(crate) fn has_exited(&self, thread: ThreadId) -> bool {
        self.exited.contains(thread)
    }

    /// The deeds of the next event with the objects as they are named now; an end of a life comes with a birth.
    fn deeds(&mut self, trace: &Trace, step: Step) -> SmallVec<[(ObjectId, Deed); 2]> {
        let mut deeds = SmallVec::new();
        let mut add = |tracker: &mut Self, addr: Addr, deed| deeds.push((tracker.find(Name::At(addr)), deed));
        match &trace.events[step].op {
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                add(self, *lock, Deed::Take(*mode));
            }
            Op::TryAcquire { lock, mode, success: false } => add(self, *lock, Deed::NotTaken(*mode)),
            Op::Release { lock, mode } => add(self, *lock, Deed::Give(*mode)),
            Op::WaitBegin { cond, lock } => {
                add(self, *cond, Deed::Wait);
                add(self, *lock, Deed::GiveUp);
            }
            Op::WaitEnd { cond, cause } => add(self, *cond, Deed::Wake(*cause)),
            Op::Signal { cond } => add(self, *cond, Deed::Signal),
            Op::Broadcast { cond } => add(self, *cond, Deed::Broadcast),
            Op::BarrierArrive { barrier } => {
                let last = completes_generation(trace, step);
                add(self, *barrier, Deed::Arrive { last });
            }
            Op::BarrierLeave { barrier } => add(self, *barrier, Deed::Leave),
            Op::SemPost { sem } => add(self, *sem, Deed::Post),
            Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => add(self, *sem, Deed::Down),
            Op::SemTryWait { sem, success: false } => add(self, *sem, Deed::NotDown),
            Op::SemGet { sem } => {
                let id = self.find(Name::At(*sem));
                let value = match self.slots[id].object {
                    Object::Semaphore(value) => value,
                    _ => self.slots[id].facts.value,
                };
                deeds.push((id, Deed::Look(value)));
            }
            Op::OnceBegin { once, run: true } => add(self, *once, Deed::RunOnce),
            Op::OnceBegin { once, run: false } => add(self, *once, Deed::PassOnce),
            Op::OnceEnd { once } => add(self, *once, Deed::EndOnce),
            Op::Join { child } | Op::TryJoin { child, .. } | Op::Detach { child } => {
                deeds.push((self.find(Name::Life(*child)), Deed::Reap));
            }
            Op::Init(addr) | Op::Destroy(addr) => {
                let name = Name::At(*addr);
                deeds.extend(self.names.get(&name).map(|old| (*old, Deed::End)));
                deeds.push((self.create(name), Deed::Birth));
            }
            Op::Access(_) | Op::Accesses(_) | Op::Section { .. } => {
                for free in trace.events[step].op.accesses().iter().filter(|a| a.kind == AccessKind::Free) {
                    let range = Name::At(free.cell.start)..Name::At(Addr(free.cell.end()));
                    let inside: Vec<(Name, ObjectId)> = self.names.range(range).map(|(n, id)| (*n, *id)).collect();
                    for (name, old) in inside {
                        deeds.push((old, Deed::End));
                        deeds.push((self.create(name), Deed::Birth));
                    }
                }
            }
            Op::Fence(_)
            | Op::Choose(_)
            | Op::Await { .. }
            | Op::Create { .. }
            | Op::Start
            | Op::Exit
            | Op::Cancel { .. }
            | Op::Cancelled
            | Op::Yield => {}
        }
        deeds
    }

    /// Takes in the next event and says what it did. Steps must come in order from 0.
    pub(crate) fn step(&mut self, trace: &Trace, step: Step) -> Acts {
        self.step_with(trace, step, |_, _| {})
    }

    /// The same, showing each slot with the act before it is done.
    pub(crate) fn step_with(&mut self, trace: &Trace, step: Step, mut look: impl FnMut(&Slot, &Act)) -> Acts {
        let thread = trace.events[step].id.thread;
        if trace.events[step].op == Op::Exit {
            self.exited.insert(thread);
        }
        let mut acts = Acts::new();
        for (object, deed) in self.deeds(trace, step) {
            let slot = &mut self.slots[object];
            let mut act = Act { object, deed, nth: slot.done, outermost: false };
            look(slot, &act);
            let held = |slot: &Slot, mode| slot.lock().is_some_and(|lock| lock.holds(thread, mode));
            let mode = match deed {
                Deed::Take(mode) | Deed::Give(mode) => Some(mode),
                Deed::GiveUp => Some(LockMode::Exclusive),
                _ => None,
            };
            let before = mode.map(|mode| held(slot, mode));
            slot.perform(thread, deed);
            act.outermost = before != mode.map(|mode| held(slot, mode));
            acts.push(act);
        }
        acts
    }
}

/// Whether the arrival at a barrier completes its generation: the thread can leave at once.
fn completes_generation(trace: &Trace, arrival: Step) -> bool {
    let thread = trace.events[arrival].id.thread;
    !trace.runnable.is_empty() && trace.runnable_at(Step(arrival.0 + 1)).contains(thread)
}

/// What is known about the objects of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Survey {
    facts: IndexVec<ObjectId, Facts>,
}

impl Survey {
    /// Whether some object's operations are kept in order.
    pub(crate) fn any_rigid(&self) -> bool {
        self.facts.iter().any(|facts| facts.rigid)
    }

    /// Works out what the trace's events do not say.
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut survey = Self { facts: Self::first_values(trace) };
        let mut broken = BTreeSet::<ObjectId>::new();
        let misused: BTreeSet<Addr> = trace.misuses.iter().map(|m| m.object).collect();
        let mut tracker = Tracker::new(&survey);
        for step in trace.events.ids() {
            let thread = trace.events[step].id.thread;
            let acts = tracker.step_with(trace, step, |slot, act| {
                let untold = trace.runnable.is_empty() && matches!(act.deed, Deed::Arrive { .. });
                if untold || !slot.allows(thread, act) {
                    broken.insert(act.object);
                }
            });
            // Every life that an object is misused in has an operation in the trace.
            if !acts.is_empty() {
                broken.extend(misused.iter().filter_map(|addr| tracker.names.get(&Name::At(*addr))));
            }
        }
        for object in broken {
            survey.facts[object].rigid = true;
        }
        survey
    }

    /// The first values of semaphores and the sizes of barriers.
    fn first_values(trace: &Trace) -> IndexVec<ObjectId, Facts> {
        let nothing = Self::default();
        let mut tracker = Tracker::new(&nothing);
        let mut facts = IndexVec::<ObjectId, Facts>::new();
        // Per object: posts less successful waits so far; arrivals of the generation.
        let mut counts = IndexVec::<ObjectId, (i64, u32)>::new();
        for step in trace.events.ids() {
            for act in tracker.step(trace, step) {
                while facts.len() <= act.object.0 as usize {
                    facts.push(Facts::default());
                    counts.push((0, 0));
                }
                let (value, arrived) = &mut counts[act.object];
                let facts = &mut facts[act.object];
                match act.deed {
                    Deed::Post => *value += 1,
                    Deed::Down => {
                        *value -= 1;
                        facts.value = facts.value.max(u32::try_from(-*value).unwrap_or(0));
                    }
                    Deed::Arrive { last } => {
                        *arrived += 1;
                        if last {
                            facts.count.get_or_insert(*arrived);
                            *arrived = 0;
                        }
                    }
                    _ => {}
                }
            }
        }
        facts
    }
}
