//! How many events a run shares with the run before it, derived from the schedule: a run is a function of its schedule,
//! so the two agree as long as the same threads run and choose the same values.

use model::{Choice, EventId, Schedule, Step, Trace};

/// The order of events and the choices of the last run.
#[derive(Default)]
pub(crate) struct LastRun {
    events: Vec<EventId>,
    /// Each choice: the event's step, which of the event's choices it is, and the value.
    choices: Vec<(Step, u32, Choice)>,
}

impl LastRun {
    /// Number of this run's first events that a run of the schedule certainly repeats.
    fn shared_with(&self, schedule: &Schedule) -> Step {
        let mut shared = 0;
        for segment in &schedule.segments {
            let ours = |id: &&EventId| id.thread == segment.thread && id.position < segment.until;
            shared += self.events[shared..].iter().take_while(ours).count();
            let last = self.events[..shared].last();
            if last.is_none_or(|id| id.thread != segment.thread || id.position + 1 != segment.until) {
                break;
            }
        }
        let differs = |(step, index, choice): &&(Step, u32, Choice)| {
            let event = self.events[step.0 as usize];
            schedule.value_of(event, *index, choice.lo, choice.hi) != choice.value
        };
        let chosen = self.choices.iter().find(differs).map_or(shared, |(step, ..)| step.0 as usize);
        Step(shared.min(chosen) as u32)
    }

    /// Replaces the stored run by one of this schedule, if it has one. Returns how many first events the two runs
    /// share.
    pub(crate) fn follow(&mut self, schedule: Option<&Schedule>, trace: &Trace) -> Step {
        let shared = schedule.map_or(Step(0), |schedule| self.shared_with(schedule)).min(trace.events.next_id());
        self.events.truncate(shared.0 as usize);
        self.choices.truncate(self.choices.partition_point(|(step, ..)| *step < shared));
        for (step, event) in trace.events.iter_enumerated().skip(shared.0 as usize) {
            self.events.push(event.id);
            self.choices.extend((0..).zip(event.op.choices()).map(|(index, choice)| (step, index, *choice)));
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use model::{Chosen, ThreadId};

    use super::*;

    fn id(thread: u32, position: u32) -> EventId {
        EventId { thread: ThreadId(thread), position }
    }

    #[test]
    fn segments_are_followed_while_the_same_threads_run() {
        let choices = vec![(Step(2), 0, Choice { lo: 0, hi: 3, value: 2 })];
        let events = vec![id(0, 0), id(0, 1), id(1, 0), id(0, 2), id(1, 1)];
        let mut last = LastRun { events, choices: Vec::new() };
        let schedule = |segments: &[(u32, u32)]| {
            let mut schedule = Schedule::new();
            segments.iter().for_each(|(thread, until)| schedule.push(ThreadId(*thread), *until));
            schedule
        };
        let shared = |segments: &[(u32, u32)]| last.shared_with(&schedule(segments)).0;
        assert_eq!(shared(&[]), 0, "the policy's choices are not predicted");
        assert_eq!(shared(&[(0, 1)]), 1);
        assert_eq!(shared(&[(0, 2), (1, 1), (0, 3)]), 4);
        assert_eq!(shared(&[(0, 3)]), 2, "the run leaves the thread before");
        assert_eq!(shared(&[(0, 1), (1, 1), (0, 2)]), 1, "the run does not leave the thread");
        assert_eq!(shared(&[(0, 2), (1, 1), (0, 3), (1, 2), (0, 9)]), 5);
        last.choices = choices;
        let mut asked = schedule(&[(0, 2), (1, 1), (0, 3)]);
        assert_eq!(last.shared_with(&asked).0, 2, "the usual value is asked for");
        asked.choose(Chosen { event: id(1, 0), index: 0, value: 2 });
        assert_eq!(last.shared_with(&asked).0, 4);
    }
}
