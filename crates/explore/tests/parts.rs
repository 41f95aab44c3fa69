//! A search that is split is the same search: helpers explore parts of it, and executions, their order and what they show
//! stay as they are.

#[path = "support/shapes.rs"]
mod shapes;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use explore::{Observer, Options, ReductionName, search, search_with};
use model::{Executor, Schedule, Step, Trace};
use program::Program;
use shapes::threads::threads;
use shapes::{last_zero, readers};
use testkit::Interpreter;

/// The executions of a search, in order.
#[derive(Default)]
struct Log(Vec<Schedule>);

impl Observer for Log {
    fn trace(&mut self, trace: &Trace, _from: Step) {
        self.0.push(trace.schedule_to(trace.events.next_id()));
    }
}

/// Counts its runs. The search's own are slow, so that helpers come first.
struct Counting {
    interpreter: Interpreter,
    runs: Arc<AtomicUsize>,
    delay: Duration,
}

impl Executor for Counting {
    type Error = <Interpreter as Executor>::Error;
    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.delay);
        self.interpreter.run(schedule)
    }
}

fn programs() -> Vec<(&'static str, String)> {
    let all = "global x: 4\nglobal y: 4\nglobal m: 40\nglobal s: 32\n";
    let same = |count: usize, body: &str| threads(all, &vec![body.to_owned(); count]);
    let locked = "lock @m\nstore 4, @x, 1\nunlock @m\nlock @m\n%v = load 4, @x\nunlock @m";
    let exchange = "%v, %ok = cas 4 seq_cst seq_cst, @x, 0, %tid\n%w, %ko = cas 4 seq_cst seq_cst, @y, 0, 1";
    let racy = "%v = rmw add 4 seq_cst, @x, 1\nstore 4, @y, 1\n%w = load 4 seq_cst, @x";
    let trying = "sem_post @s\n%t = sem_trywait @s\nsem_post @s\nsem_wait @s\nstore 4 seq_cst, @x, 1";
    let choosing = "%c = choose 0, 2\nstore 4 seq_cst, @x, %c\n%v = load 4 seq_cst, @y\nstore 4 seq_cst, @y, 1";
    vec![
        ("readers", readers(7)),
        ("last zero", last_zero(7)),
        ("locked", same(4, locked)),
        ("exchange", same(4, exchange)),
        ("racy", same(3, racy)),
        ("trying", same(3, trying)),
        ("choosing", same(2, choosing)),
    ]
}

#[test]
fn parts_are_explored_as_the_search_would() {
    let (own, helped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for (name, text) in programs() {
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let interpreter = || Interpreter::new(program.clone()).unwrap();
        for (max_executions, stop_at_first) in [(Some(300), false), (Some(90), false), (Some(300), true)] {
            let reduction = ReductionName::Optimal;
            let options = Options {
                reduction,
                max_executions,
                stop_at_first,
                smallest_part: Duration::ZERO,
                ..Options::default()
            };
            let mut log = Log::default();
            let expected = search(&mut interpreter(), &options, &mut log).unwrap();
            for helpers in 1..=3 {
                let counting = |runs: &Arc<AtomicUsize>, delay| Counting {
                    interpreter: interpreter(),
                    runs: Arc::clone(runs),
                    delay: Duration::from_micros(delay),
                };
                let mut crew: Vec<_> = (0..helpers).map(|_| counting(&helped, 0)).collect();
                let mut split = Log::default();
                let outcome = search_with(&mut counting(&own, 100), &mut crew, &options, &mut split, None).unwrap();
                let context = format!("{name}, {max_executions:?}, {stop_at_first}, {helpers} helpers");
                assert_eq!(outcome, expected, "{context}");
                let other = split.0.iter().zip(&log.0).position(|(one, other)| one != other);
                assert_eq!(other, None, "{context}: the first execution that is another");
                assert_eq!(split.0.len(), log.0.len(), "{context}");
            }
        }
    }
    let (own, helped) = (own.load(Ordering::Relaxed), helped.load(Ordering::Relaxed));
    assert!(helped > own / 100, "{helped} runs by helpers, {own} by the search itself");
}
