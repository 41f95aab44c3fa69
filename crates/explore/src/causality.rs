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
pub(crate) struct Past<'a> {
    /// The counts of other threads.
    others: &'a [u32],
    event: EventId,
}

impl Past<'_> {
    /// Number of the thread's events in this past.
    #[inline]
    pub(crate) fn count(self, thread: ThreadId) -> u32 {
        if thread == self.event.thread {
            return self.event.position + 1;
        }
        self.others.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// Whether the event is in this past.
    #[inline]
    pub(crate) fn contains(self, event: EventId) -> bool {
        self.count(event.thread) > event.position
    }

    /// Joins this past into a clock.
    pub(crate) fn join_to(self, clock: &mut Clock) {
        clock.join_counts(self.others);
        clock.learn(self.event);
    }
}

impl From<Past<'_>> for Clock {
    fn from(past: Past<'_>) -> Self {
        let mut clock = Self::new();
        past.join_to(&mut clock);
        clock
    }
}

/// Where an event's past is.
#[derive(Clone, Copy)]
struct PastOf {
    event: EventId,
    /// Rows up to and with this event's.
    rows: u32,
    /// Its row; `None`: no event of another thread leads to it.
    row: Option<u32>,
}

/// The past of each event: rows of counts, one count per thread. Events of one thread share a row until another thread's
/// event leads to one of them, so long executions whose threads seldom depend on each other take memory for their events
/// only. A row's count of the event's own thread means nothing: the event's position says it.
#[derive(Default)]
struct Pasts {
    /// Length of a row, a power of two from 8 on; 0 before the first.
    width: usize,
    counts: Vec<u32>,
    of: Vec<PastOf>,
}

impl Pasts {
    fn len(&self) -> usize {
        self.of.len()
    }

    #[inline]
    fn get(&self, at: usize) -> Past<'_> {
        let PastOf { event, row, .. } = self.of[at];
        Past { others: row.map_or(&[], |row| &self.counts[row as usize * self.width..][..self.width]), event }
    }

    fn rows(&self) -> u32 {
        self.of.last().map_or(0, |last| last.rows)
    }

    /// Appends an event, to which all lead that lead to this other one, its thread's last.
    fn push(&mut self, event: EventId, last: Option<Step>) {
        let row = last.and_then(|step| self.of[step.0 as usize].row);
        self.of.push(PastOf { event, rows: self.rows(), row });
    }

    /// Makes rows long enough for a thread.
    fn widen(&mut self, thread: ThreadId) {
        if (thread.0 as usize) < self.width {
            return;
        }
        // Twice as wide each time: all rows are copied.
        let width = (thread.0 as usize + 1).next_power_of_two().max(8);
        let mut counts = vec![0; self.rows() as usize * width];
        if self.width > 0 {
            let rows = counts.chunks_exact_mut(width).zip(self.counts.chunks_exact(self.width));
            rows.for_each(|(wide, row)| wide[..self.width].copy_from_slice(row));
        }
        (self.width, self.counts) = (width, counts);
    }

    /// All that leads to an earlier event, and that event, leads to the last one, too.
    #[inline]
    fn join_last(&mut self, step: Step) {
        let PastOf { event, row: theirs, .. } = self.of[step.0 as usize];
        let (last, rows) = (self.len() - 1, self.rows());
        if self.get(last).contains(event) {
            return;
        }
        self.widen(event.thread);
        let start = rows as usize * self.width;
        let own = match self.of[last].row {
            // Nobody shares it.
            Some(row) if row + 1 == rows && (last == 0 || self.of[last - 1].rows < rows) => row as usize * self.width,
            Some(row) => {
                let row = row as usize * self.width;
                self.counts.extend_from_within(row..row + self.width);
                start
            }
            None => {
                self.counts.resize(start + self.width, 0);
                start
            }
        };
        if let Some(row) = theirs {
            let (before, mine) = self.counts.split_at_mut(own);
            let row = &before[row as usize * self.width..][..self.width];
            work::count(row.len());
            mine.iter_mut().zip(row).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
        }
        let count = &mut self.counts[own + event.thread.0 as usize];
        *count = (*count).max(event.position + 1);
        let row = (own / self.width) as u32;
        let event = self.of[last].event;
        self.of[last] = PastOf { event, rows: row + 1, row: Some(row) };
    }

    fn truncate(&mut self, len: usize) {
        self.of.truncate(len);
        self.counts.truncate(self.rows() as usize * self.width);
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
        self.pasts.len()
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
                let is_meeting = |theirs| theirs == Use::Meet;
                self.visit_lanes_of(resource, is_meeting, |_, _, entries| {
                    let met = entries.partition_point(|e| e.step < arrival);
                    if let Some(last) = entries[..met].last() {
                        pasts.join_last(last.step);
                    }
                });
            }
            let leads = |theirs| {
                let of_generations = matches!((how, theirs), (Use::Arrive | Use::Meet, Use::Leave))
                    || (complete.is_some() && matches!((how, theirs), (Use::Leave, Use::Arrive | Use::Meet)));
                !of_generations && !how.commutes_with(theirs)
            };
            self.visit_lanes_of(resource, leads, |other, _, entries| {
                if other != thread
                    && let Some(last) = entries.last()
                    && pasts.get(pasts.len() - 1).count(other) <= last.position
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
        let is_arrival = |theirs| matches!(theirs, Use::Arrive | Use::Meet);
        self.visit_lanes_of(barrier, is_arrival, |_, _, entries| {
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
            let meets = |theirs| !how.commutes_with(theirs) && (!by_rules || how.coenabled_with(theirs));
            self.visit_lanes_of(resource, meets, |other, theirs, entries| {
                if other == thread {
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
    pub(crate) fn visit_lanes(&self, resource: Resource, f: impl FnMut(ThreadId, Use, &[Entry])) {
        self.visit_lanes_of(resource, |_| true, f);
    }

    /// The same for wanted kinds alone. The others cost the same whatever the number of threads.
    pub(crate) fn visit_lanes_of(
        &self,
        resource: Resource,
        wanted: impl Fn(Use) -> bool,
        mut f: impl FnMut(ThreadId, Use, &[Entry]),
    ) {
        match resource {
            Resource::Bytes(cell) => self.bytes.visit_uses(cell, |how, users| {
                if wanted(how) {
                    work::count(users.len());
                    users.iter().for_each(|(thread, entries)| f(*thread, how, entries));
                }
            }),
            Resource::Thread(life) => {
                if let Some(steps) = self.steps.get(life).filter(|_| wanted(Use::Step)) {
                    f(life, Use::Step, steps);
                }
                let lanes = self.lives.get(life).into_iter().flatten().filter(|lane| wanted(lane.how));
                lanes.for_each(|lane| f(lane.thread, lane.how, &lane.entries));
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
