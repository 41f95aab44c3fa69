//! Taking critical sections as one event each.
//!
//! [`fuse`] replaces the events of every [critical section](model::shortcuts) that the program's text describes by one
//! [`Op::Critical`]. Other threads never come in the middle of it unless a schedule says so, and a search that takes it as
//! one event makes no such schedule. Positions in a fused trace count operations; schedules always count the run's events
//! ([`model::Positions`]).
//!
//! A fused trace is *not enough* if another thread could notice a section that is under way: if it looks whether the lock is
//! held, initialises or destroys it, or touches without the lock what the section touches. Then the search starts again
//! with the events as they are: [`is_enough`], and [`notices`] for what two events show.

use std::collections::BTreeMap;

use model::dependence::{Resource, Use, footprint};
use model::race::News;
use model::{
    Addr, Critical, CriticalSection, End, Event, EventId, IndexVec, LockMode, Op, Shortcuts, SiteId, Step, ThreadId,
    Trace,
};
use rustc_hash::FxHashMap;

use crate::meetings;

/// The critical sections of a program, by the site that takes the lock.
type Sections = BTreeMap<SiteId, CriticalSection>;

/// The trace with these shortcuts taken.
pub(crate) fn take_shortcuts(mut trace: Trace, shortcuts: &Shortcuts) -> Trace {
    meetings::join(&mut trace, &shortcuts.meetings);
    if shortcuts.sections.is_empty() { trace } else { fuse(trace, &shortcuts.sections) }
}

/// The trace with its critical sections as one event each.
fn fuse(mut trace: Trace, sections: &Sections) -> Trace {
    let (events, runnable) = (std::mem::take(&mut trace.events), std::mem::take(&mut trace.runnable));
    let mut raw = events.into_raw();
    let mut fused: Vec<Event> = Vec::with_capacity(raw.len());
    // For each event of the run, and for the state after the last, the operation that it belongs to.
    let mut steps: Vec<Step> = Vec::with_capacity(raw.len() + 1);
    let mut positions: IndexVec<ThreadId, u32> = IndexVec::filled(trace.threads.len(), 0);
    let mut held = Held::default();
    let mut at = 0;
    while at < raw.len() {
        let step = Step(fused.len() as u32);
        let section = section_at(&raw[at..], sections).filter(|section| !held.by(raw[at].id.thread, section.lock));
        let thread = raw[at].id.thread;
        let (count, op) = match section {
            Some(section) => (section.events() as usize, Op::Critical(Box::new(section))),
            None => {
                held.execute(thread, &raw[at].op);
                (1, std::mem::replace(&mut raw[at].op, Op::Yield))
            }
        };
        let id = EventId { thread, position: positions[thread] };
        positions[thread] += 1;
        fused.push(Event { id, site: raw[at].site, op });
        steps.extend(std::iter::repeat_n(step, count));
        at += count;
    }
    steps.push(Step(fused.len() as u32));
    let step_of = |step: Step| steps[(step.0 as usize).min(steps.len() - 1)];
    // What is known in the middle of a section says nothing about the states before and after.
    let is_boundary = |step: Step| step.0 == 0 || step_of(step) != step_of(Step(step.0 - 1));
    let mut states: Vec<(Step, model::ThreadSet)> = Vec::with_capacity(runnable.len());
    let mut until = runnable.iter().skip(1).map(|(step, _)| *step);
    for (from, set) in &runnable {
        let end = until.next().map_or(steps.len() as u32, |end| end.0);
        let Some(first) = (from.0..end).map(Step).find(|step| is_boundary(*step)) else { continue };
        if states.last().is_none_or(|(_, last)| last != set) {
            states.push((step_of(first), set.clone()));
        }
    }
    for thread in trace.threads.iter_mut() {
        thread.created = thread.created.map(step_of);
    }
    for pending in &mut trace.pending {
        pending.event.id.position = positions[pending.event.id.thread];
    }
    (trace.events, trace.runnable) = (IndexVec::from_raw(fused), states);
    trace.allocations.iter_mut().for_each(|allocation| allocation.before = step_of(allocation.before));
    trace.misuses.iter_mut().for_each(|misuse| misuse.before = step_of(misuse.before));
    trace.opened.iter_mut().for_each(|file| file.before = step_of(file.before));
    trace.peers.iter_mut().for_each(|peer| peer.before = step_of(peer.before));
    trace
}

/// How often each thread holds each lock, and will hold it again after the wait that it has started.
#[derive(Default)]
struct Held(FxHashMap<(ThreadId, Addr), (u32, u32)>);

impl Held {
    fn by(&self, thread: ThreadId, lock: Addr) -> bool {
        self.0.get(&(thread, lock)).is_some_and(|(levels, _)| *levels > 0)
    }

    fn execute(&mut self, thread: ThreadId, op: &Op) {
        let (Op::Acquire { lock, .. }
        | Op::TryAcquire { lock, success: true, .. }
        | Op::Release { lock, .. }
        | Op::WaitBegin { lock, .. }) = *op
        else {
            return;
        };
        let (levels, given_up) = self.0.entry((thread, lock)).or_default();
        (*levels, *given_up) = match op {
            Op::Release { .. } => (levels.saturating_sub(1), 0),
            Op::WaitBegin { .. } => (0, *levels),
            _ => (*levels + (*given_up).max(1), 0),
        };
    }
}

/// The critical section whose events these begin with, if they do.
fn section_at(events: &[Event], sections: &Sections) -> Option<Critical> {
    let (first, rest) = events.split_first()?;
    let Op::Acquire { lock, mode: LockMode::Exclusive } = first.op else { return None };
    let CriticalSection { accesses: expected, release } = sections.get(&first.site?)?;
    let mut expected = expected.iter();
    let (mut accesses, mut sites, mut updates) = (Vec::new(), Vec::new(), Vec::new());
    for event in rest {
        if event.id.thread != first.id.thread {
            return None;
        }
        match event.op {
            Op::Access(access) if access.atomic.is_none() => {
                // Those that no other thread can see are no events.
                let (site, update) = expected.find(|(site, _)| event.site == Some(*site))?;
                accesses.push(access);
                sites.push(Some(*site));
                updates.push(*update);
            }
            Op::Release { lock: released, mode: LockMode::Exclusive }
                if released == lock && event.site == Some(*release) =>
            {
                let (accesses, sites) = (accesses.into(), sites.into());
                return Some(Critical { lock, accesses, sites, updates: updates.into() });
            }
            _ => return None,
        }
    }
    None
}

/// Whether a trace with shortcuts shows all that the run shows. `news` are its races.
pub(crate) fn is_enough(trace: &Trace, shortcuts: &Shortcuts, news: &News<'_>) -> bool {
    let Shortcuts { sections, meetings } = shortcuts;
    meetings::is_enough(trace, meetings) && sections_are_enough(trace, sections, news)
}

fn sections_are_enough(trace: &Trace, sections: &Sections, news: &News<'_>) -> bool {
    let critical = |step: Step| matches!(trace.events[step].op, Op::Critical(_));
    // A section that the run did not finish, or not at once. What it touches is not known if it did not begin.
    let mut held = Held::default();
    let is_apart = |event: &Event| {
        let begins =
            matches!(event.op, Op::Acquire { lock, mode: LockMode::Exclusive } if !held.by(event.id.thread, lock));
        held.execute(event.id.thread, &event.op);
        begins && event.site.is_some_and(|site| sections.contains_key(&site))
    };
    sections.is_empty()
        || trace.misuses.is_empty()
            && !matches!(trace.end, End::Crash { .. })
            && !news.races.iter().any(|race| critical(race.first) || critical(race.second))
            && !trace.events.iter().chain(trace.pending.iter().map(|pending| &pending.event)).any(is_apart)
}

/// Whether one of two events, which nothing orders, is a critical section and the other would notice that its lock is held.
pub(crate) fn notices(one: &Event, other: &Event) -> bool {
    let lock = |event: &Event| if let Op::Critical(critical) = &event.op { Some(critical.lock) } else { None };
    let uses = |lock: Addr, event: &Event| {
        let meets =
            |resource: Resource| matches!(resource, Resource::Bytes(cell) if cell.start <= lock && lock.0 < cell.end());
        let waits = |how: Use| matches!(how, Use::Take | Use::TakeShared | Use::Give | Use::GiveShared | Use::Critical);
        footprint(event).any(|(resource, how)| meets(resource) && !waits(how))
    };
    lock(one).is_some_and(|lock| uses(lock, other)) || lock(other).is_some_and(|lock| uses(lock, one))
}
