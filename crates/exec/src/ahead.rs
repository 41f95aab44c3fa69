//! Runs made before they are asked for, while the host works on the last one.
//!
//! A run is a function of what is asked, so it does not matter when it is made. One run at a time is under way; those that
//! are finished wait until they are asked for, and the oldest are dropped. What the program wrote in them is not kept.

use std::collections::VecDeque;
use std::time::Instant;

use model::Schedule;
use wire::{Record, Request};

use crate::backend::RunSummary;

/// Most runs that wait to be asked for.
const MOST_RUNS: usize = 32;
/// Most records of a run that waits.
const MOST_RECORDS: u64 = 1 << 14;

/// What is asked of a run.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) schedule: Schedule,
}

/// A finished run.
pub(crate) struct Made {
    pub(crate) summary: RunSummary,
    pub(crate) records: Vec<Record>,
}

/// Runs made ahead.
#[derive(Default)]
pub(crate) struct Ahead {
    /// The run that the program is making, and when it began.
    pub(crate) underway: Option<(Asked, Instant)>,
    made: VecDeque<(Asked, Made)>,
}

impl Ahead {
    /// Whether the run is under way or made.
    pub(crate) fn has(&self, request: &Request, schedule: &Schedule) -> bool {
        let underway = self.underway.iter().map(|(asked, _)| asked);
        let is_it = |asked: &Asked| asked.request == *request && asked.schedule == *schedule;
        underway.chain(self.made.iter().map(|(asked, _)| asked)).any(is_it)
    }

    /// Takes the run if it is made.
    pub(crate) fn take(&mut self, request: &Request, schedule: &Schedule) -> Option<Made> {
        let is_it = |(asked, _): &(Asked, Made)| asked.request == *request && asked.schedule == *schedule;
        let at = self.made.iter().rposition(is_it)?;
        self.made.remove(at).map(|(_, made)| made)
    }

    /// Whether a run of so many records is kept.
    pub(crate) fn keeps(records: u64) -> bool {
        records <= MOST_RECORDS
    }

    /// Keeps a run that is made.
    pub(crate) fn keep(&mut self, asked: Asked, made: Made) {
        if self.made.len() == MOST_RUNS {
            self.made.pop_front();
        }
        self.made.push_back((asked, made));
    }
}

#[cfg(test)]
mod tests {
    use model::{Segment, ThreadId};
    use wire::Reply;

    use super::*;

    fn asked(until: u32) -> Asked {
        let schedule = Schedule { segments: vec![Segment { thread: ThreadId(0), until }], choices: Vec::new() };
        Asked { request: Request::default(), schedule }
    }

    fn made(code: i32) -> Made {
        let reply = Reply { code, ..Reply::default() };
        let summary = RunSummary { reply, message: String::new(), load_base: 0, forks: false };
        Made { summary, records: Vec::new() }
    }

    #[test]
    fn runs_are_those_that_were_asked_for() {
        let mut ahead = Ahead::default();
        ahead.keep(asked(1), made(1));
        ahead.keep(asked(2), made(2));
        let Asked { request, schedule } = asked(2);
        let other = Request { max_steps: 7, ..request };
        assert!(ahead.take(&other, &schedule).is_none(), "it is asked for something else");
        assert!(ahead.has(&request, &schedule));
        assert_eq!(ahead.take(&request, &schedule).map(|made| made.summary.reply.code), Some(2));
        assert!(ahead.take(&request, &schedule).is_none() && !ahead.has(&request, &schedule));
        (0..MOST_RUNS as u32).for_each(|until| ahead.keep(asked(100 + until), made(0)));
        assert!(!ahead.has(&request, &asked(1).schedule), "the oldest is dropped");
    }
}
