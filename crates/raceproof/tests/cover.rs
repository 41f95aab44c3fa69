//! `raceproof cover`: small nets of each format with known answers, what users see, and wrong files.
//!
//! `BLESS=1` rewrites what is expected; see `testkit::ui`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Run, json_without_times, without_times};

fn nets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nets")
}

fn cover(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.arg("cover").args(args).current_dir(folder).env_remove("CLICOLOR_FORCE");
    Run::of(command.output().unwrap())
}

fn assert_blessed(actual: String, file: &str) {
    testkit::ui::assert_blessed(actual, &nets().join(file));
}

/// Compares text and document; then the certificate or firing sequence has to be right, and wrong for another target.
fn check(net: &str, name: &str, more: &[&str], status: i32) {
    let folder = tempfile::tempdir().unwrap();
    let text = cover(&nets(), &[&[net, "--stats"], more].concat());
    assert_eq!((text.status, text.stderr.as_str()), (status, ""), "{}", text.stdout);
    assert_blessed(without_times(&text.stdout), &format!("{name}.stdout"));
    let json = cover(&nets(), &[&[net, "--json"], more].concat());
    assert_eq!((json.status, json.stderr.as_str()), (status, ""), "{}", json.stdout);
    assert_blessed(json_without_times(&json.stdout), &format!("{name}.json"));

    let [certificate, witness] = ["certificate", "witness"].map(|file| folder.path().join(file));
    let files = ["--certificate", certificate.to_str().unwrap(), "--witness", witness.to_str().unwrap()];
    assert_eq!(cover(&nets(), &[&[net], &files[..], more].concat()).status, status);
    assert_eq!((certificate.exists(), witness.exists()), (status == 0, status == 1));
    let file = if status == 0 { &certificate } else { &witness };
    let file = file.to_str().unwrap();
    let checked = cover(&nets(), &[&[net, "--check-certificate", file], more].concat());
    assert_eq!((checked.status, checked.stderr.as_str()), (status, ""), "{}", checked.stdout);
}

macro_rules! cases {
    ($($test:ident: $net:literal $more:expr => $status:literal;)*) => {$(
        #[test]
        fn $test() {
            check($net, stringify!($test), &$more, $status);
        }
    )*};
}

cases! {
    readers: "readers.spec" [] => 0;
    readers_meet: "readers.spec" ["--target", "reading >= 3"] => 1;
    wakeup: "wakeup.spec" [] => 1;
    wakeup_is_once: "wakeup.spec" ["--target", "hall >= 1, waiting >= 3; hall >= 4"] => 0;
    tickets: "tickets.pnml" ["--target", "inside >= 3"] => 0;
    tickets_suffice: "tickets.pnml" ["--target", "inside >= 2, waiting >= 1"] => 1;
    forks: "forks.lola" ["--target", "eats1 >= 1, eats2 >= 1"] => 0;
    forks_deadlock: "forks.lola" ["--target", "half1 >= 1, half2 >= 1"] => 1;
    small_language: "../../../../examples/sml/check_then_act.sml" [] => 1;
    small_language_safe: "../../../../examples/sml/workers.sml" [] => 0;
}

#[test]
fn nets_are_printed_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let dot = cover(&nets(), &["tickets.pnml", "--emit", "dot", "--target", "inside >= 3"]);
    assert_eq!(dot.status, 0);
    assert_blessed(dot.stdout, "tickets.dot");
    for (net, format, target) in [("readers.spec", "spec", None), ("forks.lola", "pnml", Some("eats1>=1, eats2>=1"))] {
        let target = target.map_or(vec![], |target| vec!["--target", target]);
        let printed = cover(&nets(), &[&[net, "--emit", format], &target[..]].concat());
        assert_eq!(printed.status, 0, "{}", printed.stderr);
        let again = folder.path().join(format!("again.{format}"));
        std::fs::write(&again, printed.stdout).unwrap();
        assert_eq!(cover(&nets(), &[&[again.to_str().unwrap()], &target[..]].concat()).status, 0);
    }
}

#[test]
fn time_ends_the_search() {
    // An invariant answers this one without a search.
    let run = cover(&nets(), &["readers.spec", "--target", "reading >= 1, writing >= 1", "--time", "0"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let run = cover(&nets(), &["forks.lola", "--target", "half1 >= 1, half2 >= 1", "--time", "0"]);
    assert_eq!((run.status, run.stderr.as_str()), (3, ""), "{}", run.stdout);
    assert_eq!(without_times(&run.stdout), "unknown: the search was stopped by `--time`\n  finished in [TIME]\n");
}

/// One of each malformed kind: exit status 2, nothing on standard output, the place in the message.
#[test]
fn wrong_files() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], parts: &[&str]| {
        let run = cover(folder.path(), args);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "`{part}` is missing in:\n{}", run.stderr);
        }
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    refused(&["missing.spec"], &["error: ", "`missing.spec`", "help: "]);
    write("net.txt", "");
    refused(&["net.txt"], &["`net.txt`", ".pnml", "help: "]);
    std::fs::write(folder.path().join("bytes.spec"), [0xff, 0xfe, 0]).unwrap();
    refused(&["bytes.spec"], &["`bytes.spec`", "UTF-8"]);
    write("guard.spec", "vars x\nrules\n  x <= 3 -> x' = x + 1;\ninit x = 0\ntarget x >= 1\n");
    refused(&["guard.spec"], &["guard.spec:3:5: "]);
    write("undeclared.spec", "vars x\nrules\n  y >= 3 -> x' = x + 1;\ninit x = 0\ntarget x >= 1\n");
    refused(&["undeclared.spec"], &["undeclared.spec:3:3: `y` is not declared"]);
    write("cut.spec", "vars x\nrules\n  x >= 3 ->");
    refused(&["cut.spec"], &["cut.spec:4:1: "]);
    write("open.pnml", "<pnml>\n <net>");
    refused(&["open.pnml"], &["open.pnml:", "not well-formed XML"]);
    write("arc.pnml", "<pnml><net id='n'>\n<place id='a'/><arc source='a' target='b'/></net></pnml>");
    refused(&["arc.pnml", "--target", "a >= 1"], &["arc.pnml:2:16: an arc from `a` to `b`"]);
    write(
        "huge.pnml",
        "<pnml><net id='n'><place id='a'><initialMarking><text>1e9</text></initialMarking></place></net></pnml>",
    );
    refused(&["huge.pnml", "--target", "a >= 1"], &["huge.pnml:1:", "`1e9` is not a number of tokens"]);
    write("place.lola", "PLACE a;\nMARKING b: 1;\n");
    refused(&["place.lola"], &["place.lola:2:9: `b` is not a place"]);
    write("sum.net", "PLACE a; MARKING a: 4294967295, a: 1;");
    refused(&["sum.net", "--target", "a >= 1"], &["sum.net:1:", "too large"]);
    write("job.sml", "shared x;\njob a { read y; }\n");
    refused(&["job.sml"], &["job.sml:2:14: there is no shared name `y`"]);
    write("ok.lola", "PLACE a; MARKING a: 1;");
    refused(&["ok.lola"], &["the net has no target", "--target"]);
    refused(&["ok.lola", "--target", "b >= 1"], &["the net has no place `b`"]);
    refused(&["ok.lola", "--target", "a > 1"], &["expected `place >= number`"]);
    refused(&["ok.lola", "--target", "a >= 1", "--witness", "no/such/folder"], &["no/such/folder", "help: "]);
    write("file", "raceproof-certificate 1\nbasis a 1\n");
    refused(&["ok.lola", "--target", "a >= 2", "--check-certificate", "file"], &["file: ", "initial marking"]);
    write("file", "raceproof-firing-sequence 1\ninitial a 1\n");
    refused(&["ok.lola", "--target", "a >= 2", "--check-certificate", "file"], &["file: ", "does not end"]);
    write("file", "something else\n");
    refused(&["ok.lola", "--target", "a >= 2", "--check-certificate", "file"], &["file: line 1: expected"]);
    write("flow.spec", "vars a b rules a >= 1 -> a' = 0, b' = b + a; init a = 1, b = 0 target b >= 2");
    refused(&["flow.spec", "--emit", "pnml"], &["PNML cannot express", "--emit spec"]);
}
