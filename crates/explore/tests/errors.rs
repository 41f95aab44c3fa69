//! An executor whose runs are not a function of the schedule is detected, and the error names the difference.

use explore::{Error, Options, search};
use model::{End, Executor, Op, Schedule, SiteId, Step, ThreadId, ThreadSet, Trace};
use program::Program;
use testkit::Interpreter;

const TEXT: &str = "
global x: 4
fn worker(%arg) {
entry:
  store 4, @x, 1
  return
}
fn main() {
entry:
  %h = create &worker, 0
  store 4, @x, 2
  join %h
  return 0
}
entry main
";

/// Corrupts every trace but the first.
struct Spoiled<F>(Interpreter, u32, F);

impl<F: FnMut(&mut Trace)> Executor for Spoiled<F> {
    type Error = std::convert::Infallible;
    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error> {
        let mut trace = self.0.run(schedule)?;
        self.1 += 1;
        if self.1 > 1 {
            (self.2)(&mut trace);
        }
        Ok(trace)
    }
}

fn error(spoil: impl FnMut(&mut Trace)) -> Error<std::convert::Infallible> {
    let interpreter = Interpreter::new(Program::parse(TEXT).unwrap()).unwrap();
    search(&mut Spoiled(interpreter, 0, spoil), &Options::default(), &mut ()).unwrap_err()
}

#[test]
fn another_event_in_the_prefix() {
    let error = error(|trace| trace.events[Step(1)].op = Op::Yield);
    assert!(matches!(error, Error::Nondeterministic { step: Step(1), .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("nondeterministic program") && text.contains("Create") && text.contains("Yield"), "{text}");
}

#[test]
fn other_threads_runnable_in_the_prefix() {
    let error = error(|trace| trace.runnable[0].1 = [ThreadId(0), ThreadId(1)].into_iter().collect::<ThreadSet>());
    assert!(matches!(error, Error::Nondeterministic { step: Step(0), .. }), "{error}");
    assert!(error.to_string().contains("the runnable threads were {t0} and then {t0, t1}"), "{error}");
}

#[test]
fn a_run_that_ends_early() {
    let error = error(|trace| trace.events.truncate(1));
    assert!(matches!(error, Error::Nondeterministic { step: Step(1), .. }), "{error}");
    assert!(error.to_string().contains("the second ended"), "{error}");
}

#[test]
fn a_schedule_that_cannot_be_followed() {
    let error = error(|trace| trace.end = End::Diverged { segment: 2, message: "t1 is blocked".into() });
    assert!(error.to_string().contains("segment 2: t1 is blocked"), "{error}");
}

#[test]
fn a_racing_access_without_a_site() {
    let error =
        error(|trace| trace.events.iter_mut().filter(|e| e.site == Some(SiteId(0))).for_each(|e| e.site = None));
    assert!(matches!(error, Error::AccessWithoutSite { .. }), "{error}");
}
