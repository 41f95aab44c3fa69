//! A search with helpers is the same search: the executions and findings do not change.

#[path = "support/shapes.rs"]
mod shapes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use explore::{Coverage, EXAMPLES, Observer, Options, ReductionName, search, search_with};
use model::{Cell, Executor, Sample, Sampler, Schedule, SiteId, Step, ThreadPath, Trace};
use program::Program;
use shapes::threads::threads;
use shapes::{last_zero, readers};
use testkit::Interpreter;

/// Records its runs. The search's own runs can be slowed down so that helpers are faster.
struct Noting {
    interpreter: Interpreter,
    runs: Arc<Mutex<Vec<Schedule>>>,
    delay: Duration,
}

impl Executor for Noting {
    type Error = <Interpreter as Executor>::Error;
    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Self::Error> {
        std::thread::sleep(self.delay);
        let trace = self.interpreter.run(schedule)?;
        self.runs.lock().unwrap().push(trace.schedule_to(trace.events.next_id()));
        Ok(trace)
    }
}

impl Sampler for Noting {
    fn sample(&mut self, sample: Sample) -> Result<Trace, Self::Error> {
        self.interpreter.sample(sample)
    }
}

/// The accesses an observer sees, limited per site.
#[derive(Default, PartialEq, Debug)]
struct Examples(BTreeMap<SiteId, Vec<(ThreadPath, Cell)>>);

impl Observer for Examples {
    fn trace(&mut self, trace: &Trace, from: Step) {
        for (_, event, access) in trace.accesses_from(from) {
            let Some(site) = event.site_of_access(access) else { continue };
            let examples = self.0.entry(site).or_default();
            let example = (trace.threads[event.id.thread].path.clone(), access.cell);
            if examples.len() < EXAMPLES && !examples.contains(&example) {
                examples.push(example);
            }
        }
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
    // Races, and executes some of its accesses, in few of its executions.
    let seldom = "%v = rmw add 4 seq_cst, @x, 1\n%w = rmw add 4 seq_cst, @x, 1\n%a = eq 32 %w, 4\n\
                  branch %a, writes, other\nwrites:\nstore 4, @y, 1\ngoto done\nother:\n%b = eq 32 %w, 5\n\
                  branch %b, reads, done\nreads:\n%z = load 4, @y\ngoto done\ndone:";
    vec![
        ("seldom", same(3, seldom)),
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
fn subtrees_are_explored_as_the_search_would() {
    let (mut own, mut helped) = (0, 0);
    for (name, text) in programs() {
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = Options {
            reduction: ReductionName::Optimal,
            max_executions: Some(3000),
            smallest_subtree: Duration::ZERO,
            ..Options::default()
        };
        let noting = |runs: &Arc<Mutex<Vec<Schedule>>>, delay| Noting {
            interpreter: Interpreter::new(program.clone()).unwrap(),
            runs: Arc::clone(runs),
            delay: Duration::from_micros(delay),
        };
        let alone = Arc::default();
        let mut examples = Examples::default();
        let expected = search(&mut noting(&alone, 0), &options, &mut examples).unwrap();
        let alone: BTreeSet<Schedule> = alone.lock().unwrap().drain(..).collect();
        for (helpers, delay) in [(1, 100), (2, 100), (3, 100), (1, 0), (3, 0)].repeat(3) {
            let context = format!("{name}, {helpers} helpers, {delay} us");
            let (by_search, by_helpers) = (Arc::default(), Arc::default());
            let mut crew: Vec<_> = (0..helpers).map(|_| noting(&by_helpers, 0)).collect();
            let mut split = Examples::default();
            let mut executor = noting(&by_search, delay);
            let outcome = search_with(&mut executor, &mut crew, &options, &mut split, None).unwrap();
            assert_eq!(outcome, expected, "{context}");
            assert_eq!(split, examples, "{context}");
            let (by_search, by_helpers) = (by_search.lock().unwrap(), by_helpers.lock().unwrap());
            (own, helped) = (own + by_search.len(), helped + by_helpers.len());
            if outcome.coverage == Coverage::Complete {
                let together: BTreeSet<Schedule> = by_search.iter().chain(&*by_helpers).cloned().collect();
                assert_eq!(together, alone, "{context}: the executions");
            }
        }
    }
    assert!(helped > own / 4, "{helped} runs by helpers, {own} by the search itself");
}

/// Bounds hold with helpers too, and the first finding ends the search.
#[test]
fn a_split_search_stops_where_it_is_asked_to() {
    for (name, text) in programs() {
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let interpreter = || Interpreter::new(program.clone()).unwrap();
        for (most, stop_at_first) in [(20, false), (90, false), (3000, true)] {
            let options = Options {
                reduction: ReductionName::Optimal,
                max_executions: Some(most),
                stop_at_first,
                smallest_subtree: Duration::ZERO,
                ..Options::default()
            };
            let expected = search(&mut interpreter(), &options, &mut ()).unwrap();
            let mut crew = [interpreter(), interpreter()];
            let outcome = search_with(&mut interpreter(), &mut crew, &options, &mut (), None).unwrap();
            assert_eq!(outcome, expected, "{name}, {most}");
        }
    }
}
