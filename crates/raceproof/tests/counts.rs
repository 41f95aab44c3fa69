//! A guard that counts instead of timing: executions and transitions of searches, pairs and warnings of the static engine,
//! configurations and bases of coverability, on a small fixed set, pinned with a tolerance.
//!
//! `BLESS=1` pins what is counted now; see `testkit::ui`.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::Folder;
use serde_json::Value;

/// Largest difference in percent, either way: fewer is good news, and is pinned anew.
const TOLERANCE: f64 = 3.0;

/// What is explored: program, flags of the compiler, reductions.
const SEARCHES: [(&str, &str, &[&str]); 10] = [
    ("tests/search/figure1.c", "-DLOCKS=2", &["dpor", "dpor-sleep", "pdp", "dhtc", "optimal", "best"]),
    ("tests/search/launch_control.c", "-DTASKS=3", &["dpor-sleep", "dhtc", "best"]),
    ("tests/search/lastzero.c", "-DN=7", &["optimal"]),
    ("bench/programs/search/aget.c", "-DTHREADS=3", &["dpor", "pdp", "best"]),
    ("bench/programs/search/bzip2smp.c", "-DTHREADS=6", &["pdp", "best"]),
    ("bench/programs/search/pfscan.c", "-O0", &["pdp", "best"]),
    ("tests/search/increments.c", "-O0", &["optimal", "best"]),
    ("tests/search/elements.c", "-O0", &["optimal", "best"]),
    ("tests/search/meetings.c", "-O0", &["optimal", "best"]),
    ("tests/search/crowd.c", "-O0", &["optimal", "best"]),
];
/// Programs whose threads commute wherever nobody can tell: one execution shows all there is.
const ONE_EXECUTION: [&str; 4] =
    ["tests/search/increments.c", "tests/search/elements.c", "tests/search/meetings.c", "tests/search/crowd.c"];
const STATIC: [&str; 4] = [
    "bench/programs/scenarios/quicksort.c",
    "bench/programs/scenarios/tracer.c",
    "examples/bank.c",
    "tests/static/join_loop_of_a_pool.c",
];
const PROOFS: [&str; 2] = ["examples/verify/prods_cons2.c", "examples/sml/lock_read_write_only.sml"];

type Counts = BTreeMap<String, u64>;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The document that a call prints.
fn document(command: &str, program: &str, args: &[&str]) -> Value {
    let (folder, input) = (Folder::new(), root().join(program).display().to_string());
    let run = folder.raceproof(&[&[command, &input, "--json"], args].concat());
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{command} {program}: {error}: {}", run.stderr))
}

fn count() -> Counts {
    let mut counts = Counts::new();
    let mut note = |what: String, number: &Value| {
        counts.insert(what.clone(), number.as_u64().unwrap_or_else(|| panic!("{what}: {number}")));
    };
    for (program, cflags, reductions) in SEARCHES {
        for reduction in reductions {
            let cflags = format!("--cflags={cflags}");
            let found = document("explore", program, &[&cflags, "--reduction", reduction]);
            let engine = &found["engines"][0];
            assert_eq!(engine["coverage"], "complete", "{program}, {reduction}");
            note(format!("{program}, {reduction}: executions"), &engine["executions"]);
            note(format!("{program}, {reduction}: transitions"), &engine["transitions"]);
        }
    }
    for program in STATIC {
        let found = document("static", program, &[]);
        let pairs = found["pairs"].as_array().expect("pairs");
        let warnings = pairs.iter().filter(|pair| pair["verdict"] != "absent").count();
        note(format!("{program}: pairs"), &pairs.len().into());
        note(format!("{program}: warnings"), &warnings.into());
    }
    for program in PROOFS {
        let found = document("verify", program, &["--stats", "--pruning", "plain"]);
        let nets = &found["engines"][0]["nets"];
        for key in ["nets", "configurations", "basis"] {
            note(format!("{program}: {key}"), &nets[key]);
        }
    }
    counts
}

#[test]
fn counts_are_as_pinned() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counts.json");
    let counted = count();
    if testkit::ui::blesses() {
        let text = serde_json::to_string_pretty(&counted).expect("numbers") + "\n";
        std::fs::write(&path, text).expect("the pinned counts can be written");
    }
    let pinned: Counts =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("the pinned counts")).expect("numbers");
    let names = |counts: &Counts| counts.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&counted), names(&pinned), "other things are counted than pinned");
    let difference = |(what, count): (&String, &u64)| {
        let percent = 100.0 * (*count as f64 - pinned[what] as f64) / (pinned[what] as f64).max(1.0);
        (percent.abs() > TOLERANCE).then(|| format!("{what}: {count}, pinned are {} ({percent:+.1} %)", pinned[what]))
    };
    let differ: Vec<String> = counted.iter().filter_map(difference).collect();
    assert!(differ.is_empty(), "{}\nif this is meant, pin it with BLESS=1", differ.join("\n"));
    // Whatever is pinned: what commutes is not reordered, and what paper 000 claims.
    let executions = |program: &str, reduction: &str| counted[&format!("{program}, {reduction}: executions")];
    for program in ONE_EXECUTION {
        assert_eq!((executions(program, "optimal"), executions(program, "best")), (1, 1), "{program}");
    }
    for program in ["tests/search/figure1.c", "bench/programs/search/aget.c"] {
        assert!(executions(program, "pdp") <= executions(program, "dpor"), "{program}");
    }
}
