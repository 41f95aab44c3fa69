//! Causality in a trace: the partial order that dependence defines.
//!
//! An event *leads to* another when a chain of program order and [dependence](model::dependence) connects them. Every
//! reordering of a trace that respects this order is a run of the program with the same events.

use model::dependence::{Resource, Use, footprint, may_be_coenabled};
use model::shadow::Shadow;
use model::{Clock, Event, EventId, IndexVec, Misuse, Op, Positions, Schedule, Step, ThreadId, Trace, work};

/// An event in a lane: its step in the trace and its position in its thread.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) step: Step,
    pub(crate) position: u32,
}

/// The uses of one thread's lifetime by one thread in one way.
struct LifeLane {
    thread: ThreadId,
    how: Use,
    entries: Vec<Entry>,
}

/// Some events of a trace, arranged as a run of their own.
pub(crate) struct Linearised {
    pub(crate) schedule: Schedule,
    /// The threads in order of creation in this run, by their numbers in the trace. The run numbers a thread by its
    /// index here, which may differ from its number in the trace.
    numbers: Vec<ThreadId>,
    done: Positions,
}

impl Linearised {
    /// The run before its first event.
    pub(crate) fn new() -> Self {
        Self { schedule: Schedule::new(), numbers: vec![ThreadId::MAIN], done: Positions::default() }
    }

    /// Registers a created thread, which gets the next number.
    pub(crate) fn created(&mut self, child: ThreadId) {
        self.numbers.push(child);
    }

    /// Appends an event of the trace and returns its identity in this run.
    pub(crate) fn push(&mut self, event: &Event) -> EventId {
        let place = self.numbers.iter().position(|thread| *thread == event.id.thread);
        let place = place.expect("raceproof bug: an event comes before its thread's creation");
        let id = self.done.execute(ThreadId(place as u32), &event.op);
        self.schedule.execute(id, &event.op);
        id
    }
}

/// The events that lead to an event, and the event itself, as a count of first events per thread.
#[derive(Clone, Copy)]
pub(crate) struct Past<'a>(&'a [u32]);

impl Past<'_> {
    /// Number of the thread's events in this past.
    #[inline]
    pub(crate) fn count(self, thread: ThreadId) -> u32 {
        self.0.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// Whether the event is in this past.
    #[inline]
    pub(crate) fn contains(self, event: EventId) -> bool {
        self.count(event.thread) > event.position
    }

    /// Joins this past into a clock.
    pub(crate) fn join_to(self, clock: &mut Clock) {
        clock.join_counts(self.0);
    }
}

impl From<Past<'_>> for Clock {
    fn from(past: Past<'_>) -> Self {
        let mut clock = Self::new();
        past.join_to(&mut clock);
        clock
    }
}

/// The past of each event: rows of counts, one count per thread.
#[derive(Default)]
struct Pasts {
    /// Length of a row, a power of two from 8 on; 0 before the first.
    width: usize,
    /// Number of rows.
    len: usize,
    counts: Vec<u32>,
}

impl Pasts {
    #[inline]
    fn get(&self, row: usize) -> Past<'_> {
        Past(&self.counts[row * self.width..][..self.width])
    }

    /// Appends a row for an event: a copy of another row, or empty.
    fn push(&mut self, event: EventId, copy: Option<Step>) {
        if event.thread.0 as usize >= self.width {
            // Twice as wide each time: all rows are copied.
            let width = (event.thread.0 as usize + 1).next_power_of_two().max(8);
            let mut counts = vec![0; self.len * width];
            if self.width > 0 {
                let rows = counts.chunks_exact_mut(width).zip(self.counts.chunks_exact(self.width));
                rows.for_each(|(wide, row)| wide[..self.width].copy_from_slice(row));
            }
            (self.width, self.counts) = (width, counts);
        }
        match copy {
            Some(step) => {
                let start = step.0 as usize * self.width;
                self.counts.extend_from_within(start..start + self.width);
            }
            None => self.counts.resize((self.len + 1) * self.width, 0),
        }
        let start = self.len * self.width;
        self.counts[start + event.thread.0 as usize] = event.position + 1;
        self.len += 1;
    }

    /// Joins an earlier row into the last one.
    #[inline]
    fn join_last(&mut self, row: Step) {
        let (before, last) = self.counts.split_at_mut((self.len - 1) * self.width);
        let row = &before[row.0 as usize * self.width..][..self.width];
        work::count(row.len());
        last.iter_mut().zip(row).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.counts.truncate(self.len * self.width);
    }
}

/// The causal order of a trace's first events. Events are added and removed at the end.
#[derive(Default)]
pub(crate) struct Causality {
    pasts: Pasts,
    /// Each thread's own steps.
    steps: IndexVec<ThreadId, Vec<Entry>>,
    bytes: Shadow<Use, Vec<Entry>>,
    /// The other uses of each thread's lifetime.
    lives: IndexVec<ThreadId, Vec<LifeLane>>,
    /// Number of cancellation requests.
    cancels: usize,
}

impl Causality {
    /// The causal order of a whole trace.
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut causality = Self::default();
        trace.events.ids().for_each(|step| causality.push(trace, step));
        causality
    }

    /// Number of events added.
    pub(crate) fn len(&self) -> usize {
        self.pasts.len
    }

    /// The threads with events added, and all threads with smaller numbers.
    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        self.steps.ids()
    }

    /// Number of the thread's events added.
    pub(crate) fn count(&self, thread: ThreadId) -> usize {
        self.steps.get(thread).map_or(0, Vec::len)
    }

    /// The events that lead to the one at `step`, and that event.
    #[inline]
    pub(crate) fn clock(&self, step: Step) -> Past<'_> {
        self.pasts.get(step.0 as usize)
    }

    /// The thread's last event.
    pub(crate) fn last_of(&self, thread: ThreadId) -> Option<Step> {
        Some(self.steps.get(thread)?.last()?.step)
    }

    /// The step of an event that was added.
    pub(crate) fn step_of(&self, event: EventId) -> Step {
        self.steps[event.thread][event.position as usize].step
    }

    /// Number of the thread's events before `step`.
    pub(crate) fn count_before(&self, thread: ThreadId, step: Step) -> u32 {
        self.steps.get(thread).map_or(0, |steps| steps.partition_point(|e| e.step < step) as u32)
    }

    /// The thread's last event before the state `step`.
    pub(crate) fn last_before(&self, thread: ThreadId, step: Step) -> Option<Step> {
        let count = self.count_before(thread, step).checked_sub(1)?;
        Some(self.step_of(EventId { thread, position: count }))
    }

    /// The first event after the one at `step`, and before the state `until`, that the one at `step` does not lead to.
    pub(crate) fn first_unrelated(&self, event: EventId, step: Step, until: Step) -> Option<Step> {
        (step.0 + 1..until.0).map(Step).inspect(|_| work::count(1)).find(|other| !self.clock(*other).contains(event))
    }

    /// The past of the thread's last event.
    pub(crate) fn past_of(&self, thread: ThreadId) -> Option<Past<'_>> {
        self.last_of(thread).map(|step| self.clock(step))
    }

    /// Adds the trace's next event, the one at `step`.
    ///
    /// All arrivals at a barrier lead to the departures of their generation. A departure and the arrivals of the next
    /// generation are dependent by definition, but they commute.
    pub(crate) fn push(&mut self, trace: &Trace, step: Step) {
        let event = &trace.events[step];
        let thread = event.id.thread;
        let entry = Entry { step, position: event.id.position };
        let mut pasts = std::mem::take(&mut self.pasts);
        pasts.push(event.id, self.last_of(thread));
        // A thread's first event already follows from everything that concerns its lifetime, unless a cancellation is
        // pending.
        let lives = event.id.position == 0 || self.cancels > 0;
        for (resource, how) in footprint(event) {
            if how == Use::Step && !lives {
                continue;
            }
            let complete = (how == Use::Leave).then(|| self.completion(trace, resource, thread)).flatten();
            if let Some(arrival) = complete {
                pasts.join_last(arrival);
                // Where their order does not matter, the last arrival does not follow from the others.
                self.visit_lanes(resource, |_, theirs, entries| {
                    let met = entries.partition_point(|e| e.step < arrival);
                    if theirs == Use::Meet
                        && let Some(last) = entries[..met].last()
                    {
                        pasts.join_last(last.step);
                    }
                });
            }
            self.visit_lanes(resource, |other, theirs, entries| {
                let of_generations = matches!((how, theirs), (Use::Arrive | Use::Meet, Use::Leave))
                    || (complete.is_some() && matches!((how, theirs), (Use::Leave, Use::Arrive | Use::Meet)));
                if other != thread
                    && !of_generations
                    && !how.commutes_with(theirs)
                    && let Some(last) = entries.last()
                    && pasts.get(pasts.len - 1).count(other) <= last.position
                {
                    pasts.join_last(last.step);
                }
            });
            self.update_lanes(resource, thread, how, |entries| entries.push(entry));
            self.cancels += usize::from(how == Use::Cancel);
        }
        grow(&mut self.steps, thread).push(entry);
        self.pasts = pasts;
    }

    /// For a thread about to leave a barrier: the arrival that completed its generation, which is the first one since
    /// its own arrival after which it could run.
    fn completion(&self, trace: &Trace, barrier: Resource, thread: ThreadId) -> Option<Step> {
        let arrived = self.last_of(thread)?;
        let mut complete = None;
        self.visit_lanes(barrier, |_, theirs, entries| {
            if !matches!(theirs, Use::Arrive | Use::Meet) {
                return;
            }
            let since = entries[entries.partition_point(|e| e.step < arrived)..].iter().map(|e| e.step);
            let mut since = since.inspect(|_| work::count(1));
            let first = since.find(|s| trace.runnable_at(Step(s.0 + 1)).contains(thread));
            complete = complete.into_iter().chain(first).min();
        });
        complete
    }

    /// Visits, in order, the events after the one at `first` that none of `these` leads to. Such events are the first
    /// ones of each thread since then, so the visit is cheap when most events are caused by `these`.
    pub(crate) fn for_each_unrelated(&self, these: &[EventId], first: Step, mut f: impl FnMut(Step)) {
        let beside = |step: Step| {
            work::count(1);
            let past = self.clock(step);
            these.iter().all(|id| !past.contains(*id))
        };
        let later = self.len() - first.0 as usize - 1;
        if later <= 8 * self.steps.len() {
            return (first.0 + 1..self.len() as u32).map(Step).filter(|step| beside(*step)).for_each(f);
        }
        let mut found: Vec<Step> = Vec::new();
        for steps in &self.steps {
            let since = steps.partition_point(|e| e.step <= first);
            found.extend(steps[since..].iter().map(|e| e.step).take_while(|step| beside(*step)));
        }
        found.sort_unstable();
        found.into_iter().for_each(&mut f);
    }

    /// The next event of each thread after the added events, which are the trace's first `until`.
    pub(crate) fn next_events<'a>(&self, trace: &'a Trace, until: Step) -> Vec<&'a Event> {
        let mut next: Vec<&Event> = Vec::new();
        let later = trace.events.iter().skip(until.0 as usize);
        work::count(later.len());
        for event in later.chain(trace.pending.iter().map(|p| &p.event)) {
            if event.id.position as usize == self.count(event.id.thread) {
                next.push(event);
            }
        }
        next
    }

    /// Removes the events from `step` on. `events` is the trace they came from.
    pub(crate) fn truncate(&mut self, events: &IndexVec<Step, Event>, step: Step) {
        for event in events.as_slice()[..self.len()].iter().skip(step.0 as usize).rev() {
            let thread = event.id.thread;
            for (resource, how) in footprint(event) {
                self.update_lanes(resource, thread, how, |entries| {
                    entries.pop();
                });
                self.cancels -= usize::from(how == Use::Cancel);
            }
            self.steps[thread].pop();
        }
        self.pasts.truncate(step.0 as usize);
    }

    /// The events that `next`, not yet added, could have come before: dependent on it, co-enabled with it, and not
    /// leading to its thread's last event. Returns those since that last event, and of the earlier ones only the last,
    /// or all of them if `all` is set. Ascending.
    ///
    /// Co-enabledness follows from the rules of locks and other objects. In a trace that breaks these rules, for
    /// example by unlocking another thread's lock, any two events may be co-enabled. The operation that a cancellation
    /// replaced is unknown, so it may depend on anything.
    pub(crate) fn reversible(&self, trace: &Trace, next: &Event, all: bool) -> Vec<Step> {
        let thread = next.id.thread;
        let by_rules = !trace.misuses.iter().any(Misuse::breaks_rules);
        let since = self.last_of(thread);
        let known = since.map(|step| self.clock(step));
        if next.op == Op::Cancelled {
            return self.unknown_to(thread, known);
        }
        let mut found = Vec::new();
        let mut last_before = None;
        for (resource, how) in footprint(next) {
            self.visit_lanes(resource, |other, theirs, entries| {
                if other == thread || how.commutes_with(theirs) || (by_rules && !how.coenabled_with(theirs)) {
                    return;
                }
                let unknown = |e: &&Entry| known.is_none_or(|clock| clock.count(other) <= e.position);
                // Only an event that changes an object can use a second object that excludes the other event.
                let changes = by_rules && how == Use::Change && theirs == Use::Change;
                let coenabled = |e: &&Entry| !changes || may_be_coenabled(&trace.events[e.step], next);
                for entry in entries.iter().rev().take_while(unknown).filter(coenabled) {
                    work::count(1);
                    if all || since.is_none_or(|since| entry.step > since) {
                        found.push(entry.step);
                    } else {
                        last_before = last_before.max(Some(entry.step));
                        break;
                    }
                }
            });
        }
        found.extend(last_before);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// All events of other threads that the clock does not contain. Ascending.
    fn unknown_to(&self, thread: ThreadId, known: Option<Past<'_>>) -> Vec<Step> {
        let others = self.steps.iter_enumerated().filter(|(other, _)| *other != thread);
        let unknown = others.flat_map(|(other, steps)| &steps[known.map_or(0, |k| k.count(other)) as usize..]);
        let mut unknown: Vec<Step> = unknown.map(|e| e.step).collect();
        unknown.sort_unstable();
        unknown
    }

    /// The events of a downward-closed set as a run that respects the order and switches seldom: a thread continues
    /// while it can; then the thread runs whose next event comes first in the trace.
    pub(crate) fn linearise(&self, trace: &Trace, past: &Clock) -> Linearised {
        let threads: Vec<ThreadId> = self.steps.ids().filter(|t| past.count(*t) > 0).collect();
        let mut run = Linearised::new();
        let mut done = Clock::new();
        let ready = |done: &Clock, thread: ThreadId| {
            let id = EventId { thread, position: done.count(thread) };
            let step = past.contains(id).then(|| self.step_of(id))?;
            let needs = self.clock(step);
            threads.iter().all(|t| *t == thread || needs.count(*t) <= done.count(*t)).then_some(step)
        };
        while let Some(first) = threads.iter().filter_map(|t| ready(&done, *t)).min() {
            let thread = trace.events[first].id.thread;
            while let Some(step) = ready(&done, thread) {
                let event = &trace.events[step];
                done.learn(event.id);
                run.push(event);
                if let Op::Create { child } = event.op {
                    run.created(child);
                }
            }
        }
        run
    }

    /// Visits the uses of a resource by thread and kind, each in order.
    pub(crate) fn visit_lanes(&self, resource: Resource, mut f: impl FnMut(ThreadId, Use, &[Entry])) {
        match resource {
            Resource::Bytes(cell) => self.bytes.visit(cell, |thread, how, entries| f(thread, how, entries)),
            Resource::Thread(life) => {
                if let Some(steps) = self.steps.get(life) {
                    f(life, Use::Step, steps);
                }
                self.lives.get(life).into_iter().flatten().for_each(|lane| f(lane.thread, lane.how, &lane.entries));
            }
        }
    }

    fn update_lanes(&mut self, resource: Resource, thread: ThreadId, how: Use, mut f: impl FnMut(&mut Vec<Entry>)) {
        match resource {
            Resource::Bytes(cell) => {
                self.bytes.update(cell, thread, how, f);
            }
            // These are already in `steps`.
            Resource::Thread(_) if how == Use::Step => {}
            Resource::Thread(life) => {
                let lanes = grow(&mut self.lives, life);
                let at = lanes.iter().position(|l| l.thread == thread && l.how == how).unwrap_or_else(|| {
                    lanes.push(LifeLane { thread, how, entries: Vec::new() });
                    lanes.len() - 1
                });
                f(&mut lanes[at].entries);
            }
        }
    }
}

fn grow<T: Default>(table: &mut IndexVec<ThreadId, T>, thread: ThreadId) -> &mut T {
    while table.len() <= thread.0 as usize {
        table.push(T::default());
    }
    &mut table[thread]
}
