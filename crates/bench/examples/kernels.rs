//! The five kernels that take most of the time, each on a fixed input; run one by name. `tests/instructions.rs` counts
//! the instructions inside [`measured`]; preparing the input does not count.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use explore::{ReductionName, search};
use facts::Facts;
use model::{Executor, Schedule, Trace};
use outlook::Summary;
use petri::backward::{Pruning, solve};
use petri::format::Format;
use program::Program;
use testkit::Interpreter;

/// Marks the code that is counted.
#[inline(never)]
fn measured<T>(kernel: impl FnOnce() -> T) {
    black_box(kernel());
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("lockset") => lockset(),
        Some("predict") => predict(),
        Some("petri") => petri(),
        Some("causality") => causality(),
        Some("best") => best(),
        _ => {
            eprintln!("usage: kernels lockset|predict|petri|causality|best");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Threads that repeat a loop with their body.
fn threads(globals: &str, rounds: usize, bodies: &[String]) -> Program {
    let mut text = format!("{globals}\n");
    for (number, body) in bodies.iter().enumerate() {
        let _ = write!(
            text,
            "fn t{number}(%tid) {{\nentry:\n  goto look\nlook:\n  %i = phi [entry: {rounds}, round: %j]\n  \
             branch %i, round, end\nround:\n{body}\n  %j = sub 32 %i, 1\n  goto look\nend:\n  return\n}}\n"
        );
    }
    text += "fn main() {\nentry:\n";
    (0..bodies.len()).for_each(|t| text += &format!("  %a{t} = create &t{t}, {t}\n"));
    (0..bodies.len()).for_each(|t| text += &format!("  join %a{t}\n"));
    text += "  return 0\n}\nentry main\n";
    Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Adds one to a word, under a lock.
fn locked(lock: &str, word: &str) -> String {
    format!(
        "  lock @{lock}\n  %v{word} = load 4, @{word}\n  %w{word} = add 32 %v{word}, 1\n  store 4, @{word}, %w{word}\n  \
         unlock @{lock}\n"
    )
}

/// One run of a program.
fn run(program: Program) -> Trace {
    let mut interpreter = Interpreter::new(program).unwrap_or_else(|error| panic!("{error}"));
    interpreter.run(&Schedule::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Points-to, locksets and verdicts: twenty threads, forty words under five locks, every seventh access unprotected.
fn lockset() {
    let mut globals = String::new();
    (0..5).for_each(|lock| globals += &format!("global m{lock}: 40\n"));
    (0..40).for_each(|word| globals += &format!("global x{word}: 4\n"));
    let access = |thread: usize, word: usize| {
        if (thread + word).is_multiple_of(7) {
            format!("  store 4, @x{word}, 1\n")
        } else {
            locked(&format!("m{}", word % 5), &format!("x{word}"))
        }
    };
    let body = |thread: usize| (0..8).map(|k| access(thread, (thread * 3 + k * 5) % 40)).collect();
    let bodies: Vec<String> = (0..20).map(body).collect();
    let program = threads(&globals, 3, &bodies);
    measured(|| lockset::analyse(&Facts::of(program.clone())));
}

/// Prediction from a run of three threads that share one lock and occasionally touch a word without it.
fn predict() {
    let body = |thread: usize| {
        let (own, common) = (locked("m", &format!("y{thread}")), locked("m", "x"));
        format!("  store 4, @z{thread}, 1\n{own}{common}  %r{thread} = load 4, @z{}\n", (thread + 1) % 3)
    };
    let mut globals = String::from("global m: 40\nglobal x: 4\n");
    (0..3).for_each(|t| globals += &format!("global y{t}: 4\nglobal z{t}: 4\n"));
    let trace = run(threads(&globals, 16, &[body(0), body(1), body(2)]));
    measured(|| predict::predict(&trace, &predict::Options::default()));
}

/// Backward coverability without pruning, on a ring of twelve sections under one lock.
fn petri() {
    let net = Format::Spec.parse(&testkit::ring::ring(12)).unwrap_or_else(|error| panic!("{error}"));
    measured(|| solve(&net, Pruning::Plain, |_| true));
}

/// The clocks of one long execution and its reversible pairs, which every search needs.
fn causality() {
    let program = threads("global m: 40\nglobal x: 4", 400, &[locked("m", "x"), locked("m", "x")]);
    let mut interpreter = Interpreter::new(program).unwrap_or_else(|error| panic!("{error}"));
    let options =
        explore::Options { reduction: ReductionName::Optimal, max_executions: Some(1), ..explore::Options::default() };
    measured(|| search(&mut interpreter, &options, &mut ()));
}

/// A search with `best`, which asks for the future at every backtracking point.
fn best() {
    let body = |thread: usize| format!("{}  store 4, @y, {thread}\n{}", locked("m", "x"), locked("n", "z"));
    let program =
        threads("global m: 40\nglobal n: 40\nglobal x: 4\nglobal y: 4\nglobal z: 4", 2, &[body(0), body(1), body(2)]);
    let outlook = Summary::new(Arc::new(Facts::of(program.clone())), &BTreeSet::new()).unwrap();
    let mut interpreter = Interpreter::new(program).unwrap_or_else(|error| panic!("{error}"));
    let options = explore::Options {
        reduction: ReductionName::Best,
        outlook: Some(Arc::new(outlook)),
        max_executions: Some(200),
        ..explore::Options::default()
    };
    measured(|| search(&mut interpreter, &options, &mut ()));
}
