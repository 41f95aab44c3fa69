//! Programs with known numbers of executions, so that a broken reduction cannot go unnoticed.
//!
//! Without sleep sets, dynamic partial-order reduction executes some classes of equivalent schedules more than once. So
//! two numbers are pinned: the classes, which follow from the program, and the executions.

mod support;

use std::fmt::Write as _;
use std::time::Duration;

use explore::{Coverage, FailureKind, Options, Outcome, ReductionName, StopReason, search};
use model::{Budget, Interrupt, ThreadId};
use program::Program;
use support::Classes;
use testkit::Interpreter;

fn explore(text: &str, options: &Options) -> Outcome {
    let program = Program::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    search(&mut Interpreter::new(program).unwrap(), options, &mut ()).unwrap()
}

fn with(text: &str, reduction: ReductionName) -> Outcome {
    explore(text, &Options { reduction, ..Options::default() })
}

fn dpor(text: &str) -> Outcome {
    with(text, ReductionName::Dpor)
}

/// The outcome, and the number of classes of equivalent schedules executed.
fn dpor_classes(text: &str) -> (Outcome, usize) {
    let program = Program::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut classes = Classes::default();
    let options = Options { reduction: ReductionName::Dpor, ..Options::default() };
    let outcome = search(&mut Interpreter::new(program).unwrap(), &options, &mut classes).unwrap();
    (outcome, classes.0.len())
}

/// A program whose `main` starts a thread for each body and then joins them. `%tid` in a body is the thread's number.
fn threads(globals: &str, bodies: &[impl AsRef<str>]) -> String {
    let mut text = format!("{globals}\n");
    let mut main = String::from("fn main() {\nentry:\n");
    for (number, body) in bodies.iter().enumerate() {
        let body = body.as_ref();
        writeln!(text, "fn t{number}(%tid) {{\nentry:\n{body}\n  return\n}}").unwrap();
        writeln!(main, "  %h{number} = create &t{number}, {number}").unwrap();
    }
    for number in 0..bodies.len() {
        writeln!(main, "  join %h{number}").unwrap();
    }
    text + &main + "  return 0\n}\nentry main\n"
}

/// A program that runs one body in several threads.
fn copies(count: usize, globals: &str, body: &str) -> String {
    threads(globals, &vec![body; count])
}

fn binomial(n: usize, k: usize) -> usize {
    (1..=k).fold(1, |product, i| product * (n - k + i) / i)
}

#[test]
fn independent_writes_need_one_execution() {
    let globals = "global x: 4\nglobal y: 4\n";
    for n in [1, 5, 50] {
        let (x, y) = ("store 4, @x, 1\n".repeat(n), "store 4, @y, 1\n".repeat(n));
        let outcome = dpor(&threads(globals, &[&x, &y]));
        assert_eq!(outcome.statistics.executions, 1, "{n} writes");
        assert_eq!(outcome.coverage, Coverage::Complete);
        assert!(outcome.races.is_empty() && outcome.ordered.is_empty() && outcome.failures.is_empty());
    }
}

#[test]
fn dependent_writes_need_every_order() {
    for n in [1, 2, 3, 4] {
        let writes = "store 4, @x, 1\n".repeat(n);
        let (outcome, classes) = dpor_classes(&threads("global x: 4\n", &[&writes, &writes]));
        assert_eq!(classes, binomial(2 * n, n), "{n} writes");
        assert_eq!(outcome.statistics.executions, binomial(2 * n + 1, n) as u64, "{n} writes");
        assert_eq!(outcome.races.len(), n * n);
        assert!(outcome.races.values().all(|r| r.confirmed && r.witness.adjacent));
    }
}

/// Each thread executes its start, its write and its exit; the second may start once it is created.
#[test]
fn plain_search_runs_every_interleaving() {
    let outcome =
        with(&threads("global x: 4\nglobal y: 4\n", &["store 4, @x, 1", "store 4, @y, 1"]), ReductionName::None);
    let reduced = dpor(&threads("global x: 4\nglobal y: 4\n", &["store 4, @x, 1", "store 4, @y, 1"]));
    assert_eq!(outcome.coverage, Coverage::Complete);
    assert!(outcome.statistics.executions > reduced.statistics.executions);
    assert_eq!(outcome.statistics.executions, 69);
}

/// The indexer from the paper on dynamic partial-order reduction: threads insert into a hash table by compare-and-swap.
/// Up to 11 threads none collide; each further one doubles the choices three times.
#[test]
fn indexer() {
    let body = "
      goto next
    next:
      %m = phi [entry: 0, inserted: %m1]
      %more = slt 32 %m, 4
      branch %more, insert, done
    insert:
      %m1 = add 32 %m, 1
      %m11 = mul 32 %m1, 11
      %w = add 32 %m11, %tid
      %w7 = mul 32 %w, 7
      %h0 = urem 32 %w7, 128
      goto try
    try:
      %h = phi [insert: %h0, occupied: %h1]
      %slot = offset @table, %h, 4, 0
      %old, %ok = cas 4 seq_cst seq_cst, %slot, 0, %w
      branch %ok, inserted, occupied
    occupied:
      %next = add 32 %h, 1
      %h1 = urem 32 %next, 128
      goto try
    inserted:
      goto next
    done:";
    for (count, executions, classes) in [(2, 1, 1), (11, 1, 1), (12, 27, 8), (13, 729, 64)] {
        let (outcome, seen) = dpor_classes(&copies(count, "global table: 512\n", body));
        assert_eq!((outcome.statistics.executions, seen), (executions, classes), "{count} threads");
        assert_eq!(outcome.coverage, Coverage::Complete);
        assert!(outcome.races.is_empty() && outcome.failures.is_empty());
    }
}

/// The file system of the same paper: each thread takes an inode and, under its lock, the first free block. Up to 13
/// threads no two want the same block; each further one doubles the choices.
#[test]
fn file_system() {
    let body = "
      %i = urem 32 %tid, 32
      %locki = offset @locki, %i, 8, 0
      lock %locki
      %inode = offset @inode, %i, 4, 0
      %known = load 4, %inode
      %taken = ne 32 %known, 0
      branch %taken, done, search
    search:
      %i2 = mul 32 %i, 2
      %b0 = urem 32 %i2, 26
      goto try
    try:
      %b = phi [search: %b0, full: %b1]
      %lockb = offset @lockb, %b, 8, 0
      lock %lockb
      %flag = offset @busy, %b, 4, 0
      %busy = load 4, %flag
      branch %busy, full, free
    full:
      unlock %lockb
      %next = add 32 %b, 1
      %b1 = urem 32 %next, 26
      goto try
    free:
      store 4, %flag, 1
      %number = add 32 %b, 1
      store 4, %inode, %number
      unlock %lockb
      goto done
    done:
      unlock %locki";
    let globals = "global locki: 256\nglobal inode: 128\nglobal lockb: 208\nglobal busy: 104\n";
    for (count, executions, classes) in [(2, 1, 1), (13, 1, 1), (14, 3, 2), (16, 27, 8), (18, 243, 32)] {
        let (outcome, seen) = dpor_classes(&copies(count, globals, body));
        assert_eq!((outcome.statistics.executions, seen), (executions, classes), "{count} threads");
        assert!(outcome.races.is_empty() && outcome.failures.is_empty());
        assert_eq!(outcome.ordered.is_empty(), count < 14, "{count} threads");
    }
}

fn philosophers(count: usize, polite: bool) -> String {
    let bodies: Vec<String> = (0..count)
        .map(|i| {
            let (left, right) = (8 * i, 8 * ((i + 1) % count));
            let (first, second) = if polite { (left.min(right), left.max(right)) } else { (left, right) };
            format!("lock @forks+{first}\nlock @forks+{second}\nunlock @forks+{second}\nunlock @forks+{first}")
        })
        .collect();
    threads(&format!("global forks: {}\n", 8 * count), &bodies)
}

#[test]
fn philosophers_deadlock_unless_polite() {
    for count in [2, 3] {
        let outcome = dpor(&philosophers(count, false));
        assert_eq!(outcome.failures.len(), 1, "{count} philosophers");
        assert_eq!(outcome.failures[0].kind, FailureKind::Deadlock);
        assert_eq!(outcome.failures[0].involved.len(), count + 1, "all philosophers, and main which joins them");
        assert!(outcome.statistics.deadlocked >= 1);
        let outcome = dpor(&philosophers(count, true));
        assert!(outcome.failures.is_empty());
        assert_eq!((outcome.statistics.deadlocked, outcome.coverage), (0, Coverage::Complete));
    }
}

#[test]
fn locked_increments_do_not_race_and_unlocked_ones_do() {
    let increment = "%v = load 4, @x\n%w = add 32 %v, 1\nstore 4, @x, %w\n";
    let locked = format!("lock @m\n{increment}unlock @m\n");
    let globals = "global x: 4\nglobal m: 40\n";
    let (outcome, classes) = dpor_classes(&copies(3, globals, &locked));
    assert!(outcome.races.is_empty());
    assert_eq!((outcome.statistics.executions, classes), (26, 6), "the orders of three critical sections");
    assert_eq!(outcome.ordered.len(), 9, "load and store, store and store of each two of three threads");
    let outcome = dpor(&copies(2, globals, increment));
    assert_eq!(outcome.races.len(), 3);
    assert!(outcome.races.values().all(|r| r.confirmed));
}

/// Both threads fail in every schedule, but a run shows only the first failure.
#[test]
fn a_failure_does_not_hide_another() {
    let outcome =
        dpor(&threads("global x: 4\nglobal y: 4\n", &["store 4, @x, 1\nassert 0", "store 4, @y, 1\nassert 0"]));
    assert_eq!(outcome.failures.len(), 2);
    assert!(outcome.failures.iter().all(|f| f.kind == FailureKind::Assertion));
    // One run shows the other failure, for each failure two schedules with fewer switches are tried, and one run confirms.
    assert_eq!((outcome.statistics.executions, outcome.statistics.confirmations), (1, 7));
}

/// The second thread learns through a relaxed flag that the first has written. Nothing orders the two accesses, and
/// they cannot be brought side by side.
#[test]
fn a_race_through_a_relaxed_flag() {
    let writer = "store 4, @x, 1\nstore 4 relaxed, @flag, 1";
    let reader = "%f = load 4 relaxed, @flag\nbranch %f, read, end\nread:\n%v = load 4, @x\ngoto end\nend:";
    let outcome = dpor(&threads("global x: 4\nglobal flag: 4\n", &[writer, reader]));
    assert_eq!(outcome.races.len(), 1);
    let race = outcome.races.values().next().unwrap();
    assert!(race.confirmed && !race.witness.adjacent && outcome.weak_atomics);
    let (writer, reader) = (writer.replace("relaxed", "release"), reader.replace("relaxed", "acquire"));
    let outcome = dpor(&threads("global x: 4\nglobal flag: 4\n", &[&writer, &reader]));
    assert!(outcome.races.is_empty() && outcome.ordered.len() == 1);
}

/// The racing threads are the fourth and fifth of the first execution. The creation of the fourth does not lead to the
/// race, so the witness numbers the threads differently.
#[test]
fn a_witness_may_number_threads_differently() {
    let text = "
    global x: 4
    fn idle(%a) {
    entry:
      return
    }
    fn writer(%a) {
    entry:
      store 4, @x, 1
      return
    }
    fn first(%a) {
    entry:
      %h = create &idle, 0
      join %h
      return
    }
    fn second(%a) {
    entry:
      %h = create &writer, 0
      store 4, @x, 2
      join %h
      return
    }
    fn main() {
    entry:
      %a = create &first, 0
      %b = create &second, 0
      join %a
      join %b
      return 0
    }
    entry main";
    let outcome = dpor(text);
    assert_eq!(outcome.races.len(), 1);
    let race = outcome.races.values().next().unwrap();
    assert!(race.confirmed && race.witness.adjacent);
    let threads = [race.witness.first.thread, race.witness.second.thread];
    assert!(threads.contains(&ThreadId(2)) && threads.contains(&ThreadId(3)), "{threads:?}");
}

#[test]
fn bounds_stop_the_search_and_say_so() {
    let writes = "store 4, @x, 1\n".repeat(3);
    let text = threads("global x: 4\n", &[&writes, &writes]);
    let stopped = |options: Options| explore(&text, &options);
    let outcome = stopped(Options { max_executions: Some(5), ..Options::default() });
    assert_eq!((outcome.statistics.executions, outcome.coverage), (5, Coverage::Stopped(StopReason::Executions)));
    let all = stopped(Options::default()).statistics.executions;
    let outcome = stopped(Options { max_executions: Some(all), ..Options::default() });
    assert_eq!((outcome.statistics.executions, outcome.coverage), (all, Coverage::Complete), "the bound is not met");
    let outcome = stopped(Options { stop_at_first: true, ..Options::default() });
    assert_eq!((outcome.statistics.executions, outcome.coverage), (1, Coverage::Stopped(StopReason::FirstFound)));
    let outcome =
        stopped(Options { budget: Budget::new(Some(Duration::ZERO), None, Interrupt::new()), ..Options::default() });
    assert_eq!((outcome.statistics.executions, outcome.coverage), (0, Coverage::Stopped(StopReason::Deadline)));
    let spin = "goto again\nagain:\n%f = load 4 seq_cst, @x\nbranch %f, end, again\nend:";
    let program = Program::parse(&threads("global x: 4\n", &[spin])).unwrap();
    let limits = testkit::Options { max_steps: 100, ..testkit::Options::default() };
    let mut endless = Interpreter::with_options(program, limits).unwrap();
    let outcome = search(&mut endless, &Options::default(), &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::StepLimit));
}
