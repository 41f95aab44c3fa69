//! Steers the program along a path that an abstraction of it has found.
//!
//! A hint lists which thread reaches which site, in order, and the two accesses before which two threads should finally
//! be. The program is steered step by step: the thread runs until it has executed the site. If it has to wait for other
//! threads first, the fixed policy runs them. Steps that the program does not take are skipped.
//!
//! Can be missed: everything; a hint may be infeasible or lead somewhere else. Never wrongly claimed: a hint claims
//! nothing by itself; its runs are examined like all others.

use std::collections::BTreeMap;

use model::{End, Event, Op, Schedule, SiteId, Step, ThreadId, Trace};

/// Limit on the runs for one hint.
const MOST_RUNS: usize = 200;

/// One step of a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintStep {
    /// The thread's number: 0 is the initial thread; others count in the order in which the hint creates them.
    pub thread: usize,
    /// The site it executes.
    pub site: SiteId,
    /// Whether the site creates the next thread.
    pub creates: bool,
}

/// A path through the program to two accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// The sites that threads execute, in order.
    pub steps: Vec<HintStep>,
    /// The threads and the accesses they should be about to make at the end.
    pub accesses: [(usize, SiteId); 2],
}

/// How far the program followed a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Led {
    /// Both threads reached their accesses.
    There,
    /// This thread (by its number in the hint) did not reach its access.
    Lost(usize),
}

/// Steers the program along a hint. Returns how far it got, and its last run.
pub(crate) fn follow<E>(mut run: impl FnMut(&Schedule) -> Result<Trace, E>, hint: &Hint) -> Result<(Led, Trace), E> {
    let trace = run(&Schedule::new())?;
    let mut steered = SteeredRun { run, prefix: Step(0), trace, threads: vec![Some(ThreadId::MAIN)], runs: 1 };
    for step in &hint.steps {
        let found = steered.find(step.thread, step.site)?;
        let mut child = None;
        if let Some(at) = found {
            if let Op::Create { child: created } = steered.trace.events[at].op {
                child = Some(created);
            }
            steered.prefix = Step(at.0 + 1);
        }
        if step.creates {
            steered.threads.push(child);
        }
    }
    for (thread, site) in hint.accesses {
        match steered.find(thread, site)? {
            Some(at) => steered.prefix = at,
            None => return Ok((Led::Lost(thread), steered.trace)),
        }
    }
    steered.run_accesses(hint.accesses.map(|(thread, _)| thread))?;
    Ok((Led::There, steered.trace))
}

/// The steered run so far.
struct SteeredRun<R> {
    run: R,
    /// The events that are fixed.
    prefix: Step,
    /// A run that starts with the fixed events.
    trace: Trace,
    /// The threads of the hint.
    threads: Vec<Option<ThreadId>>,
    runs: usize,
}

impl<E, R: FnMut(&Schedule) -> Result<Trace, E>> SteeredRun<R> {
    /// The thread's next event at a site, in a run that starts with the fixed events and then runs the thread.
    fn find(&mut self, thread: usize, site: SiteId) -> Result<Option<Step>, E> {
        let Some(thread) = self.threads.get(thread).copied().flatten() else { return Ok(None) };
        let goes_on = self.trace.events.get(self.prefix).is_some_and(|next| next.id.thread == thread);
        if !goes_on && self.runs < MOST_RUNS {
            self.runs += 1;
            let done = self.done().get(&thread).copied().unwrap_or(0);
            let mut schedule = self.trace.schedule_to(self.prefix);
            schedule.push(thread, done + 1);
            let trace = (self.run)(&schedule)?;
            // If the thread cannot run now, the policy lets the others run first.
            if !matches!(trace.end, End::Diverged { .. }) {
                self.trace = trace;
            }
        }
        let is_there = |event: &Event| event.id.thread == thread && event.site == Some(site);
        let later = self.trace.events.iter_enumerated().skip(self.prefix.0 as usize);
        Ok(later.into_iter().find(|(_, event)| is_there(event)).map(|(step, _)| step))
    }

    /// Runs both threads' accesses one after the other: a run that loops for ever elsewhere would never return to them.
    fn run_accesses(&mut self, threads: [usize; 2]) -> Result<(), E> {
        let mut schedule = self.trace.schedule_to(self.prefix);
        let done = self.done();
        for thread in threads.into_iter().filter_map(|number| self.threads.get(number).copied().flatten()) {
            schedule.push(thread, done.get(&thread).copied().unwrap_or(0) + 1);
        }
        let trace = (self.run)(&schedule)?;
        if !matches!(trace.end, End::Diverged { .. }) {
            self.trace = trace;
        }
        Ok(())
    }

    /// Number of fixed events of each thread.
    fn done(&self) -> BTreeMap<ThreadId, u32> {
        let decided = self.trace.events.iter().take(self.prefix.0 as usize);
        decided.map(|event| (event.id.thread, event.id.position + 1)).collect()
    }
}
