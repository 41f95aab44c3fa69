//! An executor whose runs are not a function of the schedule is detected, and the outcome names the difference.

use explore::{Coverage, Error, Options, Outcome, StopReason, Unrepeatable, search};
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

fn explore(spoil: impl FnMut(&mut Trace)) -> Result<Outcome, Error<std::convert::Infallible>> {
    let interpreter = Interpreter::new(Program::parse(TEXT).unwrap()).unwrap();
    search(&mut Spoiled(interpreter, 0, spoil), &Options::default(), &mut ())
}

/// What the search says of a run that could not be repeated. It ends there, but what it found stays.
fn unrepeatable(spoil: impl FnMut(&mut Trace)) -> Unrepeatable {
    let outcome = explore(spoil).unwrap();
    assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Unrepeatable));
    assert_eq!(outcome.races.len(), 1, "the race of the first run");
    outcome.unrepeatable.unwrap()
}

#[test]
fn another_event_in_the_prefix() {
    let Unrepeatable { thread, what, .. } = unrepeatable(|trace| trace.events[Step(1)].op = Op::Yield);
    assert_eq!(thread.unwrap().to_string(), "0");
    assert!(what.contains("Create") && what.contains("Yield"), "{what}");
}

#[test]
fn other_threads_runnable_in_the_prefix() {
    let runnable = [ThreadId(0), ThreadId(1)].into_iter().collect::<ThreadSet>();
    let what = unrepeatable(|trace| trace.runnable[0].1 = runnable.clone()).what;
    assert!(what.contains("{t0} in one run and {t0, t1} in another"), "{what}");
}

#[test]
fn a_run_that_ends_early() {
    let Unrepeatable { site, what, .. } = unrepeatable(|trace| trace.events.truncate(1));
    assert!(what.contains("Create") && what.contains("ended the program"), "{what}");
    assert!(site.is_some(), "where it should have gone on");
}

#[test]
fn a_schedule_that_cannot_be_followed() {
    let what = unrepeatable(|trace| trace.end = End::Diverged { segment: 2, message: "t1 is blocked".into() }).what;
    assert_eq!(what, "t1 is blocked");
}

#[test]
fn a_racing_access_without_a_site() {
    let error =
        explore(|trace| trace.events.iter_mut().filter(|e| e.site == Some(SiteId(0))).for_each(|e| e.site = None));
    let error = error.unwrap_err();
    assert!(matches!(error, Error::AccessWithoutSite { .. }), "{error}");
}
