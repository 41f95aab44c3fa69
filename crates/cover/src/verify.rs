//! Answers for pairs of a lowered program.
//!
//! Paper: Abdulla, Haziza and Kindahl, *Model Checking Race-Freeness*. Deviations: one net per pair, reduced to the two
//! sites and all synchronisation, instead of one per variable; joins, semaphores, barriers, once-controls and
//! reader-writer locks; the values of flags, in places of their own (see the module `flags`); condition variables need
//! no places because a wait may end at any time (see the module `flow`).
//!
//! Can be missed: nothing in the scope (sequentially consistent interleavings, objects used as C allows): a pair that
//! can race is a candidate or unknown. Can be wrongly claimed: a candidate may be impossible, for data is abstracted;
//! it is never a race by itself. An absence carries a certificate that `petri::certificate::check` validates.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::{Budget, Pair, SiteId, Spent};
use petri::backward::{self, Answer, Pruning, Statistics, Stop};
use petri::certificate::Certificate;
use petri::{Net, TransitionId};
use program::{FunctionId, Unmodelled};

use crate::flags::Flags;
use crate::flow::{self, Graph, Known, Node};
use crate::job_net::{self, JobNet};
use crate::settling;
use crate::synchronisation::Synchronisation;
use facts::Facts;
use facts::touches::touches_memory;

/// Limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most states of threads in one net.
    pub nodes: usize,
    /// Most elements whose predecessors are computed, for one pair.
    pub iterations: u64,
    /// Most time for one pair.
    pub time: Option<Duration>,
    /// What all pairs together may use: this engine's share of the time.
    pub budget: Budget,
    /// What the searches may leave out.
    pub pruning: Pruning,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes: 4_000,
            iterations: 200_000,
            time: Some(Duration::from_secs(20)),
            budget: Budget::default(),
            pruning: Pruning::default(),
        }
    }
}

/// What the searches did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Nets that were asked about: one for each pair, and again where flags were added.
    pub nets: u64,
    /// Places of the largest net.
    pub places: u64,
    /// Transitions of the largest net.
    pub transitions: u64,
    /// The sums over all nets.
    pub sums: Statistics,
}

impl Counters {
    /// Counts an answered net.
    pub fn add(&mut self, net: &Net, statistics: &Statistics) {
        self.nets += 1;
        self.places = self.places.max(net.places.len() as u64);
        self.transitions = self.transitions.max(net.transitions.len() as u64);
        self.sums += *statistics;
    }
}

/// Why no reachable marking covers the pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The net, with the pair as its targets.
    pub net: Net,
    /// What shows that no target can be covered.
    pub certificate: Certificate,
}

/// One step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread, numbered in order of creation; `main` is 0.
    pub thread: usize,
    /// The function it started in.
    pub job: FunctionId,
    /// Where it was; `None` for steps without a site of their own.
    pub site: Option<SiteId>,
    /// Whether the step creates the next thread.
    pub creates: bool,
}

/// How a marking that covers the pair is reached in the net. The program may not be able to follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The two sites.
    pub pair: Pair,
    /// What the threads do, in order.
    pub steps: Vec<Step>,
    /// The two threads before their accesses.
    pub accesses: [Step; 2],
}

/// The answer for a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Result {
    /// The pair cannot race, with any number of threads and any input.
    Absent(Box<Proof>),
    /// The pair may race.
    Candidate(Candidate),
    /// What the net does not express.
    NotExpressed(String),
    /// What stopped us.
    Unknown(String),
}

/// Answers for each pair, in order; unknown for all where something in the program is not modelled.
pub fn verify(facts: &Facts, pairs: &[Pair], options: &Options) -> Vec<(Pair, Result)> {
    counted(facts, pairs, options).0
}

/// Answers for each pair, in order, and what the searches did.
pub fn counted(facts: &Facts, pairs: &[Pair], options: &Options) -> (Vec<(Pair, Result)>, Counters) {
    let mut counters = Counters::default();
    let answers = with_known(facts, |known| settling::settle(known, pairs, options, &mut counters));
    let answers = match answers {
        Ok(mut answers) => pairs.iter().filter_map(|pair| Some((*pair, answers.remove(pair)?))).collect(),
        Err(reason) => pairs.iter().map(|pair| (*pair, Result::Unknown(reason.clone()))).collect(),
    };
    (answers, counters)
}

/// The net of a pair, as [`verify`](fn@verify) asks about it; `None` if it has too many nodes or something in the
/// program is not modelled.
pub fn net(facts: &Facts, pair: Pair, options: &Options) -> Option<Net> {
    let net = with_known(facts, |known| {
        settling::settle(known, &[pair], options, &mut Counters::default());
        let graph = flow::graph(known, &pair.sites().into(), options.nodes).ok()?;
        Some(job_net::build(known, &graph, pair).net)
    });
    net.ok().flatten()
}

/// Does something with all that is known of the program; fails with what is not modelled, or with the limit that was
/// reached.
fn with_known<R>(facts: &Facts, then: impl FnOnce(&mut Known<'_>) -> R) -> std::result::Result<R, String> {
    let spent = |spent: Spent| spent.to_string();
    let program = facts.program();
    if let Some(obstacle) = facts.obstacles().map_err(spent)?.first() {
        return Err(obstacle.describe(program));
    }
    let (values, objects) = (facts.values().map_err(spent)?, facts.objects().map_err(spent)?);
    let invocations = facts.invocations().map_err(spent)?;
    let synchronisation = Synchronisation::new(program, &values, invocations, &objects);
    let mut known = Known {
        program,
        values: &values,
        invocations,
        objects: &objects,
        synchronisation: &synchronisation,
        deciding: BTreeMap::new(),
        flags: Flags::default(),
        lanes: program.lanes(),
    };
    known.keep([]);
    Ok(then(&mut known))
}

/// A site of code that can run at which no access is known.
fn without_access(known: &Known<'_>, pair: Pair) -> Option<SiteId> {
    let runs = |site: SiteId| {
        let function = known.program.sites.get(site).map(|s| s.function);
        function.is_none_or(|function| known.invocations.is_reachable(function))
    };
    let functions: Vec<_> = known.invocations.reachable().map(|f| &known.program.functions[f]).collect();
    let statements = || functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
    let accessed = |site: SiteId| statements().any(|s| s.site == Some(site) && touches_memory(&s.stmt));
    pair.sites().into_iter().find(|site| runs(*site) && !accessed(*site))
}

/// What the net of a pair says, with the flags that are kept.
pub(crate) fn answer(known: &Known<'_>, pair: Pair, options: &Options, counters: &mut Counters) -> Result {
    if options.budget.is_spent() {
        return Result::Unknown("the proof was stopped at its limits".to_owned());
    }
    if pair.sites().iter().all(|site| known.lanes.contains(site)) {
        return Result::NotExpressed(format!("each access {}", Unmodelled::LANES));
    }
    if let Some(site) = without_access(known, pair) {
        return Result::Unknown(format!("no access is known at site {site}"));
    }
    let Ok(graph) = flow::graph(known, &pair.sites().into(), options.nodes) else {
        return Result::Unknown(format!("the net has more than {} states of threads", options.nodes));
    };
    let job_net = job_net::build(known, &graph, pair);
    let start = Instant::now();
    let go_on = |statistics: &Statistics| {
        let in_time = options.time.is_none_or(|limit| start.elapsed() < limit) && !options.budget.is_spent();
        statistics.iterations < options.iterations && in_time
    };
    let (answer, statistics) = backward::solve(&job_net.net, options.pruning, go_on);
    counters.add(&job_net.net, &statistics);
    match answer {
        Answer::Safe(certificate) => Result::Absent(Box::new(Proof { net: job_net.net, certificate })),
        Answer::Covered { sequence, .. } => Result::Candidate(candidate(&graph, &job_net, &sequence, pair)),
        Answer::Stopped(Stop::Asked) => Result::Unknown("the proof was stopped at its limits".to_owned()),
        Answer::Stopped(Stop::Tokens) => Result::Unknown("the net needs too many tokens".to_owned()),
    }
}

/// Follows the firing sequence thread by thread.
fn candidate(graph: &Graph, job_net: &JobNet, sequence: &[TransitionId], pair: Pair) -> Candidate {
    let mut threads: Vec<Option<Node>> = Vec::new();
    let mut steps = Vec::new();
    for (number, transition) in sequence.iter().enumerate() {
        match job_net.edge(*transition) {
            Some(edge) => {
                let edge = &graph.edges[edge];
                let Some(thread) = threads.iter().position(|at| *at == Some(edge.from)) else { continue };
                threads[thread] = edge.to;
                threads.extend(edge.starts.map(Some));
                let creates = edge.starts.is_some();
                steps.push(Step { thread, job: graph.nodes[edge.from].job, site: edge.site, creates });
            }
            // The only other transitions open barriers and, first of all, start `main`.
            None if number == 0 => threads.extend(graph.main.get(transition.index()).map(|(node, _)| Some(*node))),
            None => {}
        }
    }
    let before = |site: SiteId, not: Option<usize>| {
        let at = |node: &Node| graph.nodes[*node].accesses && graph.nodes[*node].site == Some(site);
        let there = threads.iter().enumerate().find(|(t, node)| Some(*t) != not && node.as_ref().is_some_and(at));
        let (thread, node) = there.and_then(|(t, node)| Some((t, (*node)?))).unwrap_or_default();
        Step { thread, job: graph.nodes[node].job, site: Some(site), creates: false }
    };
    let [one, other] = pair.sites();
    let first = before(one, None);
    let second = before(other, Some(first.thread));
    Candidate { pair, steps, accesses: [first, second] }
}
