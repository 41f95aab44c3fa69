//! Second commands: what is not computed again, what has to be, what is new since, and `--watch`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A folder with programs, and a cache of its own.
struct Workplace(tempfile::TempDir);

impl Workplace {
    /// With `program.c`.
    fn with(source: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path().join("src")).unwrap();
        place.write("program.c", source);
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of the folder that commands run in. An answer made of a file that has just changed is not kept.
    fn write(&self, name: &str, text: &str) {
        let path = self.path().join("src").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        std::thread::sleep(Duration::from_millis(30));
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(args).current_dir(self.path().join("src")).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.path().join("cache")).env_remove("RACEPROOF_FRESH");
        command
    }

    /// The document of a command.
    fn document(&self, args: &[&str]) -> Value {
        let output = self.command(&[&[args[0], "--json"], &args[1..]].concat()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Whether a command gives an earlier answer again, and the verdict.
    fn answer(&self, args: &[&str]) -> (bool, String) {
        let document = self.document(args);
        (document["reused"] == true, document["verdict"].as_str().unwrap().to_owned())
    }
}

/// Two threads that change a number, with a lock unless `UNSAFE`; `READS` is done before.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>
#ifdef WITH_HEADER
#include <setting.h>
#endif
#ifndef READS
#define READS 0
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number, is_unsafe;
static void *add(void *unused) {
    if (!is_unsafe) pthread_mutex_lock(&lock);
    number++;
    if (!is_unsafe) pthread_mutex_unlock(&lock);
    return unused;
}
static int content(const char *name) {
    FILE *file = fopen(name, "r");
    int c = file ? fgetc(file) : '0';
    if (file) fclose(file);
    return c == '1';
}
int main(int argc, char **argv) {
    struct stat about;
    (void)argc, (void)argv, (void)about, (void)content;
    is_unsafe = READS;
#ifdef UNSAFE
    is_unsafe = 1;
#endif
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
"#;

fn is(reused: bool, verdict: &str) -> (bool, String) {
    (reused, verdict.to_owned())
}

#[test]
fn an_answer_is_given_again_until_the_source_changes() {
    let place = Workplace::with(PROGRAM);
    for command in ["check", "explore", "static", "verify"] {
        place.write("program.c", PROGRAM);
        let first = place.document(&[command, "program.c"]);
        assert!(first["reused"].is_null(), "{command}");
        let mut second = place.document(&[command, "program.c"]);
        assert_eq!(second["reused"], true, "{command}");
        second["time_ms"] = first["time_ms"].clone();
        second.as_object_mut().unwrap().remove("reused");
        assert_eq!(first, second, "{command}");
        assert_eq!(place.document(&[command, "program.c", "--fresh"])["reused"], Value::Null, "{command}");
        place.write("program.c", &format!("#define UNSAFE\n{PROGRAM}"));
        let changed = place.answer(&[command, "program.c"]);
        assert!(!changed.0 && changed.1 != "safe", "{command}: {changed:?}");
    }
}

#[test]
fn other_questions_have_answers_of_their_own() {
    let place = Workplace::with(PROGRAM);
    assert_eq!(place.answer(&["check", "program.c"]), is(false, "safe"));
    for other in [
        &["check", "program.c", "--cflags", "-DUNSAFE"][..],
        &["check", "program.c", "--quick"],
        &["explore", "program.c"],
    ] {
        assert!(!place.answer(other).0, "{other:?}");
        assert!(place.answer(other).0, "{other:?}");
    }
    assert!(place.answer(&["check", "program.c", "--", "an argument"]) == is(false, "safe"));
}

#[test]
fn headers_are_part_of_a_program() {
    let place = Workplace::with(&format!("#define WITH_HEADER\n{PROGRAM}"));
    let check = ["check", "program.c", "--cflags", "-Ifirst -Isecond -Imissing"];
    place.write("first/other.h", "");
    place.write("second/setting.h", "");
    assert_eq!(place.answer(&check), is(false, "safe"));
    assert_eq!(place.answer(&check), is(true, "safe"));
    place.write("first/unrelated.h", "#define UNSAFE");
    assert_eq!(place.answer(&check), is(true, "safe"), "nobody looks for this header");
    place.write("second/setting.h", "#define UNSAFE");
    assert_eq!(place.answer(&check), is(false, "race"));
    place.write("first/setting.h", "");
    assert_eq!(place.answer(&check), is(false, "safe"), "a header that is found earlier");
    fs::remove_dir_all(place.path().join("src/first")).unwrap();
    fs::remove_dir_all(place.path().join("src/second")).unwrap();
    place.write("missing/setting.h", "#define UNSAFE");
    assert_eq!(place.answer(&check), is(false, "race"), "a folder that was not there");
}

#[test]
fn headers_that_a_source_asks_for_count_when_they_appear() {
    let source = format!("#if __has_include(\"local.h\")\n#include \"local.h\"\n#endif\n{PROGRAM}");
    let place = Workplace::with(&source);
    assert_eq!(place.answer(&["explore", "program.c"]), is(false, "safe"));
    assert_eq!(place.answer(&["explore", "program.c"]), is(true, "safe"));
    place.write("local.h", "#define UNSAFE");
    assert_eq!(place.answer(&["explore", "program.c"]), is(false, "race"));
}

#[test]
fn what_a_run_reads_is_part_of_its_answer() {
    let place = Workplace::with(PROGRAM);
    let explore = ["explore", "program.c", "--cflags", "-DREADS=content(\\\"data\\\")", "--reached-only"];
    assert_eq!(place.answer(&explore), is(false, "safe"));
    assert_eq!(place.answer(&explore), is(true, "safe"));
    place.write("data", "1");
    assert_eq!(place.answer(&explore), is(false, "race"), "a file that was missing");
    place.write("data", "0");
    assert_eq!(place.answer(&explore), is(false, "safe"), "a file that has changed");
    assert_eq!(place.answer(&explore), is(true, "safe"));

    let stdin = ["explore", "program.c", "--cflags", "-DREADS=(getchar()==49)", "--stdin", "data", "--reached-only"];
    assert_eq!(place.answer(&stdin), is(false, "safe"));
    assert_eq!(place.answer(&stdin), is(true, "safe"));
    place.write("data", "1");
    assert_eq!(place.answer(&stdin), is(false, "race"), "standard input");

    let variable = ["explore", "program.c", "--cflags", "-DREADS=(getenv(\\\"UNSAFE\\\")!=0)", "--reached-only"];
    assert_eq!(place.answer(&variable), is(false, "safe"));
    assert_eq!(place.answer(&variable), is(true, "safe"));
    let output = place.command(&variable).env("UNSAFE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a variable of the environment");
}

#[test]
fn what_may_depend_on_anything_is_asked_again() {
    let place = Workplace::with(PROGRAM);
    for reads in [
        "stat(\\\"data\\\",&about)==0",
        "access(\\\"data\\\",0)==0",
        "system(\\\"true\\\")!=0",
        "unlink(\\\"data\\\")==0",
    ] {
        let flags = format!("-DREADS=({reads})");
        let explore = ["explore", "program.c", "--cflags", &flags, "--reached-only"];
        assert!(!place.answer(&explore).0 && !place.answer(&explore).0, "{reads}");
    }
}

#[test]
fn an_answer_for_want_of_time_is_asked_again_with_more() {
    let many = PROGRAM
        .replace("threads[2]", "threads[9]")
        .replace("i < 2", "i < 9")
        .replace("number++;", "number++; if (number == 77) abort();");
    let place = Workplace::with(&many);
    let search = |time| ["explore", "program.c", "--reduction", "none", "--time", time];
    assert_eq!(place.answer(&search("1")), is(false, "unknown"));
    assert_eq!(place.answer(&search("1")), is(true, "unknown"));
    assert_eq!(place.answer(&search("0.5")), is(true, "unknown"));
    assert_eq!(place.answer(&search("2")), is(false, "unknown"));
    assert_eq!(place.answer(&search("2")), is(true, "unknown"));
}

#[test]
fn witnesses_are_put_back() {
    let place = Workplace::with(&format!("#define UNSAFE\n{PROGRAM}"));
    let document = place.document(&["check", "program.c"]);
    let witness = document["pairs"][0]["witness"].as_str().unwrap().to_owned();
    fs::remove_dir_all(place.path().join("src/raceproof-witnesses")).unwrap();
    assert_eq!(place.answer(&["check", "program.c"]), is(true, "race"));
    assert_eq!(place.command(&["replay", &witness]).output().unwrap().status.code(), Some(1));
}

#[test]
fn a_report_says_what_is_new_since_the_last_run() {
    let place = Workplace::with(PROGRAM);
    let check = ["check", "program.c"];
    place.document(&check);
    place.write("program.c", &format!("#define UNSAFE\n{PROGRAM}"));
    let since = place.document(&check)["since"].clone();
    assert!(since["earlier"] == "the last run" && since["new"][0] == "P1" && since["gone"] == 0, "{since}");
    let output = place.command(&["check", "program.c"]).output().unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains("since the last run"), "nothing has changed");
    place.write("program.c", &format!("\n\n{PROGRAM}"));
    let output = place.command(&check).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("  since the last run: ") && text.contains(" gone\n"), "{text}");
}

/// Calls git in a folder.
fn git(folder: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
    let status = Command::new("git").current_dir(folder).args(identity).args(args).output().expect("git").status;
    assert!(status.success(), "git {args:?}");
}

#[test]
fn since_a_revision_only_new_findings_count() {
    let place = Workplace::with(&format!("#define UNSAFE\n{PROGRAM}"));
    let folder = place.path().join("src");
    git(&folder, &["init", "--quiet", "--initial-branch", "main"]);
    git(&folder, &["add", "program.c"]);
    git(&folder, &["commit", "--quiet", "-m", "One race"]);
    let old = place.document(&["check", "program.c", "--since", "main"]);
    assert!(old["verdict"] == "safe" && old["pairs"][0]["suppressed"]["reason"] == "known since `main`", "{old}");
    let more = PROGRAM.replace("number++;", "number++; { static int other; other++; }");
    place.write("program.c", &format!("#define UNSAFE\n{more}"));
    let new = place.document(&["check", "program.c", "--since", "main"]);
    assert_eq!(new["verdict"], "race");
    let reported = new["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pair| pair["verdict"] == "race" && pair["suppressed"].is_null());
    assert!(reported.into_iter().all(|pair| pair["variable"].as_str().unwrap().contains("other")), "{new}");
    assert_eq!(new["since"]["earlier"], "`main`");

    let output = place.command(&["check", "program.c", "--since", "no-such"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && text.contains("there is no revision `no-such`"), "{text}");
    place.write("new.c", &format!("#define UNSAFE\n{PROGRAM}"));
    let output = place.command(&["check", "new.c", "--since", "main"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a program that was not there");
}

#[test]
fn watching_runs_again_when_a_file_changes() {
    let place = Workplace::with(PROGRAM);
    let mut watch =
        place.command(&["check", "program.c", "--watch"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next_verdict = || loop {
        let line = lines.next().expect("a line").unwrap();
        if let Some(verdict) =
            ["safe", "race", "unknown"].into_iter().find(|word| line.starts_with(&format!("{word}: ")))
        {
            break verdict;
        }
    };
    assert_eq!(next_verdict(), "safe");
    std::thread::sleep(Duration::from_millis(200));
    place.write("program.c", "int main(void) { no }\n");
    std::thread::sleep(Duration::from_millis(600));
    place.write("program.c", &format!("#define UNSAFE\n{PROGRAM}"));
    assert_eq!(next_verdict(), "race");
    std::thread::sleep(Duration::from_millis(200));
    place.write("program.c", PROGRAM);
    assert_eq!(next_verdict(), "safe");
    watch.kill().unwrap();
    watch.wait().unwrap();
}
