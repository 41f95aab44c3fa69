//! The mechanics of `explore` as a user meets them: exact counts, helpers, checkpoints, interruption, bounds, sampling.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::json_without_times;
use serde_json::Value;

/// A folder to work in, and a program of `tests/search`.
struct Desk {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Desk {
    fn new(program: &str) -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/search").join(program);
        Self { folder: tempfile::tempdir().unwrap(), program }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.arg("explore").arg(&self.program).args(args).args(["--json"]).current_dir(self.folder.path());
        command
    }

    /// The status and the document.
    fn explore(&self, args: &[&str]) -> (i32, Value) {
        let output = self.command(args).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let document = serde_json::from_str(&text).unwrap_or_else(|e| {
            panic!("{e}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
        });
        (output.status.code().unwrap(), document)
    }

    /// Standard error of a call that is refused.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a search that writes checkpoints to `c`, and waits for the first.
    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        let mut child = command.args(["--checkpoint", "c"]).stdout(Stdio::piped()).spawn().unwrap();
        common::wait_until("there is a checkpoint", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended without a checkpoint");
            self.file("c").exists()
        });
        child
    }
}

fn executions(document: &Value) -> u64 {
    document["engines"][0]["executions"].as_u64().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

const OPTIMAL: [&str; 2] = ["--reduction", "optimal"];

#[test]
fn each_class_is_executed_once() {
    for (program, n, classes) in [("readers.c", 4, 16), ("readers.c", 10, 1024), ("lastzero.c", 8, 704)] {
        let cflags = format!("--cflags=-DN={n}");
        let (status, document) = Desk::new(program).explore(&[&cflags, OPTIMAL[0], OPTIMAL[1]]);
        assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{program}, {n}");
        assert_eq!(executions(&document), classes, "{program}, {n}");
        assert_eq!(document["engines"][0]["blocked"], 0, "{program}, {n}");
    }
}

/// What is always done under one lock is one execution, whatever the number of threads.
#[test]
fn locked_variables_are_one_execution() {
    for (reduction, threads) in
        [("best", 2), ("best", 16), ("best", 64), ("pdp", 2), ("pdp", 64), ("dhtc", 2), ("dhtc", 8)]
    {
        let cflags = format!("--cflags=-DN={threads}");
        let (status, document) = Desk::new("locked.c").explore(&[&cflags, "--reduction", reduction]);
        assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{reduction}, {threads} threads");
        assert_eq!(executions(&document), 1, "{reduction}, {threads} threads");
    }
}

/// Paper 000's Figure 1, with variants: the race is found, backtracks are skipped, and the part of `dpor`'s executions that
/// is left is at most the paper's: 14 of 89 and 68 of 233.
#[test]
fn the_running_example_of_paper_000() {
    let desk = Desk::new("figure1.c");
    for ((locks, rounds), (part, of)) in [((1, 1), (14, 89)), ((1, 2), (14, 89)), ((2, 1), (68, 233))] {
        let cflags = format!("--cflags=-DLOCKS={locks} -DROUNDS={rounds}");
        let engine = |reduction: &str| {
            let (status, document) = desk.explore(&[&cflags, "--reduction", reduction]);
            assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{reduction}, {cflags}");
            assert_eq!(document["engines"][0]["coverage"], "complete", "{reduction}, {cflags}");
            document["engines"][0].clone()
        };
        let [dpor, pdp, best] = ["dpor", "pdp", "best"].map(engine);
        let number = |engine: &Value, name: &str| engine[name].as_u64().unwrap();
        let (all, left) = (number(&dpor, "executions"), number(&pdp, "executions"));
        assert!(left * of <= all * part, "{left} of {all}: {cflags}");
        assert!(number(&best, "executions") <= left, "{cflags}");
        assert!(number(&pdp, "skipped_backtracks") > 0, "{cflags}");
        assert!(number(&pdp, "race_free_checks") >= number(&pdp, "race_free_yes"), "{cflags}");
    }
}

/// Paper 003's launch control: executions of `dhtc` and `best` stay as they are from two to ten threads, while those of
/// `dpor-sleep` grow. The table is the one in `docs/reductions.md`.
#[test]
fn launch_control_stays_flat() {
    let desk = Desk::new("launch_control.c");
    let mut rows = String::from("| threads | `dpor-sleep` | `dhtc` | `best` |\n|---|---|---|---|\n");
    let mut before = 0;
    for tasks in 2..=10 {
        let cflags = format!("--cflags=-DTASKS={tasks}");
        let count = |reduction: &str| {
            let (status, document) = desk.explore(&[&cflags, "--reduction", reduction]);
            assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{reduction}, {tasks} threads");
            executions(&document)
        };
        let (dhtc, best) = (count("dhtc"), count("best"));
        assert!(dhtc <= 2 && best <= 2, "{tasks} threads: {dhtc}, {best}");
        let sleep = if tasks <= 4 {
            let sleep = count("dpor-sleep");
            assert!(sleep > before * 2, "{tasks} threads: {sleep}");
            before = sleep;
            sleep.to_string()
        } else {
            "more".to_owned()
        };
        rows += &format!("| {tasks} | {sleep} | {dhtc} | {best} |\n");
    }
    let page = include_str!("../../../docs/reductions.md");
    assert!(page.contains(&rows), "docs/reductions.md should have this table:\n{rows}");
}

/// Values left open, loops that wait, and initialisation once: `best` and `optimal` leave out nothing that matters there.
#[test]
fn nothing_that_matters_is_left_out() {
    let kinds = |document: &Value| -> Vec<String> {
        let errors = document["errors"].as_array().unwrap();
        errors.iter().map(|error| error["kind"].as_str().unwrap().to_owned()).collect()
    };
    for reduction in ["best", "optimal"] {
        let explore = |program: &str, cflags: &str| {
            Desk::new(program).explore(&["--reduction", reduction, "--max-steps", "400", cflags]).1
        };
        for program in ["../bounded/nondet_int.c", "../twins/choose_branch.c", "../twins/cxx_static_local.cpp"] {
            assert_eq!(explore(program, "--cflags=-DRACY")["verdict"], "race", "{reduction}, {program}");
        }
        for program in ["../failures/choose_deadlock.c", "../failures/spin_forever.c"] {
            assert_eq!(kinds(&explore(program, "--cflags=-O0")), ["deadlock"], "{reduction}, {program}");
        }
        let document = explore("../static/recursive_mutex_function.c", "--cflags=-DRACY");
        assert_eq!(document["verdict"], "race", "{reduction}");
    }
}

#[test]
fn jobs_change_nothing_but_the_time() {
    for (program, flags, reduction, most) in [
        ("lastzero.c", "--cflags=-DN=6", "dpor", "700"),
        ("lastzero.c", "--cflags=-DN=11", "optimal", "7168"),
        ("lastzero.c", "--cflags=-DN=11", "optimal", "7000"),
        ("rare.c", "--cflags=-O0", "optimal", "700"),
        ("rare.c", "--cflags=-O0", "dpor", "700"),
        ("polling.c", "--cflags=-O0", "best", "700"),
    ] {
        let desk = Desk::new(program);
        let report = |jobs: &str| {
            let bounds = ["--max-steps", "90", "--max-executions", most];
            let (status, document) =
                desk.explore(&[&bounds[..], &[flags, "--reduction", reduction, "-j", jobs]].concat());
            (status, json_without_times(&document.to_string()))
        };
        let expected = report("1");
        for jobs in ["2", "3"] {
            assert_eq!(report(jobs), expected, "{program}, {reduction}, {most}, {jobs} jobs");
        }
    }
    let output = Desk::new("rare.c").command(&["--reduction", "dpor", "-j", "2"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("only one with `--reduction best` or `optimal` can be split"), "{text}");
    let text = Desk::new("rare.c").refused(&["-j", "0"]);
    assert!(text.contains("'--jobs <N>'"), "{text}");
}

#[test]
fn killed_and_gone_on_with() {
    let desk = Desk::new("lastzero.c");
    let args = ["--cflags=-DN=11", OPTIMAL[0], OPTIMAL[1]];
    let (_, expected) = desk.explore(&args);
    assert_eq!(executions(&expected), 7168);
    let mut child = desk.start(&args);
    child.kill().unwrap();
    child.wait().unwrap();
    for jobs in ["1", "2"] {
        let (status, document) = desk.explore(&[&args[..], &["--resume", "c", "-j", jobs]].concat());
        assert_eq!(status, 0);
        assert_eq!(json_without_times(&document.to_string()), json_without_times(&expected.to_string()), "{jobs} jobs");
    }
}

#[test]
fn interrupted_it_reports_what_it_has_and_can_go_on() {
    let desk = Desk::new("lastzero.c");
    let args = OPTIMAL;
    let child = desk.start(&args);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{document}");
    let engine = &document["engines"][0];
    assert_eq!((engine["coverage"].as_str(), engine["reason"].as_str()), (Some("stopped"), Some("interrupted")));
    assert_eq!(document["scope"]["bounded"], true);
    let done = executions(&document);
    assert!((1..147_456).contains(&done), "{done}");
    let more = (done + 100).to_string();
    let (status, document) = desk.explore(&[&args[..], &["--resume", "c", "--max-executions", &more]].concat());
    assert_eq!((status, executions(&document)), (3, done + 100));
}

#[test]
fn files_that_are_no_checkpoint_of_this_search_are_refused() {
    let desk = Desk::new("lastzero.c");
    let args = ["--cflags=-DN=4", OPTIMAL[0], OPTIMAL[1], "--max-executions", "3"];
    let (status, _) = desk.explore(&[&args[..], &["--checkpoint", "c"]].concat());
    assert_eq!(status, 3);
    let resumed = |args: &[&str]| desk.refused(&[args, &["--resume", "c"]].concat());
    let text = resumed(&["--cflags=-DN=5", OPTIMAL[0], OPTIMAL[1]]);
    assert!(text.contains("`c` is not a checkpoint of this program"), "{text}");
    let text = resumed(&["--cflags=-DN=4", OPTIMAL[0], OPTIMAL[1], "--max-preemptions", "1"]);
    assert!(text.contains("another reduction or another bound"), "{text}");
    let bytes = std::fs::read(desk.file("c")).unwrap();
    std::fs::write(desk.file("c"), &bytes[..bytes.len() / 2]).unwrap();
    let text = resumed(&args);
    assert!(text.contains("`c` is cut off") && text.contains("help: "), "{text}");
    let mut newer = bytes.clone();
    newer[8] = 99;
    std::fs::write(desk.file("c"), newer).unwrap();
    let text = resumed(&args);
    assert!(text.contains("a raceproof checkpoint of version 99"), "{text}");
    std::fs::write(desk.file("c"), "hello").unwrap();
    let text = resumed(&args);
    assert!(text.contains("is not a raceproof checkpoint"), "{text}");
    let text = desk.refused(&[&args[..], &["--checkpoint", "missing/c"]].concat());
    assert!(text.contains("cannot write `missing/c`"), "{text}");
}

#[test]
fn preemptions_are_bounded() {
    let desk = Desk::new("rare.c");
    let with = |bound: &str| {
        let (status, document) = desk.explore(&["--max-preemptions", bound]);
        let engine = document["engines"][0].clone();
        (status, engine["coverage"].as_str().unwrap().to_owned(), engine["reason"].clone())
    };
    let cut = Value::from("schedules with more preemptions than allowed were left out");
    assert_eq!(with("1"), (3, "stopped".to_owned(), cut.clone()));
    assert_eq!(with("2"), (1, "stopped".to_owned(), cut));
    assert_eq!(with("9"), (1, "complete".to_owned(), Value::Null), "the bound left out nothing");
}

#[test]
fn sampling_finds_races_and_proves_nothing() {
    let args = |how, runs, seed| ["--sample", how, "--runs", runs, "--seed", seed];
    for how in ["random", "pos", "pct:3"] {
        let (status, document) = Desk::new("rare.c").explore(&args(how, "2000", "7"));
        assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{how}");
        let again = Desk::new("rare.c").explore(&args(how, "2000", "7")).1;
        assert_eq!(json_without_times(&document.to_string()), json_without_times(&again.to_string()), "{how}");
        let (status, document) = Desk::new("lastzero.c").explore(&args(how, "50", "8"));
        assert_eq!((status, document["verdict"].as_str()), (3, Some("unknown")), "{how}");
        assert_eq!(executions(&document), 50);
        let reason = document["engines"][0]["reason"].as_str().unwrap();
        assert!(reason.ends_with(&format!("50 runs by `{how}` with the seed 8")), "{reason}");
    }
    let text = Desk::new("rare.c").refused(&["--sample", "pct:0", "--runs", "5"]);
    assert!(text.contains("expected `random`, `pos`, or `pct:d`"), "{text}");
}

/// The loop is cut where it does not end; what comes after it is found all the same.
#[test]
fn a_polling_loop_hides_nothing() {
    for reduction in explore::ReductionName::ALL.into_iter().skip(1) {
        let name = reduction.to_string();
        let (status, document) = Desk::new("polling.c").explore(&["--reduction", &name, "--max-steps", "40"]);
        assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{name}");
        assert_eq!(document["errors"][0]["kind"], "assertion", "{name}");
    }
    let (status, document) = Desk::new("polling.c").explore(&["--max-steps", "4"]);
    assert_eq!((status, document["verdict"].as_str()), (3, Some("unknown")), "no execution comes to its end");
}

/// Whoever comes first gets the byte or the connection: calls that wait are reversed with all that may have kept them
/// waiting. The reductions that execute one run of each class agree on how many there are.
#[test]
fn calls_that_wait_come_in_every_order() {
    let programs = [
        ("pipe_order.c", 10),
        ("accept_order.c", 15),
        ("poll_in_vain.c", 5),
        ("epoll_order.c", 9),
        ("epoll_in_vain.c", 5),
        ("poll_nested.c", 5),
        ("told_by_chance.c", 6),
    ];
    for (program, classes) in programs {
        for reduction in explore::ReductionName::ALL.into_iter().skip(1) {
            let name = reduction.to_string();
            let (status, document) = Desk::new(program).explore(&["--reduction", &name]);
            assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{program}, {name}");
            let engine = &document["engines"][0];
            assert_eq!(engine["coverage"], "complete", "{program}, {name}");
            if name == "optimal" || name == "dpor-sleep" {
                let blocked = engine["blocked"].as_u64().unwrap_or(0);
                assert_eq!(executions(&document) - blocked, classes, "{program}, {name}");
            }
        }
    }
}

/// A thread that is alone may do as much as it likes: only what it does first is recorded.
#[test]
fn serial_stretches_make_few_events() {
    let desk = Desk::new("serial.c");
    let (status, document) = desk.explore(&["--cflags=-USHARED"]);
    assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{document}");
    let events = document["engines"][0]["transitions"].as_u64().unwrap();
    assert!((30_000..60_000).contains(&events), "{events}");

    // What lives on has its name, and what races is found and replayed.
    let (status, document) = desk.explore(&["--cflags=-DSHARED"]);
    assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{document}");
    let text = document.to_string();
    assert!(text.contains("`main::local`") && text.contains("`heap@"), "{text}");
    let witness = document["pairs"][0]["witness"].as_str().unwrap();
    let mut replay = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    let replayed = replay.args(["replay", witness]).current_dir(desk.folder.path()).output().unwrap();
    assert_eq!(replayed.status.code(), Some(1), "{}", String::from_utf8_lossy(&replayed.stderr));
}

/// A thread that ended without being joined is ordered before nothing.
#[test]
fn a_stretch_is_serial_only_after_a_join() {
    let (status, document) = Desk::new("serial.c").explore(&["--cflags=-DRACY -DROUNDS=3000"]);
    assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{document}");
    assert!(document["pairs"].to_string().contains("total"), "{document}");
}

/// A loop that waits for ever is seen, however long the thread has been alone.
#[test]
fn a_thread_that_waits_for_itself_is_stuck() {
    let (status, document) = Desk::new("serial.c").explore(&["--cflags=-DENDLESS"]);
    assert_eq!((status, document["errors"][0]["kind"].as_str()), (1, Some("deadlock")), "{document}");
    assert!(document["errors"].to_string().contains("`never`"), "{document}");
}

/// A loop around a wait with a time limit has an end, if something else ends it.
#[test]
fn time_limits_end_waits_a_few_times_in_a_row() {
    let desk = Desk::new("time_limits.c");
    let (status, document) = desk.explore(&[]);
    assert_eq!((status, document["engines"][0]["executions"].as_u64()), (0, Some(6)), "{document}");
    assert!(document["assumptions"].to_string().contains("A18"), "{document}");
    // Time alone passes as often as the program likes.
    let (status, document) = desk.explore(&["--cflags=-DSLEEPS"]);
    assert_eq!(status, 0, "{document}");
    // Where only time can help it does, and nothing is promised.
    let (status, document) = desk.explore(&["--cflags=-DTICKS"]);
    assert!(document.to_string().contains("more than five times in a row"), "{document}");
    assert_eq!((status, document["errors"].as_array().map(Vec::len)), (3, Some(0)), "{document}");
}

/// Whether a wait may end by its limit is the thread's own past, whatever was ready before.
#[test]
fn waits_expire_by_the_past_of_their_thread() {
    let desk = Desk::new("overdue.c");
    for reduction in ["optimal", "best"] {
        let (status, document) = desk.explore(&["--reduction", reduction]);
        assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{reduction}: {document}");
    }
}

/// Where only time can help, a race is found all the same, and its schedule shows it.
#[test]
fn a_race_after_many_time_outs_is_confirmed() {
    let desk = Desk::new("ticks.c");
    let (status, document) = desk.explore(&[]);
    assert!(document.to_string().contains("more than five times in a row"), "{document}");
    assert_eq!((status, document["verdict"].as_str()), (3, Some("unknown")), "{document}");
    let (status, document) = desk.explore(&["--cflags=-DRACY"]);
    assert_eq!((status, document["verdict"].as_str()), (1, Some("race")), "{document}");
    let races: Vec<_> = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race").collect();
    assert!(races.len() == 1 && races[0]["confirmed"] == true, "{document}");
}

/// A call of which nothing is known leaves nothing open, unless some schedule reaches it.
#[test]
fn a_call_that_no_run_reaches_is_no_gap() {
    let desk = Desk::new("unreached.c");
    let (status, document) = desk.explore(&[]);
    assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{document}");
    // It is not there, so a run that reaches it crashes. Before that it might have done anything.
    let (status, document) = desk.explore(&["--cflags=-DREACHED"]);
    assert_eq!((status, document["errors"][0]["kind"].as_str()), (1, Some("crash")), "{document}");
    assert!(document.to_string().contains("calls `frobnicate`"), "{document}");
    assert!(document["pairs"].as_array().unwrap().iter().all(|pair| pair["verdict"] == "unknown"), "{document}");
}

/// A schedule is kept in and after loops that may wait.
#[test]
fn a_loop_that_ends_with_an_update_keeps_its_schedule() {
    let desk = Desk::new("kept_in_rounds.c");
    for reduction in ["none", "optimal", "best"] {
        let (status, document) = desk.explore(&["--reduction", reduction]);
        assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")), "{reduction}: {document}");
    }
}
