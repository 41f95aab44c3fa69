//! Brute force: every interleaving of single visible operations, plain accesses included.
//!
//! A depth-first search over machine states tries every runnable thread in every state; races are found by the
//! definition in every execution. Interleavings that lead to the same state with the same ordered past have the same
//! future, so each (state, past) is visited once and the number of executions below it is stored; nothing else is
//! pruned. Pasts are compared completely: all events, all edges, and everything that later events may synchronise with.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use model::{End, SiteId, ThreadId};
use program::Program;
use rustc_hash::FxBuildHasher;

use crate::happens_before::History;
use crate::machine::{Machine, MachineError, Note, Stepped};

/// When to give up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Limit on executions (interleavings, not visits).
    pub executions: u64,
    /// Limit on visited (state, past) pairs.
    pub states: usize,
    /// Limit on the events of one execution.
    pub events: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { executions: 30_000, states: 20_000, events: 200 }
    }
}

/// The complete answer for a program with one input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Truth {
    /// Racing pairs of sites, the smaller first. Accesses without a site are not in it.
    pub races: BTreeSet<(SiteId, SiteId)>,
    /// Deadlocks: the sites at which unfinished threads are blocked, sorted.
    pub deadlocks: BTreeSet<Vec<SiteId>>,
    /// Sites of assertions that end an execution.
    pub assertions: BTreeSet<SiteId>,
    /// Sites of crashes that end an execution.
    pub crashes: BTreeSet<SiteId>,
    /// Misuses of the thread API: site and message.
    pub misuses: BTreeSet<(Option<SiteId>, String)>,
    /// Number of maximal executions.
    pub executions: u64,
    /// Number of them that end in a deadlock.
    pub deadlocked: u64,
    /// Number of distinct (state, past) pairs.
    pub states: usize,
}

/// Tries everything; `None` beyond the limits, and if a thread loops without a visible operation.
pub fn explore(program: &Program, limits: Limits) -> Result<Option<Truth>, MachineError> {
    explore_machine(&Machine::new(Arc::new(program.clone()), false)?, limits)
}

/// Tries everything from this state on, as if nothing had happened before.
pub fn explore_machine(machine: &Machine, limits: Limits) -> Result<Option<Truth>, MachineError> {
    let mut search = Search { limits, truth: Truth::default(), known: HashMap::default() };
    let Some(count) = search.visit(machine.clone(), History::default(), 0) else { return Ok(None) };
    let mut truth = search.truth;
    (truth.executions, truth.deadlocked) = (count.executions, count.deadlocked);
    truth.states = search.known.len();
    Ok((truth.executions <= limits.executions).then_some(truth))
}

/// Executions below a state.
#[derive(Clone, Copy, Default)]
struct Count {
    executions: u64,
    deadlocked: u64,
}

struct Search {
    limits: Limits,
    truth: Truth,
    known: HashMap<(Machine, History), Count, FxBuildHasher>,
}

/// A thread's next operation with all its possible choices. `None` if the ranges are too large.
fn every_step(machine: &Machine, thread: ThreadId) -> Option<Vec<(Machine, Stepped)>> {
    const MOST: usize = 1_000;
    let mut steps = Vec::new();
    let mut wanted: Vec<i64> = Vec::new();
    loop {
        let mut next = machine.clone();
        let choose = &mut |index: u32, lo, _| wanted.get(index as usize).copied().unwrap_or(lo);
        let stepped = next.step_choosing(thread, choose)?;
        let choices = stepped.event.op.choices().to_vec();
        steps.push((next, stepped));
        let last = choices.iter().rposition(|c| c.value < c.hi);
        match last {
            None => return Some(steps),
            Some(_) if steps.len() > MOST => return None,
            Some(last) => {
                wanted = choices[..=last].iter().map(|c| c.value).collect();
                wanted[last] += 1;
            }
        }
    }
}

/// The misuses in a step.
fn misuses(stepped: &Stepped) -> impl Iterator<Item = (Option<SiteId>, String)> + '_ {
    stepped.during.iter().chain(&stepped.after).filter_map(|note| match note {
        Note::Misuse { site, what, .. } => Some((*site, what.clone())),
        _ => None,
    })
}

impl Search {
    /// `None` when a limit is reached.
    fn visit(&mut self, machine: Machine, history: History, depth: usize) -> Option<Count> {
        let key = (machine, history);
        if let Some(count) = self.known.get(&key) {
            return Some(*count);
        }
        if self.known.len() >= self.limits.states || depth > self.limits.events {
            return None;
        }
        let (machine, history) = &key;
        let mut count = Count::default();
        match machine.end() {
            Some(End::TimeLimit) => return None,
            Some(end) => {
                count.executions = 1;
                count.deadlocked = u64::from(end == End::Deadlock);
                self.record(machine, end);
            }
            None => {
                for thread in machine.runnable().iter() {
                    for (next, stepped) in every_step(machine, thread)? {
                        let mut past = history.clone();
                        self.truth.races.extend(past.add(machine, &stepped.event));
                        self.truth.misuses.extend(misuses(&stepped));
                        let below = self.visit(next, past, depth + 1)?;
                        count.executions = count.executions.saturating_add(below.executions);
                        count.deadlocked = count.deadlocked.saturating_add(below.deadlocked);
                    }
                }
            }
        }
        self.known.insert(key, count);
        Some(count)
    }

    fn record(&mut self, machine: &Machine, end: End) {
        match end {
            End::Deadlock => {
                let mut sites: Vec<SiteId> = machine.pending().iter().filter_map(|p| p.event.site).collect();
                sites.sort_unstable();
                self.truth.deadlocks.insert(sites);
            }
            End::Assertion { site, .. } => self.truth.assertions.extend(site),
            End::Crash { site, .. } => self.truth.crashes.extend(site),
            End::Exit { .. } | End::Assumed { .. } | End::StepLimit | End::TimeLimit | End::Diverged { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::{Case, Feature};

    /// The same search without storing states.
    fn enumerate(machine: &Machine, history: &History, truth: &mut Truth) {
        if let Some(end) = machine.end() {
            let mut search = Search { limits: Limits::default(), truth: truth.clone(), known: HashMap::default() };
            truth.executions += 1;
            truth.deadlocked += u64::from(end == End::Deadlock);
            search.record(machine, end);
            (truth.deadlocks, truth.assertions) = (search.truth.deadlocks, search.truth.assertions);
            truth.crashes = search.truth.crashes;
        }
        for thread in machine.runnable().iter() {
            for (next, stepped) in every_step(machine, thread).expect("runnable") {
                let mut past = history.clone();
                truth.races.extend(past.add(machine, &stepped.event));
                truth.misuses.extend(misuses(&stepped));
                enumerate(&next, &past, truth);
            }
        }
    }

    #[test]
    fn remembering_states_changes_nothing() {
        let limits = Limits { executions: 300, ..Limits::default() };
        for seed in 0..300 {
            let case = Case::generate(seed, &Feature::ALL.into(), limits);
            let machine = Machine::new(Arc::new(case.program()), false).unwrap();
            let mut truth = Truth { states: case.truth.states, ..Truth::default() };
            enumerate(&machine, &History::default(), &mut truth);
            assert_eq!(truth, case.truth, "seed {seed}");
        }
    }
}
