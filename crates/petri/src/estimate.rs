//! How many transitions have to fire until a target is covered, if firing took no tokens away: an estimate.
//!
//! A place costs as much as its cheapest producer; a transition costs one more than its guard; missing tokens of a place
//! cost that many times as much. Costs are found in ascending order (Dijkstra's order for hypergraphs).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::marking::Marking;
use crate::net::{Net, PlaceId, TransitionId};

const UNKNOWN: u64 = u64::MAX;

/// What is said of a marking.
pub(crate) struct Found {
    /// The estimate; `None` if no target can be covered from there.
    pub(crate) distance: Option<u64>,
    /// What can fire, and whether it is part of the plan that the estimate counts.
    pub(crate) enabled: Vec<(TransitionId, bool)>,
    /// Arcs that were looked at.
    pub(crate) work: u64,
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
    /// For each transition: how many places of its guard are open, and what the others cost.
    open: Vec<u32>,
    sum: Vec<u64>,
    /// For each place: its tokens, what one more costs, and the transition that makes it.
    tokens: Vec<u32>,
    cost: Vec<u64>,
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
        let (open, sum) = (vec![0; transitions], vec![0; transitions]);
        let (tokens, cost, maker) = (vec![0; places], vec![UNKNOWN; places], vec![0; places]);
        Self { net, asking, produced, guards, open, sum, tokens, cost, maker, queue: BinaryHeap::new() }
    }

    /// The estimate for a marking.
    pub(crate) fn of(&mut self, marking: &Marking) -> Found {
        self.tokens.fill(0);
        self.cost.fill(UNKNOWN);
        self.sum.fill(0);
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
        while let Some(Reverse((cost, place, maker))) = self.queue.pop() {
            let p = place as usize;
            if self.cost[p] != UNKNOWN {
                continue;
            }
            (self.cost[p], self.maker[p]) = (cost, maker);
            let had = self.tokens[p];
            work += self.asking[p].len() as u64;
            for number in 0..self.asking[p].len() {
                let (t, needed) = self.asking[p][number];
                if had >= needed {
                    continue;
                }
                let t_index = t as usize;
                self.open[t_index] -= 1;
                self.sum[t_index] = self.sum[t_index].saturating_add(cost.saturating_mul(u64::from(needed - had)));
                if self.open[t_index] == 0 {
                    self.produce(t);
                }
            }
        }
        let targets = self.net.targets.iter().filter_map(|target| Some((self.distance(target)?, target)));
        let nearest = targets.min_by_key(|(distance, _)| *distance);
        let mut planned = vec![false; if nearest.is_some() { self.open.len() } else { 0 }];
        if let Some((_, target)) = nearest {
            self.plan(target, &mut planned);
        }
        let is_planned = |t: u32| planned.get(t as usize).copied().unwrap_or(false);
        let enabled = enabled.into_iter().map(|t| (TransitionId(t), is_planned(t))).collect();
        Found { distance: nearest.map(|(distance, _)| distance), enabled, work }
    }

    /// A transition can fire: its places cost at most one more than it.
    fn produce(&mut self, transition: u32) {
        let cost = self.sum[transition as usize].saturating_add(1);
        for p in &self.produced[transition as usize] {
            if self.cost[p.index()] == UNKNOWN {
                self.queue.push(Reverse((cost, p.0, transition)));
            }
        }
    }

    /// What the tokens of a marking cost that are missing.
    fn distance(&self, wanted: &Marking) -> Option<u64> {
        let missing = wanted.entries().iter().filter(|(p, n)| self.tokens[p.index()] < *n);
        missing
            .map(|(p, n)| {
                let cost = self.cost[p.index()];
                (cost != UNKNOWN).then(|| cost.saturating_mul(u64::from(n - self.tokens[p.index()])))
            })
            .try_fold(0u64, |sum, cost| Some(sum.saturating_add(cost?)))
    }

    /// The transitions that make what is missing, and what they miss.
    fn plan(&self, wanted: &Marking, planned: &mut [bool]) {
        let missing = |(p, n): &(PlaceId, u32)| (self.tokens[p.index()] < *n).then_some(*p);
        let mut open: Vec<PlaceId> = wanted.entries().iter().filter_map(missing).collect();
        while let Some(place) = open.pop() {
            let maker = self.maker[place.index()] as usize;
            if !std::mem::replace(&mut planned[maker], true) {
                open.extend(self.net.transitions[maker].guard.iter().filter_map(missing));
            }
        }
    }
}
