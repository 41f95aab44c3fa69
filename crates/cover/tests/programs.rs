//! Programs written by hand: what is proved for any number of threads, what stays a candidate, and what is unknown.

mod support;

use std::collections::BTreeSet;

use cover::{Options, Result, verify};
use facts::Facts;
use support::{candidates, crowd, none, parse};

#[test]
fn any_number_of_threads() {
    let globals = "global x: 4 global m: 40 global n: 40";
    let right = crowd(globals, "", "lock @m\n %v = load 4, @x\n store 4, @x, 1\n unlock @m");
    assert_eq!(candidates(&right), none());
    let wrong = crowd(globals, "", "lock @m\n %v = load 4, @x\n unlock @m\n store 4, @x, 1");
    assert_eq!(candidates(&wrong), [(6, 8), (8, 8)].into());
    let other_lock = crowd(globals, "", "lock @m\n store 4, @x, 1\n unlock @m\n lock @n\n store 4, @x, 2\n unlock @n");
    assert_eq!(candidates(&other_lock), [(6, 9)].into());
    let hand_over_hand = crowd(globals, "", "lock @m\n lock @n\n unlock @m\n store 4, @x, 1\n unlock @n");
    assert_eq!(candidates(&hand_over_hand), none());
    let creating = crowd(globals, "", "%h = create &t, 0\n lock @m\n store 4, @x, 1\n unlock @m");
    assert_eq!(candidates(&creating), none());
    let atomic = crowd(globals, "", "%v = rmw add 4 seq_cst, @x, 1\n %w = load 4 relaxed, @x");
    assert_eq!(candidates(&atomic), none());
    let mixed = crowd(globals, "", "%v = rmw add 4 seq_cst, @x, 1\n %w = load 4, @x");
    assert_eq!(candidates(&mixed), [(5, 6)].into());
}

#[test]
fn main_before_and_beside_its_threads() {
    let globals = "global x: 4 global m: 40";
    let before = crowd(globals, "store 4, @x, 1", "%v = load 4, @x");
    assert_eq!(candidates(&before), none());
    let text = "global x: 4
fn t(%a) { store 4, @x, 1\n return 0 }
fn main() { %h = create &t, 0\n join %h\n store 4, @x, 2\n return 0 }";
    assert_eq!(candidates(text), none());
    assert_eq!(candidates(&text.replace("join %h", "tryjoin %h")), [(2, 6)].into());
    assert_eq!(candidates(&text.replace("join %h", "detach %h\n join %h")), [(2, 7)].into());
    let twice = text.replace("join %h", "%i = create &t, 0\n join %h");
    assert_eq!(candidates(&twice), [(2, 2), (2, 7)].into());
}

#[test]
fn handles_in_memory() {
    let text = "global x: 4 global y: 4
fn t(%a) { store 4, @x, 1\n return 0 }
fn u(%a) { store 4, @y, 1\n return 0 }
fn main() { %s = alloca 16\n %s1 = offset %s, 1, 8, 0
 %h = create &t, 0\n store 8, %s, %h\n %i = create &u, 0\n store 8, %s1, %i
 %j = load 8, %s\n join %j\n store 4, @x, 2\n store 4, @y, 2\n return 0 }";
    assert_eq!(candidates(text), [(4, 15)].into());
    // Another handle may be in the same place.
    let overwritten = text.replace("store 8, %s1, %i", "store 8, %s, %i");
    assert_eq!(candidates(&overwritten), [(2, 14), (4, 15)].into());
}

/// A loop of `main` creates threads from line 4 on, another joins them, and the end of `main` follows in line 19.
const CROWD: &str = "global x: 4 global n: 4 global m: 40 global g: 64
fn t(%a) { lock @m\n store 4, @x, 1\n unlock @m\n return 0 }
fn main() { entry: %s = alloca 64\n %n = load 4, @n\n goto c
c: %i = phi [entry: 0, cb: %i1]\n %ci = slt 32 %i, 2\n branch %ci, cb, d
cb: %a = offset %s, %i, 8, 0\n %h = create &t, 0\n store 8, %a, %h\n %i1 = add 32 %i, 1\n goto c
d: goto j
j: %k = phi [d: 0, jb: %k1]\n %cj = slt 32 %k, 2\n branch %cj, jb, e
jb: %b = offset %s, %k, 8, 0\n %g = load 8, %b\n join %g\n %k1 = add 32 %k, 1\n goto j
e: store 4, @x, 2\n return 0 }
";

#[test]
fn loops_that_create_and_join() {
    let line = |text: &str, part: &str| text.lines().position(|l| l.contains(part)).unwrap() as u32 + 1;
    let open = |text: &str| BTreeSet::from([(line(text, "store 4, @x, 1"), line(text, "store 4, @x, 2"))]);
    let proved = |text: &str| assert_eq!(candidates(text), none(), "{text}");
    let candidate = |text: &str| assert_eq!(candidates(text), open(text), "{text}");
    let change = |from: &str, to: &str| {
        assert!(CROWD.contains(from), "{from}");
        CROWD.replace(from, to)
    };
    proved(CROWD);
    // Equal bounds that are not known, arrays in a global and on the heap.
    proved(&change("%i, 2", "%i, %n").replace("%k, 2", "%k, %n"));
    proved(&change("offset %s", "offset @g"));
    proved(&change("%s = alloca", "%s = alloc"));
    proved(&change("%k, 2", "%k, 3"));
    // Some slots are left out, or the bounds may differ.
    candidate(&change("%k, 2", "%k, 1"));
    candidate(&change("phi [d: 0", "phi [d: 1"));
    candidate(&change("%i, 2", "%i, %n"));
    candidate(&change("%b = offset %s, %k, 8, 0", "%b = offset %s, %k, 8, 8"));
    candidate(&change("%b = offset %s, %k, 8, 0", "%b = offset %s, %k, 16, 0"));
    candidate(&change("%k1 = add 32 %k, 1", "%k1 = add 32 %k, 2"));
    candidate(&change("%b = offset %s", "%b = offset @g"));
    // The join is not in every round, or the loop may be left before its end.
    let sometimes = change("%g = load 8, %b\n join %g", "%g = load 8, %b\n branch %n, w, v\n w: join %g\n goto v\n v:");
    candidate(&sometimes.replace("jb: %k1", "v: %k1"));
    candidate(&change("join %g", "join %g\n branch %n, rest, e\n rest:").replace("jb: %k1", "rest: %k1"));
    candidate(&change("join %g", "tryjoin %g"));
    // Somebody else writes the slots, may write them, or detaches.
    candidate(&change("d: goto j", "d: store 8, %s, 0\n goto j"));
    candidate(&change("d: goto j", "d: store 8, @g, %s\n goto j"));
    candidate(&change("join %g", "detach %g\n join %g"));
    // The creating loop runs again before the threads of its first run are joined, or after.
    let again = change("goto c\nc: %i = phi [entry: 0", "goto top\ntop: goto c\nc: %i = phi [top: 0")
        .replace("d: goto j", "d: branch %n, top, d1\n d1: goto j");
    candidate(&again.replace("phi [d: 0", "phi [d1: 0"));
    let rounds = change("goto c\nc: %i = phi [entry: 0", "goto top\ntop: goto c\nc: %i = phi [top: 0")
        .replace("@x, 2\n return 0", "@x, 2\n branch %n, top, end\n end: return 0");
    proved(&rounds);
    // Another thread may be in the same function.
    let crowded =
        CROWD.replace("fn main()", "fn run(%z)") + "fn main() { %r = create &run, 0\n %q = call run(0)\n return 0 }";
    let x = line(&crowded, "store 4, @x, 2");
    assert_eq!(candidates(&crowded), [(line(&crowded, "store 4, @x, 1"), x), (x, x)].into());
    let alone =
        CROWD.replace("fn main()", "fn run(%z)") + "fn main() { %q = call run(0)\n %p = call run(0)\n return 0 }";
    proved(&alone);
    let early = alone
        .replace("d: goto j", "d: branch %n, leave, d1\n d1: goto j\n leave: return 0")
        .replace("phi [d: 0", "phi [d1: 0");
    candidate(&early);
}

#[test]
fn slots_that_are_filled_one_by_one() {
    let filled = |first: i64, second: i64| {
        format!(
            "global x: 4
fn t(%a) {{ store 4, @x, 1\n return 0 }}
fn main() {{ entry: %s = alloca 64\n %a = offset %s, {first}, 8, 0\n %b = offset %s, {second}, 8, 0
 %h = create &t, 0\n store 8, %a, %h\n %i = create &t, 0\n store 8, %b, %i\n goto j
 j: %k = phi [entry: 0, jb: %k1]\n %c = slt 32 %k, 2\n branch %c, jb, e
 jb: %d = offset %s, %k, 8, 0\n %g = load 8, %d\n join %g\n %k1 = add 32 %k, 1\n goto j
 e: store 4, @x, 2\n return 0 }}"
        )
    };
    assert_eq!(candidates(&filled(0, 1)), [(2, 2)].into());
    assert_eq!(candidates(&filled(1, 0)), [(2, 2)].into());
    assert_eq!(candidates(&filled(0, 0)), [(2, 2), (2, 20)].into());
    assert_eq!(candidates(&filled(0, 2)), [(2, 2), (2, 20)].into());
}

#[test]
fn reader_writer_locks() {
    let globals = "global x: 4 global l: 56";
    let writer = crowd(globals, "", "rdlock @l\n %v = load 4, @x\n unlock @l\n lock @l\n store 4, @x, 1\n unlock @l");
    assert_eq!(candidates(&writer), none());
    let reader = crowd(globals, "", "rdlock @l\n store 4, @x, 1\n unlock @l");
    assert_eq!(candidates(&reader), [(6, 6)].into());
}

#[test]
fn recursive_locks() {
    let globals = "global x: 4 global m: 40";
    let text = crowd(globals, "lock_init @m recursive", "lock @m\n lock @m\n unlock @m\n store 4, @x, 1\n unlock @m");
    // A mutex that reports the second lock as an error is free after the first unlock.
    assert_eq!(candidates(&text), [(8, 8)].into());
    let inside = crowd(globals, "lock_init @m recursive", "lock @m\n lock @m\n store 4, @x, 1\n unlock @m\n unlock @m");
    assert_eq!(candidates(&inside), none());
}

#[test]
fn semaphores_and_barriers() {
    let globals = "global x: 4 global s: 32 global b: 32";
    let body = "sem_wait @s\n store 4, @x, 1\n sem_post @s";
    assert_eq!(candidates(&crowd(globals, "sem_init @s, 1", body)), none());
    assert_eq!(candidates(&crowd(globals, "sem_init @s, 2", body)), [(6, 6)].into());
    assert_eq!(candidates(&crowd(globals, "sem_init @s, ?", body)), [(6, 6)].into());
    let barrier = "global x: 4 global b: 32
fn t(%a) { store 4, @x, 1\n barrier_wait @b\n return 0 }
fn main() { barrier_init @b, 2\n %h = create &t, 0\n barrier_wait @b\n store 4, @x, 2\n return 0 }";
    assert_eq!(candidates(barrier), none());
    assert_eq!(candidates(&barrier.replace("@b, 2", "@b, 1")), [(2, 8)].into());
}

#[test]
fn once_and_condition_variables() {
    let globals = "global x: 4 global o: 4 global m: 40 global c: 48";
    let once = crowd(globals, "", "once @o, &f\n %v = load 4, @x") + "fn f() { store 4, @x, 1\n return }";
    assert_eq!(candidates(&once), none());
    let other = once.replace("once @o", "%p = load 8, @x\n once %p");
    assert_eq!(candidates(&other), [(5, 9), (7, 9), (9, 9)].into());
    let wait = crowd(globals, "", "lock @m\n wait @c, @m\n store 4, @x, 1\n unlock @m");
    assert_eq!(candidates(&wait), none());
    let outside = crowd(globals, "", "lock @m\n wait @c, @m\n unlock @m\n store 4, @x, 1");
    assert_eq!(candidates(&outside), [(8, 8)].into());
}

#[test]
fn tries_decide_branches() {
    let text = |test: &str| {
        let body = format!(
            "%r = trylock @m\n %c = {test} 32 %r, 0\n branch %c, had, end\n had: store 4, @x, 1\n unlock @m\n goto end\n end:"
        );
        crowd("global x: 4 global m: 40", "", &body)
    };
    assert_eq!(candidates(&text("eq")), none());
    assert_eq!(candidates(&text("ne")), [(8, 8)].into());
    let called = crowd(
        "global x: 4 global m: 40",
        "",
        "%r = call try(@m)\n branch %r, had, end\n had: store 4, @x, 1\n unlock @m\n goto end\n end:",
    ) + "fn try(%l) { %r = trylock %l\n %c = eq 32 %r, 0\n return %c }";
    assert_eq!(candidates(&called), none());
}

#[test]
fn locks_that_are_not_known_protect_nothing() {
    let globals = "global x: 4 global m: 80 global p: 8";
    let chosen = crowd(
        globals,
        "",
        "%o = rmw xor 4 relaxed, @p, 1\n %i = load 4 relaxed, @p\n %l = offset @m, %i, 40, 0\n lock %l\n store 4, @x, 1\n unlock %l",
    );
    assert_eq!(candidates(&chosen), [(9, 9)].into());
    assert_eq!(candidates(&chosen.replace("xor", "and")), none(), "it is always the first");
    // The release may be that of the lock that is held.
    let released = crowd(globals, "store 8, @p, @m", "lock @m\n %l = load 8, @p\n unlock %l\n store 4, @x, 1");
    assert_eq!(candidates(&released), [(8, 8)].into());
    let one_of_two = crowd(
        globals,
        "",
        "%o = rmw xor 4 relaxed, @p, 1\n lock @m\n %i = load 4 relaxed, @p\n %l = offset @m, %i, 40, 0\n unlock %l\n store 4, @x, 1",
    );
    assert_eq!(candidates(&one_of_two), [(10, 10)].into());
    let waited = released.replace("unlock %l\n", "wait @x, %l\n");
    assert_eq!(candidates(&waited), none());
    let through_calls = crowd(globals, "", "call put(@m)\n call put(@m)")
        + "fn put(%l) { lock %l\n store 4, @x, 1\n unlock %l\n return }";
    assert_eq!(candidates(&through_calls), none());
    let two_locks = through_calls.replace("call put(@m)\n call put(@m)", "call put(@m)\n call put(@m+40)");
    assert_eq!(candidates(&two_locks), [(9, 9)].into());
}

#[test]
fn locks_inside_other_objects() {
    let thread = "fn t(%p) { lock %p\n %x = offset %p, 1, 40, 0\n store 4, %x, 1\n unlock %p\n return 0 }";
    let with = |set_up: &str, threads: &str| format!("global p: 8 {thread} fn main() {{ {set_up}\n {threads} }}");
    let crowd = "goto more\n more: %h = create &t, %s\n goto more";
    // Allocated once: one lock, in a local variable or on the heap.
    assert_eq!(candidates(&with("entry: %s = alloca 48", crowd)), none());
    assert_eq!(candidates(&with("entry: %s = alloc 48", crowd)), none());
    let element = with("entry: %a = alloc 480\n %s = offset %a, 3, 48, 0", crowd);
    assert_eq!(candidates(&element), none());
    let some_element = with("entry: %a = alloc 480\n %i = load 4, @p\n %s = offset %a, %i, 48, 0", crowd);
    assert_eq!(candidates(&some_element), [(3, 3)].into());
    // Allocated again and again: the threads may have the same block and different locks.
    let blocks = "goto more\n more: %s = alloc 48\n %h = create &t, %s\n goto more";
    assert_eq!(candidates(&with("entry:", blocks)), [(3, 3)].into());
    // Whoever knows the address may give the lock back.
    let escaped = with("entry: %s = alloc 48\n store 8, @p, %s", crowd);
    assert_eq!(candidates(&escaped), none());
    let given_back = escaped.replace("%x = offset", "%q = load 8, @p\n unlock %q\n %x = offset");
    assert_eq!(candidates(&given_back), [(5, 5)].into());
}

#[test]
fn recursion_and_pointers_to_functions() {
    let globals = "global x: 4 global m: 40 global f: 8 = 0000 { 0: &inside }";
    let recursive = |body: &str| {
        crowd(globals, "", "lock @m\n call down(3)\n unlock @m")
            + &format!(
                "fn down(%n) {{ entry: branch %n, on, end\n on: {body}\n call down(0)\n goto end\n end: return }} fn inside() {{ store 4, @x, 1\n return }}"
            )
    };
    assert_eq!(candidates(&recursive("store 4, @x, 1")), none());
    assert_eq!(candidates(&recursive("unlock @m\n store 4, @x, 1\n lock @m")), [(11, 11)].into());
    let indirect = |held: &str, free: &str| {
        crowd(globals, "", &format!("{held}\n %p = load 8, @f\n call *%p()\n {free}"))
            + "fn inside() { store 4, @x, 1\n return }"
    };
    assert_eq!(candidates(&indirect("lock @m", "unlock @m")), none());
    assert_eq!(candidates(&indirect("yield", "yield")), [(10, 10)].into());
}

#[test]
fn exceptions_leave_functions() {
    let text = "global x: 4 global m: 40
fn t(%a) { lock @m\n call inner()\n invoke fine, caught\n fine: store 4, @x, 1\n unlock @m\n return 0
caught: store 4, @x, 2\n return 0 }
fn inner() { entry: any [a, b]\n a: return\n b: unlock @m\n resume }
fn main() { entry: goto l\n l: create &t, 0\n any [l, e]\n e: return 0 }";
    // The handler runs without the lock that the function released before it threw.
    assert_eq!(candidates(text), [(5, 8), (8, 8)].into());
    assert_eq!(candidates(&text.replace("b: unlock @m\n resume", "b: resume")), none());
    assert_eq!(candidates(&text.replace("resume", "unreachable")), none());
    let joins = "global x: 4
fn t(%a) { store 4, @x, 1\n return 0 }
fn wait_for(%u) { %h = create &t, 0\n call may_throw()\n invoke on, off\n on: join %h\n return\n off: resume }
fn may_throw() { entry: any [a, b]\n a: return\n b: resume }
fn main() { %g = create &t, 0\n call wait_for(0)\n invoke end, end\n end: join %g\n store 4, @x, 2\n return 0 }";
    assert_eq!(candidates(joins), [(2, 2), (2, 17)].into());
}

#[test]
fn objects_reached_through_pointers() {
    let handed = "fn t(%p) { store 4, %p, 1\n return 0 }
fn main() { %s = alloca 8\n %q = offset %s, 1, 4, 0\n %h = create &t, %s\n store 4, %s, 2\n store 4, %q, 2\n return 0 }";
    assert_eq!(candidates(handed), [(1, 6)].into());
    let private = handed.replace("create &t, %s", "create &t, 0").replace("store 4, %p, 1", "yield");
    assert!(Facts::of(parse(&private)).pairs().unwrap().is_empty());
    let published = "global p: 8
fn t(%a) { %q = load 8, @p\n store 4, %q, 1\n return 0 }
fn main() { %b = alloc 4\n store 8, @p, %b\n %h = create &t, 0\n free %b\n return 0 }";
    assert_eq!(candidates(published), [(3, 8)].into());
}

#[test]
fn what_is_not_modelled_is_named() {
    let reason_of = |facts: &Facts, options: &Options| {
        let answers = verify(facts, &facts.pairs().unwrap(), options);
        answers.into_iter().find_map(|(_, r)| if let Result::Unknown(reason) = r { Some(reason) } else { None })
    };
    let reason = |text: &str, options: &Options| reason_of(&Facts::of(parse(text)), options);
    let default = Options::default();
    let base = crowd("global x: 4", "", "store 4, @x, 1");
    assert_eq!(reason(&base, &default), None);
    let external = base.replace("store 4", "call secret()\n store 4") + "extern fn secret()";
    assert_eq!(reason(&external, &default).unwrap(), "<text>:5:1: calls `secret`, whose effects are not known");
    let pure = facts::Options { assume_pure: ["secret".to_owned()].into(), ..facts::Options::default() };
    let pure = Facts::new(parse(&external).into(), pure, model::Budget::default());
    assert_eq!(reason_of(&pure, &default), None);
    let assembly = base.clone() + "unmodelled \"inline assembly\" at #1 function \"f\"";
    assert_eq!(reason(&assembly, &default).unwrap(), "<text>:5:1: inline assembly");
    let cancel = base.replace("store 4", "cancel %a\n store 4");
    assert_eq!(reason(&cancel, &default).unwrap(), "<text>:5:1: cancels a thread");
    let locked = Facts::of(parse(&crowd("global x: 4 global m: 40", "", "lock @m\n store 4, @x, 1\n unlock @m")));
    let lock = locked.pairs().unwrap()[0].sites()[0].0 - 1;
    let (_, answer) = verify(&locked, &[(model::SiteId(lock), model::SiteId(lock)).into()], &default).remove(0);
    assert_eq!(answer, Result::Unknown(format!("no access is known at site s{lock}")));
    let kept = base.replace("store 4", "library atexit(&late)\n store 4") + "fn late() { store 4, @x, 2\n return }";
    assert_eq!(reason(&kept, &default).unwrap(), "<text>:5:1: lets the library call `late` later");
    assert_eq!(Facts::of(parse(&kept)).pairs().unwrap().len(), 3, "code that the library may call is looked at");
    let small = Options { nodes: 1, ..Options::default() };
    assert_eq!(reason(&base, &small).unwrap(), "the net has more than 1 states of threads");
    let unreachable = base + "fn unused() { call secret()\n return } extern fn secret()";
    assert_eq!(reason(&unreachable, &default), None);
}

#[test]
fn a_candidate_tells_how() {
    let program = parse(
        "global x: 4\nfn t(%a) { store 4, @x, 1\n return 0 }\nfn main() { %h = create &t, 0\n %i = create &t, 0\n return 0 }",
    );
    let facts = Facts::of(program.clone());
    let (pair, result) = verify(&facts, &facts.pairs().unwrap(), &Options::default()).remove(0);
    let Result::Candidate(candidate) = result else { panic!("{pair}: {result:?}") };
    let line = |site: Option<model::SiteId>| program.sites[site.unwrap()].location.unwrap().line;
    let steps: Vec<_> = candidate.steps.iter().map(|s| (s.thread, line(s.site))).collect();
    assert_eq!(steps, [(0, 4), (0, 5)]);
    let accesses = candidate.accesses.map(|s| (s.thread, program.functions[s.job].name.as_str(), line(s.site)));
    assert_eq!(accesses, [(1, "t", 2), (2, "t", 2)]);
}

#[test]
fn nets_are_drawn() {
    let facts = Facts::of(parse(&crowd("global x: 4 global m: 40", "", "lock @m\n store 4, @x, 1\n unlock @m")));
    let net = cover::net(&facts, facts.pairs().unwrap()[0], &Options::default()).unwrap();
    let dot = cover::dot::dot(&net);
    for part in ["label=\"lock:m\\n1\"", "label=\"t:<text>:6#2\", peripheries=2", "shape=box"] {
        assert!(dot.contains(part), "{part} is not in\n{dot}");
    }
}
