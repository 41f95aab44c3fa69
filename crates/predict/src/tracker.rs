//! Tracks the synchronisation objects of a trace in its own order.
//!
//! Objects are identified by (address, life): initialising, destroying or freeing an object ends its life, and every
//! operation stays in the life in which it was observed. Three properties of an object are not in the trace's events; a
//! [`Survey`] infers them first:
//!
//! - the *initial value of a semaphore*: the smallest one with which the trace is feasible. The true value is no
//!   smaller, so whatever is feasible with this one is feasible;
//! - *how many threads a barrier waits for*: the arrivals of its first complete generation;
//! - whether an object is *rigid*. The operations on a rigid object keep their order, so all have their observed
//!   results. An object is rigid when the trace reports its misuse or shows something the rules do not allow (such as
//!   releasing another thread's lock, or a wake-up without a signal), and when the trace does not show when a barrier's
//!   generations were complete. The end of a thread is always rigid.

use std::collections::{BTreeMap, BTreeSet};

use model::{AccessKind, Addr, IndexVec, LockMode, Op, Step, ThreadId, ThreadSet, Trace};
use smallvec::SmallVec;

use crate::object::{Lock, Object, ObjectOp, ObjectParameters};

model::index_type! {
    /// One life of a synchronisation object, numbered in the order of first use.
    pub(crate) struct ObjectId("o");
}

/// What identifies an object at one point of the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ObjectKey {
    At(Addr),
    Life(ThreadId),
}

/// An object and the operations on it so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    object: Object,
    parameters: ObjectParameters,
    /// Number of operations executed.
    pub(crate) done: u32,
    /// Whether it exists: false before its `Init`.
    pub(crate) born: bool,
}

impl Slot {
    fn new(parameters: ObjectParameters) -> Self {
        Self { object: Object::Unused, parameters, done: 0, born: true }
    }

    /// Whether the operations on it keep their order.
    pub(crate) fn is_rigid(&self) -> bool {
        self.parameters.rigid
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

    /// Whether the thread can execute this action now, with this result.
    pub(crate) fn allows(&self, thread: ThreadId, action: &ObjectAction) -> bool {
        match action.op {
            ObjectOp::Init => true,
            ObjectOp::Destroy => self.done == action.nth,
            _ if !self.born => false,
            _ if self.parameters.rigid => self.done == action.nth,
            op if self.object == Object::Unused => Object::fresh(op, &self.parameters).allows(thread, op),
            op => self.object.allows(thread, op),
        }
    }

    /// Executes the operation.
    pub(crate) fn perform(&mut self, thread: ThreadId, op: ObjectOp) {
        self.done += 1;
        self.born = true;
        if self.object == Object::Unused {
            self.object = Object::fresh(op, &self.parameters);
        }
        self.object.perform(thread, op);
    }
}

/// An operation on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ObjectAction {
    pub(crate) object: ObjectId,
    pub(crate) op: ObjectOp,
    /// Number of earlier operations on the object in the trace.
    pub(crate) nth: u32,
    /// For lock operations: whether it changed if the thread holds the lock at all.
    pub(crate) outermost: bool,
}

/// The operations of an event on objects.
pub(crate) type ObjectActions = SmallVec<[ObjectAction; 2]>;

/// The objects after some first events of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Tracker<'a> {
    survey: &'a Survey,
    ids: BTreeMap<ObjectKey, ObjectId>,
    pub(crate) slots: IndexVec<ObjectId, Slot>,
    exited: ThreadSet,
}

impl<'a> Tracker<'a> {
    /// The state before the first event.
    pub(crate) fn new(survey: &'a Survey) -> Self {
        Self { survey, ids: BTreeMap::new(), slots: IndexVec::new(), exited: ThreadSet::new() }
    }

    fn create(&mut self, key: ObjectKey) -> ObjectId {
        let mut parameters = self.survey.parameters.get(self.slots.next_id()).copied().unwrap_or_default();
        parameters.rigid |= matches!(key, ObjectKey::Life(_));
        let id = self.slots.push(Slot::new(parameters));
        self.ids.insert(key, id);
        id
    }

    fn find(&mut self, key: ObjectKey) -> ObjectId {
        self.ids.get(&key).copied().unwrap_or_else(|| self.create(key))
    }

    /// Whether the thread's last event has been processed.
    pub(crate) fn has_exited(&self, thread: ThreadId) -> bool {
        self.exited.contains(thread)
    }

    /// The operations of the next event on the objects at their current lives; the end of a life comes with an `Init`.
    fn operations(&mut self, trace: &Trace, step: Step) -> SmallVec<[(ObjectId, ObjectOp); 2]> {
        let mut operations = SmallVec::new();
        let mut add = |tracker: &mut Self, addr: Addr, op| operations.push((tracker.find(ObjectKey::At(addr)), op));
        match &trace.events[step].op {
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                add(self, *lock, ObjectOp::Acquire(*mode));
            }
            Op::TryAcquire { lock, mode, success: false } => add(self, *lock, ObjectOp::AcquireFailed(*mode)),
            Op::Release { lock, mode } => add(self, *lock, ObjectOp::Release(*mode)),
            Op::WaitBegin { cond, lock } => {
                add(self, *cond, ObjectOp::Wait);
                add(self, *lock, ObjectOp::ReleaseToWait);
            }
            Op::WaitEnd { cond, cause } => add(self, *cond, ObjectOp::Wake(*cause)),
            Op::Signal { cond } => add(self, *cond, ObjectOp::Signal),
            Op::Broadcast { cond } => add(self, *cond, ObjectOp::Broadcast),
            Op::BarrierArrive { barrier } | Op::Meet { barrier } => {
                let last = completes_generation(trace, step);
                add(self, *barrier, ObjectOp::Arrive { last });
            }
            Op::BarrierLeave { barrier } => add(self, *barrier, ObjectOp::Leave),
            Op::SemPost { sem } => add(self, *sem, ObjectOp::Post),
            Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => add(self, *sem, ObjectOp::Down),
            Op::SemTryWait { sem, success: false } => add(self, *sem, ObjectOp::DownFailed),
            Op::SemGet { sem } => {
                let id = self.find(ObjectKey::At(*sem));
                let value = match self.slots[id].object {
                    Object::Semaphore(value) => value,
                    _ => self.slots[id].parameters.value,
                };
                operations.push((id, ObjectOp::ReadValue(value)));
            }
            Op::OnceBegin { once, run: true } => add(self, *once, ObjectOp::RunOnce),
            Op::OnceBegin { once, run: false } => add(self, *once, ObjectOp::PassOnce),
            Op::OnceEnd { once } => add(self, *once, ObjectOp::EndOnce),
            Op::Join { child } | Op::TryJoin { child, .. } | Op::Detach { child } => {
                operations.push((self.find(ObjectKey::Life(*child)), ObjectOp::Reap));
            }
            Op::Init(addr) | Op::Destroy(addr) => {
                let key = ObjectKey::At(*addr);
                operations.extend(self.ids.get(&key).map(|old| (*old, ObjectOp::Destroy)));
                operations.push((self.create(key), ObjectOp::Init));
            }
            Op::Access(_) | Op::Accesses(_) | Op::Section { .. } | Op::Critical(_) => {
                for free in trace.events[step].op.accesses().iter().filter(|a| a.kind == AccessKind::Free) {
                    let range = ObjectKey::At(free.cell.start)..ObjectKey::At(Addr(free.cell.end()));
                    let inside: Vec<(ObjectKey, ObjectId)> = self.ids.range(range).map(|(n, id)| (*n, *id)).collect();
                    for (key, old) in inside {
                        operations.push((old, ObjectOp::Destroy));
                        operations.push((self.create(key), ObjectOp::Init));
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
        operations
    }

    /// Processes the next event and returns its actions. Steps must come in order from 0.
    pub(crate) fn step(&mut self, trace: &Trace, step: Step) -> ObjectActions {
        self.step_with(trace, step, |_, _| {})
    }

    /// The same, and calls `look` with each slot and action before it is executed.
    pub(crate) fn step_with(
        &mut self,
        trace: &Trace,
        step: Step,
        mut look: impl FnMut(&Slot, &ObjectAction),
    ) -> ObjectActions {
        let thread = trace.events[step].id.thread;
        if trace.events[step].op == Op::Exit {
            self.exited.insert(thread);
        }
        let mut actions = ObjectActions::new();
        for (object, op) in self.operations(trace, step) {
            let slot = &mut self.slots[object];
            let mut action = ObjectAction { object, op, nth: slot.done, outermost: false };
            look(slot, &action);
            let held = |slot: &Slot, mode| slot.lock().is_some_and(|lock| lock.holds(thread, mode));
            let mode = match op {
                ObjectOp::Acquire(mode) | ObjectOp::Release(mode) => Some(mode),
                ObjectOp::ReleaseToWait => Some(LockMode::Exclusive),
                _ => None,
            };
            let before = mode.map(|mode| held(slot, mode));
            slot.perform(thread, op);
            action.outermost = before != mode.map(|mode| held(slot, mode));
            actions.push(action);
        }
        actions
    }
}

/// Whether an arrival at a barrier completes its generation: the thread can leave at once.
fn completes_generation(trace: &Trace, arrival: Step) -> bool {
    let thread = trace.events[arrival].id.thread;
    !trace.runnable.is_empty() && trace.runnable_at(Step(arrival.0 + 1)).contains(thread)
}

/// What is inferred about the objects of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Survey {
    parameters: IndexVec<ObjectId, ObjectParameters>,
}

impl Survey {
    /// Whether the operations on some object keep their order.
    pub(crate) fn any_rigid(&self) -> bool {
        self.parameters.iter().any(|parameters| parameters.rigid)
    }

    /// Infers what the trace's events do not show.
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut survey = Self { parameters: Self::first_values(trace) };
        let mut broken = BTreeSet::<ObjectId>::new();
        let misused: BTreeSet<Addr> = trace.misuses.iter().filter(|m| m.breaks_rules()).map(|m| m.object).collect();
        let mut tracker = Tracker::new(&survey);
        for step in trace.events.ids() {
            let thread = trace.events[step].id.thread;
            let actions = tracker.step_with(trace, step, |slot, action| {
                let untold = trace.runnable.is_empty() && matches!(action.op, ObjectOp::Arrive { .. });
                if untold || !slot.allows(thread, action) {
                    broken.insert(action.object);
                }
            });
            // Every life in which an object is misused has an operation in the trace.
            if !actions.is_empty() {
                broken.extend(misused.iter().filter_map(|addr| tracker.ids.get(&ObjectKey::At(*addr))));
            }
        }
        for object in broken {
            survey.parameters[object].rigid = true;
        }
        survey
    }

    /// The initial values of semaphores and the sizes of barriers.
    fn first_values(trace: &Trace) -> IndexVec<ObjectId, ObjectParameters> {
        let nothing = Self::default();
        let mut tracker = Tracker::new(&nothing);
        let mut parameters = IndexVec::<ObjectId, ObjectParameters>::new();
        // Per object: posts minus successful waits so far; arrivals of the generation.
        let mut counts = IndexVec::<ObjectId, (i64, u32)>::new();
        for step in trace.events.ids() {
            for action in tracker.step(trace, step) {
                while parameters.len() <= action.object.0 as usize {
                    parameters.push(ObjectParameters::default());
                    counts.push((0, 0));
                }
                let (value, arrived) = &mut counts[action.object];
                let parameters = &mut parameters[action.object];
                match action.op {
                    ObjectOp::Post => *value += 1,
                    ObjectOp::Down => {
                        *value -= 1;
                        parameters.value = parameters.value.max(u32::try_from(-*value).unwrap_or(0));
                    }
                    ObjectOp::Arrive { last } => {
                        *arrived += 1;
                        if last {
                            parameters.count.get_or_insert(*arrived);
                            *arrived = 0;
                        }
                    }
                    _ => {}
                }
            }
        }
        parameters
    }
}
