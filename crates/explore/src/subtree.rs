//! Subtrees of a search that can be explored separately.
//!
//! A leaf of a wake-up tree is certain to be executed, and what is explored below it is a function of the leaf alone:
//! of the events that lead there, the sleep sets on the way, and what is known about threads and compare-exchanges.
//! Everything planned while it is explored goes either into states below the leaf, or into the trees of states above,
//! which the search does not read before the leaf is finished. So a *subtree* is explored in a copy of the reduction
//! that has nothing else to do. Its result is what its executions show and the sequences for trees above; adopting both
//! ([`Optimal::adopt_subtree`]) leaves the search where it would be if it had explored the subtree itself. The search
//! checks that the subtree is the one it has reached ([`Optimal::matches_subtree`]); if it is not, or if it met
//! something only the whole search can handle, the result is discarded. Exploring a subtree may stop after any of its
//! executions; what is left of it is then adopted too.
//!
//! *A subtree belongs to one leaf*, not to everything that starts with the same event, because what is explored there
//! depends on the leaves that are added to the branch later. While `d` sleeps, sequences in which it can come first are
//! not planned; they were explored after `d`, and whatever has to come before `d` is found there and goes to such a
//! leaf.
//!
//! *Of the sequences for a state above, only those are kept that an otherwise empty tree would accept.* The others
//! change no tree: let `s` be one that is covered by a leaf that comes from an earlier sequence `r`. Every event in `s`
//! and not in `r` is independent of `r` or comes after it. So an event that can come first in `s` can come first in
//! `r`, and vice versa: in any tree `s` takes the path that `r` took, to the leaf that covered `r` or that `r` became.

use std::collections::{BTreeMap, BTreeSet};

use model::{End, Event, Schedule, SiteId, Step, ThreadPath, ThreadSet, Trace};

use crate::events::{EventNumber, Events};
use crate::helper::Explored;
use crate::optimal::{Mode, Optimal};
use crate::planning::Plan;
use crate::sleep::SleepSet;
use crate::thread_numbers::{self, ThreadNumbers};
use crate::wakeup::{self, Branch, Planned, Sequence};

/// Limit on the planned leaves considered when looking for subtrees.
const MOST_LEAVES: usize = 512;

/// Sleep sets: each entry holds from its state up to the next entry's.
pub(crate) type CompactSleepSets<E> = Vec<(u32, Vec<E>, ThreadSet)>;

/// A leaf of a wake-up tree with everything that the exploration below it depends on.
pub(crate) struct Subtree {
    /// Executes the leaf.
    pub(crate) schedule: Schedule,
    /// An execution up to the state where the leaf leaves it.
    pub(crate) trace: Trace,
    /// The leaf's events, and whether each was seen.
    chain: Vec<(Event, bool)>,
    sleeping: CompactSleepSets<Event>,
    /// The sleep set of the state where the leaf leaves the execution, in the search's event numbers.
    asleep: (Vec<EventNumber>, ThreadSet),
    /// Threads by number.
    paths: Vec<ThreadPath>,
    exchanges: BTreeSet<SiteId>,
}

/// Sequences for states above a subtree.
#[derive(Default)]
pub(crate) struct OuterSequences {
    sequences: Vec<(Step, Box<[Planned]>)>,
    /// Trees that contain only these sequences.
    trees: BTreeMap<Step, Vec<Branch>>,
}

impl OuterSequences {
    /// Keeps a sequence for a state unless a kept one covers it. Empties the sequence.
    pub(crate) fn keep(&mut self, events: &Events, state: Step, sequence: &mut Sequence) {
        let chain = sequence.to_chain();
        if wakeup::insert(events, self.trees.entry(state).or_default(), sequence) {
            self.sequences.push((state, chain));
        }
    }
}

/// The mean number of executions that exploring a branch of each state takes.
#[derive(Default)]
pub(crate) struct SubtreeSizes {
    /// Executions so far.
    executions: u64,
    /// Where the current execution branches off from others: the state, and the number of executions before.
    begun: Vec<(Step, u64)>,
    mean: Vec<f32>,
}

impl SubtreeSizes {
    /// Adds executions.
    pub(crate) fn add(&mut self, executions: u64) {
        self.executions += executions;
    }

    /// Records that everything after the current execution's event in a state is explored.
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
    /// Subtrees of at least `least` executions, as estimated, those the search reaches last and that take longest
    /// first. Excludes what the search explores next and subtrees that are `known`.
    pub(crate) fn find_subtrees(&mut self, least: f32, most: usize, known: &dyn Fn(&Schedule) -> bool) -> Vec<Subtree> {
        let Self { trace: Some(trace), trees, sleeps, events, sizes, thread_numbers, exchanges, .. } = self else {
            return Vec::new();
        };
        let (mut subtrees, mut looked) = (Vec::new(), 0);
        let last = trees.last_key_value().map(|(state, _)| *state);
        // Everything that branches off below this state seems too small.
        let Some(deepest) = sizes.mean.iter().rposition(|mean| *mean >= least) else { return subtrees };
        for (state, branches) in trees.iter().take_while(|(state, _)| state.0 as usize <= deepest) {
            let at = state.0 as usize;
            let mut asleep = sleeps.get(at).cloned().unwrap_or_default();
            let mut before = events.number(&trace.events[*state]);
            for (number, branch) in branches.iter().enumerate() {
                asleep.insert(&*events, before);
                before = branch.chain[0].event();
                if number == 0 && Some(*state) == last {
                    continue;
                }
                if subtrees.len() >= most || looked >= MOST_LEAVES {
                    return subtrees;
                }
                looked += 1;
                let chain = wakeup::first_leaf(branch);
                if at + chain.len() - 1 > deepest {
                    continue;
                }
                let planned = chain.iter().map(|p| events.get(p.event()));
                let schedule = thread_numbers::schedule(trace.events.iter().take(at).chain(planned));
                if known(&schedule) {
                    continue;
                }
                let content = |these: &[EventNumber]| these.iter().map(|e| events.get(*e).clone()).collect();
                let sleeping = compact_sleep_sets(sleeps, 0).into_iter().filter(|(from, ..)| *from < state.0);
                let sleeping = sleeping.map(|(from, events, incomplete)| (from, content(&events), incomplete));
                let nobody = (sleeps.len() as u32, Vec::new(), ThreadSet::new());
                let nobody = (nobody.0 < state.0).then_some(nobody);
                let here = (state.0, content(asleep.events()), asleep.incomplete().clone());
                subtrees.push(Subtree {
                    schedule,
                    trace: until(trace, *state),
                    chain: chain.iter().map(|p| (events.get(p.event()).clone(), p.seen())).collect(),
                    sleeping: sleeping.chain(nobody).chain([here]).collect(),
                    asleep: (asleep.events().to_vec(), asleep.incomplete().clone()),
                    paths: thread_numbers.paths().to_vec(),
                    exchanges: exchanges.clone(),
                });
            }
        }
        subtrees
    }

    /// Sets the sleep sets of the states after those that are known.
    pub(crate) fn set_sleep_sets(&mut self, sleeping: CompactSleepSets<EventNumber>, states: u32) {
        let ends: Vec<u32> = sleeping.iter().skip(1).map(|(from, ..)| *from).chain([states]).collect();
        for ((_, events, incomplete), end) in sleeping.into_iter().zip(ends) {
            self.sleeps.resize(end as usize, SleepSet::from((events, incomplete)));
        }
    }

    /// Prepares to explore one subtree and nothing else. Returns the first state that belongs to it.
    pub(crate) fn begin(&mut self, subtree: &Subtree) -> Step {
        let from = subtree.trace.events.next_id();
        let before = self.trace.take();
        let same = before.iter().flat_map(|before| before.events.iter().zip(&subtree.trace.events));
        let common = same.take_while(|(one, other)| one == other).count().min(self.causality.len());
        let renamed = self.thread_numbers.paths() != subtree.paths;
        match &before {
            Some(before) => self.retract(before, Step(if renamed { 0 } else { common as u32 })),
            // The previous subtree was abandoned in the middle of an execution.
            None => self.clear_execution(),
        }
        if renamed {
            self.thread_numbers = ThreadNumbers::new(subtree.paths.clone());
        }
        self.exchanges.clone_from(&subtree.exchanges);
        self.extend(&subtree.trace, Step(self.causality.len() as u32), from);
        self.reversed = from.0 as usize;
        self.sleeps.clear();
        let numbered = |(state, events, incomplete): &(u32, Vec<Event>, ThreadSet)| {
            (*state, events.iter().map(|event| self.events.number(event)).collect(), incomplete.clone())
        };
        let sleeping = subtree.sleeping.iter().map(numbered).collect();
        self.set_sleep_sets(sleeping, from.0 + 1);
        self.trees.clear();
        let chain: Vec<Planned> =
            subtree.chain.iter().map(|(event, seen)| Planned::new(self.events.number(event), *seen)).collect();
        let root_depth = Step(from.0 + chain.len() as u32);
        (self.root_depth, self.outer) = (root_depth.0, OuterSequences::default());
        (self.plan, self.mode) = (Plan { from, chain, forks: Vec::new() }, Mode::NextLeaf);
        self.trace = Some(subtree.trace.clone());
        root_depth
    }

    /// Takes the sequences planned for states above the subtree.
    pub(crate) fn take_outer(&mut self) -> Vec<(Step, Box<[Planned]>)> {
        std::mem::take(&mut self.outer).sequences
    }

    /// Whether the explored subtree is the one that the last requested schedule enters. Records the event numbers the
    /// helper assigned.
    pub(crate) fn matches_subtree(&mut self, explored: &Explored) -> bool {
        let Self { helper_numbers, events, .. } = self;
        helper_numbers.resize(helper_numbers.len().max(explored.helper + 1), Vec::new());
        helper_numbers[explored.helper].extend(explored.numbered.iter().map(|event| events.number(event)));
        let Explored { subtree, paths, .. } = explored;
        let known = self.thread_numbers.paths().len();
        let named = known == subtree.paths.len() || paths.len() == subtree.paths.len();
        let sleep = self.sleeps.get(self.plan.from.0 as usize);
        let asleep = sleep.is_some_and(|s| s.events() == subtree.asleep.0 && *s.incomplete() == subtree.asleep.1);
        named && asleep && subtree.exchanges == self.exchanges
    }

    /// Adopts a matching subtree, as if it had been explored here.
    pub(crate) fn adopt_subtree(&mut self, explored: Explored) {
        let Explored { statistics, outer, sleeping, trees, last: trace, paths, exchanges, helper, .. } = explored;
        let (sleeping, states) = sleeping;
        let mirror = std::mem::take(&mut self.helper_numbers[helper]);
        let number = |number: EventNumber| mirror[number.0 as usize];
        let planned = |planned: &Planned| Planned::new(number(planned.event()), planned.seen());
        let Plan { from, forks, .. } = std::mem::take(&mut self.plan);
        if let Some(before) = self.trace.take() {
            self.retract(&before, from);
        }
        if paths.len() > self.thread_numbers.paths().len() {
            self.thread_numbers = ThreadNumbers::new(paths);
        }
        self.exchanges = exchanges;
        let sleeping = sleeping
            .into_iter()
            .map(|(state, events, incomplete)| (state, events.into_iter().map(number).collect(), incomplete));
        self.set_sleep_sets(sleeping.collect(), states);
        let forks = forks.into_iter().map(|(count, branches)| (Step(from.0 + count as u32), branches));
        self.trees.extend(forks.filter(|(step, _)| *step < trace.events.next_id()));
        self.sizes.add(statistics.executions);
        for (state, sequence) in &outer {
            self.sequence.clear();
            sequence.iter().map(planned).for_each(|p| self.sequence.push(p.event(), p.seen()));
            wakeup::insert(&self.events, self.trees.entry(*state).or_default(), &mut self.sequence);
        }
        for (state, branches) in trees {
            self.trees.insert(state, branches.into_iter().map(|branch| branch.renumbered(&planned)).collect());
        }
        self.extend(&trace, from, trace.events.next_id());
        self.reversed = trace.events.len();
        self.trace = Some(trace);
        self.helper_numbers[helper] = mirror;
    }
}

/// The sleep sets of the states from `first` on.
pub(crate) fn compact_sleep_sets(sleeps: &[SleepSet<EventNumber>], first: usize) -> CompactSleepSets<EventNumber> {
    let mut sleeping: CompactSleepSets<EventNumber> = Vec::new();
    for (state, sleep) in sleeps.iter().enumerate().skip(first) {
        if sleeping
            .last()
            .is_none_or(|(_, last, incomplete)| last != sleep.events() || incomplete != sleep.incomplete())
        {
            sleeping.push((state as u32, sleep.events().to_vec(), sleep.incomplete().clone()));
        }
    }
    sleeping
}

/// The first events of a trace, with the runnable threads before them and after the last.
pub(crate) fn until(trace: &Trace, state: Step) -> Trace {
    let runnable = trace.runnable.iter().take_while(|(from, _)| *from <= state).cloned().collect();
    let events = trace.events.iter().take(state.0 as usize).cloned().collect();
    Trace { events, runnable, ..Trace::empty(End::Deadlock) }
}
