//! Forward search for a firing sequence that covers a target, beside the backward search.
//!
//! Best first by an estimate of the transitions that still have to fire, in which firing takes no tokens away
//! (`estimate`). Transitions of a relaxed plan are tried first, and a marking is estimated when it is taken out of the queue,
//! not when it is put in (Helmert 2006). Blondin, Haase and Offtermatt
//! (*Directed Reachability for Infinite-State Systems*, TACAS 2021) guide such a search by the state equation or by
//! continuous reachability; a linear program for each marking takes longer than what is estimated here in one pass over
//! the arcs.
//!
//! What is nearer than everything before is not gone back on (*enforced hill-climbing*, Hoffmann and Nebel 2001). Markings
//! that differ only in tokens above a *cap* count as one: threads that are started in a loop would make ever new markings. If
//! nothing is left to try, the search begins again, carefully, and then with a higher cap. Among markings that are as near,
//! those come first whose transitions follow from each other, so that parts of the net that have nothing to do with each
//! other are not tried in all combinations.
//!
//! Places with any number of tokens hold `MANY`, which firing does not change. What of it is needed follows from the
//! sequence in the end, from which transitions that add to nothing are dropped.
//!
//! Can be missed: anything; the search is one of two, and gives up beyond its limits. Can be wrongly claimed: nothing;
//! a sequence is fired before it is an answer. What it does depends on the net alone, and so does its `work`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use crate::certificate;
use crate::estimate::Estimate;
use crate::marking::Marking;
use crate::net::{Net, PlaceId, TransitionId};
use crate::witness::Witness;

/// Any number of tokens.
pub(crate) const MANY: u32 = u32::MAX;
/// Entries of all markings kept, and successors in the queues: at most some hundred megabytes.
const MOST_KEPT: usize = 4_000_000;
/// The first cap.
const CAP: u32 = 2;
/// With a cap above, the search gives up.
const MOST_CAP: u32 = 1 << 20;
/// How often the queue of preferred transitions comes first after an estimate that is the smallest so far.
const BOOST: i64 = 1_000;

/// A firing sequence that covers a target, if this search finds one alone among so many markings.
pub fn search(net: &Net, most: u64) -> Option<Witness> {
    let mut forward = Forward::new(net)?;
    while forward.states() < most {
        match forward.step(|_| None) {
            Step::Goes => {}
            Step::Covered(initial, sequence) => return Some(Witness { initial, sequence }),
            Step::GivesUp => return None,
        }
    }
    None
}

/// A marking on the way.
struct State {
    marking: Marking,
    /// The marking it comes from, with the transition; the first has none.
    from: Option<(u32, TransitionId)>,
}

/// A successor that is not looked at yet: the estimate of the marking it comes from, how often a transition on the way did not
/// follow from the one before since something was nearer, its turn, and how it is reached.
type Successor = Reverse<(u64, u32, u64, Option<(u32, TransitionId)>)>;

/// What a step came to.
pub(crate) enum Step {
    /// The search goes on.
    Goes,
    /// From the marking, firing the sequence covers a target.
    Covered(Marking, Vec<TransitionId>),
    /// There is nothing left to try, or too much is kept.
    GivesUp,
}

/// A search in progress.
pub(crate) struct Forward<'a> {
    net: &'a Net,
    estimate: Estimate<'a>,
    states: Vec<State>,
    /// The markings looked at, without tokens above the cap.
    seen: HashSet<Marking>,
    cap: u32,
    /// Whether some marking had such tokens.
    capped: bool,
    /// Whether all ways stay open.
    careful: bool,
    /// Whether some were given up.
    committed: bool,
    /// Markings that were looked at before the search began again.
    earlier: u64,
    /// Successors by preferred transitions, and by others.
    queues: [BinaryHeap<Successor>; 2],
    /// Which queue comes next: that with the smaller number.
    turns: [i64; 2],
    best: u64,
    kept: usize,
    /// Elementary operations so far.
    pub(crate) work: u64,
}

impl<'a> Forward<'a> {
    /// A search from the largest initial marking; `None` where that cannot be said, because any number of tokens may
    /// flow together.
    pub(crate) fn new(net: &'a Net) -> Option<Self> {
        let any_number = net.initial.iter().any(|initial| initial.high.is_none());
        if any_number && net.transitions.iter().any(|t| !t.flows.is_empty()) {
            return None;
        }
        let (states, seen, queues) = Default::default();
        let estimate = Estimate::new(net);
        let mut forward = Self {
            net,
            estimate,
            states,
            seen,
            cap: CAP / 2,
            capped: true,
            careful: true,
            committed: false,
            earlier: 0,
            queues,
            turns: [0, 0],
            best: u64::MAX,
            kept: 0,
            work: 0,
        };
        forward.begin();
        Some(forward)
    }

    /// Begins from the start, with all ways open or with a higher cap; whether that may find more.
    fn begin(&mut self) -> bool {
        if std::mem::take(&mut self.committed) {
            self.careful = true;
        } else if std::mem::take(&mut self.capped) && self.cap < MOST_CAP {
            self.cap *= 2;
            self.careful = false;
        } else {
            return false;
        }
        self.earlier += self.states.len() as u64;
        self.states.clear();
        self.seen.clear();
        self.queues.iter_mut().for_each(BinaryHeap::clear);
        self.queues[1].push(Reverse((0, 0, 0, None)));
        (self.turns, self.best, self.kept) = ([0, 0], u64::MAX, 0);
        true
    }

    /// A marking without tokens above the cap.
    fn below_cap(&mut self, marking: &Marking) -> Marking {
        let entries = marking.entries();
        self.capped |= entries.iter().any(|(_, n)| *n > self.cap && *n != MANY);
        Marking::new(entries.iter().map(|(p, n)| (*p, if *n == MANY { MANY } else { (*n).min(self.cap) })))
    }

    /// Markings looked at.
    pub(crate) fn states(&self) -> u64 {
        self.earlier + self.states.len() as u64
    }

    /// Looks at one successor. `known` says whether a target can be covered from a marking, by what sequence.
    pub(crate) fn step(&mut self, known: impl Fn(&Marking) -> Option<Vec<TransitionId>>) -> Step {
        self.work += 1;
        let which = match self.queues.each_ref().map(BinaryHeap::is_empty) {
            [true, true] => return if self.begin() { Step::Goes } else { Step::GivesUp },
            [true, false] => 1,
            [false, true] => 0,
            _ => usize::from(self.turns[1] < self.turns[0]),
        };
        self.turns[which] += 1;
        let Some(Reverse((_, breaks, _, from))) = self.queues[which].pop() else { return Step::Goes };
        let reached = match from {
            None => {
                Some(Marking::new(self.net.place_ids().map(|p| (p, self.net.initial[p.index()].high.unwrap_or(MANY)))))
            }
            Some((state, transition)) => self.fire(&self.states[state as usize].marking, transition),
        };
        let Some(marking) = reached else { return Step::Goes };
        self.work += marking.entries().len() as u64;
        let capped = self.below_cap(&marking);
        if !self.seen.insert(capped) {
            return Step::Goes;
        }
        if self.net.targets.iter().any(|target| marking.covers(target)) {
            return self.covered(from, Vec::new());
        }
        if let Some(rest) = known(&marking) {
            return self.covered(from, rest);
        }
        let found = self.estimate.of(&marking);
        self.work += found.work;
        let Some(distance) = found.distance else { return Step::Goes };
        let nearer = distance < self.best;
        if nearer {
            self.best = distance;
            self.turns[0] -= BOOST;
            if !self.careful {
                self.committed = true;
                self.queues.iter_mut().for_each(BinaryHeap::clear);
            }
        }
        self.kept += 2 * marking.entries().len() + found.enabled.len();
        if self.kept > MOST_KEPT {
            return if self.begin() { Step::Goes } else { Step::GivesUp };
        }
        let number = self.states.len() as u32;
        let breaks = if nearer { 0 } else { breaks };
        self.states.push(State { marking, from });
        for (turn, (transition, preferred)) in found.enabled.into_iter().enumerate() {
            let turn = (u64::from(number) << 24) + turn as u64;
            let breaks = breaks + u32::from(!follows(self.net, from.map(|(_, last)| last), transition));
            let successor = Reverse((distance, breaks, turn, Some((number, transition))));
            self.queues[usize::from(!preferred)].push(successor);
        }
        Step::Goes
    }

    /// The marking after an enabled transition.
    fn fire(&self, marking: &Marking, transition: TransitionId) -> Option<Marking> {
        let t = &self.net.transitions[transition.index()];
        if !t.flows.is_empty() {
            return self.net.fire(marking, transition);
        }
        let mut tokens: Vec<(PlaceId, i64)> = marking.entries().iter().map(|(p, n)| (*p, i64::from(*n))).collect();
        let many = i64::from(MANY);
        for (p, d) in &t.delta {
            match tokens.binary_search_by_key(p, |(p, _)| *p) {
                Ok(at) if tokens[at].1 == many => {}
                Ok(at) => tokens[at].1 += d,
                Err(at) => tokens.insert(at, (*p, *d)),
            }
        }
        let tokens = tokens.into_iter().map(|(p, n)| Some((p, u32::try_from(n.min(many)).ok()?)));
        Some(Marking::new(tokens.collect::<Option<Vec<_>>>()?))
    }

    /// The sequence to a successor and from there on, which covers a target, without what adds to nothing that is needed.
    fn covered(&self, from: Option<(u32, TransitionId)>, mut sequence: Vec<TransitionId>) -> Step {
        sequence.reverse();
        let mut at = from;
        while let Some((state, transition)) = at {
            sequence.push(transition);
            at = self.states[state as usize].from;
        }
        let flows = self.net.transitions.iter().any(|t| !t.flows.is_empty());
        let found = if flows {
            sequence.reverse();
            let all = Marking::new(self.net.place_ids().map(|p| (p, self.net.initial[p.index()].high.unwrap_or(0))));
            Some((all, sequence))
        } else {
            let shortened = self.net.targets.iter().filter_map(|target| self.needed(&sequence, target));
            shortened.min_by_key(|(_, sequence)| sequence.len())
        };
        match found.filter(|(initial, sequence)| certificate::replay(self.net, initial, sequence).is_ok()) {
            Some((initial, sequence)) => Step::Covered(initial, sequence),
            None => Step::GivesUp,
        }
    }

    /// What is needed of a sequence, given from its end on, to cover a target: where it may start, and what to fire.
    fn needed(&self, sequence: &[TransitionId], target: &Marking) -> Option<(Marking, Vec<TransitionId>)> {
        let mut needed: Vec<i64> = vec![0; self.net.places.len()];
        target.entries().iter().for_each(|(p, n)| needed[p.index()] = i64::from(*n));
        let mut kept = Vec::new();
        for transition in sequence {
            let t = &self.net.transitions[transition.index()];
            if !t.delta.iter().any(|(p, d)| *d > 0 && needed[p.index()] > 0) {
                continue;
            }
            t.delta.iter().for_each(|(p, d)| needed[p.index()] = (needed[p.index()] - d).max(0));
            t.guard.iter().for_each(|(p, n)| needed[p.index()] = needed[p.index()].max(i64::from(*n)));
            kept.push(*transition);
        }
        kept.reverse();
        let tokens = self.net.place_ids().map(|p| Some((p, u32::try_from(needed[p.index()]).ok()?)));
        let least = Marking::new(tokens.collect::<Option<Vec<_>>>()?);
        Some((self.net.initial_covering(&least)?, kept))
    }
}

/// Whether a transition takes tokens, or looks at some, that the last one added.
fn follows(net: &Net, last: Option<TransitionId>, next: TransitionId) -> bool {
    let Some(last) = last else { return false };
    let (last, next) = (&net.transitions[last.index()], &net.transitions[next.index()]);
    last.delta.iter().any(|(p, d)| *d > 0 && next.needs(*p) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    fn steps(text: &str) -> Option<usize> {
        let net = spec::parse(text).unwrap();
        let found = search(&net, 1_000)?;
        found.replay(&net).unwrap();
        Some(found.sequence.len())
    }

    #[test]
    fn finds_what_is_covered() {
        let net = "vars idle one two lock rules
            idle >= 1, lock >= 1 -> idle' = idle - 1, lock' = lock - 1, one' = one + 1;
            one >= 1 -> one' = one - 1, two' = two + 1, lock' = lock + 1;
            init idle >= 1, one = 0, two = 0, lock = 1 target ";
        assert_eq!(steps(&format!("{net} two >= 3, one >= 1")), Some(7));
        assert_eq!(steps(&format!("{net} one >= 2")), None);
        assert_eq!(steps(&format!("{net} idle >= 9")), Some(0), "it starts with more");
    }

    #[test]
    fn follows_transfers() {
        let net = "vars a b c rules
            a >= 1 -> a' = a - 1, b' = b + 1;
            c >= 1 -> c' = c - 1, b' = 0, a' = a + b;
            init a = 3, b = 0, c = 1 target ";
        assert_eq!(steps(&format!("{net} b >= 3, c >= 1")), Some(3));
        assert_eq!(steps(&format!("{net} b >= 4")), None);
    }
}
