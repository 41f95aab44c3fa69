//! A search whose budget is spent while it plans is not complete, whatever it had planned until then.

#[path = "support/threads.rs"]
mod threads;

use explore::{Coverage, Observer, Options, ReductionName, StopReason, search};
use model::{Budget, Interrupt, Step, Trace};
use program::Program;
use testkit::Interpreter;
use threads::threads;

/// Interrupts when a run is shown, before anything is planned from it.
struct Impatient(Interrupt);

impl Observer for Impatient {
    fn trace(&mut self, _: &Trace, _: Step) {
        self.0.set();
    }
}

#[test]
fn a_search_that_gave_up_planning_is_not_complete() {
    // What can be reversed comes after more events than are planned from between two looks at the budget.
    let mut bodies = vec!["%v = load 4 seq_cst, @x".to_owned(); 80];
    bodies.push("store 4 seq_cst, @x, 1".to_owned());
    let program = Program::parse(&threads("global x: 4\n", &bodies)).unwrap();
    for reduction in [ReductionName::Optimal, ReductionName::Best] {
        let interrupt = Interrupt::new();
        let budget = Budget::new(None, None, interrupt.clone());
        let options = Options { reduction, budget, ..Options::default() };
        let mut executor = Interpreter::new(program.clone()).unwrap();
        let outcome = search(&mut executor, &options, &mut Impatient(interrupt)).unwrap();
        assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Interrupted), "{reduction}");
    }
}
