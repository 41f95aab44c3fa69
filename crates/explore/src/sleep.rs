//! Sleep sets: P. Godefroid, "Partial-order methods for the verification of concurrent systems", LNCS 1032, 1996.
//!
//! A thread sleeps in a state when all that can follow its next event there was explored already, from this state or
//! from an earlier one whose other events since are independent of it. Running it now would only repeat that. It wakes
//! as soon as an event is executed that depends on its own.

use model::dependence::dependent;
use model::{Event, Op, ThreadId};

/// Whether the order of two events matters that are possible in the same state. Dependence, except that a thread leaving
/// a barrier does not mind arrivals at it: they are those of the next generation.
pub(crate) fn interfere(one: &Event, other: &Event) -> bool {
    let of_generations = matches!(
        (&one.op, &other.op),
        (Op::BarrierArrive { .. }, Op::BarrierLeave { .. }) | (Op::BarrierLeave { .. }, Op::BarrierArrive { .. })
    );
    !of_generations && dependent(one, other)
}

/// The sleeping threads of a state, each by its next event there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sleep {
    events: Vec<Event>,
}

impl Sleep {
    /// Whether nobody sleeps.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The next events of the sleeping threads.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Whether the thread sleeps.
    pub(crate) fn contains(&self, thread: ThreadId) -> bool {
        self.events.iter().any(|e| e.id.thread == thread)
    }

    /// All that can follow the event has been explored.
    pub(crate) fn insert(&mut self, event: Event) {
        if !self.contains(event.id.thread) {
            self.events.push(event);
        }
    }

    /// Who still sleeps after the event of a thread that is awake.
    pub(crate) fn after(&self, event: &Event) -> Self {
        Self { events: self.events.iter().filter(|e| !interfere(e, event)).cloned().collect() }
    }
}
