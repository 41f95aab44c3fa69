//! Programs written by hand, and what is proved of them.

use std::collections::BTreeSet;

use cover::{Options, Result, verify};
use facts::Facts;
use petri::certificate;
use program::Program;
use testkit::{Limits, oracle};

/// Lines of a pair, the smaller first.
pub(crate) type Lines = (u32, u32);

pub(crate) fn parse(text: &str) -> Program {
    Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The pairs that are not proved absent. Proofs are checked, and where brute force can handle the program, nothing that
/// it finds is missing.
pub(crate) fn candidates(text: &str) -> BTreeSet<Lines> {
    let facts = Facts::of(parse(text));
    let program = facts.program();
    let line = |site| program.sites[site].location.map_or(0, |l| l.line);
    let mut open = BTreeSet::new();
    for (pair, result) in verify(&facts, &facts.pairs().unwrap(), &Options::default()) {
        let [a, b] = pair.sites().map(line);
        match result {
            Result::Absent(proof) => {
                assert_eq!(certificate::check(&proof.net, &proof.certificate), Ok(()), "{text}");
                assert!(!cover::dot::dot(&proof.net).is_empty());
            }
            Result::Candidate(_) => {
                open.insert((a.min(b), a.max(b)));
            }
            Result::NotExpressed(reason) | Result::Unknown(reason) => panic!("{pair}: {reason}\n{text}"),
        }
    }
    let limits = Limits { executions: 100_000, states: 30_000, events: 100 };
    if let Ok(Some(truth)) = oracle::explore(program, limits) {
        for (a, b) in truth.races {
            let lines = (line(a).min(line(b)), line(a).max(line(b)));
            assert!(open.contains(&lines), "lines {lines:?} race but are not candidates\n{text}");
        }
    }
    open
}

pub(crate) fn none() -> BTreeSet<Lines> {
    BTreeSet::new()
}

/// A thread function that is started in a loop without end, with this body from line 5 on.
pub(crate) fn crowd(globals: &str, set_up: &str, body: &str) -> String {
    format!(
        "{globals} fn main() {{ entry: {set_up}\n goto more\n more: %h = create &t, 0\n goto more }} fn t(%a) {{ entry: \n{body}\n return 0 }} entry main\n"
    )
}
