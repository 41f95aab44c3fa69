//! What the pruning reductions omit, on the papers' programs and on others with known numbers.

#[path = "support/threads.rs"]
mod threads;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use explore::{Coverage, FailureKind, Options, Outcome, ReductionName, search};
use facts::Facts;
use outlook::Summary;
use program::Program;

use testkit::Interpreter;
use threads::threads;

use ReductionName::{Best, Dhtc, Dpor, DporSleep, Optimal, Pdp};

fn explore(text: &str, reduction: ReductionName) -> Outcome {
    let program = Program::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let summary = Summary::new(Arc::new(Facts::of(program.clone())), &BTreeSet::new()).unwrap();
    assert_eq!(summary.obstacle(), None);
    let options = Options { reduction, outlook: Some(Arc::new(summary)), ..Options::default() };
    let outcome = search(&mut Interpreter::new(program).unwrap(), &options, &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Complete);
    outcome
}

fn executions(text: &str, reduction: ReductionName) -> u64 {
    explore(text, reduction).statistics.executions
}

fn increment(variable: &str, lock: &str, name: &str) -> String {
    format!(
        "lock @{lock}\n%{name} = load 4, @{variable}\n%{name}x = add 32 %{name}, 1\nstore 4, @{variable}, %{name}x\n\
         unlock @{lock}\n"
    )
}

/// Paper 000's Figure 1: the second thread touches `y` under another lock than the first, but only if it read `x`
/// before the first thread changed it. Additional locks protect additional variables that both threads change at their
/// ends, once per iteration.
fn figure1(locks: usize, iterations: usize) -> String {
    let mut globals = String::from("global x: 4\nglobal y: 4\nglobal z: 4\nglobal f1: 40\nglobal f2: 40\n");
    for extra in 0..locks {
        writeln!(globals, "global g{extra}: 40\nglobal v{extra}: 4").unwrap();
    }
    let mut first = increment("x", "f2", "ax") + &increment("y", "f2", "ay");
    let mut second = String::from("lock @f1\nlock @f2\n%bz = load 4, @z\n%bzx = add 32 %bz, 1\nstore 4, @z, %bzx\n");
    second += "%c = load 4, @x\nunlock @f2\nunlock @f1\nlock @f1\n%c0 = eq 32 %c, 0\nbranch %c0, use, after\nuse:\n";
    second += "%by = load 4, @y\n%byx = add 32 %by, 1\nstore 4, @y, %byx\ngoto after\nafter:\nunlock @f1\n";
    for round in 0..iterations {
        first += &increment("z", "f1", &format!("az{round}"));
        for extra in 0..locks {
            first += &increment(&format!("v{extra}"), &format!("g{extra}"), &format!("a{extra}r{round}"));
            second += &increment(&format!("v{extra}"), &format!("g{extra}"), &format!("b{extra}r{round}"));
        }
    }
    threads(&globals, &[first, second])
}

/// The race is found, backtracking points are omitted, and the share of `dpor`'s executions that remains is at most the
/// paper's: 14 of 89 and 68 of 233.
#[test]
fn running_example_of_paper_000() {
    for ((locks, iterations), (part, of)) in [((1, 1), (14, 89)), ((1, 2), (14, 89)), ((2, 1), (68, 233))] {
        let text = figure1(locks, iterations);
        let [dpor, pdp, best] = [Dpor, Pdp, Best].map(|reduction| explore(&text, reduction));
        assert!(!dpor.races.is_empty());
        assert!(dpor.races.keys().eq(pdp.races.keys()) && dpor.races.keys().eq(best.races.keys()));
        let (all, left) = (dpor.statistics.executions, pdp.statistics.executions);
        assert!(left * of <= all * part, "{left} of {all}: {locks} locks, {iterations} iterations");
        assert!(pdp.statistics.skipped_backtracks > 0 && pdp.statistics.race_free_yes > 0);
        assert!(pdp.statistics.race_free_checks >= pdp.statistics.race_free_yes);
        assert!(best.statistics.executions <= left);
    }
}

/// Paper 003's launch control: task threads report under a lock, and two of them share a word that no lock protects.
fn launch_control(tasks: usize) -> String {
    let body = |task: usize| {
        let mut body = increment("status", "m", "s") + &increment("log", "n", "l");
        if task < 2 {
            writeln!(body, "store 4, @armed, {task}").unwrap();
        }
        body
    };
    let globals = "global status: 4\nglobal log: 4\nglobal armed: 4\nglobal m: 40\nglobal n: 40\n";
    threads(globals, &(0..tasks).map(body).collect::<Vec<_>>())
}

/// The executions of `dhtc` and `best` stay constant from two to ten threads, while those of `dpor-sleep` grow.
#[test]
fn launch_control_stays_flat() {
    let mut rows = String::from("| threads | `dpor-sleep` | `dhtc` | `best` |\n|---|---|---|---|\n");
    let mut before = 0;
    for tasks in 2..=10 {
        let text = launch_control(tasks);
        let [dhtc, best] = [Dhtc, Best].map(|reduction| explore(&text, reduction));
        assert_eq!((dhtc.races.len(), best.races.len()), (1, 1), "{tasks} tasks");
        let (dhtc, best) = (dhtc.statistics.executions, best.statistics.executions);
        assert!(dhtc <= 2 && best <= 2, "{tasks} tasks: {dhtc}, {best}");
        let sleep = if tasks <= 4 {
            let sleep = executions(&text, DporSleep);
            assert!(sleep > before * 2, "{tasks} tasks: {sleep}");
            before = sleep;
            sleep.to_string()
        } else {
            "more".to_owned()
        };
        writeln!(rows, "| {tasks} | {sleep} | {dhtc} | {best} |").unwrap();
    }
    let page = include_str!("../../../docs/reductions.md");
    assert!(page.contains(&rows), "docs/reductions.md should have this table:\n{rows}");
}

/// Threads that touch variables only under their locks: one execution, however many there are.
#[test]
fn locked_variables_need_one_execution() {
    for count in [2, 8, 64] {
        let text = threads("global x: 4\nglobal m: 40\n", &vec![increment("x", "m", "v"); count]);
        for reduction in [Pdp, Dhtc, Best] {
            let outcome = explore(&text, reduction);
            assert_eq!(outcome.statistics.executions, 1, "{reduction}, {count} threads");
            assert!(outcome.races.is_empty() && outcome.failures.is_empty());
        }
    }
    let ten: String = (0..10).map(|round| increment("x", "m", &format!("v{round}"))).collect();
    let text = threads("global x: 4\nglobal m: 40\n", &[ten.clone(), ten]);
    assert_eq!(executions(&text, Best), 1);
}

/// Philosophers who all take their left fork first can deadlock; with a global fork order they cannot.
#[test]
fn philosophers_are_found_in_deadlock() {
    let dinner = |left: &dyn Fn(usize) -> (usize, usize)| {
        let body = |p: usize| {
            let (a, b) = left(p);
            format!("lock @f{a}\nlock @f{b}\nunlock @f{b}\nunlock @f{a}\n")
        };
        threads("global f0: 40\nglobal f1: 40\nglobal f2: 40\n", &(0..3).map(body).collect::<Vec<_>>())
    };
    let cyclic = dinner(&|p| (p, (p + 1) % 3));
    let ordered = dinner(&|p| (p.min((p + 1) % 3), p.max((p + 1) % 3)));
    for reduction in [Dpor, DporSleep, Pdp, Dhtc, Optimal, Best] {
        let deadlocks = explore(&cyclic, reduction).failures;
        assert_eq!(deadlocks.iter().map(|f| f.kind).collect::<Vec<_>>(), [FailureKind::Deadlock], "{reduction}");
        assert!(explore(&ordered, reduction).failures.is_empty(), "{reduction}");
    }
    assert_eq!(executions(&ordered, Best), 1);
    assert!(executions(&ordered, Optimal) > 1);
}

/// The finding depends on an event of a subspace that has no finding itself: `q` reads the flag only if it passed the
/// critical section first, and may race only if the flag was not yet stored.
#[test]
fn pruning_keeps_reversals() {
    let first = "store 4, @x, 1\nstore 4 seq_cst, @flag, 1\n".to_owned();
    let second = "lock @m\nstore 4, @turn, 1\nunlock @m\n".to_owned();
    let third = "lock @m\n%t = load 4, @turn\nunlock @m\nbranch %t, end, look\nlook:\n%f = load 4 seq_cst, @flag\n\
                 branch %f, end, race\nrace:\nstore 4, @x, 2\ngoto end\nend:\n"
        .to_owned();
    let globals = "global x: 4\nglobal flag: 4\nglobal turn: 4\nglobal m: 40\n";
    for bodies in [[first.clone(), second.clone(), third.clone()], [second, first, third]] {
        let text = threads(globals, &bodies);
        let expected = explore(&text, Dpor).races;
        assert_eq!(expected.len(), 1);
        for reduction in [DporSleep, Pdp, Dhtc, Optimal, Best] {
            assert!(explore(&text, reduction).races.keys().eq(expected.keys()), "{reduction}");
        }
    }
}

/// An access that was already executed can still race when no access of its kind is ahead: a release that no thread
/// acquires orders nothing.
#[test]
fn accesses_that_were_executed_still_race() {
    let first = "store 4, @x, 1\nstore 4 seq_cst, @flag, 0\n".to_owned();
    let second = "%r1, %s1 = cas 4 release relaxed, @flag, 0, 1\n%r2, %s2 = cas 4 release relaxed, @flag, 0, 1\n\
                  branch %s2, race, end\nrace:\nstore 4, @x, 2\ngoto end\nend:\n"
        .to_owned();
    let text = threads("global x: 4\nglobal flag: 4\n", &[first, second]);
    for reduction in [Dpor, DporSleep, Pdp, Dhtc, Optimal, Best] {
        assert_eq!(explore(&text, reduction).races.len(), 1, "{reduction}");
    }
}

/// A lock acquired twice and released once is still held: acquiring another one then closes a cycle.
#[test]
fn a_lock_taken_twice_is_held_until_it_is_given_back_twice() {
    let first = "lock @r\nlock @r\nunlock @r\nlock @m\nunlock @m\nunlock @r\n".to_owned();
    let second = "lock @m\nlock @r\nunlock @r\nunlock @m\n".to_owned();
    let text = threads("global r: 40\nglobal m: 40\n", &[first, second]);
    let text = text.replace("fn main() {\nentry:\n", "fn main() {\nentry:\n  lock_init @r recursive\n");
    for reduction in [Dpor, DporSleep, Pdp, Dhtc, Optimal, Best] {
        let deadlocks = explore(&text, reduction).failures;
        assert_eq!(deadlocks.iter().map(|f| f.kind).collect::<Vec<_>>(), [FailureKind::Deadlock], "{reduction}");
    }
}
