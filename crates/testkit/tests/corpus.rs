//! The oracle on programs with known answers: exactly what is marked happens.

use std::collections::BTreeSet;

use model::SiteId;
use program::Program;
use testkit::annotations::{Lines, Mark};
use testkit::{Limits, corpus, oracle};

#[test]
fn exactly_what_is_marked_happens() {
    let entries = corpus::load().unwrap();
    assert!(entries.len() >= 40, "{} programs", entries.len());
    let limits = Limits { executions: u64::MAX, states: 200_000, events: 500 };
    let mut wrong = Vec::new();
    for entry in &entries {
        let truth = oracle::explore(&entry.program, limits).unwrap().expect("small enough");
        let deadlocked: BTreeSet<SiteId> = truth.deadlocks.iter().flatten().copied().collect();
        let mut compare = |what: &str, mark: Mark, found: Lines| {
            let marked = entry.annotations.lines(mark);
            if found != marked {
                wrong.push(format!("{}: {what}: marked {marked:?}, found {found:?}", entry.name));
            }
        };
        compare("races", Mark::Race, entry.lines_of_pairs(&truth.races));
        compare("deadlocks", Mark::Deadlock, entry.lines(&deadlocked));
        compare("assertions", Mark::Assertion, entry.lines(&truth.assertions));
        compare("crashes", Mark::Crash, entry.lines(&truth.crashes));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_say_what_the_marks_say() {
    for entry in corpus::load().unwrap() {
        let races = !entry.annotations.lines(Mark::Race).is_empty();
        let deadlocks = !entry.annotations.lines(Mark::Deadlock).is_empty();
        assert_eq!(races, entry.name.ends_with("_racy"), "{}", entry.name);
        assert!(!entry.name.ends_with("_free") || !deadlocks, "{}", entry.name);
        assert!(!entry.name.ends_with("_deadlock") || deadlocks, "{}", entry.name);
    }
}

#[test]
fn text_form_comes_back() {
    for entry in corpus::load().unwrap() {
        let text = entry.program.to_string();
        assert_eq!(Program::parse(&text).unwrap(), entry.program, "{}", entry.name);
    }
}

/// Interleavings counted by hand.
#[test]
fn executions_are_counted_exactly() {
    let executions = |text: &str| {
        let truth = oracle::explore(&Program::parse(text).unwrap(), Limits::default()).unwrap().unwrap();
        (truth.executions, truth.deadlocked)
    };
    assert_eq!(executions("fn main() { return 0 }"), (1, 0));
    // Start, store, Exit of the thread interleaved with three stores of main: 6 choose 3.
    let against = "global x: 4\nfn t(%a) { store 4, @x, 1\n return 0 }\n\
                   fn main() { %h = create &t, 0\n store 4, @x, 2\n store 4, @x, 3\n store 4, @x, 4\n return 0 }";
    assert_eq!(executions(against), (20, 0));
    // The same with a join at the end, which is always last.
    let joined = against.replace("@x, 4\n return", "@x, 4\n join %h\n return");
    assert_eq!(executions(&joined), (20, 0));
}
