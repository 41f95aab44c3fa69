//! Reorderings as schedules.

use model::{Clock, EventId, Op, Schedule, Step, ThreadId, Trace};

/// Builds the schedule of a reordering, giving threads the numbers they get in that run: in order of creation.
pub(crate) struct Witness<'a> {
    trace: &'a Trace,
    pub(crate) schedule: Schedule,
    /// By number in the trace: the number in the run, of the threads created so far.
    numbers: Vec<Option<ThreadId>>,
    /// Numbers of created threads, in order of creation.
    free: std::vec::IntoIter<ThreadId>,
}

impl<'a> Witness<'a> {
    /// Before the first event.
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let is_created = |thread: &ThreadId| trace.threads[*thread].created.is_some();
        let numbers = trace.threads.ids().map(|thread| (!is_created(&thread)).then_some(thread)).collect();
        let free: Vec<ThreadId> = trace.threads.ids().filter(is_created).collect();
        Self { trace, schedule: Schedule::new(), numbers, free: free.into_iter() }
    }

    /// Adds the event at a step of the trace and returns its identity in the run.
    pub(crate) fn push(&mut self, step: Step) -> EventId {
        let event = &self.trace.events[step];
        if let Op::Create { child } = event.op
            && let Some(number) = self.numbers.get_mut(child.0 as usize)
        {
            *number = self.free.next();
        }
        let thread = self.numbers[event.id.thread.0 as usize].unwrap_or(event.id.thread);
        let id = EventId { thread, ..event.id };
        self.schedule.push(id.thread, id.position + 1);
        id
    }

    /// Adds the trace's events before `end` in their order.
    pub(crate) fn push_until(&mut self, end: Step) {
        for step in (0..end.0).map(Step) {
            self.push(step);
        }
    }

    /// Adds the events of a set in the order of the trace.
    pub(crate) fn push_all(&mut self, set: &Clock) {
        for (step, event) in self.trace.events.iter_enumerated() {
            if set.contains(event.id) {
                self.push(step);
            }
        }
    }
}
