//! Sleep sets: P. Godefroid, "Partial-order methods for the verification of concurrent systems", LNCS 1032, 1996.
//!
//! A thread sleeps in a state when everything that can follow its next event there has been explored, from this state
//! or from an earlier one whose other events since are independent of it. Running the thread now would repeat that. It
//! wakes as soon as an event is executed that depends on its own.

use std::rc::Rc;

use model::dependence::dependent;
use model::{Event, Op, ThreadId, ThreadSet};

/// Whether the order of two co-enabled events matters. This is dependence, except that a thread leaving a barrier is
/// not affected by arrivals, which belong to the next generation.
pub(crate) fn interfere(one: &Event, other: &Event) -> bool {
    // The common cases are decided without computing footprints.
    match (&one.op, &other.op) {
        (Op::Access(a), Op::Access(b)) => one.id.thread == other.id.thread || a.conflicts_with(b),
        (Op::BarrierArrive { .. } | Op::Meet { .. }, Op::BarrierLeave { .. })
        | (Op::BarrierLeave { .. }, Op::BarrierArrive { .. } | Op::Meet { .. }) => one.id.thread == other.id.thread,
        (a, b)
            if (concerns_thread_end(a) && !concerns_thread_lifetime(b))
                || (concerns_thread_end(b) && !concerns_thread_lifetime(a)) =>
        {
            one.id.thread == other.id.thread
        }
        _ => dependent(one, other),
    }
}

/// Whether the operation ends a thread or concerns a thread's end.
fn concerns_thread_end(op: &Op) -> bool {
    matches!(op, Op::Exit | Op::Join { .. } | Op::TryJoin { .. } | Op::Detach { .. })
}

/// Whether the operation concerns another thread's lifetime, or ends its own thread.
fn concerns_thread_lifetime(op: &Op) -> bool {
    concerns_thread_end(op) || matches!(op, Op::Create { .. } | Op::Cancel { .. })
}

/// Whether two possible next events of a state are the same: same thread, same choices.
pub(crate) fn same_event(one: &Event, other: &Event) -> bool {
    one.id.thread == other.id.thread && one.op.choices() == other.op.choices()
}

/// How possible next events of a state relate to each other.
pub(crate) trait Relation<E> {
    /// The event's thread.
    fn thread(&self, event: &E) -> ThreadId;
    /// See [`same_event`].
    fn same(&self, one: &E, other: &E) -> bool;
    /// See [`interfere`].
    fn interfere(&self, one: &E, other: &E) -> bool;
}

/// Events compared by their content.
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
pub(crate) struct SleepSet<E = Event> {
    /// Usually the same as in the previous state.
    events: Rc<Vec<E>>,
    /// Threads after whose events something was pruned that may interfere with them.
    incomplete: ThreadSet,
}

impl<E> Default for SleepSet<E> {
    fn default() -> Self {
        Self { events: Rc::default(), incomplete: ThreadSet::new() }
    }
}

impl<E> From<(Vec<E>, ThreadSet)> for SleepSet<E> {
    fn from((events, incomplete): (Vec<E>, ThreadSet)) -> Self {
        Self { events: Rc::new(events), incomplete }
    }
}

impl<E: Clone> SleepSet<E> {
    /// Whether no thread sleeps.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The next events of the sleeping threads.
    pub(crate) fn events(&self) -> &[E] {
        &self.events
    }

    /// The sleeping threads after whose events something was pruned that may interfere with them. They need not run
    /// either, since no requested finding can follow, but the search has not seen everything that may have to come
    /// before them.
    pub(crate) fn incomplete(&self) -> &ThreadSet {
        &self.incomplete
    }

    /// Whether the thread sleeps, with any of its choices.
    pub(crate) fn contains(&self, relation: &impl Relation<E>, thread: ThreadId) -> bool {
        self.events.iter().any(|e| relation.thread(e) == thread)
    }

    /// Whether the thread sleeps with the choices of this event.
    pub(crate) fn contains_event(&self, relation: &impl Relation<E>, event: &E) -> bool {
        self.events.iter().any(|e| relation.same(e, event))
    }

    /// Adds an event after which everything has been explored.
    pub(crate) fn insert(&mut self, relation: &impl Relation<E>, event: E) {
        if !self.contains_event(relation, &event) {
            Rc::make_mut(&mut self.events).push(event);
        }
    }

    /// Records that something was pruned after the sleeping thread's event that may interfere with it.
    pub(crate) fn mark_incomplete(&mut self, thread: ThreadId) {
        self.incomplete.insert(thread);
    }

    /// Adds a thread's next events, one for each of its choices, after which everything has been explored.
    pub(crate) fn extend(&mut self, relation: &impl Relation<E>, events: impl IntoIterator<Item = E>) {
        events.into_iter().for_each(|event| self.insert(relation, event));
    }

    /// The sleep set after an event of a thread that is awake. A thread wakes with all its choices.
    pub(crate) fn after(&self, relation: &impl Relation<E>, event: &E) -> Self {
        let woken = self.events.iter().filter(|e| relation.interfere(e, event));
        let woken: ThreadSet = woken.map(|e| relation.thread(e)).collect();
        if woken.is_empty() {
            return self.clone();
        }
        let asleep = self.events.iter().filter(|e| !woken.contains(relation.thread(e)));
        let incomplete = self.incomplete.iter().filter(|t| !woken.contains(*t)).collect();
        Self { events: Rc::new(asleep.cloned().collect()), incomplete }
    }
}

#[cfg(test)]
mod tests {
    use model::{Access, AccessKind, Addr, Cell, EventId, LockMode, Order};

    use super::*;

    /// The shortcuts agree with dependence.
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
