//! A schedule that brings two racing accesses side by side.
//!
//! The events that lead the two threads to their accesses, in an order that respects causality, form a run after which
//! both threads are about to make their accesses. If the first access leads to the second (through communication that
//! is not synchronisation: relaxed atomics, or another race), no such run is known, and the trace itself is the
//! witness.

use std::cmp::Reverse;

use model::{Access, Clock, End, Event, EventId, Op, Race, Schedule, Step, Trace};
use serde::{Deserialize, Serialize};

use crate::causality::Causality;
use crate::shortest::with_fewest_switches;

/// A schedule that shows a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Witness {
    /// Ends right after the second access.
    pub schedule: Schedule,
    /// The access that comes first.
    pub first: EventId,
    /// The other one.
    pub second: EventId,
    /// Whether both threads can be about to make their accesses at once, so that one comes right after the other. If
    /// not, the second depends on the first through something that is not synchronisation.
    pub adjacent: bool,
}

/// The events that lead two threads to their racing accesses.
pub(crate) struct Approach<'a> {
    race: &'a Race,
    first: EventId,
    /// All events that lead to either access, without the two themselves unless one leads to the other.
    past: Clock,
}

impl<'a> Approach<'a> {
    /// Collects the events that lead to the accesses of a race.
    pub(crate) fn new(trace: &Trace, causality: &Causality, race: &'a Race) -> Self {
        let (first, second) = (trace.events[race.first].id, trace.events[race.second].id);
        let mut past = Clock::new();
        for (step, id) in [(race.first, first), (race.second, second)] {
            if let Some(position) = id.position.checked_sub(1) {
                causality.clock(causality.step_of(EventId { position, ..id })).join_to(&mut past);
            }
            for enabling in communicating(trace, step, race.first) {
                causality.clock(enabling).join_to(&mut past);
            }
        }
        Self { race, first, past }
    }

    /// Whether both threads can be about to make their accesses at once.
    pub(crate) fn adjacent(&self) -> bool {
        !self.past.contains(self.first)
    }

    /// Builds the witness.
    pub(crate) fn witness(self, trace: &Trace, causality: &Causality) -> Witness {
        let Self { race, ref past, .. } = self;
        if !self.adjacent() {
            let schedule = trace.schedule_to(Step(race.second.0 + 1));
            let [first, second] = [race.first, race.second].map(|step| trace.first_event_of(step));
            return Witness { schedule, first, second, adjacent: false };
        }
        let run = |first: Step, second: Step| {
            let then = trace.events[first].id.thread;
            let shortest = with_fewest_switches(causality, trace, past, then);
            let mut run = shortest.unwrap_or_else(|| causality.linearise(trace, past));
            let (first, second) = (run.push(&trace.events[first]), run.push(&trace.events[second]));
            Witness { schedule: run.schedule, first, second, adjacent: true }
        };
        let witness = run(race.first, race.second);
        // Two adjacent accesses can come in either order.
        let plain = |step: Step| matches!(trace.events[step].op, Op::Access(access) if access.atomic.is_none());
        if !(plain(race.first) && plain(race.second)) {
            return witness;
        }
        let other = run(race.second, race.first);
        // A thread stops before its next event. The one that ran when the run was cut may have none.
        let running = trace.events.iter().next_back().filter(|_| trace.end == End::TimeLimit).map(|event| event.id);
        let cut = |step: Step| running == Some(trace.events[step].id);
        let costs = [(&witness, race.first), (&other, race.second)].map(|(w, first)| (cut(first), w.cost()));
        if costs[1] < costs[0] { other } else { witness }
    }
}

/// The earlier events that an access has to follow because they communicate with its atomic part: a library call that
/// reads from a pipe into a buffer races on the buffer, but waits for the data in the pipe. A section's behaviour
/// depends on everything it reads, but the access it races with comes right before it in any case.
fn communicating(trace: &Trace, step: Step, first: Step) -> impl Iterator<Item = Step> {
    let event = &trace.events[step];
    let section = matches!(event.op, Op::Section { .. });
    let counts = move |a: &&Access| section || a.atomic.is_some();
    let of = move |event: &Event| -> Vec<Access> { event.op.accesses().iter().filter(counts).copied().collect() };
    let own = if section || matches!(event.op, Op::Accesses(_)) { of(event) } else { Vec::new() };
    let before = if own.is_empty() { 0 } else { step.0 as usize };
    let earlier = trace.events.iter_enumerated().take(before).filter(move |(at, _)| !section || *at != first);
    earlier.filter_map(move |(earlier, e)| {
        let meets = of(e).iter().any(|a| own.iter().any(|b| a.conflicts_with(b)));
        meets.then_some(earlier)
    })
}

impl Witness {
    /// Orders witnesses by how easy they are to follow: adjacent accesses, few switches, few events.
    pub(crate) fn cost(&self) -> impl Ord + use<> {
        let events: u64 = self.schedule.segments.iter().map(|s| u64::from(s.until)).sum();
        (Reverse(self.adjacent), self.schedule.switches(), events)
    }

    /// Whether a run of the schedule shows the race.
    pub fn is_shown_by(&self, trace: &Trace) -> bool {
        let step_of = |id| trace.events.iter().position(|e| e.id == id);
        let (Some(first), Some(second)) = (step_of(self.first), step_of(self.second)) else { return false };
        if self.adjacent && first + 1 != second {
            return false;
        }
        let (first, second) = (Step(first as u32), Step(second as u32));
        model::race::is_race(trace, first, second)
    }
}
