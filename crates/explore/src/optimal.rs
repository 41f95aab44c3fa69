//! One execution for each class of equivalent schedules: P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic
//! partial order reduction", POPL 2014: source sets, wake-up trees ([`wakeup`](crate::wakeup)) and sleep sets
//! ([`sleep`](crate::sleep)).
//!
//! After each execution, every two events that can be reversed give a sequence that does so
//! ([`reversal`](crate::reversal)): all that does not follow from the first, then the second. It goes into the wake-up
//! tree of the state before the first, unless a sleeping thread is a weak initial of it (then all it leads to was
//! explored) or a leaf of the tree covers it. The next run follows the first leaf of the last tree, then the executor's
//! policy.
//!
//! *No execution is blocked or repeated.* No sleeping thread is a weak initial of a leaf, so each is woken on the way to
//! it and the policy runs on with nobody asleep; and sleep sets never let two equivalent executions end.
//!
//! *Complete*: every run of the program is equivalent to an explored one. For suppose that from a state with nobody
//! asleep who can come first of it, a run `u` to the end is missed. Each thread that was run from the state, or sleeps
//! there, has an event that interferes with one of `u`, before `u` comes to it. Take the one, `s`, for which that is
//! latest, at the event `b` of `u`. What of `u` comes before `b` is independent of the event of `s`, so it was explored
//! after it, and with it the reversal of that event and `b`'s operation was met. Nobody who sleeps or was run is a weak
//! initial of the sequence, since the events in it are those of `u` before `b`, others independent of these and of `b`,
//! and `b`. So some leaf was explored whose first event interferes with `u` only after `b`: `s` was not the latest.
//!
//! So it is enough to reverse two events once: in the first execution that has both, the events of `u` before `b` are
//! executed before `b`, and are in the sequence. What later executions with the same beginning would add to it is
//! independent of `b`. (An operation that waits in vain is looked at in each.)
//!
//! *Plain accesses are no scheduling points of their own.* Two conflicting accesses that synchronisation orders have
//! something between them and are never reversed; where all are, only synchronisation is. Two that nothing orders are
//! a race, and its bytes are from then on synchronised on: which of the two came first may decide what follows. Nothing
//! explored before has to be looked at again: in an execution where all accesses of these bytes are ordered, dependence
//! with and without them is the same order, so the same events are reversed, and the same classes told apart. The
//! classes are therefore those of dependence restricted to synchronisation and the bytes that race somewhere, and what
//! the executions show is what all schedules show: the same pairs race, in the same classes.
//!
//! Deviations from the paper: it forbids that a thread makes an operation of another impossible, which locks do; see
//! [`reversal`](crate::reversal). Results of operations may change in a reversal. That of a compare-exchange is not
//! foreseen: it is taken to write where its site is known to, which may block an execution when it does not, and when
//! a site that only read turns out to write, the search starts again. Whether a semaphore can be had is not always
//! known: a run may show that it cannot.
//!
//! *Values that the program leaves open*: choosing another value is another event of the thread, independent of all others.
//! Where one is executed, the others are planned, unless all they lead to was explored.
//!
//! *Not covered*: sections that choose (what they do with another value is not known), programs that cancel threads (a
//! request changes what any later operation is) and executions in which locks, threads and the like are misused (what can be
//! possible at once follows from their rules). They are left to `dpor-sleep`.
//!
//! Never wrong: what is found was executed.

use std::collections::{BTreeMap, BTreeSet};

use model::dependence::{Resource, Use, footprint};
use model::{AccessKind, Addr, Cell, End, Event, Op, Schedule, SiteId, Step, Trace};

use crate::backtracking::check_runnable;
use crate::causality::Causality;
use crate::checkpoint::{Rest, Saved};
use crate::choices::ChoiceValues;
use crate::events::{EventNumber, Events};
use crate::foresight::{Foresight, Pruned};
use crate::helper::Explored;
use crate::holding::Holding;
use crate::names::{self, Names};
use crate::outlook::Settled;
use crate::parts::{Above, Part, Sizes, sleeping_from};
use crate::reduction::{Difference, Reduction, Taken, remaining};
use crate::reversal::{Reversal, Steps, reversible};
use crate::sleep::{Relation, Sleep, same_event};
use crate::wakeup::{self, Branch, Forks, Planned, Sequence};

/// What the run under way does otherwise than the current execution.
pub(crate) struct Plan {
    /// The first event that differs.
    pub(crate) from: Step,
    pub(crate) chain: Vec<Planned>,
    /// What is left to explore on the way.
    pub(crate) forks: Forks,
}

impl Default for Plan {
    fn default() -> Self {
        Self { from: Step(0), chain: Vec::new(), forks: Vec::new() }
    }
}

/// What the search does next.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// Takes the first leaf of the last wake-up tree.
    #[default]
    Ahead,
    /// Runs the plan, which leaves the current execution where it began to repeat others.
    Detour,
    /// Starts again: what it assumed about an operation was wrong.
    Restart,
}

/// The reduction's memory.
#[derive(Default)]
pub(crate) struct Optimal {
    pub(crate) names: Names,
    /// The current execution.
    pub(crate) trace: Option<Trace>,
    /// The order of its events that count: all, or those before it repeats others.
    pub(crate) causality: Causality,
    pub(crate) holding: Holding,
    /// For each of these events, those it may have to be reversed with.
    reversible: Vec<Steps>,
    /// How many of them were reversed, in this execution or in one that begins with the same.
    pub(crate) reversed: usize,
    /// The events that sequences are made of.
    pub(crate) events: Events,
    /// The numbers of the current execution's first events.
    numbers: Vec<EventNumber>,
    /// Used for one sequence after the other.
    pub(crate) sequence: Sequence,
    /// Who sleeps in each state; nobody in those after the last.
    pub(crate) sleeps: Vec<Sleep<EventNumber>>,
    /// What is left to explore from the states of the current execution; never an empty list.
    pub(crate) trees: BTreeMap<Step, Vec<Branch>>,
    /// Events of the current execution after which something was left out that may interfere with them; see
    /// [`best`](crate::best).
    pub(crate) threatened: BTreeSet<Step>,
    /// States before this one belong to somebody else: what is planned for them is only kept; see [`parts`](crate::parts).
    pub(crate) floor: u32,
    pub(crate) above: Above,
    /// The events by the numbers that each helper gave them.
    pub(crate) mirrors: Vec<Vec<EventNumber>>,
    pub(crate) sizes: Sizes,
    pub(crate) plan: Plan,
    pub(crate) mode: Mode,
    /// Sites of read-modify-writes: where such a site only reads, it is a compare-exchange that failed.
    pub(crate) exchanges: BTreeSet<SiteId>,
    pub(crate) values: ChoiceValues,
    /// Asked before something is planned; see [`best`](crate::best).
    pub(crate) foresight: Foresight,
}

impl Reduction for Optimal {
    fn take(&mut self, trace: Trace) -> Result<Taken, Difference> {
        let cancels = |event: &Event| matches!(event.op, Op::Cancel { .. } | Op::Cancelled);
        // What a section does is not known for another value of its choice.
        let chooses = |event: &Event| matches!(event.op, Op::Section { .. }) && !event.op.choices().is_empty();
        let new = trace.events.iter().skip(self.plan.from.0 as usize);
        if breaks_rules(&trace) || new.clone().any(|e| cancels(e) || chooses(e)) {
            return Ok(Taken::Unsupported);
        }
        let trace = self.names.rename(trace);
        let from = self.plan.from;
        if let Some(before) = self.trace.take() {
            check_prefix(&before, &trace, from)?;
            self.retract(&before, from);
        }
        self.learn(&trace, from);
        match self.compare_with_plan(&trace)? {
            Surprise::None => {}
            Surprise::Exchange => {
                let (names, exchanges) = (std::mem::take(&mut self.names), std::mem::take(&mut self.exchanges));
                let foresight = std::mem::take(&mut self.foresight);
                let (events, mirrors) = (std::mem::take(&mut self.events), std::mem::take(&mut self.mirrors));
                *self = Self {
                    names,
                    exchanges,
                    foresight,
                    events,
                    mirrors,
                    mode: Mode::Restart,
                    ..Self::new(&self.values)
                };
                return Ok(Taken::Restart);
            }
            Surprise::Unforeseen => return Ok(Taken::Unsupported),
        }
        let plan = std::mem::take(&mut self.plan);
        let forks = plan.forks.into_iter().map(|(count, branches)| (Step(from.0 + count as u32), branches));
        // A run that met its limit on the way has no states from there on.
        self.trees.extend(forks.filter(|(step, _)| *step < trace.events.next_id()));
        let end = self.sleep_through(&trace, from);
        self.extend(&trace, from, end);
        let taken = self.conclude(&trace, end);
        self.sizes.add(u64::from(taken != Taken::Detour));
        self.trace = Some(trace);
        Ok(taken)
    }

    fn next(&mut self) -> Option<Schedule> {
        match std::mem::take(&mut self.mode) {
            Mode::Restart => return Some(Schedule::new()),
            Mode::Detour => {}
            Mode::Ahead => {
                let trace = self.trace.as_ref()?;
                let mut entry = self.trees.last_entry()?;
                let from = *entry.key();
                self.sizes.explored(from);
                let (chain, forks) = wakeup::take_first(entry.get_mut())?;
                if entry.get().is_empty() {
                    entry.remove();
                }
                self.sleeps.truncate(from.0 as usize + 1);
                self.sleeps.resize(from.0 as usize + 1, Sleep::default());
                let explored = self.events.number(&trace.events[from]);
                let sleep = &mut self.sleeps[from.0 as usize];
                sleep.insert(&self.events, explored);
                if self.threatened.split_off(&from).contains(&from) {
                    sleep.explored_partly(trace.events[from].id.thread);
                }
                self.plan = Plan { from, chain, forks };
            }
        }
        let before = self.trace.as_ref()?.events.iter().take(self.plan.from.0 as usize);
        Some(names::schedule(before.chain(self.plan.chain.iter().map(|p| self.events.get(p.event())))))
    }

    fn parts(&mut self, least: u32, most: usize, known: &dyn Fn(&Schedule) -> bool) -> Vec<Part> {
        match self.mode {
            Mode::Ahead => self.find_parts(least as f32, most, known),
            _ => Vec::new(),
        }
    }

    fn fits(&mut self, explored: &Explored) -> bool {
        self.fits_here(explored)
    }

    fn adopt(&mut self, explored: Explored) {
        self.adopt_here(explored);
    }

    fn remaining(&self) -> Option<f64> {
        let asleep = |step: usize| self.sleeps.get(step).map_or(0, |sleep| sleep.events().len());
        let choices = (0..self.causality.len()).map(|step| {
            let explored = asleep(step).saturating_sub(step.checked_sub(1).map_or(0, asleep));
            (explored + 1, self.trees.get(&Step(step as u32)).map_or(0, Vec::len))
        });
        Some(remaining(choices))
    }

    fn save(&self) -> Option<Saved> {
        let (Some(trace), Mode::Ahead) = (&self.trace, self.mode) else { return None };
        let rest = Rest::Optimal {
            paths: self.names.paths().to_vec(),
            counted: self.causality.len() as u32,
            sleeps: (sleeping_from(&self.sleeps, 0), self.sleeps.len() as u32),
            events: self.events.to_vec(),
            trees: self.trees.clone(),
            threatened: self.threatened.clone(),
            exchanges: self.exchanges.clone(),
        };
        Some(Saved { schedule: names::schedule(&trace.events), rest })
    }

    fn restore(&mut self, rest: Rest, trace: Trace) -> bool {
        let Rest::Optimal { paths, counted, sleeps: (sleeps, states), events, trees, threatened, exchanges } = rest
        else {
            return false;
        };
        self.events = Events::from(events);
        let mut asleep = sleeps.iter().flat_map(|(_, events, _)| events);
        if !asleep.all(|number| self.events.contains(*number))
            || !trees.values().all(|branches| wakeup::are_numbered(&self.events, branches))
        {
            return false;
        }
        self.names = Names::new(paths);
        let trace = self.names.rename(trace);
        if counted > trace.events.next_id().0 || states > trace.events.next_id().0 + 1 {
            return false;
        }
        self.set_sleeping(sleeps, states);
        (self.trees, self.threatened, self.exchanges) = (trees, threatened, exchanges);
        self.extend(&trace, Step(0), Step(counted));
        self.reversed = counted as usize;
        self.trace = Some(trace);
        true
    }

    fn refuse(&mut self, segment: u32) -> Option<Taken> {
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
                Some(Taken::Detour)
            }
            _ => Some(Taken::Unsupported),
        }
    }

    fn settle(&mut self, settled: &Settled) {
        self.foresight.settle(settled);
    }

    fn pruned(&mut self) -> Pruned {
        std::mem::take(&mut self.foresight.pruned)
    }
}

/// What a run did otherwise than planned.
enum Surprise {
    /// Nothing that matters.
    None,
    /// A site that had only read is a compare-exchange.
    Exchange,
    /// An operation depends on more than was reckoned with.
    Unforeseen,
}

impl Optimal {
    /// Before the first execution.
    pub(crate) fn new(values: &ChoiceValues) -> Self {
        Self { values: values.clone(), ..Self::default() }
    }

    /// Takes in the trace's events from `from` on, before `end`.
    pub(crate) fn extend(&mut self, trace: &Trace, from: Step, end: Step) {
        for step in (from.0..end.0).map(Step) {
            self.reversible.push(reversible(&self.causality, &self.holding, trace, &trace.events[step], step));
            self.causality.push(trace, step);
            self.holding.push(&trace.events[step], step);
        }
    }

    /// Forgets all events of the current execution.
    pub(crate) fn forget(&mut self) {
        (self.causality, self.holding) = (Causality::default(), Holding::default());
        self.reversible.clear();
        self.numbers.clear();
    }

    /// Forgets the events of the current execution from `to` on.
    pub(crate) fn retract(&mut self, before: &Trace, to: Step) {
        for event in before.events.as_slice()[..self.causality.len()].iter().skip(to.0 as usize).rev() {
            self.holding.pop(event);
        }
        self.causality.truncate(&before.events, to);
        self.reversible.truncate(to.0 as usize);
        self.reversed = self.reversed.min(to.0 as usize);
        self.numbers.truncate(to.0 as usize);
    }

    /// Notes the sites of read-modify-writes.
    fn learn(&mut self, trace: &Trace, from: Step) {
        for event in trace.events.iter().skip(from.0 as usize) {
            if let (Op::Access(access), Some(site)) = (&event.op, event.site)
                && access.kind == AccessKind::ReadModifyWrite
            {
                self.exchanges.insert(site);
            }
        }
    }

    /// Compares a run with the plan it was made for.
    fn compare_with_plan(&mut self, trace: &Trace) -> Result<Surprise, Difference> {
        let differs = |step: Step, difference: String| Err(Difference { step, difference });
        for (step, planned) in (self.plan.from.0..).map(Step).zip(&self.plan.chain) {
            let expected = self.events.get(planned.event());
            let Some(event) = trace.events.get(step) else {
                if matches!(trace.end, End::StepLimit | End::TimeLimit) {
                    break;
                }
                return differs(step, format!("there was {expected:?} and then the run ended: {:?}", trace.end));
            };
            let same = event.id == expected.id && event.op.choices() == expected.op.choices();
            if !same || (planned.seen() && event != expected) {
                return differs(step, format!("there was {expected:?} and then {event:?}"));
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
                return Ok(if exchange { Surprise::Exchange } else { Surprise::Unforeseen });
            }
        }
        Ok(Surprise::None)
    }

    /// Follows the sleep sets from the state `from` on. The number of events before one of a sleeping thread.
    fn sleep_through(&mut self, trace: &Trace, from: Step) -> Step {
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

    /// Concludes the execution, of which the first `end` events count.
    fn conclude(&mut self, trace: &Trace, end: Step) -> Taken {
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
                return Taken::Detour;
            }
            self.trees.split_off(&end);
        }
        match self.foresight.look(trace, end) {
            None => self.reverse_from(trace, Step(0), end),
            Some(closed) => self.close(trace, closed, end),
        }
        if cut { Taken::Blocked } else { Taken::Execution }
    }

    /// Plans all reversals of an execution's first `end` events, with what was pending then, that change something in the
    /// state `from` or later, and the other values of its choices there.
    pub(crate) fn reverse_from(&mut self, trace: &Trace, from: Step, end: Step) {
        let executed = std::mem::take(&mut self.reversible);
        let known = if self.foresight.is_blind() { self.reversed } else { 0 };
        self.reversed = end.0 as usize;
        for (next, firsts) in trace.events.iter().zip(&executed).skip(known) {
            firsts.iter().filter(|first| **first >= from).for_each(|first| self.reverse(trace, *first, next));
        }
        self.reversible = executed;
        self.choose_from(trace, from, end);
        for next in self.causality.next_events(trace, end) {
            let firsts = reversible(&self.causality, &self.holding, trace, next, end);
            firsts.iter().filter(|first| **first >= from).for_each(|first| self.reverse(trace, *first, next));
        }
    }

    /// Plans the other values of choices in the states from `from` to `until`.
    pub(crate) fn choose_from(&mut self, trace: &Trace, from: Step, until: Step) {
        for step in (from.0..until.0).map(Step) {
            let event = &trace.events[step];
            if matches!(event.op, Op::Choose(_)) {
                let variants: Vec<Event> = self.values.variants(event).filter(|v| v != event).collect();
                variants.iter().for_each(|variant| self.choose(step, variant));
            }
        }
    }

    /// Plans an execution in which the event at `step` chooses otherwise, unless one is planned or was explored.
    fn choose(&mut self, step: Step, variant: &Event) {
        self.sequence.clear();
        self.sequence.push(self.events.number(variant), false);
        if !self.was_explored(step, variant) {
            self.plan_in(step);
        }
    }

    /// Plans the sequence in a state, unless a leaf that is planned there covers it.
    fn plan_in(&mut self, state: Step) {
        if state.0 < self.floor {
            self.above.keep(&self.events, state, &mut self.sequence);
        } else {
            wakeup::insert(&self.events, self.trees.entry(state).or_default(), &mut self.sequence);
        }
    }

    /// Plans an execution in which `next` comes before the event at `first`, unless one is planned, or was explored,
    /// that leads there.
    pub(crate) fn reverse(&mut self, trace: &Trace, first: Step, next: &Event) {
        if self.foresight.leaves_out(first) {
            return;
        }
        let mut reversal = Reversal::new(trace, &self.causality, &self.holding, first);
        let Some((expected, certain)) = reversal.expect(next, &self.exchanges) else { return };
        number_until(&mut self.events, &mut self.numbers, trace, self.causality.len());
        self.sequence.clear();
        reversal.for_each_kept(|step| self.sequence.push(self.numbers[step.0 as usize], true));
        let executed = next.id.position < self.causality.count(next.id.thread) as u32 && expected == *next;
        let number = match executed {
            true => self.numbers[self.causality.step_of(next.id).0 as usize],
            false => self.events.number(&expected),
        };
        self.sequence.push(number, certain);
        if !self.was_explored(first, next) {
            self.plan_in(first);
        }
    }

    /// Whether all that the sequence, made for the sake of `next`, leads to from this state was explored after the next event
    /// of somebody who sleeps there. Where something was left out after that, it is all only if the event is in the
    /// sequence: what else may come before it has not been met.
    fn was_explored(&self, state: Step, next: &Event) -> bool {
        let Some(sleep) = self.sleeps.get(state.0 as usize) else { return false };
        let (events, sequence) = (&self.events, &self.sequence);
        let own = |event: &&EventNumber| events.thread(event) == next.id.thread;
        let explored = |event: &EventNumber| {
            let thread = events.thread(event);
            sequence.has_weak_initial(events, *event)
                && (!sleep.partly().contains(thread) || sequence.has_event_of(events, thread))
        };
        // Most often it is the thread for whose sake the sequence was made.
        let asleep = || sleep.events().iter();
        asleep().filter(own).any(explored) || asleep().filter(|event| !own(event)).any(explored)
    }
}

/// Numbers the trace's events up to `until`, as far as they are not.
fn number_until(events: &mut Events, numbers: &mut Vec<EventNumber>, trace: &Trace, until: usize) {
    for event in trace.events.as_slice().iter().take(until).skip(numbers.len()) {
        numbers.push(events.number(event));
    }
}

/// Whether a misuse makes possible what the rules of locks, threads and the like exclude. To free a block twice does not,
/// unless there is such an object in it.
fn breaks_rules(trace: &Trace) -> bool {
    let synchronises = |event: &Event, block: &Cell| {
        let meets = |(resource, _): (Resource, Use)| matches!(resource, Resource::Bytes(cell) if cell.overlaps(block));
        event.op.accesses().is_empty() && footprint(event).any(meets)
    };
    let is_plain = |block: &Cell| !trace.events.iter().any(|event| synchronises(event, block));
    let accesses = || trace.events.iter().flat_map(|event| event.op.accesses());
    let freed = |object: Addr| accesses().find(|a| a.kind == AccessKind::Free && a.cell.start == object);
    let is_of_memory = |object: Addr| freed(object).is_some_and(|access| is_plain(&access.cell));
    !trace.misuses.iter().all(|misuse| is_of_memory(misuse.object))
}

/// A run is a function of its schedule: the events and runnable threads before the first one that is to differ are the
/// same.
fn check_prefix(before: &Trace, now: &Trace, from: Step) -> Result<(), Difference> {
    for (step, expected) in before.events.iter_enumerated().take(from.0 as usize) {
        let difference = match now.events.get(step) {
            Some(event) if event == expected => continue,
            Some(event) => format!("there was {expected:?} and then {event:?}"),
            None => format!("there was {expected:?} and then the run ended: {:?}", now.end),
        };
        return Err(Difference { step, difference });
    }
    check_runnable(before, now, from)
}
