//! Builds schedules from reorderings.

use model::{Clock, EventId, Op, Schedule, Step, ThreadId};

use crate::reduce::Reduced;

/// Builds the schedule of a reordering. Threads get the numbers they have in that run: in order of creation.
///
/// A thread that has executed an event continues through the accesses omitted from the trace, so that it is right
/// before its next event.
pub(crate) struct ScheduleBuilder<'a> {
    reduced: &'a Reduced<'a>,
    pub(crate) schedule: Schedule,
    /// By number in the trace: the number in the run, for the threads created so far.
    numbers: Vec<Option<ThreadId>>,
    /// Numbers of the threads still to be created, in order of creation.
    free: std::vec::IntoIter<ThreadId>,
}

impl<'a> ScheduleBuilder<'a> {
    /// An empty schedule.
    pub(crate) fn new(reduced: &'a Reduced<'a>) -> Self {
        let threads = &reduced.trace.threads;
        let is_created = |thread: &ThreadId| threads[*thread].created.is_some();
        let numbers = threads.ids().map(|thread| (!is_created(&thread)).then_some(thread)).collect();
        let free: Vec<ThreadId> = threads.ids().filter(is_created).collect();
        Self { reduced, schedule: Schedule::new(), numbers, free: free.into_iter() }
    }

    fn number(&self, thread: ThreadId) -> ThreadId {
        self.numbers[thread.0 as usize].unwrap_or(thread)
    }

    /// Appends the event at a step of the trace.
    pub(crate) fn push(&mut self, step: Step) {
        let event = &self.reduced.trace.events[step];
        if let Op::Create { child } = event.op
            && let Some(number) = self.numbers.get_mut(child.0 as usize)
        {
            *number = self.free.next();
        }
        let EventId { thread, position } = event.id;
        self.schedule.execute(self.in_run(step), &event.op);
        self.schedule.push(self.number(thread), self.reduced.position(thread, position + 1));
    }

    /// Appends the trace's events before `end` in their order.
    pub(crate) fn push_until(&mut self, end: Step) {
        for step in (0..end.0).map(Step) {
            self.push(step);
        }
    }

    /// Appends the events of a set in the order of the trace.
    pub(crate) fn push_all(&mut self, set: &Clock) {
        for (step, event) in self.reduced.trace.events.iter_enumerated() {
            if set.contains(event.id) {
                self.push(step);
            }
        }
    }

    /// The identity in the run of the event at a step.
    pub(crate) fn in_run(&self, step: Step) -> EventId {
        let event = self.reduced.trace.events[step].id;
        EventId { thread: self.number(event.thread), position: self.reduced.whole(event).position }
    }

    /// Brings both threads right before their accesses, executes these, and returns their identities in the run.
    pub(crate) fn side_by_side(&mut self, first: Step, second: Step) -> [EventId; 2] {
        let accesses = [first, second].map(|step| self.in_run(step));
        // The first access comes right after the events that lead to it.
        for access in [accesses[1], accesses[0]] {
            if access.position > 0 {
                self.schedule.push(access.thread, access.position);
            }
        }
        for access in accesses {
            self.schedule.push(access.thread, access.position + 1);
        }
        accesses
    }

    /// Executes the access next and returns its identity in the run.
    pub(crate) fn then(&mut self, access: Step) -> EventId {
        let access = self.in_run(access);
        self.schedule.push(access.thread, access.position + 1);
        access
    }
}
