//! Backward coverability on minimal elements.
//!
//! Starting from the targets, minimal elements of the set of predecessors are added until an initial marking is
//! among them (covered) or nothing new appears (safe). The set is upward closed and transitions are monotone, so
//! this terminates (Abdulla, Čerāns, Jonsson and Tsay 1996; used by Abdulla, Haziza and Kindahl for
//! race-freeness).
//!
//! Deviation: elements that provably no reachable marking covers are left out: those with a token in a place that
//! can never be marked (sign analysis), and those an [`Invariant`] excludes. Leaving them out is sound because the answer concerns
//! only reachable markings; the certificate carries the invariants, so that its checker can follow.
//!
//! Beside it goes a search from the initial markings ([`crate::forward`]), as each does a share of the work; which of them
//! answers depends on the net alone, not on the clock. A marking there that covers an element here is an answer, too.
//!
//! Can be missed: nothing; the search is complete unless it is stopped. Can be wrongly claimed: nothing; a covered
//! answer is a firing sequence, a safe one is checked by [`crate::certificate`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::AddAssign;

use crate::antichain::Antichain;
use crate::certificate::Certificate;
use crate::forward::{Forward, Step};
use crate::invariant::{self, Invariant};
use crate::marking::Marking;
use crate::net::{Net, PlaceId, Transition, TransitionId};
use crate::parts;

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// From `initial`, firing `sequence` reaches a marking that covers a target.
    Covered {
        /// Where it starts.
        initial: Marking,
        /// What to fire, in order.
        sequence: Vec<TransitionId>,
    },
    /// No reachable marking covers a target.
    Safe(Certificate),
    /// No answer.
    Stopped(Stop),
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The caller stopped the search.
    Asked,
    /// A number of tokens became too large.
    Tokens,
}

/// What the search may omit. `Plain` omits nothing and serves as a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pruning {
    /// Nothing: the paper's algorithm.
    Plain,
    /// Elements with a token in a never-marked place, and elements that an invariant excludes.
    #[default]
    Invariants,
}

impl Pruning {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Invariants => "invariants",
        }
    }
}

/// Counters, as in the paper's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Elements whose predecessors were computed.
    pub iterations: u64,
    /// Predecessors computed.
    pub configurations: u64,
    /// Predecessors that an element already subsumed.
    pub subsumed: u64,
    /// Predecessors excluded by never-marked places or invariants.
    pub excluded: u64,
    /// Elements of the final basis.
    pub basis: u64,
    /// Invariants found.
    pub invariants: u64,
    /// Markings that the search in the other direction looked at.
    pub markings: u64,
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.iterations += other.iterations;
        self.configurations += other.configurations;
        self.subsumed += other.subsumed;
        self.excluded += other.excluded;
        self.basis += other.basis;
        self.invariants += other.invariants;
        self.markings += other.markings;
    }
}

/// Iterations before the search in the other direction begins: most nets of pairs are decided by then.
const ALONE: u64 = 64;
/// Places from which on that search goes first for a while, since a linear program takes long there.
const LARGE: usize = 400;
/// How long, in elementary operations.
const HEAD_START: u64 = 20_000_000;
/// Elementary operations for a predecessor, whatever the number of elements.
const WORK_OF_CONFIGURATION: u64 = 64;

struct Element {
    marking: Marking,
    /// The transition that leads from here to the element it was computed from.
    via: Option<(TransitionId, u32)>,
    /// Whether no smaller element has replaced it.
    live: bool,
}

struct Search<'a> {
    net: &'a Net,
    pruning: Pruning,
    never_marked: Vec<bool>,
    /// For each place, the transitions that can add tokens to it.
    producers: Vec<Vec<TransitionId>>,
    elements: Vec<Element>,
    basis: Antichain,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    invariants: Vec<Invariant>,
    attempts: u64,
    /// The search in the other direction, if it may still find something.
    forward: Option<Forward<'a>>,
    /// Elementary operations so far.
    work: u64,
    statistics: Statistics,
}

/// Decides coverability. Calls `go_on` regularly with the counters so far, and stops when it returns false.
pub fn solve(net: &Net, pruning: Pruning, mut go_on: impl FnMut(&Statistics) -> bool) -> (Answer, Statistics) {
    parts::solve(net, pruning, &mut go_on).unwrap_or_else(|| whole(net, pruning, &mut go_on))
}

/// The same without looking for parts.
pub(crate) fn whole(net: &Net, pruning: Pruning, go_on: &mut impl FnMut(&Statistics) -> bool) -> (Answer, Statistics) {
    let mut search = Search {
        net,
        pruning,
        never_marked: if pruning == Pruning::Plain { vec![false; net.places.len()] } else { never_marked(net) },
        producers: producers(net),
        elements: Vec::new(),
        basis: Antichain::new(),
        queue: BinaryHeap::new(),
        invariants: Vec::new(),
        attempts: 0,
        forward: if pruning == Pruning::Plain { None } else { Forward::new(net) },
        work: 0,
        statistics: Statistics::default(),
    };
    let answer = search.run(go_on);
    search.statistics.basis = search.basis.len() as u64;
    search.statistics.invariants = search.invariants.len() as u64;
    (answer, search.statistics)
}

impl Search<'_> {
    fn run(&mut self, go_on: &mut impl FnMut(&Statistics) -> bool) -> Answer {
        if self.net.places.len() >= LARGE {
            self.work = HEAD_START;
            if let Some(answer) = self.keep_up(go_on) {
                return answer;
            }
        }
        for target in &self.net.targets {
            if let Some(answer) = self.add(target.clone(), None) {
                return answer;
            }
        }
        let mut found = Vec::new();
        while let Some(Reverse((_, number))) = self.queue.pop() {
            if !self.elements[number as usize].live {
                continue;
            }
            self.statistics.iterations += 1;
            if self.statistics.iterations % 64 == 1 && !go_on(&self.statistics) {
                return Answer::Stopped(Stop::Asked);
            }
            let marking = self.elements[number as usize].marking.clone();
            let mut useful: Vec<TransitionId> =
                marking.entries().iter().flat_map(|(p, _)| &self.producers[p.index()]).copied().collect();
            useful.sort_unstable();
            useful.dedup();
            for t in useful {
                found.clear();
                if let Err(stop) = predecessors(&self.net.transitions[t.index()], &marking, &mut found) {
                    return Answer::Stopped(stop);
                }
                for predecessor in found.drain(..) {
                    self.statistics.configurations += 1;
                    self.work += WORK_OF_CONFIGURATION + self.basis.len() as u64 / 16;
                    if let Some(answer) = self.add(predecessor, Some((t, number))) {
                        return answer;
                    }
                }
            }
            if self.statistics.iterations >= ALONE
                && let Some(answer) = self.keep_up(go_on)
            {
                return answer;
            }
        }
        let basis = self.elements.iter().filter(|e| e.live).map(|e| e.marking.clone()).collect();
        let never_marked = self.net.place_ids().filter(|p| self.never_marked[p.index()]).collect();
        Answer::Safe(Certificate {
            basis,
            never_marked,
            invariants: self.invariants.iter().map(|i| i.weights.clone()).collect(),
        })
    }

    /// Lets the search in the other direction work as much as this one has.
    fn keep_up(&mut self, go_on: &mut impl FnMut(&Statistics) -> bool) -> Option<Answer> {
        let forward = self.forward.as_mut()?;
        let mut steps = 0u64;
        while forward.work < self.work {
            steps += 1;
            if steps.is_multiple_of(64) && !go_on(&self.statistics) {
                return Some(Answer::Stopped(Stop::Asked));
            }
            let step = forward.step(|marking| Some(sequence(&self.elements, self.basis.covered_by(marking)?)));
            self.statistics.markings = forward.states();
            match step {
                Step::Goes => {}
                Step::Covered(initial, sequence) => return Some(Answer::Covered { initial, sequence }),
                Step::GivesUp => {
                    self.forward = None;
                    break;
                }
            }
        }
        None
    }

    fn add(&mut self, marking: Marking, via: Option<(TransitionId, u32)>) -> Option<Answer> {
        if marking.entries().iter().any(|(p, _)| self.never_marked[p.index()])
            || self.invariants.iter().any(|i| i.excludes(&marking))
        {
            self.statistics.excluded += 1;
            return None;
        }
        if self.basis.covered_by(&marking).is_some() {
            self.statistics.subsumed += 1;
            return None;
        }
        if self.net.initially_covers(&marking) {
            return Some(self.covered(marking, via));
        }
        if self.excluded_by_new_invariant(&marking) {
            self.statistics.excluded += 1;
            return None;
        }
        let number = self.elements.len() as u32;
        for dropped in self.basis.insert(&marking, number).into_iter().flatten() {
            self.elements[dropped as usize].live = false;
        }
        self.queue.push(Reverse((marking.total(), number)));
        self.elements.push(Element { marking, via, live: true });
        None
    }

    /// Queries the state equation. Each query is a linear program, so queries are frequent only while they succeed.
    fn excluded_by_new_invariant(&mut self, marking: &Marking) -> bool {
        let allowed = 16 + 16 * self.invariants.len() as u64 + self.elements.len() as u64 / 64;
        if self.pruning == Pruning::Plain || self.attempts >= allowed {
            return false;
        }
        self.attempts += 1;
        let Some(invariant) = invariant::find(self.net, marking) else { return false };
        self.invariants.push(invariant);
        true
    }

    fn covered(&self, marking: Marking, via: Option<(TransitionId, u32)>) -> Answer {
        let sequence =
            via.map_or_else(Vec::new, |(first, next)| [vec![first], sequence(&self.elements, next)].concat());
        let initial = self.net.initial_covering(&marking).unwrap_or(marking);
        Answer::Covered { initial, sequence }
    }
}

/// What leads from an element to a target.
fn sequence(elements: &[Element], from: u32) -> Vec<TransitionId> {
    let mut sequence = Vec::new();
    let mut at = from;
    while let Some((transition, next)) = elements[at as usize].via {
        sequence.push(transition);
        at = next;
    }
    sequence
}

/// Places that no reachable marking marks: initially empty, and every transition that could add a token needs one in
/// such a place.
fn never_marked(net: &Net) -> Vec<bool> {
    let mut never: Vec<bool> = net.initial.iter().map(|i| i.high == Some(0)).collect();
    loop {
        let mut changed = false;
        for t in &net.transitions {
            if t.guard.iter().any(|(p, _)| never[p.index()]) {
                continue;
            }
            let flowing = t.flows.iter().filter(|(from, _)| !never[from.index()]).flat_map(|(_, to)| to);
            let added = t.delta.iter().filter(|(_, d)| *d > 0).map(|(p, _)| p);
            for p in added.chain(flowing).copied().collect::<Vec<_>>() {
                changed |= std::mem::replace(&mut never[p.index()], false);
            }
        }
        if !changed {
            return never;
        }
    }
}

fn producers(net: &Net) -> Vec<Vec<TransitionId>> {
    let mut producers = vec![Vec::new(); net.places.len()];
    for (id, t) in net.transitions() {
        let mut targets: Vec<PlaceId> = t.delta.iter().filter(|(_, d)| *d > 0).map(|(p, _)| *p).collect();
        targets.extend(t.flows.iter().flat_map(|(from, to)| to.iter().filter(move |p| *p != from)));
        targets.sort_unstable();
        targets.dedup();
        for p in targets {
            producers[p.index()].push(id);
        }
    }
    producers
}

/// Limit on the ways to distribute tokens over the sources of transfers, for one predecessor.
const MOST_WAYS: usize = 100_000;

/// Minimal markings (possibly with some that are not) from which firing `t` reaches a marking that covers `marking`.
fn predecessors(t: &Transition, marking: &Marking, out: &mut Vec<Marking>) -> Result<(), Stop> {
    let tokens = |n: i64| u32::try_from(n).map_err(|_| Stop::Tokens);
    let flowing = |p: PlaceId| t.flows.iter().any(|(from, to)| *from == p || to.contains(&p));
    let mut fixed: Vec<(PlaceId, u32)> = t.guard.clone();
    let mut split: Vec<(PlaceId, i64)> = Vec::new();
    let raise = |entries: &mut Vec<(PlaceId, u32)>, place: PlaceId, least: u32| match entries
        .iter_mut()
        .find(|(p, _)| *p == place)
    {
        Some((_, n)) => *n = least.max(*n),
        None => entries.push((place, least)),
    };
    for &(p, n) in marking.entries() {
        let needed = i64::from(n) - t.change(p);
        if flowing(p) {
            split.push((p, needed));
        } else if needed > 0 {
            raise(&mut fixed, p, tokens(needed)?);
        }
    }
    let mut partial = vec![fixed];
    for (target, needed) in split {
        let mut sources: Vec<(PlaceId, i64)> = t
            .flows
            .iter()
            .map(|(from, to)| (*from, to.iter().filter(|q| **q == target).count() as i64))
            .filter(|(_, times)| *times > 0)
            .collect();
        if !t.flows.iter().any(|(from, _)| *from == target) {
            sources.push((target, 1));
        }
        let already: i64 = sources.iter().map(|(p, times)| times * i64::from(t.needs(*p))).sum();
        let mut choices = Vec::new();
        distribute(&sources, tokens((needed - already).max(0))?, &mut Vec::new(), &mut choices)?;
        if partial.len() * choices.len() > MOST_WAYS {
            return Err(Stop::Tokens);
        }
        let mut extended = Vec::new();
        for entries in &partial {
            for choice in &choices {
                let mut entries = entries.clone();
                for (p, extra) in choice {
                    raise(&mut entries, *p, t.needs(*p).checked_add(*extra).ok_or(Stop::Tokens)?);
                }
                extended.push(entries);
            }
        }
        partial = extended;
    }
    out.extend(partial.into_iter().map(Marking::new));
    Ok(())
}

/// All minimal ways to get `amount` tokens from the sources, where each token of a source counts with its multiplicity.
fn distribute(
    sources: &[(PlaceId, i64)],
    amount: u32,
    chosen: &mut Vec<(PlaceId, u32)>,
    out: &mut Vec<Vec<(PlaceId, u32)>>,
) -> Result<(), Stop> {
    let Some((&(place, times), rest)) = sources.split_first() else {
        if amount == 0 {
            out.push(chosen.clone());
        }
        return if out.len() > MOST_WAYS { Err(Stop::Tokens) } else { Ok(()) };
    };
    let times = u32::try_from(times).map_err(|_| Stop::Tokens)?;
    let most = amount.div_ceil(times);
    let least = if rest.is_empty() { most } else { 0 };
    for n in least..=most {
        chosen.push((place, n));
        distribute(rest, amount.saturating_sub(n.saturating_mul(times)), chosen, out)?;
        chosen.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate;
    use crate::spec;

    fn answer(text: &str) -> Answer {
        let net = spec::parse(text).unwrap();
        let (answer, _) = solve(&net, Pruning::default(), |_| true);
        match &answer {
            Answer::Covered { initial, sequence } => certificate::replay(&net, initial, sequence).unwrap(),
            Answer::Safe(certificate) => certificate::check(&net, certificate).unwrap(),
            Answer::Stopped(_) => {}
        }
        answer
    }

    const MUTEX: &str = "vars idle critical lock rules
        idle >= 1, lock >= 1 -> idle' = idle - 1, lock' = lock - 1, critical' = critical + 1;
        critical >= 1 -> critical' = critical - 1, lock' = lock + 1, idle' = idle + 1;
        init idle >= 1, critical = 0, lock = ";

    #[test]
    fn a_lock_excludes_any_number_of_threads() {
        assert!(matches!(answer(&format!("{MUTEX} 1 target critical >= 2")), Answer::Safe(_)));
        let covered = answer(&format!("{MUTEX} 2 target critical >= 2"));
        assert!(matches!(covered, Answer::Covered { sequence, .. } if sequence.len() == 2));
    }

    #[test]
    fn transfers_move_all_tokens() {
        let net = "vars a b c rules
            a >= 1 -> a' = a - 1, b' = b + 1;
            c >= 1 -> c' = c - 1, b' = 0, a' = a + b;
            init a = 3, b = 0, c = 1 target ";
        assert!(matches!(answer(&format!("{net} b >= 3, c >= 1")), Answer::Covered { .. }));
        assert!(matches!(answer(&format!("{net} b >= 4")), Answer::Safe(_)));
        assert!(matches!(answer(&format!("{net} a >= 1, b >= 3")), Answer::Safe(_)));
    }

    #[test]
    fn resets_lose_tokens() {
        let net = "vars a b rules a >= 1 -> a' = 0, b' = b + 1; init a = 5, b = 0 target ";
        assert!(matches!(answer(&format!("{net} b >= 1")), Answer::Covered { .. }));
        assert!(matches!(answer(&format!("{net} b >= 2")), Answer::Safe(_)));
        assert!(matches!(answer(&format!("{net} a >= 1, b >= 1")), Answer::Safe(_)));
    }

    #[test]
    fn can_be_stopped() {
        let net = spec::parse(&format!("{MUTEX} 2 target critical >= 2")).unwrap();
        assert_eq!(solve(&net, Pruning::default(), |_| false).0, Answer::Stopped(Stop::Asked));
    }

    #[test]
    fn numbers_that_are_too_large_give_no_answer() {
        let take = "vars a b rules a >= 4000000000 -> a' = a - 4000000000, b' = b + 1; init a >= 0, b = 0 target b >= ";
        assert!(matches!(answer(&format!("{take} 1")), Answer::Covered { .. }));
        assert_eq!(answer(&format!("{take} 2")), Answer::Stopped(Stop::Tokens));
        let transfer =
            "vars a b c rules c >= 1 -> c' = c - 1, b' = 0, a' = a + b; init a = 0, b >= 0, c = 1 target a >= ";
        assert!(matches!(answer(&format!("{transfer} 1000")), Answer::Covered { .. }));
        assert_eq!(answer(&format!("{transfer} 4000000000")), Answer::Stopped(Stop::Tokens));
    }
}
