//! Wake-up trees: what is left to be explored from a state, as sequences of events with common beginnings.
//!
//! From P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, "Optimal dynamic partial order reduction", POPL 2014. The
//! children of a state are explored in order. Chains without a fork are kept as one branch.
//!
//! A thread that can choose has an event for each value; a sequence has one of them.
//!
//! An event is a *weak initial* of a sequence that can follow a state if it can come first: it is in the sequence and
//! nothing before it there interferes with it, or its thread is not in it and nothing in it interferes.

use model::{Event, ThreadId};
use serde::{Deserialize, Serialize};

use crate::sleep::{interfere, same_event};

/// An event to be executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// The event as it is expected.
    pub(crate) event: Event,
    /// Whether it was seen like this after the same past; if not, it may turn out otherwise, or not to be possible.
    pub(crate) seen: bool,
}

/// A chain of events and what may follow it, in order; a leaf if that is empty.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub(crate) chain: Vec<Planned>,
    pub(crate) next: Vec<Branch>,
}

/// Forks of a chain: the number of its events before each, and the branches there that are not the chain's own.
pub(crate) type Forks = Vec<(usize, Vec<Branch>)>;

/// A sequence of events that can follow a state, from which events are taken out.
#[derive(Clone)]
pub(crate) struct Sequence<'a> {
    events: Vec<Option<(&'a Event, bool)>>,
    /// Everything before was taken out.
    start: usize,
}

impl<'a> Sequence<'a> {
    /// An empty sequence that will have about so many events.
    pub(crate) fn with_capacity(events: usize) -> Self {
        Self { events: Vec::with_capacity(events), start: 0 }
    }

    /// Adds an event, and whether it was seen after the same past.
    pub(crate) fn push(&mut self, event: &'a Event, seen: bool) {
        self.events.push(Some((event, seen)));
    }

    fn iter(&self) -> impl Iterator<Item = (&'a Event, bool)> {
        self.events[self.start..].iter().flatten().copied()
    }

    /// Whether the event, possible in the state, is a weak initial.
    pub(crate) fn has_weak_initial(&self, event: &Event) -> bool {
        for (other, _) in self.iter() {
            if other.id.thread == event.id.thread {
                return same_event(other, event);
            }
            if interfere(event, other) {
                return false;
            }
        }
        true
    }

    /// Whether there is an event of the thread.
    pub(crate) fn has_event_of(&self, thread: ThreadId) -> bool {
        self.iter().any(|(event, _)| event.id.thread == thread)
    }

    /// Takes out the first event of the thread, if there is one.
    fn take(&mut self, thread: ThreadId) {
        let of_thread = |slot: &Option<(&Event, bool)>| slot.is_some_and(|(e, _)| e.id.thread == thread);
        if let Some(at) = self.events[self.start..].iter().position(of_thread) {
            self.events[self.start + at] = None;
        }
        while self.events.get(self.start).is_some_and(Option::is_none) {
            self.start += 1;
        }
    }

    fn to_chain(&self) -> Vec<Planned> {
        self.iter().map(|(event, seen)| Planned { event: event.clone(), seen }).collect()
    }
}

/// Adds a sequence to the branches of a state, unless exploring a leaf that is there covers it: one that leads to the
/// same state as some continuation of the sequence. Whether it was added.
pub(crate) fn insert(branches: &mut Vec<Branch>, mut sequence: Sequence<'_>) -> bool {
    for branch in branches.iter_mut() {
        let common = take_common(&branch.chain, &mut sequence);
        if common == 0 {
            continue;
        }
        if sequence.iter().next().is_none() {
            return false;
        }
        if common < branch.chain.len() {
            let rest = branch.chain.split_off(common);
            let below = std::mem::take(&mut branch.next);
            let new = Branch { chain: sequence.to_chain(), next: Vec::new() };
            branch.next = vec![Branch { chain: rest, next: below }, new];
            return true;
        }
        return !branch.next.is_empty() && insert(&mut branch.next, sequence);
    }
    branches.push(Branch { chain: sequence.to_chain(), next: Vec::new() });
    true
}

/// How many events of the chain are, one after the other, weak initials of the sequence; they are taken out of it.
fn take_common(chain: &[Planned], sequence: &mut Sequence<'_>) -> usize {
    let mut common = 0;
    for Planned { event, .. } in chain {
        if !sequence.has_weak_initial(event) {
            break;
        }
        sequence.take(event.id.thread);
        common += 1;
    }
    common
}

/// Takes the first leaf: its events from the root on, and for each fork on the way the number of events before it and
/// the other branches there.
pub(crate) fn take_first(branches: &mut Vec<Branch>) -> Option<(Vec<Planned>, Forks)> {
    if branches.is_empty() {
        return None;
    }
    let Branch { mut chain, mut next } = branches.remove(0);
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

/// What is left of a first leaf and its forks, as [`take_first`] gave them, when the leaf's events from number `at` on
/// turn out not to be possible.
pub(crate) fn without_first_leaf(chain: &[Planned], forks: Forks, at: usize) -> Option<Branch> {
    let mut below = None;
    let counts: Vec<usize> = forks.iter().map(|(count, _)| *count).collect();
    for (fork, (count, others)) in forks.into_iter().enumerate().rev().filter(|(_, (count, _))| *count <= at) {
        let next = below.into_iter().chain(others).collect();
        let since = fork.checked_sub(1).map_or(0, |before| counts[before]);
        below = Some(Branch { chain: chain[since..count].to_vec(), next });
    }
    below
}

/// Visits the leaves of these branches in order, each as the chains that lead to it from the root, as long as the visitor
/// wants more. Whether it still does.
pub(crate) fn leaves<'a>(branches: &'a [Branch], visit: &mut impl FnMut(&[&'a [Planned]]) -> bool) -> bool {
    fn walk<'a>(
        branches: &'a [Branch],
        path: &mut Vec<&'a [Planned]>,
        visit: &mut impl FnMut(&[&'a [Planned]]) -> bool,
    ) -> bool {
        branches.iter().all(|branch| {
            path.push(&branch.chain);
            let more = if branch.next.is_empty() { visit(path) } else { walk(&branch.next, path, visit) };
            path.pop();
            more
        })
    }
    walk(branches, &mut Vec::new(), visit)
}
