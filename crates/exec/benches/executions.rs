//! Executions per second by kind of isolation, and what a hook and a switch cost. Figures of one call belong together:
//! machines differ, ratios less so.
#![allow(clippy::print_stdout, reason = "prints its figures")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use exec::{Config, Isolation};
use model::{End, Executor, Schedule};
use support::build;

/// Seconds per call, over about a second.
fn time(mut call: impl FnMut()) -> f64 {
    call();
    let (start, mut calls) = (Instant::now(), 0u32);
    while start.elapsed() < Duration::from_secs(1) {
        call();
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

fn main() {
    let locked = build("locked.c");
    let mut per_second = Vec::new();
    for megabytes in ["0", "16"] {
        for isolation in [Isolation::Restore, Isolation::Fork] {
            let config = Config { isolation, args: vec![megabytes.into()], ..Config::default() };
            let mut target = locked.target(config);
            let run = time(|| {
                let (_, end) = target.run_undecoded(&Schedule::new()).expect("the program runs");
                assert_eq!(end, End::Exit { code: 0 });
            });
            let decoded = time(|| drop(target.run(&Schedule::new()).expect("the program runs")));
            println!("{isolation:?}, {megabytes:>2} MB: {:8.0} runs/s, {:8.0} decoded", 1.0 / run, 1.0 / decoded);
            per_second.push(1.0 / run);
        }
    }
    println!(
        "restore / fork: {:.1} tiny, {:.1} with 16 MB",
        per_second[0] / per_second[1],
        per_second[2] / per_second[3]
    );

    let accesses = build("accesses.c");
    let limits = |quantum| Config { max_steps: 1 << 23, trace_capacity: 1 << 23, quantum, ..Config::default() };
    let nanoseconds = |quantum| {
        let mut target = accesses.target(limits(quantum));
        let run = time(|| {
            target.run_undecoded(&Schedule::new()).expect("the program runs");
        });
        run * 1e9 / 2e6
    };
    let (hook, switching) = (nanoseconds(0), nanoseconds(1));
    println!("{hook:.1} ns per hook, {switching:.1} ns with a switch");
    let mut target = accesses.target(limits(0));
    let events = target.run(&Schedule::new()).expect("the program runs").events.len() as f64;
    let decoded = time(|| drop(target.run(&Schedule::new()).expect("the program runs")));
    println!("{:.1} ns per event, run and decoded", decoded * 1e9 / events);
}
