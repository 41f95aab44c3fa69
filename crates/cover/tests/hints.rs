//! Candidates as hints: led along the way that the net has found, a program shows nearly every race at once, and
//! never one that is none.

#![allow(clippy::print_stdout, reason = "the share of races shown is worth seeing")]

use std::collections::BTreeSet;

use cover::{Candidate, Options, Result, verify};
use explore::{Hint, HintStep, Led, search};
use facts::Facts;
use model::Pair;
use program::Program;
use testkit::generator::{Case, Feature};
use testkit::{Interpreter, Limits};

fn hint(candidate: &Candidate) -> Hint {
    let step = |step: &cover::Step| Some(HintStep { thread: step.thread, site: step.site?, creates: step.creates });
    let [one, other] = candidate.pair.sites();
    let [first, second] = candidate.accesses.map(|step| step.thread);
    Hint { steps: candidate.steps.iter().filter_map(step).collect(), accesses: [(first, one), (second, other)] }
}

/// The races of the hint's runs and of one other.
fn races(program: &Program, hints: Vec<Hint>) -> (BTreeSet<Pair>, Vec<Led>) {
    let options = explore::Options { max_executions: Some(1), hints, ..explore::Options::default() };
    let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut ()).unwrap();
    assert!(outcome.races.values().all(|race| race.confirmed));
    (outcome.races.into_keys().collect(), outcome.hints)
}

#[test]
fn hints_show_races() {
    let (mut there, mut racing, mut alone, mut shown) = (0, 0, 0, 0);
    for seed in 0..testkit::programs(600) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let program = case.program();
        let truth: BTreeSet<Pair> = case.truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
        let without = races(&program, Vec::new()).0;
        let facts = Facts::of(program.clone());
        for (pair, answer) in verify(&facts, &facts.pairs().unwrap(), &Options::default()) {
            let Result::Candidate(candidate) = answer else { continue };
            let (with, led) = races(&program, vec![hint(&candidate)]);
            assert!(with.is_subset(&truth), "seed {seed}: {:?}", with.difference(&truth));
            there += usize::from(led == [Led::There]);
            racing += usize::from(truth.contains(&pair));
            alone += usize::from(without.contains(&pair));
            shown += usize::from(with.contains(&pair));
        }
    }
    println!(
        "{racing} racing candidates: {alone} shown by one run, {shown} with a hint; {there} hints could be followed"
    );
    assert!(shown * 20 > racing * 19, "{shown} of {racing}");
}
