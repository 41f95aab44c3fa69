//! The whole line on small programs: what it finds, what files it writes, and how one lives with it.

mod common;

use common::{Folder, assert_blessed, json_without_times, without_times};
use serde_json::Value;

fn json(folder: &Folder, args: &[&str]) -> (i32, Value) {
    let run = folder.raceproof(&[&["check", "--json"], args].concat());
    let document = serde_json::from_str(&run.stdout);
    (run.status, document.unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr)))
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let folder = Folder::new();
    for program in ["queue.cpp", "counter.c"] {
        let run = || {
            let files = ["--html", "r.html", "--sarif", "r.sarif", "--json-out", "r.json"];
            let run = folder.raceproof(&[&["check", program], &files[..]].concat());
            let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
            let page = read("r.html").lines().filter(|line| !line.contains("id=\"data\"")).collect::<String>();
            (without_times(&run.stdout), json_without_times(&read("r.json")), read("r.sarif"), page)
        };
        assert_eq!(run(), run(), "{program}");
    }
}

#[test]
fn a_shown_result_is_the_one_that_was_written() {
    let folder = Folder::new();
    let check = folder.raceproof(&["check", "counter.c", "--json-out", "r.json", "--sarif", "r.sarif"]);
    let text = folder.raceproof(&["report", "r.json", "--text"]);
    assert_eq!((text.status, text.stdout), (check.status, check.stdout));
    let sarif = folder.raceproof(&["report", "r.json", "--sarif"]);
    assert_eq!(sarif.stdout, std::fs::read_to_string(folder.path().join("r.sarif")).unwrap());
    let github = folder.raceproof(&["report", "r.json", "--github", "-o", "r.txt"]);
    assert_eq!((github.stdout.as_str(), github.status), ("", 1));
    assert_blessed(std::fs::read_to_string(folder.path().join("r.txt")).unwrap(), "counter.github");
    let svcomp = folder.raceproof(&["report", "r.json", "--svcomp"]).stdout;
    let no_time: String = svcomp.lines().filter(|l| !l.contains("creation_time")).map(|l| format!("{l}\n")).collect();
    assert_blessed(no_time, "counter.yml");
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"raceproof\": 1}").unwrap();
    let run = folder.raceproof(&["report", "broken.json", "--html"]);
    assert!(run.status == 2 && run.stderr.contains("cannot read the result `broken.json`"), "{}", run.stderr);
}

/// Proved pairs are not searched for, and a complete search settles the rest for this input.
#[test]
fn engines_share_one_ledger() {
    let folder = Folder::new();
    let (status, all) = json(&folder, &["counter.c"]);
    assert_eq!(status, 1);
    let by = |document: &Value, verdict: &str, engine: &str| {
        let is = |pair: &&Value| pair["verdict"] == verdict && pair["by"] == engine;
        document["pairs"].as_array().unwrap().iter().filter(is).count()
    };
    assert_eq!((by(&all, "race", "explore") + by(&all, "race", "predict"), by(&all, "unknown", "explore")), (2, 0));
    let (status, proofs) = json(&folder, &["counter.c", "--engines", "verify"]);
    assert_eq!((status, proofs["verdict"].as_str()), (3, Some("unknown")));
    assert_eq!(by(&proofs, "unknown", "verify"), 2);
    assert_eq!(proofs["engines"].as_array().unwrap().len(), 1);
    let (status, runs) = json(&folder, &["locked.c", "--engines", "explore"]);
    assert_eq!((status, runs["scope"]["inputs"].as_str()), (0, Some("this")));
    let wrong = folder.raceproof(&["check", "counter.c", "--engines", "magic"]);
    assert_eq!(wrong.status, 2);
}

/// A check without time has a report that says what would settle it.
#[test]
fn no_time_means_unknown() {
    let folder = Folder::new();
    let (status, document) = json(&folder, &["locked.c", "--time", "0", "--engines", "explore"]);
    assert_eq!((status, document["verdict"].as_str()), (3, Some("unknown")));
    let settle = |unknown: &Value| unknown["settle"] == "raise `--time`";
    assert!(document["unknowns"].as_array().unwrap().iter().any(settle), "{document}");
}

/// Proofs assume that the thread API is used as it should be: a misuse takes them away.
#[test]
fn a_misuse_takes_proofs_away() {
    let source = "#include <pthread.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int value;
static void *worker(void *arg) {
    pthread_mutex_lock(&guard);
    value++;
    pthread_mutex_unlock(&guard);
#ifdef MISUSE
    pthread_mutex_unlock(&other);
#endif
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return pthread_mutex_destroy(&other);
}
";
    let folder = Folder::new();
    std::fs::write(folder.path().join("guarded.c"), source).unwrap();
    let scopes = |document: &Value| -> Vec<Value> {
        let pairs = document["pairs"].as_array().unwrap();
        assert!(pairs.iter().all(|pair| pair["verdict"] == "absent"), "{document}");
        pairs.iter().map(|pair| pair["scope"]["inputs"].clone()).collect()
    };
    let (status, document) = json(&folder, &["guarded.c"]);
    assert_eq!((status, scopes(&document)), (0, vec!["all".into(); 2]));
    let (status, document) = json(&folder, &["guarded.c", "--cflags=-DMISUSE"]);
    assert_eq!((status, &document["errors"][0]["kind"]), (1, &"misuse".into()), "{document}");
    assert_eq!(scopes(&document), vec![Value::from("this"); 2]);
}

#[test]
fn suppressions() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("known.txt", "# TSan's format\nrace:^care*less$\nrace:nothing_like_it\nmutex:x\n");
    let run = folder.raceproof(&["check", "counter.c", "--suppressions", "known.txt"]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert!(run.stdout.starts_with("safe: ") && run.stdout.contains("apart from 2 suppressed findings"));
    assert_eq!(
        run.stderr,
        "warning: known.txt:3: `race:nothing_like_it` suppresses nothing\n\
         warning: known.txt:4: `mutex:x` suppresses nothing\n"
    );
    write("bad.txt", "race counter\n");
    let run = folder.raceproof(&["check", "counter.c", "--suppressions", "bad.txt"]);
    assert!(run.status == 2 && run.stderr.contains("line 1: `race counter`"), "{}", run.stderr);
    let deadlock = folder.raceproof(&["check", "deadlock.c"]);
    assert_eq!(deadlock.status, 1);
    write("known.txt", "deadlock:^left$\n");
    let deadlock = folder.raceproof(&["check", "deadlock.c", "--suppressions", "known.txt"]);
    assert_eq!((deadlock.status, deadlock.stderr.as_str()), (0, ""), "{}", deadlock.stdout);
}

/// Lines may move, the finding stays known; a new one is told.
#[test]
fn a_baseline_hides_what_was_there() {
    let folder = Folder::new();
    let source = folder.path().join("counter.c");
    folder.raceproof(&["check", "counter.c", "--json-out", "before.json"]);
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("\n\n{text}")).unwrap();
    let same = folder.raceproof(&["check", "counter.c", "--baseline", "before.json"]);
    assert_eq!(same.status, 0, "{}", same.stdout);
    let more = text
        .replace("counter = 10;", "counter = 10; other = 1;")
        .replace("int main", "int other_user(void) { return other; }\nint main");
    let more = format!("int other;\n{}", more.replace("pthread_join(", "other++; pthread_join("));
    std::fs::write(&source, more).unwrap();
    let (status, new) = json(&folder, &["counter.c", "--baseline", "before.json"]);
    assert_eq!(status, 1);
    let told = |pair: &&Value| pair["verdict"] == "race" && pair.get("suppressed").is_none();
    let told: Vec<&Value> = new["pairs"].as_array().unwrap().iter().filter(told).collect();
    assert!(!told.is_empty() && told.iter().all(|pair| pair["variable"] == "other"), "{told:?}");
}

#[test]
fn settings_of_a_project() {
    let folder = Folder::new();
    let write = |text: &str| std::fs::write(folder.path().join("raceproof.toml"), text).unwrap();
    write("assume-pure = [\"argz_stringify\"]\nwitness-dir = \"w\"\n");
    let (status, document) = json(&folder, &["external.c"]);
    assert_eq!((status, document["verdict"].as_str()), (0, Some("safe")));
    folder.raceproof(&["check", "counter.c"]);
    assert!(folder.path().join("w/counter-P1.rpw").is_file());
    write("engines = [\"verify\"]\n");
    let (_, document) = json(&folder, &["counter.c"]);
    assert_eq!(document["engines"].as_array().unwrap().len(), 1);
    write("tiem = 3\n");
    let run = folder.raceproof(&["check", "counter.c"]);
    assert!(run.status == 2 && run.stderr.contains("tiem") && run.stderr.contains("help: "), "{}", run.stderr);
}

#[test]
fn shells_and_manual() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = folder.raceproof(&["completions", shell]);
        assert!(run.status == 0 && run.stdout.contains("witness-dir"), "{shell}");
    }
    let page = folder.raceproof(&["man"]);
    assert!(page.status == 0 && page.stdout.contains(".TH raceproof"), "{}", page.stdout);
    let page = folder.raceproof(&["man", "check"]);
    assert!(page.status == 0 && page.stdout.contains("baseline"), "{}", page.stdout);
    assert_eq!(folder.raceproof(&["man", "chekc"]).status, 2);
}
