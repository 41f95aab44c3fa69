//! `raceproof static` on the command line: facts as text and for Graphviz, specifications of lock functions, functions
//! that are missing, and what is not modelled.

mod common;

use std::path::Path;

use common::{Folder, Run};
use serde_json::Value;

const QUEUE: &str = "#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth, peeks;
static void push(void) {
    pthread_mutex_lock(&lock);
    depth++;
    pthread_mutex_unlock(&lock);
    peeks++;
}
static void *worker(void *arg) {
    push();
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return depth;
}
";

/// A folder with one source file, `a.c`.
fn folder(source: &str) -> Folder {
    let folder = Folder::of(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nets").as_path());
    std::fs::write(folder.path().join("a.c"), source).expect("a source");
    folder
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr))
}

/// The pairs with this verdict: variable and reason.
fn pairs(document: &Value, verdict: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pairs = document["pairs"].as_array().expect("pairs").iter();
    pairs.filter(|p| p["verdict"] == verdict).map(|p| (text(&p["variable"]), text(&p["reason"]))).collect()
}

#[test]
fn facts_as_text() {
    let run = folder(QUEUE).raceproof(&["static", "a.c", "--emit", "facts"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let expected = "threads
  t0: one, in main
    t1: many, in worker, started at a.c:17
shared variables that are written
  depth
    a.c:20:12 read by t0: {}
    a.c:6:10 read by t1: {lock.__data}
    a.c:6:10 write by t1: {lock.__data}
  peeks
    a.c:8:10 read by t1: {}
    a.c:8:10 write by t1: {}
partitions of lock pointers
  a.c:5:5, a.c:7:5
";
    assert_eq!(run.stdout, expected);
}

#[test]
fn facts_for_graphviz() {
    let run = folder(QUEUE).raceproof(&["static", "a.c", "--emit", "facts-dot"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let graph = &run.stdout;
    assert!(graph.starts_with("digraph facts {") && graph.trim_end().ends_with('}'), "{graph}");
    for part in ["t1 [label=\"worker, started at a.c:17\", peripheries=2];", "t0 -> t1;", "label=\"push\""] {
        assert!(graph.contains(part), "{part} is missing in {graph}");
    }
}

#[test]
fn lock_functions_by_a_specification() {
    let source = "void enter(int *), leave(int *);
static int guard, value;
void poll(void) {
    enter(&guard);
    value++;
    leave(&guard);
}
";
    let folder = folder(source);
    let specification = "[[lock]]\nacquire = \"enter\"\nrelease = \"leave\"\n";
    std::fs::write(folder.path().join("locks.toml"), specification).expect("a specification");
    let with = folder.raceproof(&["static", "a.c", "--entry", "poll", "--locks", "locks.toml", "--json"]);
    assert_eq!(with.status, 0, "{}{}", with.stdout, with.stderr);
    let found = document(&with);
    assert!(
        pairs(&found, "absent").iter().any(|(v, why)| v == "value" && why.contains("both hold `guard`")),
        "{found}"
    );
    let without = folder.raceproof(&["static", "a.c", "--entry", "poll", "--json"]);
    assert_eq!(without.status, 3, "{}", without.stderr);
    assert!(pairs(&document(&without), "unknown").iter().any(|(variable, _)| variable == "value"));
    for (text, complaint) in [("[[lock]]\nacquire = 1\n", "locks.toml"), ("nonsense", "locks.toml")] {
        std::fs::write(folder.path().join("locks.toml"), text).expect("a specification");
        let refused = folder.raceproof(&["static", "a.c", "--entry", "poll", "--locks", "locks.toml"]);
        assert_eq!(refused.status, 2);
        assert!(refused.stderr.contains(complaint), "{}", refused.stderr);
    }
    let refused = folder.raceproof(&["static", "a.c", "--entry", "poll", "--locks", "nowhere.toml"]);
    assert_eq!((refused.status, refused.stderr.contains("nowhere.toml")), (2, true));
}

#[test]
fn missing_functions_are_named_and_the_rest_is_answered() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/static/missing/missing_tenth_of_functions.c");
    let folder = folder(&std::fs::read_to_string(path).expect("the program"));
    let found = document(&folder.raceproof(&["static", "a.c", "--json"]));
    let unknowns = found["unknowns"].as_array().expect("unknowns");
    for name in ["read_sensor", "send_alarm"] {
        assert!(unknowns.iter().any(|u| u["function"] == name), "{name} is not named in {unknowns:?}");
    }
    assert_eq!(unknowns.len(), 2, "{unknowns:?}");
    assert!(pairs(&found, "absent").iter().any(|(_, why)| why.contains("both hold `lock")), "{found}");
}

#[test]
fn what_is_not_modelled_does_not_hide_warnings() {
    let source = QUEUE
        .replace("#include <pthread.h>", "#include <pthread.h>\n#include <ucontext.h>\nstatic ucontext_t here;")
        .replace("    return depth;", "    getcontext(&here);\n    return depth;");
    let found = document(&folder(&source).raceproof(&["static", "a.c", "--json"]));
    assert!(pairs(&found, "absent").is_empty());
    let warnings = pairs(&found, "unknown");
    let (variable, why) = &warnings[0];
    assert!(variable == "peeks" && why.contains("neither holds a lock"), "{warnings:?}");
    let hindered: Vec<_> = warnings.iter().filter(|(_, why)| why.contains("getcontext")).collect();
    assert!(hindered.iter().any(|(v, why)| v == "depth" && why.contains("both hold `lock")), "{warnings:?}");
    assert!(warnings.iter().skip_while(|(_, why)| !why.contains("getcontext")).all(|(_, w)| w.contains("getcontext")));
}

#[test]
fn signals_are_no_obstacle() {
    let source = QUEUE
        .replace("#include <pthread.h>", "#include <pthread.h>\n#include <signal.h>\nstatic int interrupts;\nstatic void handle(int s) { interrupts = s; }")
        .replace("    return depth;", "    signal(SIGINT, handle);\n    pthread_kill(pthread_self(), 0);\n    return depth + interrupts;");
    let found = document(&folder(&source).raceproof(&["static", "a.c", "--json"]));
    assert!(pairs(&found, "absent").iter().any(|(variable, why)| variable == "depth" && why.contains("both hold")));
    assert!(pairs(&found, "unknown").iter().any(|(variable, _)| variable == "interrupts"), "handlers run at any time");
    assert_eq!(found["unknowns"].as_array().map(Vec::len), Some(0), "{}", found["unknowns"]);
}

#[test]
fn stats_tell_how_long_each_part_took() {
    let run = folder(QUEUE).raceproof(&["static", "a.c", "--json", "--stats"]);
    assert!(document(&run)["pairs"].is_array());
    let lines: Vec<(&str, &str)> = run.stderr.lines().filter_map(|line| line.split_once(": ")).collect();
    let (open, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(name, _)| name.starts_with("open, "));
    let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
    let phases = ["pointers", "control flow", "calls", "threads", "locks held", "accesses", "pairs", "ranking"];
    let figures = [
        "warnings that others imply",
        "pairs of lines in the rest",
        "classes of accesses",
        "pairs of classes",
        "variables with warnings",
    ];
    let expected: Vec<&str> = phases.into_iter().chain(figures).collect();
    assert_eq!(names, expected, "{}", run.stderr);
    // Each open pair of classes is kept open by one thing, and is at one object.
    let (_, pairs) = lines.iter().find(|(name, _)| *name == "pairs of classes").unwrap();
    let all: u64 = pairs.split_once("absent, ").unwrap().1.trim_end_matches(" open").parse().unwrap();
    let sum = |at: bool| -> u64 {
        let counted = open.iter().filter(|(name, _)| name.starts_with("open, at ") == at);
        counted.map(|(_, pairs)| pairs.parse::<u64>().unwrap()).sum()
    };
    assert_eq!([sum(false), sum(true)], [all, all], "{}", run.stderr);
    let times = run.stderr.lines().take(phases.len());
    assert!(times.into_iter().all(|line| line.ends_with(" s")), "{}", run.stderr);
}

/// Two threads share a block whose address one of them reads out of a text.
const FROM_TEXT: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char address[32];

static void *work(void *arg) {
    int *shared;
    if (sscanf(address, FORMAT, (void **)&shared) == 1)
        *shared = 1;
    return arg;
}

int main(void) {
    pthread_t thread;
    int *block = malloc(sizeof *block);
    snprintf(address, sizeof address, "%p", (void *)block);
    pthread_create(&thread, 0, work, 0);
    *block = 2;
    return pthread_join(thread, 0);
}
"#;

#[test]
fn pointers_out_of_texts_may_be_those_that_were_written_there() {
    for format in ["%p", "%*d %p", "%ms"] {
        let source = FROM_TEXT.replace("FORMAT", &format!("\"{format}\""));
        let found = document(&folder(&source).raceproof(&["static", "a.c", "--json", "--cflags=-w"]));
        assert_eq!(found["verdict"], "unknown", "{format}");
        let open: Vec<_> = found["pairs"].as_array().unwrap().iter().filter(|p| p["verdict"] == "unknown").collect();
        assert_eq!(open.len(), 1, "{format}: {open:?}");
        // Two names of one block.
        assert!(open[0]["variable"] == "*block" || open[0]["variable"] == "*shared", "{format}: {open:?}");
    }
    let decimal = FROM_TEXT.replace("(void **)&shared", "&number").replace("*shared = 1", "number++");
    let decimal = decimal.replace("FORMAT", "\"%d\"").replace("int *shared", "int number");
    let found = document(&folder(&decimal).raceproof(&["static", "a.c", "--json"]));
    assert_eq!(found["unknowns"].as_array().map(Vec::len), Some(0), "{}", found["unknowns"]);
}
