//! Programs written by hand whose races depend on the values of flags.

mod support;

use std::collections::BTreeSet;

use support::{Lines, candidates, crowd, none};

/// `main` publishes and a crowd reads, or the other way round: what the flag guards is in line 5 of `main`.
fn published(publish: &str, test: &str) -> String {
    format!(
        "global x: 4 global flag: 4 global m: 40
fn t(%a) {{ entry: {test}\n branch %v, in, out\n in: %w = load 4, @x\n goto out\n out: return 0 }}
fn main() {{ entry: %h = create &t, 0\n %i = create &t, 0\n store 4, @x, 1\n {publish}\n return 0 }}
entry main\n"
    )
}

#[test]
fn flags_under_a_lock() {
    let test = "lock @m\n %v = load 4, @flag\n unlock @m";
    let publish = "lock @m\n store 4, @flag, 1\n unlock @m";
    let right = published(publish, test);
    assert_eq!(candidates(&right), none());
    // The flag that is set too early, or the wrong way round.
    let early = right.replace(
        "store 4, @x, 1\n lock @m\n store 4, @flag, 1\n unlock @m",
        "lock @m\n store 4, @flag, 1\n unlock @m\n store 4, @x, 1",
    );
    assert_eq!(candidates(&early), [(6, 14)].into());
    assert_eq!(candidates(&right.replace("flag: 4", "flag: 4 = 01000000")), [(6, 11)].into());
    assert_eq!(candidates(&right.replace("@flag, 1", "@flag, 0")), none(), "then nobody reads");
    // Enumerations, choices and logic.
    let state = right.replace("@flag, 1", "@flag, 2").replace("branch %v", "%c = eq 32 %v, 2\n branch %c");
    assert_eq!(candidates(&state), none());
    assert_eq!(candidates(&state.replace("eq 32 %v, 2", "slt 32 %v, 2")), [(7, 12)].into());
    let unknown = right.replace("@flag, 1", "@flag, %h");
    assert_eq!(candidates(&unknown), none(), "any other value is still not the first one");
    // Without the lock on one side the flag itself races, and orders nothing.
    assert_eq!(candidates(&published("store 4, @flag, 1", test)), [(3, 12), (6, 11)].into());
    assert_eq!(candidates(&published(publish, "%v = load 4, @flag")), [(2, 11), (4, 9)].into());
}

#[test]
fn flags_that_are_atomic() {
    let with = |store: &str, load: &str| {
        candidates(&published(&format!("store 4 {store}, @flag, 1"), &format!("%v = load 4 {load}, @flag")))
    };
    assert_eq!(with("release", "acquire"), none());
    assert_eq!(with("seq_cst", "seq_cst"), none());
    assert_eq!(with("relaxed", "acquire"), [(4, 9)].into());
    assert_eq!(with("release", "relaxed"), [(4, 9)].into());
    let exchanged = |order: &str| {
        let test = format!("%o, %v = cas 4 {order} acquire, @flag, 1, 2");
        candidates(&published("store 4 release, @flag, 1", &test))
    };
    assert_eq!(exchanged("acq_rel"), none(), "only one of them reads");
}

#[test]
fn flags_that_are_not_kept() {
    let right = published("lock @m\n store 4, @flag, 1\n unlock @m", "lock @m\n %v = load 4, @flag\n unlock @m");
    let open: BTreeSet<Lines> = [(6, 11)].into();
    // Somebody else may write it, a part of it, or more than it.
    let escaped =
        right.replace("%h = create", "store 8, @p, @flag\n %h = create").replace("global x", "global p: 8 global x");
    assert_eq!(candidates(&escaped), [(6, 12)].into());
    let part = right.replace("global flag: 4", "global flag: 8").replace("store 4, @flag, 1", "store 8, @flag, 1");
    assert_eq!(candidates(&part), open);
    let filled = right.replace("store 4, @flag, 1", "fill @flag, 1, 4");
    assert_eq!(candidates(&filled), open);
    let recursive = published("lock @m\n call deep(1)\n unlock @m", "lock @m\n %v = load 4, @flag\n unlock @m")
        + "fn deep(%n) { entry: branch %n, on, do\n on: call deep(0)\n goto end\n do: store 4, @flag, 1\n goto end\n end: return }";
    assert_eq!(candidates(&recursive), none(), "set by a recursive function, in any order of its effects");
}

#[test]
fn flags_that_wait() {
    let spin = "global x: 4 global done: 4
fn t(%a) { entry: store 4, @x, 1\n store 4 release, @done, 1\n return 0 }
fn main() { entry: %h = create &t, 0\n goto again\n again: %v = load 4 acquire, @done\n branch %v, over, again\n over: store 4, @x, 2\n return 0 }
entry main";
    assert_eq!(candidates(spin), none());
    // A lock made of an exchange, for any number of threads.
    let globals = "global x: 4 global busy: 4 global other: 4";
    let body = "goto take\n take: %old = rmw exchange 4 acq_rel, @busy, 1\n branch %old, take, had\n had: store 4, @x, 1\n store 4 release, @busy, 0";
    assert_eq!(candidates(&crowd(globals, "", body)), none());
    let forgotten = body.replace("@busy, 0", "@other, 0");
    assert_eq!(candidates(&crowd(globals, "", &forgotten)), none(), "nobody else ever gets in");
    let early =
        body.replace("store 4, @x, 1\n store 4 release, @busy, 0", "store 4 release, @busy, 0\n store 4, @x, 1");
    assert_eq!(candidates(&crowd(globals, "", &early)), [(9, 9)].into());
    assert_eq!(candidates(&crowd(globals, "", &body.replace("acq_rel", "release"))), [(8, 8)].into());
    // A condition variable with its predicate.
    let predicate = "global x: 4 global ready: 4 global m: 40 global c: 48
fn t(%a) { entry: store 4, @x, 1\n lock @m\n store 4, @ready, 1\n signal @c\n unlock @m\n return 0 }
fn main() { entry: %h = create &t, 0\n lock @m\n goto test\n test: %v = load 4, @ready\n branch %v, over, sleep\n sleep: wait @c, @m\n goto test\n over: unlock @m\n store 4, @x, 2\n return 0 }
entry main";
    assert_eq!(candidates(predicate), none());
    assert_eq!(candidates(&predicate.replace("branch %v, over, sleep", "branch %v, sleep, over")), [(2, 16)].into());
}

#[test]
fn flags_prove_flags() {
    // `second` is ordered only because of `first`.
    let text = "global x: 4 global first: 4 global second: 4
fn t(%a) { entry: store 4, @x, 1\n store 4, @second, 1\n store 4 release, @first, 1\n return 0 }
fn main() { entry: %h = create &t, 0\n %f = load 4 acquire, @first\n branch %f, in, out\n in: %s = load 4, @second\n branch %s, write, out\n write: store 4, @x, 2\n goto out\n out: return 0 }
entry main";
    assert_eq!(candidates(text), none());
}

/// Who finds the first value is alone, whatever the order of the access: there is one first value.
#[test]
fn flags_that_are_claimed() {
    let claim = |claim: &str, further: &str| {
        let body = format!("{claim}\n branch %v, write, end\n write: store 4, @x, 1\n {further}\n goto end\n end:");
        candidates(&crowd("global x: 4 global taken: 4 global other: 4", "", &body))
    };
    let exchange = "%o, %v = cas 4 relaxed relaxed, @taken, 0, 1";
    assert_eq!(claim(exchange, ""), none());
    assert_eq!(claim("%o = rmw exchange 4 relaxed, @taken, 1\n %v = eq 32 %o, 0", ""), none());
    assert_eq!(claim("%o = rmw or 4 relaxed, @taken, 2\n %v = eq 32 %o, 0", ""), none());
    let open: BTreeSet<Lines> = [(7, 7)].into();
    // It is given back, or was never taken.
    assert_eq!(claim(exchange, "store 4 relaxed, @taken, 0"), open);
    assert_eq!(claim(exchange, "%p = rmw and 4 relaxed, @taken, 0"), open);
    assert_eq!(claim("%o, %v = cas 4 relaxed relaxed, @taken, 0, 0", ""), open);
    assert_eq!(
        claim("%l = load 4 relaxed, @taken\n %v = eq 32 %l, 0\n store 4 relaxed, @taken, 1", ""),
        [(9, 9)].into()
    );
    // The second value may be found by many.
    assert_eq!(claim("%o = rmw exchange 4 relaxed, @taken, 1\n %v = eq 32 %o, 1", ""), [(8, 8)].into());
    // A number that is added comes round again.
    assert_eq!(claim("%o = rmw add 4 relaxed, @taken, 1\n %v = eq 32 %o, 0", ""), [(8, 8)].into());
}

/// A value that nothing stores is never found.
#[test]
fn flags_that_are_never_set() {
    let body = |set: &str| {
        format!("%v = load 4 relaxed, @flag\n branch %v, write, end\n write: store 4, @x, 1\n goto end\n end: {set}")
    };
    let with = |set: &str| candidates(&crowd("global x: 4 global flag: 4", "", &body(set)));
    assert_eq!(with("store 4 relaxed, @flag, 0"), none());
    assert_eq!(with("%o, %s = cas 4 relaxed relaxed, @flag, 1, 2"), [(7, 7)].into(), "what may fail is not followed");
    assert_eq!(with("store 4 relaxed, @flag, 1"), [(7, 7)].into());
}

/// One flag is read in two ways: only who acquires comes after the write.
#[test]
fn flags_that_some_read_relaxed() {
    let text = |load: &str, store: &str| {
        format!(
            "global x: 4 global flag: 4
fn t(%a) {{ entry: %v = load 4 {load}, @flag\n branch %v, in, out\n in: %w = load 4, @x\n goto out\n out: return 0 }}
fn u(%a) {{ entry: %v = load 4 relaxed, @flag\n branch %v, in, out\n in: goto out\n out: return 0 }}
fn main() {{ entry: %h = create &t, 0\n %i = create &u, 0\n store 4, @x, 1\n store 4 {store}, @flag, 1\n return 0 }}
entry main\n"
        )
    };
    assert_eq!(candidates(&text("acquire", "release")), none());
    assert_eq!(candidates(&text("relaxed", "release")), [(4, 13)].into());
    assert_eq!(candidates(&text("acquire", "relaxed")), [(4, 13)].into());
    // Another write of the value that publishes nothing.
    let twice = text("acquire", "release").replace("in: goto out", "in: store 4 relaxed, @flag, 1\n goto out");
    assert_eq!(candidates(&twice), [(4, 14)].into());
}

/// Fences order what comes before the one with what comes after the other.
#[test]
fn flags_between_fences() {
    let text = |publish: &str, acquire: &str| {
        candidates(&format!(
            "global x: 4 global flag: 4
fn t(%a) {{ entry: %v = load 4 relaxed, @flag\n branch %v, in, out\n in: {acquire}\n %w = load 4, @x\n goto out\n out: return 0 }}
fn main() {{ entry: %h = create &t, 0\n store 4, @x, 1\n {publish}\n return 0 }}
entry main\n"
        ))
    };
    let publish = "fence release\n store 4 relaxed, @flag, 1";
    assert_eq!(text(publish, "fence acquire"), none());
    assert_eq!(text("store 4 release, @flag, 1", "fence acquire"), none());
    assert_eq!(text("fence seq_cst\n %o = rmw exchange 4 relaxed, @flag, 1", "fence seq_cst"), none());
    let open: BTreeSet<Lines> = [(5, 9)].into();
    assert_eq!(text(publish, "fence release"), open);
    assert_eq!(text(publish, "yield"), open);
    assert_eq!(text("fence acquire\n store 4 relaxed, @flag, 1", "fence acquire"), open);
    assert_eq!(text("yield\n store 4 relaxed, @flag, 1", "fence acquire"), open);
    // What comes between fence and write is not published, nor what comes after.
    assert_eq!(
        text("fence release\n store 4, @x, 2\n store 4 relaxed, @flag, 1", "fence acquire"),
        [(5, 9), (5, 11)].into()
    );
    assert_eq!(text("fence release\n store 4 relaxed, @flag, 1\n store 4, @x, 2", "fence acquire"), [(5, 12)].into());
    // The fence of the reader comes first.
    let early = "global x: 4 global flag: 4
fn t(%a) { entry: fence acquire\n %v = load 4 relaxed, @flag\n branch %v, in, out\n in: %w = load 4, @x\n goto out\n out: return 0 }
fn main() { entry: %h = create &t, 0\n store 4, @x, 1\n fence release\n store 4 relaxed, @flag, 1\n return 0 }
entry main";
    assert_eq!(candidates(early), [(5, 9)].into());
}

/// A flag whose own accesses are ordered by its value, and flags that order each other.
#[test]
fn flags_that_protect_themselves() {
    let text = |test: &str| {
        format!(
            "global ready: 4 global m: 40 global c: 48
fn t(%a) {{ entry: lock @m\n goto test\n test: %v = load 4, @ready\n branch %v, {test}\n sleep: wait @c, @m\n goto test\n over: unlock @m\n %w = load 4, @ready\n return 0 }}
fn main() {{ entry: %h = create &t, 0\n lock @m\n store 4, @ready, 1\n signal @c\n unlock @m\n return 0 }}
entry main"
        )
    };
    assert_eq!(candidates(&text("over, sleep")), none());
    assert_eq!(candidates(&text("sleep, over")), [(9, 13)].into());
    let each = |second: &str| {
        format!(
            "global a: 4 global b: 4 global x: 4
fn t(%p) {{ entry: %v = load 4, @a\n branch %v, in, out\n in: store 4, @b, 1\n goto out\n out: return 0 }}
fn main() {{ entry: %h = create &t, 0\n %v = load 4, @b\n branch %v, in, out\n in: store 4, @a, 1\n goto out\n out: {second}\n return 0 }}
entry main"
        )
    };
    assert_eq!(candidates(&each("yield")), none(), "neither is ever set");
    assert_eq!(candidates(&each("store 4, @a, 1")), [(2, 10), (2, 12), (4, 8)].into());
}

/// A lock that the value of a flag chooses.
#[test]
fn flags_that_choose_locks() {
    let text = |chosen: &str| {
        let body = format!(
            "%i = load 4, @which\n %r = and 32 %i, 1\n %l = offset @m, %r, 40, 0\n lock %l\n store 4, @x, 1\n unlock %l\n lock {chosen}\n store 4, @x, 2\n unlock {chosen}"
        );
        candidates(&crowd("global x: 4 global which: 4 global m: 80", "store 4, @which, 3", &body))
    };
    assert_eq!(text("@m+40"), none());
    assert_eq!(text("@m"), [(9, 12)].into());
}
