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

#[test]
fn a_handler_holds_what_the_call_left_held() {
    let functions = |effect: &str| {
        format!(
            "fn fail(%n) {{\nentry:\nlock @a\nbranch %n, throw, done\nthrow:\n{effect}\nresume\ndone:\nreturn 0\n}}"
        )
    };
    let body = "call fail(%n)\ninvoke fine, caught\nfine:\nstore 4, @x, 1\nunlock @a\ngoto end\n\
                caught:\nstore 4, @x, 3\nHANDLED\ngoto end\nend:";
    check(&program(&body.replace("HANDLED\n", ""), LOCKED, &functions("unlock @a")), true);
    check(&program(&body.replace("HANDLED", "unlock @a"), LOCKED, &functions("")), false);
}

#[test]
fn a_handler_runs_although_the_call_never_returns() {
    let functions = "fn fail(%n) {\nentry:\nresume\n}";
    let body = |locked: bool| {
        let (lock, unlock) = if locked { ("lock @a\n", "unlock @a\n") } else { ("", "") };
        format!(
            "call fail(%n)\ninvoke fine, caught\nfine:\nstore 4, @x, 1\ngoto end\n\
                 caught:\n{lock}store 4, @x, 3\n{unlock}goto end\nend:"
        )
    };
    check(&program(&body(false), LOCKED, functions), true);
    check(&program(&body(true), LOCKED, functions), false);
}

#[test]
fn threads_made_before_a_function_is_left_run_in_the_handler() {
    let body = format!("call start(%n)\ninvoke fine, caught\nfine:\ngoto end\ncaught:\n{WRITE}\ngoto end\nend:");
    let start = |join: &str| format!("\nfn start(%n) {{\nentry:\n%t = create &worker, 0\n{join}\nresume\n}}\n");
    check(&main_with(&body, WRITE).replace("\nfn main", &(start("") + "fn main")), true);
    check(&main_with(&body, WRITE).replace("\nfn main", &(start("join %t") + "fn main")), false);
}

#[test]
fn a_join_waits_for_the_thread_whose_handle_is_there_now() {
    let body = |stores: &str, joins: &str| {
        format!(
            "%v = alloca 16\n%w = offset %v, 1, 8, 0\n%t = create &worker, 0\nstore 8, %v, %t\n\
             %u = create &idle, 0\nstore 8, %w, %u\n{stores}\n%j = load 8, %v\njoin %j\n{joins}{WRITE}"
        )
    };
    let swap = "%h = load 8, %v\n%i = load 8, %w\nstore 8, %v, %i\nstore 8, %w, %h";
    check(&main_with(&body(swap, ""), WRITE), true);
    check(&main_with(&body(swap, "%k = load 8, %w\njoin %k\n"), WRITE), false);
    // Through functions, where the order of stores is not followed.
    let exchange = "\nfn exchange(%p, %q) {\nentry:\n%h = load 8, %p\n%i = load 8, %q\nstore 8, %p, %i\nstore 8, %q, %h\n\
                    return 0\n}\nfn main";
    let text = main_with(&body("call exchange(%v, %w)", ""), WRITE).replace("\nfn main", exchange);
    check(&text, true);
}

#[test]
fn an_address_is_passed_on_by_orders_that_release_and_acquire() {
    let text = |publish: &str, take: &str| {
        let one = format!("%p = alloc 8\nstore 4, %p, 1\n{publish}");
        let two = format!("{take}\n%some = ne 64 %q, 0\nbranch %some, use, end\nuse:\nstore 4, %q, 2\ngoto end\nend:");
        program(&one, &two, "").replace("global x: 4", "global x: 8")
    };
    let (release, acquire) = ("store 8 release, @x, %p", "%q = load 8 acquire, @x");
    check(&text(release, acquire), false);
    check(&text("%o = rmw exchange 8 acquire, @x, %p", acquire), true);
    check(&text("%o = rmw exchange 8 release, @x, %p", acquire), false);
    check(&text(release, "%q = rmw exchange 8 release, @x, 0"), true);
    check(&text(release, "%q = rmw exchange 8 acquire, @x, 0"), false);
    check(&text(release, "%q, %ok = cas 8 acquire relaxed, @x, 0, 0"), true);
    check(&text(release, "%q, %ok = cas 8 acquire acquire, @x, 0, 0"), false);
    check(&text("%o, %ok = cas 8 acquire acquire, @x, 0, %p", acquire), true);
    check(&text("%o, %ok = cas 8 release acquire, @x, 0, %p", acquire), false);
    check(&text(release, "%q = rmw or 8 relaxed, @x, 0"), true);
}

#[test]
fn a_call_of_which_nothing_is_known_runs_what_its_pointer_may_be() {
    let function =
        |lock: &str, unlock: &str| format!("fn store() {{\nentry:\n{lock}store 4, @x, 1\n{unlock}return 0\n}}");
    let one = "%f = select %n, &store, &store\n%g = xor 64 %f, 90\n%h = xor 64 %g, 90\ncall *%h()";
    check(&program(one, LOCKED, &function("", "")), true);
    check(&program(one, LOCKED, &function("lock @a\n", "unlock @a\n")), false);
}

/// Allocates, or returns what is kept in `b`.
const MAKE: &str = "fn make(%kept) {\nentry:\nbranch %kept, old, new\nnew:\n%made = alloc 8\ngoto end\n\
                    old:\n%known = load 8 seq_cst, @b\ngoto end\nend:\n%p = phi [new: %made, old: %known]\nreturn %p\n}";

#[test]
fn a_call_that_allocates_has_a_block_of_its_own_or_what_else_it_may_return() {
    // Each thread keeps its block somewhere; what is kept in `b` is what `make` returns to the second one.
    let body = |before: &str, own: &str| {
        format!(
            "{before}\n%some = ne 64 %p, 0\nbranch %some, use, end\nuse:\nstore 8 seq_cst, @{own}, %p\n\
             store 4, %p, 1\ngoto end\nend:"
        )
    };
    let two = body("%m = load 4 seq_cst, @n\n%p = call make(%m)", "a");
    check(&program(&body("%p = call make(%n)", "b"), &two, MAKE), true);
    check(&program(&body("%p = call make(%n)", "c"), &two, MAKE), false);
    // Through another function.
    let through = format!("{MAKE}\nfn get(%kept) {{\nentry:\n%p = call make(%kept)\nreturn %p\n}}");
    let two = two.replace("call make", "call get");
    check(&program(&body("%p = call get(%n)", "b"), &two, &through), true);
    check(&program(&body("%p = call get(%n)", "c"), &two, &through), false);
}

#[test]
fn a_block_that_is_kept_is_not_new_again() {
    let text = |kept: &str| {
        format!(
            "global b: 8\n{MAKE}\nfn worker(%kept) {{\nentry:\n%p = call make(%kept)\n%some = ne 64 %p, 0\n\
             branch %some, use, end\nuse:\nstore 4, %p, 1\nstore 8 seq_cst, @b, %p\ngoto end\nend:\nreturn 0\n}}\n\
             fn main() {{\nentry:\n%t = create &worker, 0\n%u = create &worker, {kept}\n%v = create &worker, {kept}\n\
             join %t\njoin %u\njoin %v\nreturn 0\n}}\nentry main\n"
        )
    };
    check(&text("1"), true);
}

/// As many threads are joined as were made if both loops go by one number, also where nothing is known of it.
#[test]
fn a_number_that_is_not_known_is_one_number() {
    let warned = |joined: &str| {
        let text = format!(
            "global handles: 800\nglobal m: 40\nglobal x: 4\n\
             fn worker(%arg) {{\nentry:\nlock @m\nstore 4, @x, 1\nunlock @m\nreturn 0\n}}\n\
             fn main() {{\nentry:\n%n = ?\n%k = ?\ngoto making\n\
             making:\n%i = phi [entry: 0, make: %next]\n%more = slt 32 %i, %n\nbranch %more, make, made\n\
             make:\n%h = create &worker, 0\n%to = offset @handles, %i, 8, 0\nstore 8, %to, %h\n%next = add 32 %i, 1\n\
             goto making\nmade:\ngoto joining\n\
             joining:\n%j = phi [made: 0, one: %later]\n%left = slt 32 %j, {joined}\nbranch %left, one, end\n\
             one:\n%from = offset @handles, %j, 8, 0\n%g = load 8, %from\njoin %g\n%later = add 32 %j, 1\ngoto joining\n\
             end:\nstore 4, @x, 2\nreturn 0\n}}\nentry main\n"
        );
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let findings = analyse(&Facts::of(program)).unwrap().findings;
        findings.iter().filter(|f| matches!(f.answer, Answer::Unknown { .. })).count()
    };
    assert_eq!(warned("%n"), 0);
    assert_eq!(warned("%k"), 1);
}
