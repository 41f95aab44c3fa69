//! A search names runs that it will probably ask for. Most of them are asked for, and making them ahead changes nothing.

#[path = "support/shapes.rs"]
mod shapes;

use std::collections::BTreeMap;

use explore::{Coverage, Options, ReductionName, search};
use model::{Executor, Schedule, Trace};
use program::Program;
use shapes::threads::threads;
use shapes::{last_zero, readers};
use testkit::Interpreter;
use testkit::Limits;
use testkit::generator::{Case, Feature};

/// Makes the runs that are named, and answers with them.
struct Ahead {
    interpreter: Interpreter,
    made: BTreeMap<Schedule, Trace>,
    is_ahead: bool,
    runs: Vec<Schedule>,
    /// Runs that were made when they were asked for.
    hits: usize,
    forgotten: bool,
}

impl Ahead {
    fn new(program: &Program, is_ahead: bool) -> Self {
        let interpreter = Interpreter::new(program.clone()).unwrap();
        Self { interpreter, made: BTreeMap::new(), is_ahead, runs: Vec::new(), hits: 0, forgotten: false }
    }
}

impl Executor for Ahead {
    type Error = <Interpreter as Executor>::Error;

    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error> {
        self.runs.push(schedule.clone());
        if let Some(made) = self.made.remove(schedule) {
            self.hits += 1;
            return Ok(made);
        }
        self.interpreter.run(schedule)
    }

    fn prefetch(&mut self, schedule: &Schedule) -> bool {
        assert!(!self.forgotten, "nothing is named after the end");
        if !self.is_ahead || self.made.contains_key(schedule) {
            return !self.is_ahead;
        }
        let trace = self.interpreter.run(schedule).expect("a run");
        self.made.insert(schedule.clone(), trace);
        true
    }

    fn forget_prefetched(&mut self) {
        self.forgotten = true;
        self.made.clear();
    }
}

fn search_of(program: &Program, reduction: ReductionName, is_ahead: bool) -> (Ahead, usize) {
    let mut executor = Ahead::new(program, is_ahead);
    let options = Options { reduction, ..Options::default() };
    let outcome = search(&mut executor, &options, &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Complete);
    assert!(executor.forgotten);
    (executor, outcome.races.len())
}

/// Half of the runs of a search without a reduction, and of one with few new plans, are known before the last one is examined.
#[test]
fn most_named_runs_are_asked_for() {
    use ReductionName::{None, Optimal};
    let stores = "store 4 seq_cst, @x, 1\nstore 4 seq_cst, @x, 2".to_owned();
    let two = threads("global x: 4\n", &[stores.clone(), stores]);
    for (name, text, reduction) in
        [("readers", readers(7), Optimal), ("last zero", last_zero(5), Optimal), ("two", two, None)]
    {
        let program = Program::parse(&text).unwrap();
        let (ahead, _) = search_of(&program, reduction, true);
        let (hits, runs) = (ahead.hits, ahead.runs.len());
        assert!(runs > 10 && hits * 5 >= runs * 2, "{name}, {reduction:?}: {hits} of {runs}");
    }
}

#[test]
fn runs_made_ahead_change_nothing() {
    for seed in 0..testkit::programs(60) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits { executions: 400, ..Limits::default() });
        let program = case.program();
        for reduction in ReductionName::ALL {
            let context = format!("{reduction:?}, seed {seed}\n{}", case.sketch.emit().text);
            let ((with, found), (without, expected)) =
                (search_of(&program, reduction, true), search_of(&program, reduction, false));
            assert_eq!((with.runs, found), (without.runs, expected), "{context}");
        }
    }
}
