//! How many transitions have to fire until a target is covered, if firing took no tokens away: an estimate.
//!
//! A place is as late as its earliest producer, a transition one later than the latest place of its guard. From these
//! numbers a plan follows: for each missing place its producer, and what that misses. The estimate is the size of the plan
//! (Hoffmann and Nebel 2001); tokens that are missing more than once count as often.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::marking::Marking;
use crate::net::{Net, PlaceId, TransitionId};

const UNKNOWN: u64 = u64::MAX;
/// Sums beyond are all the same.
const MOST: u64 = 1 << 40;

/// What is said of a marking.
pub(crate) struct Found {
    /// The estimate; `None` if no target can be covered from there.
    pub(crate) distance: Option<u64>,
    /// What can fire, and whether it is part of the plan that the estimate counts.
    pub(crate) enabled: Vec<(TransitionId, bool)>,
    /// Arcs that were looked at.
    pub(crate) work: u64,
}

/// What would have to fire.
struct Plan {
    transitions: Vec<bool>,
    size: u64,
}

/// Estimates for the markings of a net.
pub(crate) struct Estimate<'a> {
    net: &'a Net,
    /// For each place the transitions whose guard asks for tokens of it, with how many.
    asking: Vec<Vec<(u32, u32)>>,
    /// For each transition the places that it adds to.
    produced: Vec<Vec<PlaceId>>,
    /// For each transition how many places its guard has.
    guards: Vec<u32>,
    /// For each transition: how many places of its guard are open, and when the last of the others has its tokens.
    open: Vec<u32>,
    latest: Vec<u64>,
    /// For each place: its tokens, when it has more, and the transition that makes them.
    tokens: Vec<u32>,
    time: Vec<u64>,
    maker: Vec<u32>,
    queue: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl<'a> Estimate<'a> {
    pub(crate) fn new(net: &'a Net) -> Self {
        let (places, transitions) = (net.places.len(), net.transitions.len());
        let mut asking = vec![Vec::new(); places];
        let mut produced = Vec::with_capacity(transitions);
        for (id, t) in net.transitions() {
            t.guard.iter().for_each(|(p, n)| asking[p.index()].push((id.0, *n)));
            let added = t.delta.iter().filter(|(_, d)| *d > 0).map(|(p, _)| *p);
            produced.push(added.chain(t.flows.iter().flat_map(|(_, to)| to.iter().copied())).collect());
        }
        let guards = net.transitions.iter().map(|t| t.guard.len() as u32).collect();
        let (open, latest) = (vec![0; transitions], vec![0; transitions]);
        let (tokens, time, maker) = (vec![0; places], vec![UNKNOWN; places], vec![0; places]);
        Self { net, asking, produced, guards, open, latest, tokens, time, maker, queue: BinaryHeap::new() }
    }

    /// The estimate for a marking.
    pub(crate) fn of(&mut self, marking: &Marking) -> Found {
        self.tokens.fill(0);
        self.time.fill(UNKNOWN);
        self.latest.fill(0);
        self.open.copy_from_slice(&self.guards);
        self.queue.clear();
        let mut work = (self.tokens.len() + self.open.len()) as u64 / 8;
        for (p, n) in marking.entries() {
            self.tokens[p.index()] = *n;
            for (t, needed) in &self.asking[p.index()] {
                self.open[*t as usize] -= u32::from(n >= needed);
            }
            work += self.asking[p.index()].len() as u64;
        }
        let enabled: Vec<u32> = (0..self.open.len() as u32).filter(|t| self.open[*t as usize] == 0).collect();
        enabled.iter().for_each(|t| self.produce(*t));
        while let Some(Reverse((time, place, maker))) = self.queue.pop() {
            let p = place as usize;
            if self.time[p] != UNKNOWN {
                continue;
            }
            (self.time[p], self.maker[p]) = (time, maker);
            let had = self.tokens[p];
            work += self.asking[p].len() as u64;
            for number in 0..self.asking[p].len() {
                let (t, needed) = self.asking[p][number];
                if had >= needed {
                    continue;
                }
                let t_index = t as usize;
                self.open[t_index] -= 1;
                self.latest[t_index] = (self.latest[t_index] + time).min(MOST);
                if self.open[t_index] == 0 {
                    self.produce(t);
                }
            }
        }
        let plans = self.net.targets.iter().filter(|target| self.is_possible(target)).map(|target| self.plan(target));
        let best = plans.min_by_key(|plan| plan.size);
        let is_planned = |t: u32| best.as_ref().is_some_and(|plan| plan.transitions[t as usize]);
        let enabled = enabled.into_iter().map(|t| (TransitionId(t), is_planned(t))).collect();
        Found { distance: best.map(|plan| plan.size), enabled, work }
    }

    /// A transition can fire: its places have tokens at the next time.
    fn produce(&mut self, transition: u32) {
        let time = self.latest[transition as usize].saturating_add(1);
        for p in &self.produced[transition as usize] {
            if self.time[p.index()] == UNKNOWN {
                self.queue.push(Reverse((time, p.0, transition)));
            }
        }
    }

    /// Whether each missing place of a marking has a producer.
    fn is_possible(&self, wanted: &Marking) -> bool {
        wanted.entries().iter().all(|(p, n)| self.tokens[p.index()] >= *n || self.time[p.index()] != UNKNOWN)
    }

    /// The transitions that make what is missing, and what they miss.
    fn plan(&self, wanted: &Marking) -> Plan {
        let mut plan = Plan { transitions: vec![false; self.open.len()], size: 0 };
        let missing = |(p, n): &(PlaceId, u32)| {
            let missing = n.saturating_sub(self.tokens[p.index()]);
            (missing > 0).then_some((*p, missing))
        };
        let mut open: Vec<(PlaceId, u32)> = wanted.entries().iter().filter_map(missing).collect();
        while let Some((place, times)) = open.pop() {
            let maker = self.maker[place.index()] as usize;
            plan.size = plan.size.saturating_add(u64::from(times) - 1);
            if !std::mem::replace(&mut plan.transitions[maker], true) {
                plan.size = plan.size.saturating_add(1);
                open.extend(self.net.transitions[maker].guard.iter().filter_map(missing));
            }
        }
        plan
    }
}
