//! Helpers shared by the tests: random runs of generated programs, and brute force over the reorderings of a trace.
#![allow(dead_code, reason = "each test uses some")]

pub(crate) mod brute;

use std::sync::Arc;

use model::{Executor, Schedule, Trace};
use program::Program;
use testkit::generator::Random;
use testkit::{Interpreter, Machine};

/// A run with random scheduling and choices.
pub(crate) fn random_run(program: &Program, random: &mut Random) -> Trace {
    let mut machine = Machine::new(Arc::new(program.clone()), false).expect("the program is valid");
    let mut schedule = Schedule::new();
    // Rare switches resemble observed runs; frequent switches give more variety.
    let stay = random.below(4);
    let mut running = None;
    for _ in 0..10_000 {
        let runnable: Vec<_> = machine.runnable().iter().collect();
        let Some(last) = runnable.len().checked_sub(1) else { break };
        let same = running.filter(|thread| random.below(4) < stay && runnable.contains(thread));
        let thread = same.unwrap_or_else(|| runnable[random.below(last + 1)]);
        running = Some(thread);
        let Some(stepped) = machine.step(thread) else { break };
        schedule.push(thread, stepped.event.id.position + 1);
    }
    Interpreter::new(program.clone()).expect("the program is valid").run(&schedule).expect("interpreters do not fail")
}
