//! The verifier in the line: proofs that pairs are absent for all inputs and any number of threads.
//!
//! A proof of absence comes from `cover`. A candidate is never a race by itself: it stays open until a run of the program
//! shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use cover::{Candidate, Counters, Pruning};
use facts::Facts;
use facts::invocations::Obstacle;
use model::verdict::{Inputs, Memory, Scope, TeamSizes, Threads};
use model::{Budget, Engine, Pair};
use program::Program;
use report::{Code, CoverStatistics, NetStatistics};

use super::{Answer, Figures, Open, Settled, Verdict};
use crate::assumptions;
use crate::describe::Position;
use crate::gap::Gap;

/// How to prove.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProofOptions {
    /// What the searches for proofs may leave out.
    pub pruning: Pruning,
    /// Whether the counters of these searches are wanted in the document.
    pub statistics: bool,
    /// How many times as many states of threads as usual a net may have.
    pub larger: usize,
}

impl ProofOptions {
    fn cover(&self, budget: &Budget) -> cover::Options {
        let usual = cover::Options::default();
        let (nodes, budget) = (usual.nodes * self.larger.max(1), budget.clone());
        cover::Options { pruning: self.pruning, nodes, budget, ..usual }
    }
}

/// What a verdict of this engine covers.
pub(crate) fn scope(bounded: bool) -> Scope {
    Scope { inputs: Inputs::All, threads: Threads::Any, bounded, memory: Memory::Sc, team_sizes: TeamSizes::NONE }
}

/// Why no pair with a proof can race.
pub(crate) const ABSENT: &str = "no reachable marking of the net has a thread before each of the two accesses";

/// Why proofs are missing.
const STOPPED: &str = "some proofs were stopped at their limits";

/// What would settle a candidate.
const CANDIDATE: &str = "let `explore` look for it in runs, or look whether the program can go that way";

/// What would settle what the net does not model.
const UNMODELLED: &str = "give the sources of functions that are missing; of the others, runs say what happens with this input: \
     ask about what they reach with `--reached-only`";

/// Proves what it can of the open pairs. `declared` says that the user declared effects of functions.
pub(crate) fn run(facts: &Facts, open: &[Pair], options: &ProofOptions, budget: &Budget, declared: bool) -> Answer {
    let start = Instant::now();
    let program = facts.program();
    let figures = |stopped| Figures::new(Engine::Verify, options.pruning.name(), stopped, start.elapsed());
    let obstacles = match facts.obstacles() {
        Ok(obstacles) => obstacles,
        Err(spent) => {
            let gaps = vec![Gap::new(Code::SEARCH_BOUND, STOPPED, "raise `--time`")];
            return Answer { gaps, ..Answer::new(figures(Some(spent.to_string()))) };
        }
    };
    let (answers, counters) = cover::verify::counted(facts, open, &options.cover(budget));
    let mut stopped = obstacles.first().map(|obstacle| obstacle.describe(program));
    let mut proved = false;
    let mut verdicts = Vec::new();
    for (pair, answer) in answers {
        let verdict = match answer {
            cover::Result::Absent(_) => {
                proved = true;
                Verdict::Absent { reason: ABSENT.to_owned(), scope: scope(false) }
            }
            cover::Result::Candidate(candidate) => {
                let open = Open::new(Code::CANDIDATE, way(program, &candidate)).settled_by(CANDIDATE);
                Verdict::Open(Open { candidate: Some(Box::new(candidate)), ..open })
            }
            cover::Result::NotExpressed(reason) => {
                Verdict::Open(Open::new(Code::UNMODELLED, reason).settled_by(CANDIDATE))
            }
            cover::Result::Unknown(reason) if !obstacles.is_empty() => {
                Verdict::Open(Open::new(Code::UNMODELLED, reason).settled_by(UNMODELLED))
            }
            cover::Result::Unknown(reason) => {
                stopped.get_or_insert_with(|| STOPPED.to_owned());
                Verdict::Open(Open::new(Code::SEARCH_BOUND, reason).settled_by("raise `--time`"))
            }
        };
        verdicts.push(Settled { pair, verdict, seen: None });
    }
    let obstacle = |o: &Obstacle| Gap::new(Code::UNMODELLED, o.what.clone(), UNMODELLED).at(o.site);
    let gaps = match obstacles {
        [] if stopped.is_some() => vec![Gap::new(Code::SEARCH_BOUND, STOPPED, "raise `--time`")],
        obstacles => obstacles.iter().map(obstacle).collect(),
    };
    let rests_on_proofs = proved || open.is_empty();
    let assumptions = if rests_on_proofs { assumptions::of_proofs(facts, declared) } else { BTreeSet::new() };
    let nets = options.statistics.then(|| statistics(&counters));
    Answer { verdicts, gaps, assumptions, ..Answer::new(Figures { nets, ..figures(stopped) }) }
}

/// The net of the first pair that is not proved absent, or of the first pair, as Graphviz; `None` when there is no
/// pair or no net.
pub(crate) fn net(facts: &Facts, options: &ProofOptions, budget: &Budget) -> Option<String> {
    let pairs = facts.pairs().ok()?;
    let (answers, _) = cover::verify::counted(facts, &pairs, &options.cover(budget));
    let open = answers.iter().find(|(_, answer)| !matches!(answer, cover::Result::Absent(_)));
    let (pair, _) = open.or(answers.first())?;
    cover::net(facts, *pair, &options.cover(budget)).map(|net| cover::dot::dot(&net))
}

/// The counters of nets, for the document.
pub(crate) fn statistics(Counters { nets, places, transitions, sums }: &Counters) -> NetStatistics {
    let sums_of = CoverStatistics {
        places: *places,
        transitions: *transitions,
        iterations: sums.iterations,
        configurations: sums.configurations,
        subsumed: sums.subsumed,
        excluded: sums.excluded,
        invariants: sums.invariants,
    };
    NetStatistics { nets: *nets, basis: sums.basis, sums: sums_of }
}

/// Most lines shown of one thread.
const LINES: usize = 12;

/// How the net brings a candidate's accesses side by side: the lines each thread goes through.
fn way(program: &Program, candidate: &Candidate) -> String {
    let mut threads: BTreeMap<usize, (String, Vec<(String, u32)>)> = BTreeMap::new();
    for step in candidate.steps.iter().chain(&candidate.accesses) {
        let job = program.functions[step.job].name.clone();
        let (_, lines) = threads.entry(step.thread).or_insert((job, Vec::new()));
        let Position { file: Some(file), line, .. } = Position::of(program, step.site) else { continue };
        if lines.last().is_none_or(|last| *last != (file.clone(), line)) {
            lines.push((file, line));
        }
    }
    let shown = threads.iter().map(|(thread, (job, lines))| {
        let left_out = if lines.len() > LINES { "…, " } else { "" };
        let last = &lines[lines.len().saturating_sub(LINES)..];
        let mut shown = Vec::new();
        for (number, (file, line)) in last.iter().enumerate() {
            let same_file = number > 0 && last[number - 1].0 == *file;
            shown.push(if same_file { line.to_string() } else { format!("{file}:{line}") });
        }
        format!("thread {thread} (`{job}`) by {left_out}{}", shown.join(", "))
    });
    format!("the net brings both accesses side by side: {}", shown.collect::<Vec<_>>().join("; "))
}
