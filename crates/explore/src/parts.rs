//! Parts of a search that can be explored by themselves.
//!
//! A leaf of a wake-up tree is executed for certain, and what is explored below it is a function of the leaf alone: of the
//! events that lead there, of who sleeps on the way, and of what is known about threads and compare-exchanges. For what is
//! planned while it is explored goes either into states below the leaf, or into the trees of states above, which nobody
//! looks at before the leaf is done with. So a *part* is explored in a copy of the reduction that has nothing else to do.
//! It brings executions, in order, and the sequences that are to go into trees above; taking over both ([`Optimal::adopt_here`])
//! leaves the search where it would be if it had explored the part itself. That a part was what the search came to is
//! checked ([`Optimal::fits_here`]); if not, or if it met what only the whole search can deal with, it is given up.
//!
//! A part may be cut after any of its executions. What is left of it is then taken over too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::race::SitePair;
use model::{End, Event, Executor, Race, Schedule, SiteId, Step, ThreadInfo, ThreadPath, ThreadSet, Trace};

use crate::events::EventNumber;
use crate::findings::Examiner;
use crate::names::{self, Names};
use crate::optimal::{Mode, Optimal, Plan};
use crate::reduction::{Reduction, Taken};
use crate::sleep::Sleep;
use crate::wakeup::{self, Branch, Planned};

/// Most events of a part's executions: it is cut after them.
const LONGEST: usize = 1 << 17;
/// Most planned leaves looked at for a part.
const LOOKED_AT: usize = 32;

/// Who sleeps from a state on, up to the next entry's.
pub(crate) type Sleeping<E> = Vec<(u32, Vec<E>, ThreadSet)>;

/// A leaf of a wake-up tree with all that what is explored below it depends on.
pub(crate) struct Part {
    /// Executes the leaf.
    pub(crate) schedule: Schedule,
    /// An execution up to the state where the leaf leaves it.
    trace: Trace,
    /// The leaf's events, and whether each was seen.
    chain: Vec<(Event, bool)>,
    sleeping: Sleeping<Event>,
    /// Who sleeps in the state where the leaf leaves the execution, by the numbers of the search.
    asleep: (Vec<EventNumber>, ThreadSet),
    /// Threads by number.
    paths: Vec<ThreadPath>,
    exchanges: BTreeSet<SiteId>,
}

/// A run of a part.
pub(crate) struct PartRun {
    pub(crate) schedule: Schedule,
    pub(crate) taken: Taken,
    /// The number of its first events that are those of the run before.
    shared: Step,
    /// Without these events.
    trace: Trace,
    pub(crate) races: Vec<Race>,
    pub(crate) conflicts: Vec<SitePair>,
    /// Sequences for the trees of states above the part.
    above: Vec<(Step, Box<[Planned]>)>,
}

impl PartRun {
    /// Whether there is anything to report.
    pub(crate) fn shows_something(&self) -> bool {
        let ends = matches!(self.trace.end, End::Exit { .. } | End::Assumed { .. });
        !ends || !self.races.is_empty() || !self.trace.misuses.is_empty()
    }

    /// The run's trace, given that of the run before it.
    pub(crate) fn complete(&mut self, before: Option<Trace>) -> Trace {
        let Some(mut trace) = before else { return std::mem::replace(&mut self.trace, Trace::empty(End::Deadlock)) };
        let Trace { threads, events, runnable, pending, allocations, misuses, unmodelled, end } =
            std::mem::replace(&mut self.trace, Trace::empty(End::Deadlock));
        keep_until(&mut trace, self.shared);
        trace.threads.extend(threads.into_raw());
        trace.events.extend(events.into_raw());
        trace.runnable.extend(runnable);
        trace.allocations.extend(allocations);
        trace.misuses.extend(misuses);
        Trace { pending, unmodelled, end, ..trace }
    }
}

/// What exploring a part has brought.
pub(crate) struct Explored {
    pub(crate) part: Part,
    pub(crate) runs: Vec<PartRun>,
    /// Who sleeps in the states after the one where the part begins, and the number of states.
    sleeping: (Sleeping<EventNumber>, u32),
    /// What is left of the part.
    trees: BTreeMap<Step, Vec<Branch>>,
    /// Number of events of the last execution that count.
    counted: u32,
    paths: Vec<ThreadPath>,
    exchanges: BTreeSet<SiteId>,
    /// Whose numbers these are: each helper numbers events by itself.
    pub(crate) helper: usize,
    /// The events it numbered since it last told.
    pub(crate) numbered: Vec<Event>,
}

impl Explored {
    /// Events of all its executions that are kept until they are taken over.
    pub(crate) fn events(&self) -> usize {
        self.runs.iter().map(|run| run.trace.events.len()).sum()
    }
}

/// A helper's memory.
pub(crate) struct Helper {
    number: usize,
    optimal: Optimal,
    /// Events whose numbers it has told.
    told: usize,
}

impl Helper {
    pub(crate) fn new(number: usize, optimal: Optimal) -> Self {
        Self { number, optimal, told: 0 }
    }

    /// Explores a part until it is done, or `cut`. `None` if only the whole search can deal with what it met.
    pub(crate) fn explore<E: Executor>(&mut self, executor: &mut E, part: Part, cut: &AtomicBool) -> Option<Explored> {
        let optimal = &mut self.optimal;
        let floor = optimal.begin(&part);
        // Begins anew: what it examined before may never be taken over.
        let mut examiner = Examiner::default();
        let (mut runs, mut events): (Vec<PartRun>, usize) = (Vec::new(), 0);
        let mut next = Some(part.schedule.clone());
        while let Some(schedule) = next {
            let trace = executor.run(&schedule).ok()?;
            if matches!(trace.end, End::Diverged { .. }) {
                return None;
            }
            let (shared, news) = examiner.examine(Some(&schedule), &trace);
            let (races, conflicts) = (news.races.to_vec(), news.conflicts.to_vec());
            let kept = since(&trace, shared);
            events += trace.events.len();
            let taken = optimal.take(trace).ok()?;
            if matches!(taken, Taken::Restart | Taken::Unsupported) || optimal.causality.len() < floor.0 as usize {
                return None;
            }
            let above = optimal.take_above();
            runs.push(PartRun { schedule, taken, shared, trace: kept, races, conflicts, above });
            let enough = events >= LONGEST || cut.load(Ordering::Relaxed);
            next = if enough && taken != Taken::Detour { None } else { optimal.next() };
        }
        Some(self.conclude(part, runs))
    }

    fn conclude(&mut self, part: Part, runs: Vec<PartRun>) -> Explored {
        let optimal = &mut self.optimal;
        let from = part.trace.events.len();
        let numbered = optimal.events.since(self.told);
        self.told += numbered.len();
        Explored {
            runs,
            sleeping: (sleeping_from(&optimal.sleeps, from + 1), optimal.sleeps.len() as u32),
            trees: std::mem::take(&mut optimal.trees),
            counted: optimal.causality.len() as u32,
            paths: optimal.names.paths().to_vec(),
            exchanges: optimal.exchanges.clone(),
            helper: self.number,
            numbered,
            part,
        }
    }
}

/// What exploring a leaf at a state, with all below it, takes: the mean of those before.
#[derive(Default)]
pub(crate) struct Sizes {
    /// Executions so far.
    executions: u64,
    /// Where the current execution leaves others: the state, and how many there were then.
    begun: Vec<(Step, u64)>,
    mean: Vec<f32>,
}

impl Sizes {
    /// So many executions more.
    pub(crate) fn add(&mut self, executions: u64) {
        self.executions += executions;
    }

    /// All that follows the current execution's event in a state is explored.
    pub(crate) fn explored(&mut self, state: Step) {
        self.begun.truncate(self.begun.partition_point(|(other, _)| *other <= state));
        let began = self.begun.last().map_or(0, |(_, began)| *began);
        match self.begun.last_mut().filter(|(other, _)| *other == state) {
            Some((_, began)) => *began = self.executions,
            None => self.begun.push((state, self.executions)),
        }
        let at = state.0 as usize;
        self.mean.resize(self.mean.len().max(at + 1), 0.0);
        self.mean[at] += ((self.executions - began) as f32 - self.mean[at]) / 4.0;
    }
}

impl Optimal {
    /// Parts that are due soon, the next one first, of at least so many executions as far as one can tell. Without what the
    /// search explores next itself, and what is known.
    pub(crate) fn find_parts(&mut self, least: f32, most: usize, known: &dyn Fn(&Schedule) -> bool) -> Vec<Part> {
        let Self { trace: Some(trace), trees, sleeps, events, sizes, names, exchanges, .. } = self else {
            return Vec::new();
        };
        let (mut parts, mut looked) = (Vec::new(), 0);
        let (mut size, mut deepest) = (0.0_f32, sizes.mean.len());
        let last = trees.last_key_value().map(|(state, _)| *state);
        for (state, branches) in trees.iter().rev() {
            let at = state.0 as usize;
            size = sizes.mean[at.min(deepest)..deepest].iter().fold(size, |a, b| a.max(*b));
            deepest = deepest.min(at);
            if size < least {
                continue;
            }
            let mut asleep = sleeps.get(at).cloned().unwrap_or_default();
            let mut before = events.number(&trace.events[*state]);
            for (number, branch) in branches.iter().enumerate() {
                asleep.insert(&*events, before);
                before = branch.chain[0].event();
                if number == 0 && Some(*state) == last {
                    continue;
                }
                if parts.len() >= most || looked >= LOOKED_AT {
                    return parts;
                }
                looked += 1;
                let chain = wakeup::first_leaf(branch);
                let planned = chain.iter().map(|p| events.get(p.event()));
                let schedule = names::schedule(trace.events.iter().take(at).chain(planned));
                if known(&schedule) {
                    continue;
                }
                let content = |these: &[EventNumber]| these.iter().map(|e| events.get(*e).clone()).collect();
                let sleeping = sleeping_from(sleeps, 0).into_iter().filter(|(from, ..)| *from < state.0);
                let sleeping = sleeping.map(|(from, events, partly)| (from, content(&events), partly));
                let nobody = (sleeps.len() as u32, Vec::new(), ThreadSet::new());
                let nobody = (nobody.0 < state.0).then_some(nobody);
                let here = (state.0, content(asleep.events()), asleep.partly().clone());
                parts.push(Part {
                    schedule,
                    trace: until(trace, *state),
                    chain: chain.iter().map(|p| (events.get(p.event()).clone(), p.seen())).collect(),
                    sleeping: sleeping.chain(nobody).chain([here]).collect(),
                    asleep: (asleep.events().to_vec(), asleep.partly().clone()),
                    paths: names.paths().to_vec(),
                    exchanges: exchanges.clone(),
                });
            }
        }
        parts
    }

    /// Sets who sleeps in the states after those that are known.
    pub(crate) fn set_sleeping(&mut self, sleeping: Sleeping<EventNumber>, states: u32) {
        let ends: Vec<u32> = sleeping.iter().skip(1).map(|(from, ..)| *from).chain([states]).collect();
        for ((_, events, partly), end) in sleeping.into_iter().zip(ends) {
            self.sleeps.resize(end as usize, Sleep::from((events, partly)));
        }
    }

    /// Gets ready to explore a part and nothing else. The first state that belongs to it.
    fn begin(&mut self, part: &Part) -> Step {
        let from = part.trace.events.next_id();
        let before = self.trace.take();
        let same = before.iter().flat_map(|before| before.events.iter().zip(&part.trace.events));
        let common = same.take_while(|(one, other)| one == other).count().min(self.causality.len());
        let renamed = self.names.paths() != part.paths;
        match &before {
            Some(before) => self.retract(before, Step(if renamed { 0 } else { common as u32 })),
            // The last part was given up in the middle of an execution.
            None => self.forget(),
        }
        if renamed {
            self.names = Names::new(part.paths.clone());
        }
        self.exchanges.clone_from(&part.exchanges);
        self.extend(&part.trace, Step(self.causality.len() as u32), from);
        self.reversed = from.0 as usize;
        self.sleeps.clear();
        let numbered = |(state, events, partly): &(u32, Vec<Event>, ThreadSet)| {
            (*state, events.iter().map(|event| self.events.number(event)).collect(), partly.clone())
        };
        let sleeping = part.sleeping.iter().map(numbered).collect();
        self.set_sleeping(sleeping, from.0 + 1);
        self.trees.clear();
        let chain: Vec<Planned> =
            part.chain.iter().map(|(event, seen)| Planned::new(self.events.number(event), *seen)).collect();
        let floor = Step(from.0 + chain.len() as u32);
        (self.floor, self.above) = (floor.0, Vec::new());
        (self.plan, self.mode) = (Plan { from, chain, forks: Vec::new() }, Mode::Ahead);
        self.trace = Some(part.trace.clone());
        floor
    }

    /// The sequences planned for states above the part, since last asked.
    fn take_above(&mut self) -> Vec<(Step, Box<[Planned]>)> {
        std::mem::take(&mut self.above)
    }

    /// Whether the part that was explored is what the schedule asked for last begins. Learns the numbers that the helper
    /// gave to events.
    pub(crate) fn fits_here(&mut self, explored: &Explored) -> bool {
        let Self { mirrors, events, .. } = self;
        mirrors.resize(mirrors.len().max(explored.helper + 1), Vec::new());
        mirrors[explored.helper].extend(explored.numbered.iter().map(|event| events.number(event)));
        let Explored { part, paths, .. } = explored;
        let known = self.names.paths().len();
        let named = known == part.paths.len() || paths.len() == part.paths.len();
        let sleep = self.sleeps.get(self.plan.from.0 as usize);
        let asleep = sleep.is_some_and(|s| s.events() == part.asleep.0 && *s.partly() == part.asleep.1);
        named && asleep && part.exchanges == self.exchanges
    }

    /// Goes on after a part that fits, of which this is the last execution, as if it had been explored here.
    pub(crate) fn adopt_here(&mut self, trace: Trace, explored: Explored) {
        let Explored { runs, sleeping: (sleeping, states), trees, counted, paths, exchanges, helper, .. } = explored;
        let mirror = std::mem::take(&mut self.mirrors[helper]);
        let number = |number: EventNumber| mirror[number.0 as usize];
        let planned = |planned: &Planned| Planned::new(number(planned.event()), planned.seen());
        let Plan { from, chain, forks } = std::mem::take(&mut self.plan);
        if let Some(before) = self.trace.take() {
            self.retract(&before, from);
        }
        if paths.len() > self.names.paths().len() {
            self.names = Names::new(paths);
        }
        self.exchanges = exchanges;
        let trace = self.names.rename(trace);
        let sleeping = sleeping
            .into_iter()
            .map(|(state, events, partly)| (state, events.into_iter().map(number).collect(), partly));
        self.set_sleeping(sleeping.collect(), states);
        let forks = forks.into_iter().map(|(count, branches)| (Step(from.0 + count as u32), branches));
        self.trees.extend(forks.filter(|(step, _)| *step < trace.events.next_id()));
        self.sizes.add(runs.iter().filter(|run| matches!(run.taken, Taken::Execution | Taken::Blocked)).count() as u64);
        for (state, sequence) in runs.iter().flat_map(|run| &run.above) {
            self.sequence.clear();
            sequence.iter().map(planned).for_each(|p| self.sequence.push(p.event(), p.seen()));
            wakeup::insert(&self.events, self.trees.entry(*state).or_default(), &mut self.sequence);
        }
        let floor = from.0 + chain.len() as u32;
        let counted = if trees.is_empty() { floor.min(counted) } else { counted };
        for (state, branches) in trees {
            self.trees.insert(state, branches.into_iter().map(|branch| branch.renumbered(&planned)).collect());
        }
        self.extend(&trace, from, Step(counted));
        self.reversed = counted as usize;
        self.trace = Some(trace);
        self.mirrors[helper] = mirror;
    }
}

/// Who sleeps in the states from `first` on.
pub(crate) fn sleeping_from(sleeps: &[Sleep<EventNumber>], first: usize) -> Sleeping<EventNumber> {
    let mut sleeping: Sleeping<EventNumber> = Vec::new();
    for (state, sleep) in sleeps.iter().enumerate().skip(first) {
        if sleeping.last().is_none_or(|(_, last, partly)| last != sleep.events() || partly != sleep.partly()) {
            sleeping.push((state as u32, sleep.events().to_vec(), sleep.partly().clone()));
        }
    }
    sleeping
}

/// The first events of a trace, and which threads could run before them and after.
fn until(trace: &Trace, state: Step) -> Trace {
    let runnable = trace.runnable.iter().take_while(|(from, _)| *from <= state).cloned().collect();
    let events = trace.events.iter().take(state.0 as usize).cloned().collect();
    Trace { events, runnable, ..Trace::empty(End::Deadlock) }
}

/// Keeps what is surely the same in a run that has the events before a state in common.
fn keep_until(trace: &mut Trace, state: Step) {
    let Kept { threads, runnable, allocations, misuses } = Kept::of(trace, state);
    trace.threads.truncate(threads);
    trace.events.truncate(state.0 as usize);
    trace.runnable.truncate(runnable);
    trace.allocations.truncate(allocations);
    trace.misuses.truncate(misuses);
}

/// The rest.
fn since(trace: &Trace, state: Step) -> Trace {
    let Kept { threads, runnable, allocations, misuses } = Kept::of(trace, state);
    Trace {
        threads: trace.threads.iter().skip(threads).cloned().collect(),
        events: trace.events.iter().skip(state.0 as usize).cloned().collect(),
        runnable: trace.runnable[runnable..].to_vec(),
        pending: trace.pending.clone(),
        allocations: trace.allocations[allocations..].to_vec(),
        misuses: trace.misuses[misuses..].to_vec(),
        unmodelled: trace.unmodelled.clone(),
        end: trace.end.clone(),
    }
}

/// How much of a trace surely comes before the event in a state.
struct Kept {
    threads: usize,
    runnable: usize,
    allocations: usize,
    misuses: usize,
}

impl Kept {
    fn of(trace: &Trace, state: Step) -> Self {
        let is_later = |thread: &&ThreadInfo| thread.created.map_or(state == Step(0), |step| step >= state);
        let later = trace.threads.iter().rev().take_while(is_later);
        Self {
            threads: trace.threads.len() - later.count(),
            runnable: trace.runnable.partition_point(|(from, _)| *from < state),
            allocations: trace.allocations.partition_point(|allocation| allocation.before < state),
            misuses: trace.misuses.partition_point(|misuse| misuse.before < state),
        }
    }
}
