//! Programs with known numbers of classes: `optimal` executes each class once.

#[path = "support/shapes.rs"]
mod shapes;

use std::collections::BTreeSet;

use explore::{Coverage, Options, ReductionName, Statistics, StopReason, search};
use model::Pair;
use program::Program;
use shapes::threads::threads;
use shapes::{last_zero, readers};
use testkit::Interpreter;

/// The statistics of a complete search, and the racing pairs.
fn explore(text: &str, reduction: ReductionName) -> (Statistics, BTreeSet<Pair>) {
    let program = Program::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { reduction, ..Options::default() };
    let outcome = search(&mut Interpreter::new(program).unwrap(), &options, &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Complete);
    (outcome.statistics, outcome.races.into_keys().collect())
}

/// The number of executions of a program in which none is blocked and no run wasted.
fn optimal(text: &str) -> u64 {
    let (statistics, _) = explore(text, ReductionName::Optimal);
    assert_eq!((statistics.blocked, statistics.detours), (0, 0), "{text}");
    statistics.executions
}

#[test]
fn each_reader_is_before_or_after_the_writer() {
    for count in 1..=8 {
        assert_eq!(optimal(&readers(count)), 1 << count, "{count} readers");
    }
}

/// (n + 3) 2^(n - 2) classes: 147,456 for fifteen writers. The unreduced search confirms the first ones.
#[test]
fn last_zero_is_found_once_per_class() {
    for (writers, classes) in (1..).zip([2, 5, 12, 28, 64, 144, 320, 704]) {
        assert_eq!(classes, (writers + 3) * (1 << writers) / 4);
        assert_eq!(optimal(&last_zero(writers as usize)), classes, "{writers} writers");
    }
    for writers in 1..=5 {
        let (sleep, _) = explore(&last_zero(writers), ReductionName::DporSleep);
        assert_eq!(sleep.executions - sleep.blocked, optimal(&last_zero(writers)), "{writers} writers");
    }
}

/// The orders of critical sections; each thread's own sections keep their order.
#[test]
fn critical_sections_come_in_every_order_once() {
    let section = "lock @m\nstore 4, @x, 1\nunlock @m\n";
    for (threads_and_sections, orders) in
        [((2, 1), 2), ((3, 1), 6), ((4, 1), 24), ((2, 2), 6), ((2, 4), 70), ((3, 2), 90)]
    {
        let (count, sections) = threads_and_sections;
        let text = threads("global x: 4\nglobal m: 40\n", &vec![section.repeat(sections); count]);
        assert_eq!(optimal(&text), orders, "{count} threads, {sections} sections each");
        assert!(explore(&text, ReductionName::Optimal).1.is_empty());
    }
}

/// A writer excludes readers, and readers do not exclude each other, also when no thread releases the lock and the rest
/// is blocked for ever.
#[test]
fn readers_of_a_lock_are_told_from_its_writers() {
    let (read, write) = ("rdlock @m\nunlock @m".to_owned(), "lock @m\nunlock @m".to_owned());
    let text = threads("global m: 56\n", &[read.clone(), read.clone(), read, write]);
    assert_eq!(optimal(&text), 8, "each reader is before or after the writer");
    let stuck = |how: &str, own: usize| format!("{how} @m\nlock @own+{own}\nlock @own+{own}");
    let bodies = [stuck("rdlock", 0), stuck("rdlock", 40), stuck("lock", 80)];
    let text = threads("global m: 56\nglobal own: 120\n", &bodies);
    let (statistics, _) = explore(&text, ReductionName::Optimal);
    let (plain, _) = explore(&text, ReductionName::DporSleep);
    assert_eq!(statistics.executions, plain.executions - plain.blocked);
    assert_eq!(statistics.deadlocked, statistics.executions);
    assert_eq!(statistics.executions, 2, "the readers have it, or the writer");
}

/// Threads created by threads are numbered in order of creation and identified by their paths.
#[test]
fn threads_created_in_either_order() {
    let text = "
    global x: 4
    fn writer(%a) {
    entry:
      store 4 seq_cst, @x, 1
      return
    }
    fn creator(%a) {
    entry:
      %h = create &writer, 0
      join %h
      return
    }
    fn main() {
    entry:
      %a = create &creator, 0
      %b = create &creator, 0
      %v = load 4 seq_cst, @x
      join %a
      join %b
      return 0
    }
    entry main";
    assert_eq!(optimal(text), 6, "two writes and a read in every order");
}

/// Programs that `optimal` does not cover are left to `dpor-sleep`, with the same findings.
#[test]
fn cancellation_and_misuse_are_left_to_another_reduction() {
    let cancelled = "
    global x: 4
    global s: 32
    fn worker(%a) {
    entry:
      store 4, @x, 1
      sem_wait @s
      store 4, @x, 2
      return
    }
    fn main() {
    entry:
      %h = create &worker, 0
      store 4, @x, 3
      sem_post @s
      cancel %h
      join %h
      return 0
    }
    entry main";
    let misused =
        threads("global x: 4\nglobal m: 40\n", &["unlock @m\nstore 4, @x, 1".into(), "lock @m\nstore 4, @x, 2".into()]);
    for text in [cancelled, &misused] {
        let (optimal, races) = explore(text, ReductionName::Optimal);
        let (sleep, expected) = explore(text, ReductionName::DporSleep);
        assert!(optimal.detours > sleep.detours);
        assert_eq!((optimal.executions, races), (sleep.executions, expected));
    }
}

/// A loop that waits for another thread has endless executions; the step limit cuts them.
#[test]
fn endless_executions_meet_their_limit() {
    let spin = "goto again\nagain:\n%f = load 4 seq_cst, @x\nbranch %f, end, again\nend:\nstore 4, @y, 1".to_owned();
    let write = "store 4, @y, 2\nstore 4 seq_cst, @x, 1\nstore 4 seq_cst, @x, 0".to_owned();
    let text = threads("global x: 4\nglobal y: 4\n", &[spin.clone(), write, spin]);
    for max_steps in [12, 17, 23] {
        let limits = testkit::Options { max_steps, ..testkit::Options::default() };
        for reduction in [ReductionName::Dpor, ReductionName::DporSleep, ReductionName::Optimal] {
            let program = Program::parse(&text).unwrap();
            let mut endless = Interpreter::with_options(program, limits).unwrap();
            let options = Options { reduction, ..Options::default() };
            let outcome = search(&mut endless, &options, &mut ()).unwrap();
            assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::StepLimit), "{reduction}, {max_steps} events");
        }
    }
}
