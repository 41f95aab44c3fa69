//! Leading the program along a way that an abstraction of it has found.
//!
//! A hint says which thread gets where in the code, in order, and before which accesses two of them should stand in the
//! end. The program is led step by step: the thread runs until it has executed something at the place; where it has to
//! wait for others first, the fixed policy lets them. What the program does not do is passed over.
//!
//! Can be missed: everything; a hint may be impossible, or lead another way. Never claimed wrongly: being led somewhere
//! claims nothing; what the runs show is judged like any other run.

use std::collections::BTreeMap;

use model::{End, Event, Op, Schedule, SiteId, Step, ThreadId, Trace};

/// Most runs for one hint.
const MOST_RUNS: usize = 200;

/// One step of a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintStep {
    /// The thread, by number: 0 is the initial one, others count in the order in which the hint creates them.
    pub thread: usize,
    /// What it executes.
    pub site: SiteId,
    /// Whether that creates the next thread.
    pub creates: bool,
}

/// A way through the program to two accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// What threads execute, in order.
    pub steps: Vec<HintStep>,
    /// Which threads stand before which accesses then.
    pub accesses: [(usize, SiteId); 2],
}

/// How far the program went along a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Led {
    /// Both threads came to their accesses.
    There,
    /// This thread (by its number in the hint) did not come to its access.
    Lost(usize),
}

/// Leads the program along a hint: how far it went, and its last run.
pub(crate) fn follow<E>(mut run: impl FnMut(&Schedule) -> Result<Trace, E>, hint: &Hint) -> Result<(Led, Trace), E> {
    let trace = run(&Schedule::new())?;
    let mut guide = Guide { run, prefix: Step(0), trace, threads: vec![Some(ThreadId::MAIN)], runs: 1 };
    for step in &hint.steps {
        let found = guide.find(step.thread, step.site)?;
        let mut child = None;
        if let Some(at) = found {
            if let Op::Create { child: created } = guide.trace.events[at].op {
                child = Some(created);
            }
            guide.prefix = Step(at.0 + 1);
        }
        if step.creates {
            guide.threads.push(child);
        }
    }
    for (thread, site) in hint.accesses {
        match guide.find(thread, site)? {
            Some(at) => guide.prefix = at,
            None => return Ok((Led::Lost(thread), guide.trace)),
        }
    }
    guide.let_meet(hint.accesses.map(|(thread, _)| thread))?;
    Ok((Led::There, guide.trace))
}

/// The run so far.
struct Guide<R> {
    run: R,
    /// The events that are decided.
    prefix: Step,
    /// A run that begins with them.
    trace: Trace,
    /// The threads of the hint.
    threads: Vec<Option<ThreadId>>,
    runs: usize,
}

impl<E, R: FnMut(&Schedule) -> Result<Trace, E>> Guide<R> {
    /// The next event of a thread at a place, in a run that begins with what is decided and lets the thread go on from
    /// there.
    fn find(&mut self, thread: usize, site: SiteId) -> Result<Option<Step>, E> {
        let Some(thread) = self.threads.get(thread).copied().flatten() else { return Ok(None) };
        let goes_on = self.trace.events.get(self.prefix).is_some_and(|next| next.id.thread == thread);
        if !goes_on && self.runs < MOST_RUNS {
            self.runs += 1;
            let done = self.done().get(&thread).copied().unwrap_or(0);
            let mut schedule = self.trace.schedule_to(self.prefix);
            schedule.push(thread, done + 1);
            let trace = (self.run)(&schedule)?;
            // A thread that cannot run now has to wait for the others.
            if !matches!(trace.end, End::Diverged { .. }) {
                self.trace = trace;
            }
        }
        let is_there = |event: &Event| event.id.thread == thread && event.site == Some(site);
        let later = self.trace.events.iter_enumerated().skip(self.prefix.0 as usize);
        Ok(later.into_iter().find(|(_, event)| is_there(event)).map(|(step, _)| step))
    }

    /// Lets threads that stand before their accesses execute them, one after the other: a run that goes on without end
    /// elsewhere would never come back to them.
    fn let_meet(&mut self, threads: [usize; 2]) -> Result<(), E> {
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

    /// How many events of each thread are decided.
    fn done(&self) -> BTreeMap<ThreadId, u32> {
        let decided = self.trace.events.iter().take(self.prefix.0 as usize);
        decided.map(|event| (event.id.thread, event.id.position + 1)).collect()
    }
}
