//! Sleep sets: P. Godefroid, "Partial-order methods for the verification of concurrent systems", LNCS 1032, 1996.
//!
//! A thread sleeps in a state when all that can follow its next event there was explored already, from this state or
//! from an earlier one whose other events since are independent of it. Running it now would only repeat that. It wakes
//! as soon as an event is executed that depends on its own.

use std::rc::Rc;

use model::dependence::dependent;
use model::{Event, Op, ThreadId, ThreadSet};

/// Whether the order of two events matters that are possible in the same state. Dependence, except that a thread leaving
/// a barrier does not mind arrivals at it: they are those of the next generation.
pub(crate) fn interfere(one: &Event, other: &Event) -> bool {
    // The usual cases without looking at what else the events use.
    match (&one.op, &other.op) {
        (Op::Access(a), Op::Access(b)) => one.id.thread == other.id.thread || a.conflicts_with(b),
        (Op::BarrierArrive { .. }, Op::BarrierLeave { .. }) | (Op::BarrierLeave { .. }, Op::BarrierArrive { .. }) => {
            one.id.thread == other.id.thread
        }
        (a, b) if (is_about_ends(a) && !is_about_threads(b)) || (is_about_ends(b) && !is_about_threads(a)) => {
            one.id.thread == other.id.thread
        }
        _ => dependent(one, other),
    }
}

/// Whether the operation ends a thread or has to do with its end.
fn is_about_ends(op: &Op) -> bool {
    matches!(op, Op::Exit | Op::Join { .. } | Op::TryJoin { .. } | Op::Detach { .. })
}

/// Whether the operation has to do with another thread's life, or ends its own.
fn is_about_threads(op: &Op) -> bool {
    is_about_ends(op) || matches!(op, Op::Create { .. } | Op::Cancel { .. })
}

/// Whether two events that can come next in a state are the same: of one thread, with the same choices.
pub(crate) fn same_event(one: &Event, other: &Event) -> bool {
    one.id.thread == other.id.thread && one.op.choices() == other.op.choices()
}

/// How events relate that can come next in a state.
pub(crate) trait Relation<E> {
    /// Whose it is.
    fn thread(&self, event: &E) -> ThreadId;
    /// See [`same_event`].
    fn same(&self, one: &E, other: &E) -> bool;
    /// See [`interfere`].
    fn interfere(&self, one: &E, other: &E) -> bool;
}

/// Events themselves.
pub(crate) struct ByContent;

impl Relation<Event> for ByContent {
    fn thread(&self, event: &Event) -> ThreadId {
        event.id.thread
    }
    fn same(&self, one: &Event, other: &Event) -> bool {
        same_event(one, other)
    }
    fn interfere(&self, one: &Event, other: &Event) -> bool {
        interfere(one, other)
    }
}

/// The sleeping threads of a state, each by its next event there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sleep<E = Event> {
    /// Mostly the same as in the state before.
    events: Rc<Vec<E>>,
    /// Threads after whose events something was left out that may interfere with them.
    partly: ThreadSet,
}

impl<E> Default for Sleep<E> {
    fn default() -> Self {
        Self { events: Rc::default(), partly: ThreadSet::new() }
    }
}

impl<E> From<(Vec<E>, ThreadSet)> for Sleep<E> {
    fn from((events, partly): (Vec<E>, ThreadSet)) -> Self {
        Self { events: Rc::new(events), partly }
    }
}

impl<E: Clone> Sleep<E> {
    /// Whether nobody sleeps.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The next events of the sleeping threads.
    pub(crate) fn events(&self) -> &[E] {
        &self.events
    }

    /// The sleeping threads after whose events something was left out that may interfere with them. They need not be run
    /// either, since nothing that is looked for can follow; but the search has not met all that may have to come before
    /// them.
    pub(crate) fn partly(&self) -> &ThreadSet {
        &self.partly
    }

    /// Whether the thread sleeps, with some of what it can choose.
    pub(crate) fn contains(&self, relation: &impl Relation<E>, thread: ThreadId) -> bool {
        self.events.iter().any(|e| relation.thread(e) == thread)
    }

    /// Whether the thread sleeps with what it chooses in this event.
    pub(crate) fn contains_event(&self, relation: &impl Relation<E>, event: &E) -> bool {
        self.events.iter().any(|e| relation.same(e, event))
    }

    /// All that can follow the event has been explored.
    pub(crate) fn insert(&mut self, relation: &impl Relation<E>, event: E) {
        if !self.contains_event(relation, &event) {
            Rc::make_mut(&mut self.events).push(event);
        }
    }

    /// Something was left out after the sleeping thread's event that may interfere with it.
    pub(crate) fn explored_partly(&mut self, thread: ThreadId) {
        self.partly.insert(thread);
    }

    /// All that can follow a thread's next event has been explored, for all that it can choose there.
    pub(crate) fn extend(&mut self, relation: &impl Relation<E>, events: impl IntoIterator<Item = E>) {
        events.into_iter().for_each(|event| self.insert(relation, event));
    }

    /// Who still sleeps after the event of a thread that is awake. A thread wakes with all that it can choose.
    pub(crate) fn after(&self, relation: &impl Relation<E>, event: &E) -> Self {
        let woken = self.events.iter().filter(|e| relation.interfere(e, event));
        let woken: ThreadSet = woken.map(|e| relation.thread(e)).collect();
        if woken.is_empty() {
            return self.clone();
        }
        let asleep = self.events.iter().filter(|e| !woken.contains(relation.thread(e)));
        let partly = self.partly.iter().filter(|t| !woken.contains(*t)).collect();
        Self { events: Rc::new(asleep.cloned().collect()), partly }
    }
}

#[cfg(test)]
mod tests {
    use model::{Access, AccessKind, Addr, Cell, EventId, LockMode, Order};

    use super::*;

    /// The usual cases are told as dependence tells them.
    #[test]
    fn interference_is_dependence() {
        let cell = |start, len| Cell { start: Addr(start), len };
        let access = |kind, start, len| Access { kind, atomic: Some(Order::SeqCst), cell: cell(start, len) };
        let (child, target, lock) = (ThreadId(1), ThreadId(0), Addr(4));
        let ops = [
            Op::Access(access(AccessKind::Read, 0, 8)),
            Op::Access(access(AccessKind::Write, 4, 4)),
            Op::Access(access(AccessKind::Free, 0, 4)),
            Op::Accesses(Box::new([access(AccessKind::Read, 0, 4), access(AccessKind::Write, 8, 4)])),
            Op::Fence(Order::SeqCst),
            Op::Acquire { lock, mode: LockMode::Exclusive },
            Op::Release { lock, mode: LockMode::Shared },
            Op::BarrierArrive { barrier: Addr(4) },
            Op::BarrierLeave { barrier: Addr(8) },
            Op::SemPost { sem: Addr(4) },
            Op::Create { child },
            Op::Cancel { target },
            Op::Cancel { target: child },
            Op::Join { child },
            Op::Join { child: target },
            Op::TryJoin { child, success: false },
            Op::Detach { child: target },
            Op::Start,
            Op::Exit,
            Op::Cancelled,
            Op::Yield,
        ];
        let event = |thread, op: &Op| Event { id: EventId { thread, position: 1 }, site: None, op: op.clone() };
        for (a, b) in ops.iter().flat_map(|a| ops.iter().map(move |b| (a, b))) {
            for other in [ThreadId(0), ThreadId(1)] {
                let (one, other) = (event(ThreadId(0), a), event(other, b));
                assert_eq!(interfere(&one, &other), dependent(&one, &other), "{one:?} {other:?}");
            }
        }
    }
}
