//! The cost of analysing one execution is linear in its length: the test counts analysis steps for 25,000, 50,000 and
//! 100,000 operations. (Only the first execution counts; it is analysed in full.)

use std::collections::BTreeSet;
use std::sync::Arc;

use explore::{Options, ReductionName, search};
use facts::Facts;
use model::work;
use outlook::Summary;
use program::Program;
use testkit::Interpreter;

/// Two threads that each repeat a loop with this body.
fn program(globals: &str, first: &str, rounds: usize, bodies: [&str; 2]) -> Program {
    let mut text = format!("{globals}\n");
    for (number, body) in bodies.iter().enumerate() {
        text += &format!(
            "fn t{number}(%tid) {{\nentry:\n  goto look\nlook:\n  %i = phi [entry: {rounds}, round: %j]\n  \
             branch %i, round, end\nround:\n{body}\n  %j = sub 32 %i, 1\n  goto look\nend:\n  return\n}}\n"
        );
    }
    text += &format!(
        "fn main() {{\nentry:\n{first}\n  %a = create &t0, 0\n  %b = create &t1, 1\n  join %a\n  join %b\n  \
         return 0\n}}\nentry main\n"
    );
    Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The events of the first execution, and the number of steps of its analysis.
fn steps(program: Program, quantum: u32, reduction: ReductionName) -> (u64, u64) {
    let outlook = Summary::new(Arc::new(Facts::of(program.clone())), &BTreeSet::new()).unwrap();
    let limits = testkit::interpreter::Options { quantum, max_steps: 200_000, spurious: false };
    let mut interpreter = Interpreter::with_options(program, limits).unwrap();
    let options =
        Options { reduction, outlook: Some(Arc::new(outlook)), max_executions: Some(1), ..Options::default() };
    work::take();
    let outcome = search(&mut interpreter, &options, &mut ()).unwrap();
    (outcome.statistics.transitions, work::take())
}

fn assert_linear(name: &str, globals: &str, first: &str, per_round: usize, bodies: [&str; 2]) {
    for reduction in [ReductionName::Optimal, ReductionName::Best, ReductionName::Dpor, ReductionName::default()] {
        for quantum in [7, 10_000] {
            let costs = [25_000, 50_000, 100_000].map(|operations| {
                let (events, steps) =
                    steps(program(globals, first, operations / 2 / per_round, bodies), quantum, reduction);
                assert!(events as usize >= operations * 9 / 10, "{name}: {events} events");
                assert!(steps > events, "{name}: {steps} steps are not all");
                steps as f64 / events as f64
            });
            let [short, middle, long] = costs;
            assert!(
                middle < short * 1.25 && long < middle * 1.25,
                "{name}, {reduction}, quantum {quantum}: {costs:?} steps per event"
            );
        }
    }
}

#[test]
fn locked_increments() {
    let body = "  lock @m\n  %v = load 4, @x\n  %w = add 32 %v, 1\n  store 4, @x, %w\n  unlock @m";
    assert_linear("locked", "global m: 40\nglobal x: 4", "", 4, [body, body]);
}

#[test]
fn memory_of_its_own() {
    let body = |at: &str| format!("  %v = load 4, @{at}\n  %w = add 32 %v, 1\n  store 4, @{at}, %w");
    assert_linear("own memory", "global x: 4\nglobal y: 4", "", 2, [&body("x"), &body("y")]);
}

#[test]
fn semaphores_in_turn() {
    let body = "  sem_wait @s\n  %v = load 4, @x\n  store 4, @x, %v\n  sem_post @s";
    assert_linear("semaphores", "global s: 32\nglobal x: 4", "  sem_init @s, 1", 4, [body, body]);
}
