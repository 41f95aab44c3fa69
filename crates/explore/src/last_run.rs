//! How many events a run shares with the run before it: a run is a function of its schedule, so the two agree as long as
//! the same threads run and choose the same values.

use model::{Choice, EventId, Step, Trace};

/// The order of events and the choices of the last run.
#[derive(Default)]
pub(crate) struct LastRun {
    /// Each with the number of events that it stands for: a search may take several as one.
    events: Vec<(EventId, u32)>,
    /// Each choice: the event's step, which of the event's choices it is, and the value.
    choices: Vec<(Step, Choice)>,
}

impl LastRun {
    /// Number of this run's first events that are those of the stored run.
    fn shared_with(&self, trace: &Trace) -> Step {
        let both = self.events.iter().zip(&trace.events);
        let shared = Step(both.take_while(|(before, now)| **before == (now.id, now.op.events())).count() as u32);
        let mut known = self.choices.iter();
        for step in (0..shared.0).map(Step) {
            for choice in trace.events[step].op.choices() {
                if known.next() != Some(&(step, *choice)) {
                    return step;
                }
            }
        }
        // A section that made fewer choices this time.
        known.next().map_or(shared, |(step, _)| shared.min(*step))
    }

    /// Replaces the stored run by this one. Returns how many first events the two share; none unless it `follows` a
    /// schedule.
    pub(crate) fn follow(&mut self, follows: bool, trace: &Trace) -> Step {
        let shared = if follows { self.shared_with(trace) } else { Step(0) };
        self.events.truncate(shared.0 as usize);
        self.choices.truncate(self.choices.partition_point(|(step, _)| *step < shared));
        for (step, event) in trace.events.iter_enumerated().skip(shared.0 as usize) {
            self.events.push((event.id, event.op.events()));
            self.choices.extend(event.op.choices().iter().map(|choice| (step, *choice)));
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use model::{End, Event, Op, ThreadId};

    use super::*;

    fn trace(events: &[(u32, u32, Option<i64>)]) -> Trace {
        let event = |(thread, position, value): &(u32, u32, Option<i64>)| {
            let op = value.map_or(Op::Yield, |value| Op::Choose(Choice { lo: 0, hi: 3, value }));
            Event { id: EventId { thread: ThreadId(*thread), position: *position }, site: None, op }
        };
        Trace { events: events.iter().map(event).collect(), ..Trace::empty(End::Deadlock) }
    }

    #[test]
    fn runs_agree_while_the_same_threads_run_and_choose_the_same() {
        let first = [(0, 0, None), (0, 1, None), (1, 0, Some(2)), (0, 2, None), (1, 1, None)];
        let shared = |follows: bool, events: &[(u32, u32, Option<i64>)]| {
            let mut last = LastRun::default();
            last.follow(true, &trace(&first));
            last.follow(follows, &trace(events)).0
        };
        assert_eq!(shared(true, &first), 5);
        assert_eq!(shared(false, &first), 0, "nothing is known of its schedule");
        assert_eq!(shared(true, &[(0, 0, None), (1, 0, Some(2))]), 1);
        assert_eq!(shared(true, &[(0, 0, None), (0, 1, None), (1, 0, Some(2)), (1, 1, None)]), 3);
        assert_eq!(shared(true, &[(0, 0, None), (0, 1, None), (1, 0, Some(1)), (0, 2, None)]), 2, "another value");
    }
}
