//! What two runs have in common at their beginning, told from a schedule: a run is a function of its schedule, so as
//! long as the same threads run, the same happens.

use model::{EventId, Schedule, Step, Trace};

/// The order of the events of a run.
#[derive(Default)]
pub(crate) struct LastRun {
    events: Vec<EventId>,
}

impl LastRun {
    /// How many of the run's first events a run of the schedule surely has too.
    pub(crate) fn shared_with(&self, schedule: &Schedule) -> Step {
        let mut shared = 0;
        for segment in &schedule.segments {
            let ours = |id: &&EventId| id.thread == segment.thread && id.position < segment.until;
            shared += self.events[shared..].iter().take_while(ours).count();
            let last = self.events[..shared].last();
            if last.is_none_or(|id| id.thread != segment.thread || id.position + 1 != segment.until) {
                break;
            }
        }
        Step(shared as u32)
    }

    /// Goes over to another run, which shares this many events.
    pub(crate) fn follow(&mut self, trace: &Trace, shared: Step) {
        self.events.truncate(shared.0 as usize);
        self.events.extend(trace.events.iter().skip(shared.0 as usize).map(|event| event.id));
    }
}

#[cfg(test)]
mod tests {
    use model::ThreadId;

    use super::*;

    fn id(thread: u32, position: u32) -> EventId {
        EventId { thread: ThreadId(thread), position }
    }

    #[test]
    fn segments_are_followed_while_the_same_threads_run() {
        let last = LastRun { events: vec![id(0, 0), id(0, 1), id(1, 0), id(0, 2), id(1, 1)] };
        let shared = |segments: &[(u32, u32)]| {
            let mut schedule = Schedule::new();
            segments.iter().for_each(|(thread, until)| schedule.push(ThreadId(*thread), *until));
            last.shared_with(&schedule).0
        };
        assert_eq!(shared(&[]), 0, "the policy is not followed");
        assert_eq!(shared(&[(0, 1)]), 1);
        assert_eq!(shared(&[(0, 2), (1, 1), (0, 3)]), 4);
        assert_eq!(shared(&[(0, 3)]), 2, "the run leaves the thread before");
        assert_eq!(shared(&[(0, 1), (1, 1), (0, 2)]), 1, "the run does not leave the thread");
        assert_eq!(shared(&[(0, 2), (1, 1), (0, 3), (1, 2), (0, 9)]), 5);
    }
}
