//! The verifier for programs of the small language, which have no data and cannot run.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cover::Counters;
use cover::sml::{Sml, SmlAccess, SmlPair, net};
use model::Engine;
use petri::Net;
use petri::backward::{Answer, Stop, solve};
use report::document::SCHEMA;
use report::{Code, Details, PairVerdict, Report, Unknown};

use crate::Error;
use crate::verify::{ABSENT, ProofOptions, scope, verdict};

/// Whether a file is a program of the small language, by the end of its name.
pub fn is_small_language(input: &str) -> bool {
    Path::new(input).extension().is_some_and(|e| e == "sml")
}

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
pub fn verify_small_language(input: &str, options: &ProofOptions) -> Result<Report, Error> {
    let start = Instant::now();
    let sml = read(input)?;
    let mut counters = Counters::default();
    let mut pairs: Vec<report::Pair> = Vec::new();
    let mut stopped = None;
    for pair in sml.pairs() {
        let net = net::net_of_pair(&sml, &pair);
        let in_time = || options.time.is_none_or(|time| start.elapsed() < time);
        let (answer, statistics) = solve(&net, options.pruning, |_| in_time());
        counters.add(&net, &statistics);
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
    pairs.sort_by_key(|pair| pair.verdict);
    for (rank, pair) in (1..).zip(&mut pairs) {
        pair.rank = rank;
        pair.id = format!("P{rank}");
    }
    let unknowns: Vec<Unknown> = stopped.into_iter().map(|reason| bound(input, reason)).collect();
    let time_ms = start.elapsed().as_millis() as u64;
    Ok(Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "verify".to_owned(),
        inputs: vec![input.to_owned()],
        args: Vec::new(),
        verdict: verdict(&pairs, &unknowns),
        scope: scope(stopped.is_some()),
        pairs,
        unknowns,
        errors: Vec::new(),
        engines: vec![options.engine(stopped.map(str::to_owned), stopped.is_some(), time_ms, &counters)],
        assumptions: Vec::new(),
        time_ms,
    })
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
            kind: if access.writes { "write" } else { "read" }.to_owned(),
            atomic: false,
            file: Some(input.to_owned()),
            line: job.statements[access.statement].line,
            column: 0,
            function: job.name.clone(),
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
    Unknown {
        code: Code::SEARCH_BOUND,
        reason: reason.to_owned(),
        function: None,
        file: Some(input.to_owned()),
        line: 0,
        column: 0,
        settle: "raise `--time`".to_owned(),
        witness: None,
    }
}
