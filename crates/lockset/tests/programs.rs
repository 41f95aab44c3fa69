//! Which locks are surely held and which threads surely run no more: programs written by hand, each in a version that
//! races and in one that does not. Brute force confirms which is which.

use std::collections::BTreeSet;

use facts::Facts;
use lockset::{Answer, analyse};
use model::Pair;
use program::Program;
use testkit::{Limits, oracle};

const LIMITS: Limits = Limits { executions: 1 << 30, states: 1 << 18, events: 200 };

/// Two threads that run these bodies, where `%n` is a number that differs between runs; `x` is written in both.
fn program(one: &str, two: &str, functions: &str) -> String {
    format!(
        "global x: 4\nglobal n: 4\nglobal a: 40\nglobal b: 40\nglobal c: 40\n\
         fn one(%arg) {{\nentry:\n%n = load 4 seq_cst, @n\n{one}\nreturn 0\n}}\n\
         fn two(%arg) {{\nentry:\nstore 4 seq_cst, @n, 1\n{two}\nreturn 0\n}}\n{functions}\n\
         fn main() {{\nentry:\n%t = create &one, 0\n%u = create &two, 0\njoin %t\njoin %u\nreturn 0\n}}\nentry main\n"
    )
}

/// The verdicts for a program are right, and all pairs are absent if it does not race.
fn check(text: &str, races: bool) {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let truth = oracle::explore(&program, LIMITS).unwrap().expect("it is small");
    let racing: BTreeSet<Pair> = truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
    assert!(truth.misuses.is_empty(), "{:?}\n{text}", truth.misuses);
    assert_eq!(!racing.is_empty(), races, "{text}");
    let findings = analyse(&Facts::of(program)).unwrap().findings;
    let warned: BTreeSet<Pair> =
        findings.iter().filter(|f| matches!(f.answer, Answer::Unknown { .. })).map(|f| f.pair).collect();
    assert!(racing.is_subset(&warned), "not warned of: {:?}\n{text}", racing.difference(&warned));
    assert!(races || warned.is_empty(), "{warned:?}\n{text}");
}

const LOCKED: &str = "lock @a\nstore 4, @x, 2\nunlock @a";

#[test]
fn a_lock_is_held_where_all_ways_hold_it() {
    let body = |other: &str| {
        format!(
            "branch %n, had, not\nhad:\nlock @a\ngoto write\nnot:\nlock @{other}\ngoto write\nwrite:\n\
             store 4, @x, 1\nbranch %n, free, keep\nfree:\nunlock @a\ngoto end\nkeep:\nunlock @{other}\ngoto end\nend:"
        )
    };
    check(&program(&body("b"), LOCKED, ""), true);
    check(&program(&body("a"), LOCKED, ""), false);
}

#[test]
fn a_lock_that_a_callee_releases_is_not_held_after_the_call() {
    let functions = |effect: &str| {
        format!(
            "fn leave(%lock) {{\nentry:\n{effect}\nreturn 0\n}}\n\
             fn enter(%lock) {{\nentry:\nlock %lock\nreturn 0\n}}"
        )
    };
    let early = "call enter(@a)\ncall leave(@a)\nstore 4, @x, 1";
    let late = "call enter(@a)\nstore 4, @x, 1\ncall leave(@a)";
    check(&program(early, LOCKED, &functions("unlock %lock")), true);
    check(&program(late, LOCKED, &functions("unlock %lock")), false);
    let inside = "call enter(@a)\ncall leave(@a)\nunlock @a";
    check(&program(inside, LOCKED, &functions("unlock %lock\nstore 4, @x, 1\nlock %lock")), true);
    check(&program(inside, LOCKED, &functions("store 4, @x, 1")), false);
}

#[test]
fn a_tried_lock_is_held_where_the_attempt_succeeded() {
    let body = |on_failure: &str, on_success: &str| {
        format!(
            "%failed = trylock @a\nbranch %failed, not, had\nnot:\n{on_failure}\ngoto end\n\
             had:\n{on_success}\nunlock @a\ngoto end\nend:"
        )
    };
    let store = "store 4, @x, 1";
    check(&program(&body(store, ""), LOCKED, ""), true);
    check(&program(&body("", store), LOCKED, ""), false);
}

#[test]
fn acquisition_histories_exclude_in_both_directions_only() {
    let first = "lock @a\nlock @b\nunlock @b\nstore 4, @x, 1\nunlock @a";
    let second = |lock: &str| format!("lock @b\nlock @{lock}\nunlock @{lock}\nstore 4, @x, 2\nunlock @b");
    check(&program(first, &second("c"), ""), true);
    check(&program(first, &second("a"), ""), false);
}

/// A `main` in which `%n` is a number that differs between runs, with a thread function that writes `x`.
fn main_with(body: &str, worker: &str) -> String {
    format!(
        "global x: 4\nglobal n: 4\nglobal a: 40\n\
         fn set(%arg) {{\nentry:\nstore 4 seq_cst, @n, 1\nreturn 0\n}}\n\
         fn idle(%arg) {{\nentry:\nreturn 0\n}}\n\
         fn worker(%arg) {{\nentry:\n{worker}\nreturn 0\n}}\n\
         fn main() {{\nentry:\n%s = create &set, 0\n%n = load 4 seq_cst, @n\n{body}\nreturn 0\n}}\nentry main\n"
    )
}

const WRITE: &str = "store 4, @x, 1";

#[test]
fn a_thread_made_on_one_way_runs_where_ways_meet() {
    let body = |then: &str| {
        format!(
            "branch %n, make, pass\nmake:\n%t = create &worker, 0\n{then}\ngoto end\npass:\ngoto end\nend:\n{WRITE}"
        )
    };
    check(&main_with(&body(""), WRITE), true);
    check(&main_with(&body("join %t"), WRITE), false);
}

#[test]
fn a_join_of_one_of_two_threads_waits_for_neither() {
    let body = |joins: &str| format!("%t = create &worker, 0\n%u = create &idle, 0\n{joins}\n{WRITE}");
    check(&main_with(&body("%h = select %n, %t, %u\njoin %h"), WRITE), true);
    check(&main_with(&body("join %t\njoin %u"), WRITE), false);
}

#[test]
fn what_each_thread_makes_for_itself_is_not_shared() {
    let body = "goto making\nmaking:\n%i = phi [entry: 0, make: %next]\n%more = slt 32 %i, 2\n\
                branch %more, make, end\nmake:\n%t = create &worker, 0\n%next = add 32 %i, 1\ngoto making\nend:";
    let locked = |lock: &str| format!("%m = zalloc 40\nlock {lock}\n{WRITE}\nunlock {lock}");
    check(&main_with(body, &locked("%m")), true);
    check(&main_with(body, &locked("@a")), false);
    let write = |block: &str| format!("%m = zalloc 40\nstore 4, {block}, 1");
    check(&main_with(body, &write("@x")), true);
    check(&main_with(body, &write("%m")), false);
}
