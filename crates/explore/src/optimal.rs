//! One execution for each class of equivalent schedules: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic
//! partial order reduction", POPL 2014: source sets, wake-up trees ([`wakeup`](crate::wakeup)) and sleep sets
//! ([`sleep`](crate::sleep)).
//!
//! After each execution, every pair of reversible events yields a sequence that reverses it
//! ([`reversal`](crate::reversal)): all events that do not follow from the first, then the second. The sequence goes
//! into the wake-up tree of the state before the first event, unless a sleeping thread is a weak initial of it (then
//! everything it leads to has been explored) or a leaf of the tree covers it. The next run follows the first leaf of
//! the last tree, then the executor's policy.
//!
//! *No execution is blocked or repeated.* No sleeping thread is a weak initial of a leaf, so each is woken on the way
//! to the leaf and the policy continues with no thread asleep; and sleep sets never let two equivalent executions end.
//!
//! *Complete*: every run of the program is equivalent to an explored one. Suppose that from some state, where no
//! sleeping thread can come first in it, a run `u` to the end is missed. Each thread that was run from the state, or
//! sleeps there, has an event that interferes with one of `u` before `u` reaches it. Take the thread `s` for which that
//! happens latest, at the event `b` of `u`. The part of `u` before `b` is independent of the event of `s`, so it was
//! explored after that event, and the reversal of that event and `b`'s operation was found there. No thread that sleeps
//! or was run is a weak initial of the reversing sequence, since its events are those of `u` before `b`, others
//! independent of these and of `b`, and `b`. So a leaf was explored whose first event interferes with `u` only after
//! `b`, which contradicts the choice of `s`.
//!
//! Hence it suffices to reverse two events once: in the first execution that has both, the events of `u` before `b` are
//! executed before `b` and are in the sequence. What later executions with the same prefix would add to it is
//! independent of `b`. (A blocked operation is considered in each execution.)
//!
//! *Plain accesses are not scheduling points of their own.* Two conflicting accesses that synchronisation orders have
//! an event between them and are never reversed, so where all accesses are ordered, only synchronisation is reversed.
//! Two unordered accesses are a race, and from then on their bytes count as synchronisation, since the order of the two
//! may decide what follows. Earlier executions need not be examined again: in an execution where all accesses to these
//! bytes are ordered, dependence with and without them is the same order, so the same events are reversed and the same
//! classes distinguished. The classes are therefore those of dependence restricted to synchronisation and the bytes
//! that race somewhere, and the executions show what all schedules show: the same pairs race, in the same classes.
//!
//! Deviations from the paper: it forbids that a thread disables an operation of another, which locks do; see
//! [`reversal`](crate::reversal). Results of operations may change in a reversal. The result of a compare-exchange is
//! not predicted: it is assumed to write wherever its site is known to write. If it does not, an execution may be
//! blocked; if a site that only read turns out to write, the search restarts. Whether a semaphore can be acquired is
//! not always known: a run may show that it cannot.
//!
//! *Values that the program leaves open*: choosing another value is another event of the thread, independent of all
//! others. Where one value is executed, the others are planned, unless everything they lead to has been explored. A
//! sequence has no value that was chosen after the second event: executions with other values have the same prefix up to
//! that event, so they do not reverse the two again.
//!
//! *Not covered*: sections that choose (their effect with another value is not known), programs that cancel threads (a
//! request changes every later operation) and executions that misuse locks, threads or other objects (their rules
//! decide which events can be co-enabled). These are left to `dpor-sleep`.
//!
//! Never wrong: every finding was executed.

use std::collections::{BTreeMap, BTreeSet};

use model::dependence::{Resource, Use, footprint};
use model::{AccessKind, Addr, Cell, End, Event, Op, Schedule, SiteId, Step, Trace};

use crate::backtracking::check_runnable;
use crate::causality::Causality;
use crate::checkpoint::{ReductionState, SavedReduction};
use crate::choices::ChoiceValues;
use crate::deadline::Deadline;
use crate::events::{EventNumber, Events};
use crate::helper::Explored;
use crate::lock_history::LockHistory;
use crate::outlook::Settled;
use crate::planning::{Plan, number_until};
use crate::pruner::{Pruned, Pruner};
use crate::reduction::{Reduction, RunKind, remaining};
use crate::repetition::Difference;
use crate::reversal::{Steps, reversible};
use crate::sleep::{SleepSet, same_event};
use crate::subtree::{OuterSequences, Subtree, SubtreeSizes, compact_sleep_sets};
use crate::thread_numbers::{self, ThreadNumbers};
use crate::thrift::Thrift;
use crate::wakeup::{self, Branch, Planned, Sequence};

/// What the search does next.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// Takes the first leaf of the last wake-up tree.
    #[default]
    NextLeaf,
    /// Runs the plan, which leaves the current execution where it started to repeat others.
    Detour,
    /// Restarts, because an assumption about an operation was wrong.
    Restart,
}

/// The state of the reduction.
#[derive(Default)]
pub(crate) struct Optimal {
    pub(crate) thread_numbers: ThreadNumbers,
    /// The current execution.
    pub(crate) trace: Option<Trace>,
    /// The causal order of its events that count: all, or those before it repeats other executions.
    pub(crate) causality: Causality,
    pub(crate) locks: LockHistory,
    /// Which of these events choose a value.
    pub(crate) choices: Vec<Step>,
    /// For each of these events, the events it may have to be reversed with.
    pub(crate) reversible: Vec<Steps>,
    /// How many of them were reversed, in this execution or in an earlier one with the same prefix.
    pub(crate) reversed: usize,
    /// The events that sequences consist of.
    pub(crate) events: Events,
    /// The numbers of the current execution's first events.
    pub(crate) numbers: Vec<EventNumber>,
    /// Buffer for building sequences.
    pub(crate) sequence: Sequence,
    /// The sleep set of each state; empty for states after the last.
    pub(crate) sleeps: Vec<SleepSet<EventNumber>>,
    /// Wake-up trees of the states of the current execution; never an empty list.
    pub(crate) trees: BTreeMap<Step, Vec<Branch>>,
    /// Events of the current execution after which something was pruned that may interfere with them; see
    /// [`best`](crate::best).
    pub(crate) threatened: BTreeSet<Step>,
    /// Whether an event could come in the middle of a [critical section](crate::fusion) and notice it.
    pub(crate) noticed: bool,
    /// Depth of the root of the subtree being explored: sequences for states above it are only collected; see
    /// [`subtree`](crate::subtree).
    pub(crate) root_depth: u32,
    pub(crate) outer: OuterSequences,
    /// For each helper, this search's numbers of the events the helper numbered.
    pub(crate) helper_numbers: Vec<Vec<EventNumber>>,
    pub(crate) sizes: SubtreeSizes,
    pub(crate) plan: Plan,
    pub(crate) mode: Mode,
    /// Sites of read-modify-writes: where such a site only reads, it is a failed compare-exchange.
    pub(crate) exchanges: BTreeSet<SiteId>,
    /// How often it restarted. Each time it learns that a site writes, so there are no more than there are sites.
    pub(crate) restarts: usize,
    pub(crate) values: ChoiceValues,
    /// Asked before something is planned; see [`best`](crate::best).
    pub(crate) pruner: Pruner,
    /// When it is asked.
    pub(crate) thrift: Thrift,
    pub(crate) deadline: Deadline,
}

impl Reduction for Optimal {
    fn take(&mut self, trace: Trace) -> Result<RunKind, Difference> {
        let cancels = |event: &Event| matches!(event.op, Op::Cancel { .. } | Op::Cancelled);
        // What a section would do with another value of its choice is not known.
        let chooses = |event: &Event| matches!(event.op, Op::Section { .. }) && !event.op.choices().is_empty();
        let new = trace.events.iter().skip(self.plan.from.0 as usize);
        if breaks_rules(&trace) || new.clone().any(|e| cancels(e) || chooses(e)) {
            return Ok(RunKind::Unsupported);
        }
        let trace = self.thread_numbers.renumber(trace);
        let from = self.plan.from;
        if let Some(before) = self.trace.take() {
            check_prefix(&before, &trace, from)?;
            self.retract(&before, from);
        }
        self.record_exchanges(&trace, from);
        match self.compare_with_plan(&trace)? {
            Deviation::None => {}
            // Something else than the result of an exchange is different each time.
            Deviation::CompareExchange if self.restarts >= self.exchanges.len() => return Ok(RunKind::Unsupported),
            Deviation::CompareExchange => {
                let restarts = self.restarts + 1;
                let (thread_numbers, exchanges) =
                    (std::mem::take(&mut self.thread_numbers), std::mem::take(&mut self.exchanges));
                let (pruner, thrift, deadline) = (std::mem::take(&mut self.pruner), self.thrift, self.deadline.clone());
                let (events, helper_numbers) =
                    (std::mem::take(&mut self.events), std::mem::take(&mut self.helper_numbers));
                *self = Self {
                    thread_numbers,
                    exchanges,
                    pruner,
                    thrift,
                    deadline,
                    events,
                    helper_numbers,
                    restarts,
                    mode: Mode::Restart,
                    ..Self::new(&self.values)
                };
                return Ok(RunKind::Restart);
            }
            Deviation::Unexpected => return Ok(RunKind::Unsupported),
        }
        let plan = std::mem::take(&mut self.plan);
        let forks = plan.forks.into_iter().map(|(count, branches)| (Step(from.0 + count as u32), branches));
        // A run that hit its limit on the way has no states from there on.
        self.trees.extend(forks.filter(|(step, _)| *step < trace.events.next_id()));
        let end = self.update_sleep_sets(&trace, from);
        self.extend(&trace, from, end);
        let taken = self.finish_execution(&trace, end);
        self.sizes.add(u64::from(taken != RunKind::Detour));
        self.trace = Some(trace);
        Ok(if self.noticed { RunKind::Unsupported } else { taken })
    }

    fn next(&mut self) -> Option<Schedule> {
        match std::mem::take(&mut self.mode) {
            Mode::Restart => return Some(Schedule::new()),
            Mode::Detour => {}
            Mode::NextLeaf => {
                let trace = self.trace.as_ref()?;
                let mut entry = self.trees.last_entry()?;
                let from = *entry.key();
                self.sizes.explored(from);
                let (chain, forks) = wakeup::take_first(entry.get_mut())?;
                if entry.get().is_empty() {
                    entry.remove();
                }
                self.sleeps.truncate(from.0 as usize + 1);
                self.sleeps.resize(from.0 as usize + 1, SleepSet::default());
                let explored = self.events.number(&trace.events[from]);
                let sleep = &mut self.sleeps[from.0 as usize];
                sleep.insert(&self.events, explored);
                if self.threatened.split_off(&from).contains(&from) {
                    sleep.mark_incomplete(trace.events[from].id.thread);
                }
                self.plan = Plan { from, chain, forks };
            }
        }
        let before = self.trace.as_ref()?.events.iter().take(self.plan.from.0 as usize);
        Some(thread_numbers::schedule(before.chain(self.plan.chain.iter().map(|p| self.events.get(p.event())))))
    }

    fn upcoming(&self, _trace: &Trace, skip: usize) -> Option<Schedule> {
        let Plan { from, chain, forks } = &self.plan;
        let forks = forks.iter().rev().flat_map(|(count, branches)| branches.iter().map(|b| (*from, *count, b)));
        let trees = self.trees.iter().rev().flat_map(|(step, branches)| branches.iter().map(|b| (*step, 0, b)));
        let (from, planned, branch) = forks.chain(trees).nth(skip)?;
        let before = self.trace.as_ref()?.events.iter().take(from.0 as usize);
        let leaf = wakeup::first_leaf(branch);
        let planned = chain[..planned].iter().chain(&leaf).map(|planned| self.events.get(planned.event()));
        Some(thread_numbers::schedule(before.chain(planned)))
    }

    fn subtrees(&mut self, least: u32, most: usize, known: &dyn Fn(&Schedule) -> bool) -> Vec<Subtree> {
        if self.mode != Mode::NextLeaf || self.prunes() {
            return Vec::new();
        }
        self.find_subtrees(least as f32, most, known)
    }

    fn fits(&mut self, explored: &Explored) -> bool {
        self.matches_subtree(explored)
    }

    fn adopt(&mut self, explored: Explored) {
        self.adopt_subtree(explored);
    }

    fn remaining(&self) -> Option<f64> {
        let asleep = |step: usize| self.sleeps.get(step).map_or(0, |sleep| sleep.events().len());
        let choices = (0..self.causality.len()).map(|step| {
            let explored = asleep(step).saturating_sub(step.checked_sub(1).map_or(0, asleep));
            (explored + 1, self.trees.get(&Step(step as u32)).map_or(0, Vec::len))
        });
        Some(remaining(choices))
    }

    fn save(&self) -> Option<SavedReduction> {
        let (Some(trace), Mode::NextLeaf, false) = (&self.trace, self.mode, self.deadline.has_passed()) else {
            return None;
        };
        let rest = ReductionState::Optimal {
            paths: self.thread_numbers.paths().to_vec(),
            counted: self.causality.len() as u32,
            sleeps: (compact_sleep_sets(&self.sleeps, 0), self.sleeps.len() as u32),
            events: self.events.to_vec(),
            trees: self.trees.clone(),
            threatened: self.threatened.clone(),
            exchanges: self.exchanges.clone(),
            thrift: self.thrift,
        };
        Some(SavedReduction { schedule: thread_numbers::schedule(&trace.events), rest })
    }

    fn restore(&mut self, rest: ReductionState, trace: Trace) -> bool {
        let ReductionState::Optimal { paths, counted, sleeps, events, trees, threatened, exchanges, thrift } = rest
        else {
            return false;
        };
        let (sleeps, states) = sleeps;
        self.events = Events::from(events);
        let mut asleep = sleeps.iter().flat_map(|(_, events, _)| events);
        if !asleep.all(|number| self.events.contains(*number))
            || !trees.values().all(|branches| wakeup::are_numbered(&self.events, branches))
        {
            return false;
        }
        self.thread_numbers = ThreadNumbers::new(paths);
        let trace = self.thread_numbers.renumber(trace);
        if counted > trace.events.next_id().0 || states > trace.events.next_id().0 + 1 {
            return false;
        }
        self.set_sleep_sets(sleeps, states);
        (self.trees, self.threatened, self.exchanges, self.thrift) = (trees, threatened, exchanges, thrift);
        self.extend(&trace, Step(0), Step(counted));
        self.reversed = counted as usize;
        self.trace = Some(trace);
        true
    }

    fn refuse(&mut self, segment: u32) -> Option<RunKind> {
        let Plan { from, chain, forks } = std::mem::take(&mut self.plan);
        let before = self.trace.as_ref()?.events.iter().take(from.0 as usize);
        let mut segments = 0;
        let mut last = None;
        let in_segment = before.chain(chain.iter().map(|p| self.events.get(p.event()))).map(|event| {
            segments += u32::from(last.is_some_and(|thread| thread != event.id.thread));
            last = Some(event.id.thread);
            segments == segment
        });
        let in_segment = in_segment.skip(from.0 as usize).zip(&chain).enumerate();
        let unseen: Vec<usize> = in_segment.filter(|(_, (inside, p))| *inside && !p.seen()).map(|(at, _)| at).collect();
        match unseen[..] {
            [] => None,
            [at] => {
                if let Some(rest) = wakeup::without_first_leaf(&chain, forks, at) {
                    self.trees.entry(from).or_default().insert(0, rest);
                }
                Some(RunKind::Detour)
            }
            _ => Some(RunKind::Unsupported),
        }
    }

    fn settle(&mut self, settled: &Settled) {
        self.pruner.settle(settled);
    }

    fn gave_up(&self) -> bool {
        self.deadline.has_passed()
    }

    fn pruned(&mut self) -> Pruned {
        std::mem::take(&mut self.pruner.pruned)
    }
}

/// How a run deviated from its plan.
enum Deviation {
    /// In no way that matters.
    None,
    /// A site that had only read is a compare-exchange.
    CompareExchange,
    /// An operation depends on more than the plan assumed.
    Unexpected,
}

impl Optimal {
    /// The reduction before the first execution.
    pub(crate) fn new(values: &ChoiceValues) -> Self {
        Self { values: values.clone(), ..Self::default() }
    }

    /// Adds the trace's events from `from` on, before `end`.
    pub(crate) fn extend(&mut self, trace: &Trace, from: Step, end: Step) {
        for step in (from.0..end.0).map(Step) {
            self.reversible.push(reversible(&self.causality, &self.locks, trace, &trace.events[step], step));
            self.causality.push(trace, step);
            self.locks.push(&trace.events[step], step);
            if !trace.events[step].op.choices().is_empty() {
                self.choices.push(step);
            }
        }
    }

    /// Removes all events of the current execution.
    pub(crate) fn clear_execution(&mut self) {
        (self.causality, self.locks) = (Causality::default(), LockHistory::default());
        self.reversible.clear();
        self.choices.clear();
        self.numbers.clear();
    }

    /// Removes the events of the current execution from `to` on.
    pub(crate) fn retract(&mut self, before: &Trace, to: Step) {
        for event in before.events.as_slice()[..self.causality.len()].iter().skip(to.0 as usize).rev() {
            self.locks.pop(event);
        }
        self.causality.truncate(&before.events, to);
        self.reversible.truncate(to.0 as usize);
        self.choices.truncate(self.choices.partition_point(|step| *step < to));
        self.reversed = self.reversed.min(to.0 as usize);
        self.numbers.truncate(to.0 as usize);
    }

    /// Records the sites of read-modify-writes.
    fn record_exchanges(&mut self, trace: &Trace, from: Step) {
        for event in trace.events.iter().skip(from.0 as usize) {
            if let (Op::Access(access), Some(site)) = (&event.op, event.site)
                && access.kind == AccessKind::ReadModifyWrite
            {
                self.exchanges.insert(site);
            }
        }
    }

    /// Compares a run with its plan.
    fn compare_with_plan(&mut self, trace: &Trace) -> Result<Deviation, Difference> {
        for (step, planned) in (self.plan.from.0..).map(Step).zip(&self.plan.chain) {
            let expected = self.events.get(planned.event());
            let Some(event) = trace.events.get(step) else {
                if matches!(trace.end, End::StepLimit | End::TimeLimit) {
                    break;
                }
                return Err(Difference::event(expected, trace, step));
            };
            let same = event.id == expected.id && event.op.choices() == expected.op.choices();
            // A library call finds out during its event what it touches: after a race on what it looks at first, that is
            // something else.
            let looks_first = |event: &Event| matches!(&event.op, Op::Accesses(accesses) if accesses.len() > 1);
            let computed = event.site == expected.site && looks_first(event) && looks_first(expected);
            if !same || (planned.seen() && event != expected && !computed) {
                return Err(Difference::event(expected, trace, step));
            }
            if event == expected {
                if self.numbers.len() == step.0 as usize {
                    self.numbers.push(planned.event());
                }
                continue;
            }
            let exact = matches!(event.op, Op::Section { .. });
            let harmless = |how| !exact && matches!(how, Use::Read | Use::Look);
            let more = footprint(event).any(|(r, how)| !harmless(how) && !footprint(expected).any(|e| e == (r, how)));
            if more {
                let exchange = event.site.is_some_and(|site| self.exchanges.contains(&site));
                return Ok(if exchange { Deviation::CompareExchange } else { Deviation::Unexpected });
            }
        }
        Ok(Deviation::None)
    }

    /// Computes the sleep sets from the state `from` on. Returns the number of events before the first one of a
    /// sleeping thread.
    fn update_sleep_sets(&mut self, trace: &Trace, from: Step) -> Step {
        for step in trace.events.ids().skip(from.0 as usize) {
            let Some(sleep) = self.sleeps.get(step.0 as usize).filter(|sleep| !sleep.is_empty()) else { break };
            number_until(&mut self.events, &mut self.numbers, trace, step.0 as usize + 1);
            let event = self.numbers[step.0 as usize];
            if sleep.contains_event(&self.events, &event) {
                return step;
            }
            let after = sleep.after(&self.events, &event);
            self.sleeps.push(after);
        }
        trace.events.next_id()
    }

    /// Handles the end of an execution, of which the first `end` events count.
    fn finish_execution(&mut self, trace: &Trace, end: Step) -> RunKind {
        let cut = end < trace.events.next_id();
        if cut && let Some(sleep) = self.sleeps.get(end.0 as usize) {
            let runnable = trace.runnable_at(end);
            let next = self.causality.next_events(trace, end).into_iter().filter(|e| runnable.contains(e.id.thread));
            let mut variants = next.flat_map(|e| [e.clone()].into_iter().chain(self.values.variants(e)));
            let asleep = |event: &Event| sleep.events().iter().any(|e| same_event(self.events.get(*e), event));
            if let Some(event) = variants.find(|e| !asleep(e)) {
                drop(variants);
                self.trees.split_off(&Step(end.0 + 1));
                let chain = vec![Planned::new(self.events.number(&event), false)];
                (self.plan, self.mode) = (Plan { from: end, chain, forks: Vec::new() }, Mode::Detour);
                return RunKind::Detour;
            }
            self.trees.split_off(&end);
        }
        self.plan(trace, end);
        if cut { RunKind::Blocked } else { RunKind::Execution }
    }
}

/// Whether a misuse enables something that the rules of locks, threads and other objects exclude. A double free does
/// not, unless the block contains such an object.
fn breaks_rules(trace: &Trace) -> bool {
    let synchronises = |event: &Event, block: &Cell| {
        let meets = |(resource, _): (Resource, Use)| matches!(resource, Resource::Bytes(cell) if cell.overlaps(block));
        event.op.accesses().is_empty() && footprint(event).any(meets)
    };
    let is_plain = |block: &Cell| !trace.events.iter().any(|event| synchronises(event, block));
    let accesses = || trace.events.iter().flat_map(|event| event.op.accesses());
    let freed = |object: Addr| accesses().find(|a| a.kind == AccessKind::Free && a.cell.start == object);
    let is_of_memory = |object: Addr| freed(object).is_some_and(|access| is_plain(&access.cell));
    trace.misuses.iter().any(|misuse| misuse.breaks_rules() && !is_of_memory(misuse.object))
}

/// Checks that both runs have the same events and runnable threads before `from`. A run is a function of its schedule,
/// so anything else is an error.
fn check_prefix(before: &Trace, now: &Trace, from: Step) -> Result<(), Difference> {
    for (step, expected) in before.events.iter_enumerated().take(from.0 as usize) {
        if now.events.get(step) != Some(expected) {
            return Err(Difference::event(expected, now, step));
        }
    }
    check_runnable(before, now, from)
}
