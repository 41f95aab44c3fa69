//! Numbers for threads that stay the same in every run of a search.
//!
//! A run numbers threads in order of creation, so two runs that create threads in different orders number them
//! differently. Here a thread path gets a number once and keeps it.

use std::collections::BTreeMap;

use model::{Event, EventId, Op, Positions, Schedule, Segment, ThreadId, ThreadPath, ThreadSet, Trace, work};
use smallvec::{SmallVec, smallvec};

/// The numbers of all thread paths seen so far.
#[derive(Default)]
pub(crate) struct ThreadNumbers {
    numbers: BTreeMap<ThreadPath, ThreadId>,
    /// The paths by number.
    paths: Vec<ThreadPath>,
}

impl ThreadNumbers {
    /// Restores saved numbers.
    pub(crate) fn new(paths: Vec<ThreadPath>) -> Self {
        Self { numbers: paths.iter().cloned().zip((0..).map(ThreadId)).collect(), paths }
    }

    /// The paths by number.
    pub(crate) fn paths(&self) -> &[ThreadPath] {
        &self.paths
    }

    /// The trace with the search's thread numbers in its events, runnable sets and pending operations. The rest keeps
    /// the run's numbers, because no reduction reads it.
    pub(crate) fn renumber(&mut self, mut trace: Trace) -> Trace {
        let known = trace.threads.len() <= self.paths.len();
        if known && trace.threads.iter().zip(&self.paths).all(|(info, path)| info.path == *path) {
            return trace;
        }
        let mut numbers = Vec::with_capacity(trace.threads.len());
        for info in &trace.threads {
            let next = ThreadId(self.numbers.len() as u32);
            let known = self.numbers.get(&info.path).copied();
            numbers.push(known.unwrap_or_else(|| {
                self.paths.push(info.path.clone());
                *self.numbers.entry(info.path.clone()).or_insert(next)
            }));
        }
        if (0..).map(ThreadId).zip(&numbers).all(|(number, known)| number == *known) {
            return trace;
        }
        // A thread that is about to be created has neither a path nor events.
        let number_of = |thread: ThreadId| numbers.get(thread.0 as usize).copied().unwrap_or(thread);
        trace.events.iter_mut().for_each(|event| renumber_event(event, number_of));
        trace.pending.iter_mut().for_each(|pending| renumber_event(&mut pending.event, number_of));
        for (_, set) in &mut trace.runnable {
            *set = set.iter().map(number_of).collect::<ThreadSet>();
        }
        trace
    }
}

fn renumber_event(event: &mut Event, number_of: impl Fn(ThreadId) -> ThreadId) {
    event.id.thread = number_of(event.id.thread);
    match &mut event.op {
        Op::Create { child: thread }
        | Op::Join { child: thread }
        | Op::TryJoin { child: thread, .. }
        | Op::Detach { child: thread }
        | Op::Cancel { target: thread } => *thread = number_of(*thread),
        _ => {}
    }
}

/// The schedule that executes these events in this order, starting with the first.
pub(crate) fn schedule<'a>(events: impl IntoIterator<Item = &'a Event>) -> Schedule {
    let mut schedule = Schedule { segments: Vec::with_capacity(64), choices: Vec::new() };
    // The threads' numbers in the run, plus one; 0 for threads not created.
    let mut numbers: SmallVec<[u32; 64]> = smallvec![1];
    let mut count = 1;
    let mut last = None;
    let mut done = Positions::default();
    for event in events {
        work::count(1);
        let id = done.execute(event.id.thread, &event.op);
        let until = id.position + event.op.events();
        match schedule.segments.last_mut() {
            Some(segment) if last == Some(event.id.thread) => segment.until = until,
            _ => {
                last = Some(event.id.thread);
                let number = numbers.get(event.id.thread.0 as usize).and_then(|number: &u32| number.checked_sub(1));
                let number = number.expect("raceproof bug: an event comes before its thread's creation");
                schedule.segments.push(Segment { thread: ThreadId(number), until });
            }
        }
        if let Some(segment) = schedule.segments.last().filter(|_| !event.op.choices().is_empty()) {
            schedule.choose_all(EventId { thread: segment.thread, ..id }, event.op.choices());
        }
        if let Op::Create { child } = event.op {
            count += 1;
            numbers.resize(numbers.len().max(child.0 as usize + 1), 0);
            numbers[child.0 as usize] = count;
        }
    }
    schedule
}
