//! Executions per second by kind of isolation, and what a hook and a switch cost.
//!
//! Figures of one call belong together: machines differ, ratios less so. All measurements take turns in several rounds,
//! so that a busy moment of the machine meets all of them; what is printed is the median with the least and the most.
#![allow(clippy::print_stdout, reason = "prints its figures")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fmt;
use std::time::{Duration, Instant};

use exec::{Config, Isolation, Target};
use model::{End, Executor, Schedule};
use support::{Built, build};

const ROUNDS: usize = 7;
/// How long one measurement of a round takes.
const SLICE: Duration = Duration::from_millis(250);
/// What a search does between two runs, about.
const THINKING: Duration = Duration::from_micros(2);
/// Accesses in a run of `accesses.c`.
const HOOKS: f64 = 2e6;

/// One figure, measured once a round.
#[derive(Default)]
struct Figure(Vec<f64>);

impl Figure {
    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
    /// This figure divided by another, round by round.
    fn per(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.0.iter().copied().fold(0.0, f64::max);
        let digits = if self.median() < 1000.0 { 1 } else { 0 };
        write!(f, "{:.digits$} ({least:.digits$} to {most:.digits$})", self.median())
    }
}

/// Seconds per call.
fn time(mut call: impl FnMut()) -> f64 {
    call();
    let (start, mut calls) = (Instant::now(), 0u32);
    while start.elapsed() < SLICE {
        call();
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

/// A program under one kind of isolation, and its runs per second.
struct Runs {
    name: String,
    target: Target,
    bare: Figure,
    thinking: Figure,
    decoded: Figure,
}

impl Runs {
    fn new(program: &Built, isolation: Isolation, megabytes: &str) -> Self {
        let config = Config { isolation, args: vec![megabytes.into()], ..Config::default() };
        let name = format!("{isolation:?}, {megabytes:>2} MB");
        let target = program.target(config);
        Self { name, target, bare: Figure::default(), thinking: Figure::default(), decoded: Figure::default() }
    }
    fn measure(&mut self) {
        let target = &mut self.target;
        let mut bare = || {
            let (_, end) = target.run_undecoded(&Schedule::new()).expect("the program runs");
            assert_eq!(end, End::Exit { code: 0 });
        };
        self.bare.0.push(1.0 / time(&mut bare));
        let mut thinking = || {
            bare();
            let start = Instant::now();
            while start.elapsed() < THINKING {
                std::hint::spin_loop();
            }
        };
        self.thinking.0.push(1.0 / time(&mut thinking));
        self.decoded.0.push(1.0 / time(|| drop(target.run(&Schedule::new()).expect("the program runs"))));
    }
}

fn main() {
    let (locked, accesses) = (build("locked.c"), build("accesses.c"));
    let mut runs: Vec<Runs> = Vec::new();
    for megabytes in ["0", "16"] {
        runs.extend([Isolation::Restore, Isolation::Fork].map(|isolation| Runs::new(&locked, isolation, megabytes)));
    }
    let limits = |quantum| Config { max_steps: 1 << 23, trace_capacity: 1 << 23, quantum, ..Config::default() };
    let [mut plain, mut switching] = [0, 1].map(|quantum| accesses.target(limits(quantum)));
    let [mut hook, mut switch, mut event] = [(); 3].map(|()| Figure::default());
    for _ in 0..ROUNDS {
        runs.iter_mut().for_each(Runs::measure);
        let run = |target: &mut Target| {
            time(|| drop(target.run_undecoded(&Schedule::new()).expect("the program runs"))) * 1e9 / HOOKS
        };
        hook.0.push(run(&mut plain));
        switch.0.push(run(&mut switching));
        let mut events = 0;
        let decoded = time(|| events = plain.run(&Schedule::new()).expect("the program runs").events.len());
        event.0.push(decoded * 1e9 / events as f64);
    }

    println!("median of {ROUNDS} rounds (least to most)");
    for Runs { name, bare, thinking, decoded, .. } in &runs {
        println!("{name}: {bare} runs/s; {thinking} with {THINKING:?} between; {decoded} decoded");
    }
    let [restore, fork, large_restore, large_fork] = [0, 1, 2, 3].map(|i| &runs[i].bare);
    println!("restore / fork: {} tiny; {} with 16 MB", restore.per(fork), large_restore.per(large_fork));
    println!("{hook} ns per hook; {switch} ns with a switch; {event} ns per event, run and decoded");
}
