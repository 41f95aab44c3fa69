//! `record` and `predict` as users run them: real threads, traces, replays.

mod common;

use std::path::{Path, PathBuf};

use common::{Folder, Run, assert_blessed, without_times};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with a copy of this file of the repository.
fn folder_with(file: &str) -> (Folder, String) {
    let folder = Folder::new();
    let name = Path::new(file).file_name().unwrap().to_str().unwrap().to_owned();
    std::fs::copy(root().join(file), folder.path().join(&name)).unwrap();
    (folder, name)
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}\n{}\n{}", run.stdout, run.stderr))
}

fn confirmed(document: &Value) -> Vec<&Value> {
    document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race").collect()
}

/// The paper's example: recorded on real threads in the order that hides the race, predicted, replayed, confirmed.
#[test]
fn the_hidden_race_of_the_paper_is_confirmed() {
    let (folder, source) = folder_with("examples/rare/handover.c");
    let record = folder.raceproof(&["record", &source, "-o", "run.rpt"]);
    assert_eq!((record.status, record.stdout.as_str()), (0, ""), "{}", record.stderr);
    assert!(record.stderr.contains("events of 3 threads in `run.rpt`"), "{}", record.stderr);
    assert!(record.stderr.contains("the run ended with exit status 0"), "{}", record.stderr);

    let predict = folder.raceproof(&["predict", "run.rpt", "--json"]);
    assert_eq!((predict.status, predict.stderr.as_str()), (1, ""), "{}", predict.stdout);
    let document = json(&predict);
    let races = confirmed(&document);
    assert_eq!(races.len(), 1, "{}", predict.stdout);
    let race = races[0];
    assert_eq!((&race["variable"], &race["by"], &race["confirmed"]), (&"y".into(), &"predict".into(), &true.into()));
    let lines: Vec<_> = race["accesses"].as_array().unwrap().iter().map(|a| a["line"].as_u64().unwrap()).collect();
    assert!(lines == [14, 31] || lines == [31, 14], "{lines:?}");

    let replay = folder.raceproof(&["replay", race["witness"].as_str().unwrap()]);
    assert_eq!((replay.status, replay.stderr.as_str()), (1, ""), "{}", replay.stdout);
    // The same under the controlled scheduler, and in other forms.
    let controlled = folder.raceproof(&["predict", &source, "--controlled", "--json"]);
    assert_eq!(confirmed(&json(&controlled)).len(), 1, "{}", controlled.stdout);
    let rapid = folder.raceproof(&["predict", "run.rpt", "--emit", "rapid"]);
    std::fs::write(folder.path().join("run.std"), &rapid.stdout).unwrap();
    let foreign = folder.raceproof(&["predict", "run.std"]);
    assert_eq!(foreign.status, 3, "{}", foreign.stdout);
    assert!(foreign.stdout.contains("1 race predicted: 0 confirmed, 1 not reproduced"), "{}", foreign.stdout);
    let cspm = folder.raceproof(&["predict", "run.rpt", "--emit", "cspm"]);
    assert!(cspm.stdout.contains("assert") && cspm.stdout.contains("RACE"), "{}", cspm.stdout);
    let twice = folder.raceproof(&["predict", "run.std", "--emit", "rapid"]);
    assert_eq!(twice.stdout, rapid.stdout);
}

/// What users see, byte for byte. Under the controlled scheduler, so that the recorded run is always the same.
#[test]
fn what_is_predicted_is_told() {
    for (expected, arguments, status) in [
        ("predict-confirmed.stdout", &["predicted.c"][..], 1),
        ("predict-not-reproduced.stdout", &["announced.c", "--relaxed"], 3),
        ("predict-nothing.stdout", &["announced.c"], 3),
        ("predict-window.stdout", &["announced.c", "--window", "4"], 3),
    ] {
        let folder = Folder::new();
        let run = folder.raceproof(&[&["predict", "--controlled"], arguments].concat());
        assert_eq!((run.status, run.stderr.as_str()), (status, ""), "{expected}: {}", run.stdout);
        assert_blessed(without_times(&run.stdout), expected);
    }
}

/// Accesses to one address that follow each other share a word of the recording, and are all in the trace.
#[test]
fn accesses_that_share_a_word_are_all_recorded() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\nlong a[100], b[100];\nstatic void *f(void *p) {\n  for (int i = 0; i < 100; i++) {\n    \
                  a[i] = a[i] + 1;\n    b[i] = a[i];\n  }\n  return p;\n}\nint main(void) {\n  pthread_t t;\n  \
                  pthread_create(&t, 0, f, 0);\n  f(0);\n  pthread_join(t, 0);\n  return 0;\n}\n";
    std::fs::write(folder.path().join("shared.c"), source).unwrap();
    let record = folder.raceproof(&["record", "shared.c", "--every-access"]);
    assert_eq!((record.status, record.stdout.as_str()), (0, ""), "{}", record.stderr);
    let rapid = folder.raceproof(&["predict", "shared.rpt", "--emit", "rapid"]).stdout;
    let count = |operation: &str| rapid.lines().filter(|line| line.contains(operation)).count();
    // What the library writes is recorded too.
    assert!(count("|r(") == 2 * 200 && count("|w(") >= 2 * 200, "{rapid}");
    // Every pair of lines that touch `a` races.
    let document = json(&folder.raceproof(&["predict", "shared.rpt", "--json"]));
    let lines = |pair: &Value| [0, 1].map(|i| pair["accesses"][i]["line"].as_u64().unwrap());
    let races: std::collections::BTreeSet<_> = confirmed(&document).into_iter().map(lines).collect();
    assert!([[5, 5], [6, 6]].iter().all(|pair| races.contains(pair)), "{races:?}");
    assert!(races.contains(&[5, 6]) || races.contains(&[6, 5]), "{races:?}");
}

/// A thread that has not synchronised for long does not log again what it has logged; what races is there all the same:
/// the first of equal accesses, a write after reads, and what was logged before the last synchronisation.
#[test]
fn equal_accesses_are_logged_once_between_synchronisations() {
    let folder = Folder::new();
    let source = "#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long table[64], pad[20000], again, late, stronger, guarded;
static void fill(void) {
  for (int i = 0; i < 20000; i++)
    pad[i] = i;
}
static void *work(void *p) {
  long sum = 0;
  for (long i = 0; i < 20000; i++) {
    table[i % 64] += i;
    again = i;
    sum += stronger;
  }
  late = sum;
  stronger = sum;
  pthread_mutex_lock(&m);
  fill();
  guarded = 1;
  pthread_mutex_unlock(&m);
  fill();
  guarded = 2;
  return p;
}
static void *look(void *p) {
  long sum = again + late + stronger;
  pthread_mutex_lock(&m);
  sum += guarded;
  pthread_mutex_unlock(&m);
  return sum < 0 ? p : 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, look, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
";
    std::fs::write(folder.path().join("again.c"), source).unwrap();
    let record = folder.raceproof(&["record", "again.c", "--every-access"]);
    assert_eq!((record.status, record.stdout.as_str()), (0, ""), "{}", record.stderr);
    // Of the 80,000 accesses of the first loop those that fit into a buffer; all of the others.
    let events = record.stderr.split(' ').nth(2).and_then(|n| n.parse::<u64>().ok()).unwrap();
    assert!((40_000..60_000).contains(&events), "{}", record.stderr);
    let predict = folder.raceproof(&["predict", "again.rpt", "--json"]);
    let document = json(&predict);
    let race = |pair: &&Value| (pair["variable"].as_str().unwrap().to_owned(), pair["accesses"].clone());
    let races: Vec<_> = confirmed(&document).iter().map(race).collect();
    for (variable, line) in [("again", 12), ("late", 15), ("stronger", 16), ("guarded", 22)] {
        let is_told = |(name, accesses): &(String, Value)| {
            name == variable && accesses.as_array().unwrap().iter().any(|access| access["line"] == line)
        };
        assert!(races.iter().any(is_told), "{variable}: {}", predict.stdout);
    }
}

/// One recorded run of each program whose race hides in almost all schedules. A run on real threads may be one of the
/// others now and then, so a confirmation is asked of most, not of each.
#[test]
fn races_that_hide_are_confirmed() {
    let mut programs: Vec<_> =
        std::fs::read_dir(root().join("examples/rare")).unwrap().map(|e| e.unwrap().path()).collect();
    programs.retain(|path| path.extension().is_some_and(|e| e == "c"));
    programs.sort();
    assert!(programs.len() >= 12);
    let mut missed = Vec::new();
    for program in &programs {
        let (folder, source) =
            folder_with(&format!("examples/rare/{}", program.file_name().unwrap().to_str().unwrap()));
        let predict = folder.raceproof(&["predict", &source, "--json"]);
        assert!(matches!(predict.status, 1 | 3) && predict.stderr.is_empty(), "{source}: {}", predict.stderr);
        if confirmed(&json(&predict)).is_empty() {
            missed.push(source);
        }
    }
    assert!(programs.len() - missed.len() >= 10, "of {} programs missed: {missed:?}", programs.len());
}

/// A program that crashes, one that is killed and one that never ends leave a trace that can be used.
#[test]
fn a_run_that_ends_badly_is_recorded() {
    let folder = Folder::new();
    let source = |end: &str| {
        format!(
            "#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\nstatic pthread_mutex_t m = \
             PTHREAD_MUTEX_INITIALIZER;\nint x, y;\nstatic void *first(void *p) {{ y = 1; pthread_mutex_lock(&m); x = 1; \
             pthread_mutex_unlock(&m); for (;;) pause(); return p; }}\nint main(void) {{ pthread_t t; \
             pthread_create(&t, 0, first, 0); usleep(50000); pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); y = \
             2; {end} }}\n"
        )
    };
    let cases = [
        ("null", "*(volatile int *)0 = 1;", "a crash: segmentation fault"),
        ("killed", "kill(getpid(), SIGKILL);", "a crash: signal 9"),
        ("interrupted", "kill(getpid(), SIGINT);", "a crash: interrupt"),
        ("endless", "for (;;) pause();", "its limit of time"),
    ];
    for (name, end, told) in cases {
        let (file, trace) = (format!("{name}.c"), format!("{name}.rpt"));
        std::fs::write(folder.path().join(&file), source(end)).unwrap();
        let record = folder.raceproof(&["record", &file, "--run-time", "2", "--every-access"]);
        assert_eq!(record.status, 0, "{name}: {}{}", record.stdout, record.stderr);
        assert!(record.stderr.contains(told), "{name}: {}", record.stderr);
        assert_eq!(record.stderr.contains("note: "), name == "endless", "{name}: {}", record.stderr);
        let predict = folder.raceproof(&["predict", &trace, "--json", "--run-time", "1"]);
        let document = json(&predict);
        let predicted = document["pairs"].as_array().unwrap().iter().any(|pair| pair["variable"] == "y");
        assert!(predicted, "{name}: {}", predict.stdout);
    }
}

/// What a handler of a signal does is in the recording, and what it interrupts is too.
#[test]
fn handlers_of_signals_are_recorded() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\nint a[100000], hits;\nstatic void \
                  count(int s) { (void)s; hits++; }\nstatic void *work(void *p) { for (int i = 0; i < 100000; i++) { \
                  a[i] = i; if (i % 1000 == 0) raise(SIGUSR1); } return p; }\nint main(void) { pthread_t t; struct \
                  sigaction act = {0}, old; act.sa_handler = count; sigaction(SIGUSR1, &act, 0); sigaction(SIGUSR1, 0, \
                  &old); if (old.sa_handler != count) return 2; pthread_create(&t, 0, work, 0); usleep(20000); int seen = \
                  hits; pthread_join(t, 0); return hits == 100 && seen <= 100 ? 0 : 1; }\n";
    std::fs::write(folder.path().join("handler.c"), source).unwrap();
    let record = folder.raceproof(&["record", "handler.c", "--every-access"]);
    assert_eq!(record.status, 0, "{}{}", record.stdout, record.stderr);
    assert!(record.stderr.contains("exit status 0"), "{}", record.stderr);
    let events = record.stderr.split(' ').nth(2).and_then(|n| n.parse::<u64>().ok());
    assert!(events.is_some_and(|n| n >= 100_000), "{}", record.stderr);
    let predict = folder.raceproof(&["predict", "handler.rpt", "--json"]);
    let document = json(&predict);
    let pairs = document["pairs"].as_array().unwrap();
    assert!(pairs.iter().any(|pair| pair["variable"] == "hits"), "{}", predict.stdout);
}

/// Calls with a limit on a clock order events like their relatives, so nothing is predicted of programs without a race.
#[test]
fn calls_with_a_clock_are_recorded() {
    for program in ["tests/twins/clock_limits.c", "tests/twins/rwlock_clock.c"] {
        let (folder, source) = folder_with(program);
        let predict = folder.raceproof(&["predict", &source]);
        assert_eq!(predict.status, 3, "{}{}", predict.stdout, predict.stderr);
        assert!(predict.stdout.contains(" 0 races predicted"), "{program}: {}", predict.stdout);
    }
}

/// Cut, changed and foreign files are refused with the byte, and change nothing.
#[test]
fn broken_traces_are_refused() {
    let (folder, source) = folder_with("examples/rare/handover.c");
    let record = folder.raceproof(&["record", &source, "-o", "run.rpt"]);
    assert_eq!(record.status, 0, "{}", record.stderr);
    let bytes = std::fs::read(folder.path().join("run.rpt")).unwrap();
    let mut cases: Vec<(String, Vec<u8>)> = vec![("empty".into(), Vec::new()), ("noise".into(), vec![0xff; 64])];
    for part in 1..12 {
        cases.push((format!("cut {part}"), bytes[..bytes.len() * part / 12].to_vec()));
        let mut changed = bytes.clone();
        let at = (bytes.len() - 1) * part / 12;
        changed[at] ^= 0x20;
        cases.push((format!("changed {at}"), changed));
    }
    for (name, content) in cases {
        std::fs::write(folder.path().join("bad.rpt"), &content).unwrap();
        let run = folder.raceproof(&["predict", "bad.rpt"]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: `bad.rpt` "), "{name}: {}", run.stderr);
        let told = ["byte ", "is not a raceproof trace", "of version"];
        assert!(told.iter().any(|t| run.stderr.contains(t)), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("\nhelp: "), "{name}: {}", run.stderr);
    }
    std::fs::write(folder.path().join("bad.std"), "T0|w(x)|1\nT0|jump(x)|2\n").unwrap();
    let run = folder.raceproof(&["predict", "bad.std"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("byte 13, line 2, column 4: unknown operation `jump`"), "{}", run.stderr);
    let nowhere = folder.raceproof(&["record", &source, "-o", "no/such/folder/run.rpt"]);
    assert_eq!(nowhere.status, 2, "{}", nowhere.stdout);
    assert!(nowhere.stderr.contains("cannot write `no/such/folder/run.rpt`"), "{}", nowhere.stderr);
    let left = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with(".raceproof")), "nothing half written");
}

/// Recording stops at its limit; what is there is a run up to some point.
#[test]
fn a_long_run_is_cut_at_the_limit() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nlong x;\nstatic void *f(void \
                  *p) { for (int i = 0; i < 60000; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); } return \
                  p; }\nint main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0); \
                  pthread_join(a, 0); pthread_join(b, 0); return x != 120000; }\n";
    std::fs::write(folder.path().join("long.c"), source).unwrap();
    let record = folder.raceproof(&["record", "long.c", "--max-trace", "100K", "--every-access"]);
    assert_eq!(record.status, 0, "{}", record.stderr);
    assert!(record.stderr.contains("note: recording stopped"), "{}", record.stderr);
    assert!(record.stderr.contains("ended with exit status 0"), "{}", record.stderr);
    let size = std::fs::metadata(folder.path().join("long.rpt")).unwrap().len();
    assert!(size < 600_000, "{size} bytes");
    let predict = folder.raceproof(&["predict", "long.rpt", "--json"]);
    let document = json(&predict);
    assert_eq!(document["verdict"], "unknown", "{}", predict.stdout);
    assert!(predict.stdout.contains("recording stopped"), "{}", predict.stdout);
    let refused = folder.raceproof(&["record", "long.c", "--max-trace", "much"]);
    assert_eq!(refused.status, 2, "{}", refused.stdout);
}

/// A race of the recorded run that no replay shows, because what the run depended on is gone, is a finding all the same, and
/// says why it was not replayed. What the program prints is all there is on standard output of `record`.
#[test]
fn an_observed_race_is_a_finding() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nint x;\nstatic void *f(void *p) {\n  if \
                  (access(\"flag\", F_OK) == 0)\n    x++;\n  return p;\n}\nint main(void) {\n  pthread_t t;\n  \
                  pthread_create(&t, 0, f, 0);\n  f(0);\n  pthread_join(t, 0);\n  puts(\"done\");\n  return 0;\n}\n";
    std::fs::write(folder.path().join("flag.c"), source).unwrap();
    std::fs::write(folder.path().join("flag"), "").unwrap();
    let record = folder.raceproof(&["record", "flag.c"]);
    assert_eq!((record.status, record.stdout.as_str()), (0, "done\n"), "{}", record.stderr);
    assert!(record.stderr.lines().all(|line| line.starts_with("raceproof: ")), "{}", record.stderr);
    std::fs::remove_file(folder.path().join("flag")).unwrap();

    let predict = folder.raceproof(&["predict", "flag.rpt", "--json"]);
    assert_eq!(predict.status, 1, "{}{}", predict.stdout, predict.stderr);
    let document = json(&predict);
    let races = confirmed(&document);
    assert!(!races.is_empty(), "{}", predict.stdout);
    for race in races {
        assert_eq!((&race["shown"], &race["confirmed"]), (&"recording".into(), &false.into()), "{race}");
        assert_eq!((&race["code"], &race["variable"]), (&"RP0008".into(), &"x".into()), "{race}");
        assert!(race["reason"].as_str().unwrap().contains("not replayed: "), "{race}");
    }
    let told = folder.raceproof(&["predict", "flag.rpt"]);
    assert!(told.stdout.contains("error[RP0008]: data race on `x`"), "{}", told.stdout);
    assert_eq!(told.stdout.matches("data race on `x`").count(), 1, "{}", told.stdout);
    assert!(told.stdout.contains("found, observed in a recorded run"), "{}", told.stdout);
    // With what it depended on, the same recording is confirmed.
    std::fs::write(folder.path().join("flag"), "").unwrap();
    let replayed = json(&folder.raceproof(&["predict", "flag.rpt", "--json"]));
    assert!(confirmed(&replayed).iter().all(|race| race["shown"] == "run"), "{replayed}");
}
