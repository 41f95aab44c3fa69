//! The verifier for programs of the small language, which have no data and cannot run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use cover::Counters;
use cover::sml::{Sml, SmlAccess, SmlPair, net};
use model::{AccessKind, Budget, Engine};
use petri::Net;
use petri::backward::{Answer, Stop, solve};
use report::{Code, Command, Details, PairVerdict, Report, Unknown};

use crate::Error;
use crate::document::{self, Parts};
use crate::engine::Figures;
use crate::engine::verify::{ABSENT, ProofOptions, scope, statistics};
use crate::gap::Gap;

fn read(input: &str) -> Result<Sml, Error> {
    let path = || PathBuf::from(input);
    let text = std::fs::read_to_string(input).map_err(|cause| Error::Unreadable { path: path(), cause })?;
    Sml::parse(&text).map_err(|cause| Error::SmallLanguage { path: path(), cause })
}

/// The net of a program with all races as its targets, as Graphviz.
pub fn small_language_net(input: &str) -> Result<String, Error> {
    Ok(cover::dot::dot(&net::net(&read(input)?)))
}

/// Settles every pair of statements that access the same variable, in one file. A candidate stays `unknown`: nothing can
/// run it.
pub fn verify_small_language(
    command: Command,
    input: &str,
    options: &ProofOptions,
    budget: &Budget,
) -> Result<Report, Error> {
    let start = Instant::now();
    let sml = read(input)?;
    let mut counters = Counters::default();
    let mut pairs: Vec<report::Pair> = Vec::new();
    let mut stopped = None;
    for pair in sml.pairs() {
        let net = net::net_of_pair(&sml, &pair);
        let (answer, searched) = solve(&net, options.pruning, |_| !budget.is_spent());
        counters.add(&net, &searched);
        let (verdict, reason, code) = match &answer {
            Answer::Safe(_) => (PairVerdict::Absent, ABSENT.to_owned(), None),
            Answer::Covered { sequence, .. } => (PairVerdict::Unknown, way(&net, sequence), Some(Code::CANDIDATE)),
            Answer::Stopped(why) => {
                let reason = match why {
                    Stop::Asked => "the proof was stopped at its limits",
                    Stop::Tokens => "the net needs too many tokens",
                };
                stopped = Some(reason);
                (PairVerdict::Unknown, reason.to_owned(), Some(Code::SEARCH_BOUND))
            }
        };
        pairs.push(listed(&sml, input, &pair, verdict, reason, code));
    }
    let unknowns = stopped.into_iter().map(|reason| bound(input, reason)).collect();
    let figures = Figures::new(Engine::Verify, options.pruning.name(), stopped.map(str::to_owned), start.elapsed());
    let nets = options.statistics.then(|| statistics(&counters));
    Ok(document::assemble(Parts {
        command,
        inputs: vec![input.to_owned()],
        args: Vec::new(),
        pairs,
        unknowns,
        errors: Vec::new(),
        figures: vec![Figures { nets, ..figures }],
        assumptions: BTreeSet::new(),
        scope: scope(stopped.is_some()),
        incomplete: false,
        warnings: Vec::new(),
        start,
    }))
}

fn listed(
    sml: &Sml,
    input: &str,
    pair: &SmlPair,
    verdict: PairVerdict,
    reason: String,
    code: Option<Code>,
) -> report::Pair {
    let access = |access: SmlAccess| {
        let job = &sml.jobs[access.job];
        report::Access {
            kind: if access.writes { AccessKind::Write } else { AccessKind::Read },
            atomic: false,
            file: Some(input.to_owned()),
            line: job.statements[access.statement].line,
            column: 0,
            function: job.name.clone(),
            inside: None,
            thread: String::new(),
            locks: Vec::new(),
            created: None,
            stack: Vec::new(),
        }
    };
    report::Pair {
        id: String::new(),
        verdict,
        confirmed: false,
        by: Engine::Verify,
        rank: 0,
        code,
        variable: sml.shared[pair.variable].clone(),
        reason,
        accesses: pair.accesses.map(access),
        witness: None,
        details: Details { scope: (verdict == PairVerdict::Absent).then(|| scope(false)), ..Details::default() },
    }
}

/// How the net brings a candidate's accesses side by side.
fn way(net: &Net, sequence: &[petri::TransitionId]) -> String {
    let names: Vec<&str> = sequence.iter().map(|t| net.transitions[t.index()].name.as_str()).collect();
    format!("the net brings both accesses side by side: {}", names.join("; "))
}

fn bound(input: &str, reason: &str) -> Unknown {
    let gap = Gap::new(Code::SEARCH_BOUND, reason, "raise `--time`");
    Unknown { file: Some(input.to_owned()), ..gap.without_place() }
}
