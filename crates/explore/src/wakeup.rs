//! Wake-up trees: what is left to explore from a state, as sequences of events with common prefixes.
//!
//! From P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", POPL 2014. The
//! children of a state are explored in order. A chain without a fork is stored as one branch.
//!
//! A thread that makes a choice has one event for each value; a sequence contains one of them.
//!
//! An event is a *weak initial* of a sequence that can follow a state if it can come first: it is in the sequence and
//! nothing before it there interferes with it, or its thread is not in the sequence and nothing in it interferes.

use model::{ThreadId, work};
use serde::{Deserialize, Serialize};

use crate::events::{EventNumber, Events};
use crate::sleep::Relation;

/// An event to execute: its expected number, and whether it was seen in this form after the same past. If it was not,
/// the event may turn out differently or be disabled. Trees may have many of these, so each is one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Planned(u32);

impl Planned {
    /// Marks an event that was removed from a sequence.
    const TAKEN: Self = Self(u32::MAX);

    /// A planned event.
    pub(crate) fn new(event: EventNumber, seen: bool) -> Self {
        Self(event.0 << 1 | u32::from(seen))
    }
    /// The event as it is expected.
    pub(crate) fn event(self) -> EventNumber {
        EventNumber(self.0 >> 1)
    }
    /// Whether it was seen.
    pub(crate) fn seen(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A chain of events and the branches that may follow it, in order; a leaf if there are none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub(crate) chain: Box<[Planned]>,
    pub(crate) next: Vec<Branch>,
}

impl Branch {
    /// The same branch with other event numbers.
    pub(crate) fn renumbered(self, number: &impl Fn(&Planned) -> Planned) -> Self {
        let chain = self.chain.iter().map(number).collect();
        Self { chain, next: self.next.into_iter().map(|branch| branch.renumbered(number)).collect() }
    }
}

/// Forks of a chain: the number of its events before each fork, and the branches there other than the chain's own.
pub(crate) type Forks = Vec<(usize, Vec<Branch>)>;

/// A sequence of events that can follow a state and from which events can be removed.
#[derive(Default)]
pub(crate) struct Sequence {
    events: Vec<Planned>,
    /// Everything before this index was removed.
    start: usize,
}

impl Sequence {
    /// Removes all events.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.start = 0;
    }

    /// Appends an event, and whether it was seen after the same past.
    #[inline]
    pub(crate) fn push(&mut self, event: EventNumber, seen: bool) {
        work::count(1);
        self.events.push(Planned::new(event, seen));
    }

    fn iter(&self) -> impl Iterator<Item = Planned> {
        self.events[self.start..].iter().copied().filter(|planned| *planned != Planned::TAKEN)
    }

    /// If the event is a weak initial: the index of its thread's first event, if there is one.
    #[inline]
    fn weak_initial(&self, events: &Events, event: EventNumber) -> Option<Option<usize>> {
        for (at, other) in self.events.iter().enumerate().skip(self.start) {
            work::count(1);
            if *other != Planned::TAKEN && events.interfere(&event, &other.event()) {
                return events.same(&event, &other.event()).then_some(Some(at));
            }
        }
        Some(None)
    }

    /// Whether the event, enabled in the state, is a weak initial.
    pub(crate) fn has_weak_initial(&self, events: &Events, event: EventNumber) -> bool {
        self.weak_initial(events, event).is_some()
    }

    /// Whether the sequence has an event of the thread.
    pub(crate) fn has_event_of(&self, events: &Events, thread: ThreadId) -> bool {
        self.iter().any(|planned| events.thread(&planned.event()) == thread)
    }

    /// If the event is a weak initial, removes the first event of its thread and returns true.
    #[inline]
    fn take_weak_initial(&mut self, events: &Events, event: EventNumber) -> bool {
        // Sequences that go into one tree often have a common prefix.
        if self.events.get(self.start).is_some_and(|first| first.event() == event && *first != Planned::TAKEN) {
            self.start += 1;
            while self.events.get(self.start) == Some(&Planned::TAKEN) {
                self.start += 1;
            }
            return true;
        }
        let Some(at) = self.weak_initial(events, event) else { return false };
        if let Some(at) = at {
            self.events[at] = Planned::TAKEN;
            while self.events.get(self.start) == Some(&Planned::TAKEN) {
                self.start += 1;
            }
        }
        true
    }

    pub(crate) fn to_chain(&self) -> Box<[Planned]> {
        self.iter().collect()
    }
}

/// Inserts a sequence into the branches of a state, unless an existing leaf covers it by leading to the same state as
/// some continuation of the sequence. Returns whether it was inserted. Empties the sequence.
pub(crate) fn insert(events: &Events, branches: &mut Vec<Branch>, sequence: &mut Sequence) -> bool {
    for branch in branches.iter_mut() {
        let common = take_common(events, &branch.chain, sequence);
        if common == 0 {
            continue;
        }
        if sequence.iter().next().is_none() {
            return false;
        }
        if common < branch.chain.len() {
            let rest = branch.chain[common..].into();
            branch.chain = branch.chain[..common].into();
            let below = std::mem::take(&mut branch.next);
            let new = Branch { chain: sequence.to_chain(), next: Vec::new() };
            branch.next = vec![Branch { chain: rest, next: below }, new];
            return true;
        }
        return !branch.next.is_empty() && insert(events, &mut branch.next, sequence);
    }
    branches.push(Branch { chain: sequence.to_chain(), next: Vec::new() });
    true
}

/// The number of leading events of the chain that are, one after the other, weak initials of the sequence; removes them
/// from it.
fn take_common(events: &Events, chain: &[Planned], sequence: &mut Sequence) -> usize {
    chain.iter().take_while(|planned| sequence.take_weak_initial(events, planned.event())).count()
}

/// Whether all events of these branches have numbers.
pub(crate) fn are_numbered(events: &Events, branches: &[Branch]) -> bool {
    let numbered = |planned: &Planned| events.contains(planned.event());
    branches.iter().all(|branch| branch.chain.iter().all(numbered) && are_numbered(events, &branch.next))
}

/// The events of a branch's first leaf, from the root on.
pub(crate) fn first_leaf(branch: &Branch) -> Vec<Planned> {
    let (mut chain, mut below) = (branch.chain.to_vec(), &branch.next);
    while let Some(first) = below.first() {
        chain.extend(&first.chain);
        below = &first.next;
    }
    chain
}

/// Removes the first leaf. Returns its events from the root on and, for each fork on the way, the number of events
/// before it and the other branches there.
pub(crate) fn take_first(branches: &mut Vec<Branch>) -> Option<(Vec<Planned>, Forks)> {
    if branches.is_empty() {
        return None;
    }
    let Branch { chain, mut next } = branches.remove(0);
    let mut chain = chain.into_vec();
    let mut forks = Vec::new();
    while !next.is_empty() {
        let Branch { chain: more, next: below } = next.remove(0);
        if !next.is_empty() {
            forks.push((chain.len(), next));
        }
        chain.extend(more);
        next = below;
    }
    Some((chain, forks))
}

/// What is left of a first leaf and its forks, as returned by [`take_first`], when the leaf's events from number `at`
/// on turn out to be disabled.
pub(crate) fn without_first_leaf(chain: &[Planned], forks: Forks, at: usize) -> Option<Branch> {
    let mut below = None;
    let counts: Vec<usize> = forks.iter().map(|(count, _)| *count).collect();
    for (fork, (count, others)) in forks.into_iter().enumerate().rev().filter(|(_, (count, _))| *count <= at) {
        let next = below.into_iter().chain(others).collect();
        let since = fork.checked_sub(1).map_or(0, |before| counts[before]);
        below = Some(Branch { chain: chain[since..count].into(), next });
    }
    below
}
