//! Searches whose program runs at a target: the same results as here, whatever happens to the connection.

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use common::target::{Proxy, TargetProcess};
use common::{Run, json_without_times, wait_until};
use testkit::generator::Random;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// A folder to work in.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(args).current_dir(self.0.path()).env_remove("CLICOLOR_FORCE");
        command
    }

    fn raceproof(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// What `explore` says of a program under `tests/`, and its exit status.
    fn explore(&self, program: &str, args: &[&str]) -> (i32, String) {
        let program = tests().join(program);
        let run = self.raceproof(&[&["explore", program.to_str().unwrap(), "--json"], args].concat());
        assert!(run.status != 2 && run.stderr.is_empty(), "{args:?}: {}", run.stderr);
        (run.status, json_without_times(&run.stdout))
    }
}

#[test]
fn the_same_as_here() {
    let target = TargetProcess::start(&["--listen", "127.0.0.1:0"]);
    let at = ["--target", &target.address];
    let desk = Desk::new();
    for program in [
        "search/accept_order.c",
        "search/figure1.c",
        "search/pipe_order.c",
        "failures/choose_deadlock.c",
        "failures/crash_in_libc.c",
        "failures/philosophers.c",
        "failures/stack_overflow.c",
        "failures/uncaught_exception.cpp",
        "misuse/free_held.c",
        "misuse/wait_without_lock.c",
    ] {
        assert_eq!(desk.explore(program, &[]), desk.explore(program, &at), "{program}");
    }
    // A search split into parts, one by random schedules, and one that is bounded.
    for flags in [
        &["--reduction", "optimal", "-j", "2"][..],
        &["--sample", "pct:3", "--runs", "40"],
        &["--max-preemptions", "1", "--isolation", "fork"],
    ] {
        let here = desk.explore("failures/philosophers.c", flags);
        assert_eq!(here, desk.explore("failures/philosophers.c", &[flags, &at].concat()), "{flags:?}");
    }
    // A witness of a race found there shows it again: there, and on this machine, which is of the same kind.
    let witness = "raceproof-witnesses/figure1-P1.rpw";
    for target in [&at[..], &[]] {
        let replay = desk.raceproof(&[&["replay", witness], target].concat());
        assert_eq!((replay.status, replay.stderr.as_str()), (1, ""), "{}", replay.stdout);
        assert!(replay.stdout.contains("data race on `y`"), "{}", replay.stdout);
    }
}

#[test]
fn the_program_sees_its_input_and_its_output_is_seen() {
    let target = TargetProcess::start(&["--listen", "127.0.0.1:0"]);
    let desk = Desk::new();
    let source = "#include <stdio.h>\nint main(int argc, char **argv) {\n  int c, sum = 0;\n  while ((c = getchar()) != EOF) sum += c;\n  \
        printf(\"%s %d %s %d\\n\", argv[0], argc, argv[1], sum);\n  return 0;\n}\n";
    std::fs::write(desk.0.path().join("echo.c"), source).unwrap();
    std::fs::write(desk.0.path().join("input"), "abc").unwrap();
    let args = ["explore", "echo.c", "--show-output", "--stdin", "input", "--target", &target.address, "--", "given"];
    let run = desk.raceproof(&args);
    assert_eq!((run.status, run.stderr.as_str()), (0, "echo 2 given 294\n"), "{}", run.stdout);
}

#[test]
fn connections_that_are_cut_lose_nothing() {
    let target = TargetProcess::start(&["--listen", "127.0.0.1:0"]);
    let desk = Desk::new();
    let flags = ["--max-executions", "400"];
    let here = desk.explore("search/lastzero.c", &flags);
    let mut cuts = 0;
    for seed in 0..4 {
        // In the greeting, while the program is sent, between runs, within a message.
        let lifetime = move |n: u32| {
            let drawn = Random::new(seed << 32 | u64::from(n)).bits();
            let most: u64 = [3_000, 20_000, 60_000, 100_000][(drawn % 4) as usize];
            // Once the program has to get there; then it is known.
            if (seed, n) == (0, 5) { 4_000_000 } else { ((drawn >> 8) % most) as i64 }
        };
        let proxy = Proxy::start(&target.address, lifetime);
        let there = desk.explore("search/lastzero.c", &[&flags[..], &["--target", &proxy.address]].concat());
        assert_eq!(here, there, "seed {seed}");
        cuts += proxy.cuts.load(Ordering::SeqCst);
    }
    assert!(cuts > 20, "{cuts} cuts");
}

#[test]
fn a_target_that_is_started_again_goes_on() {
    let first = TargetProcess::start(&["--listen", "127.0.0.1:0"]);
    let address = first.address.clone();
    let proxy = Proxy::start(&address, |_| i64::MAX);
    let desk = Desk::new();
    let flags = ["--max-executions", "3000"];
    let here = desk.explore("search/lastzero.c", &flags);
    let program = tests().join("search/lastzero.c");
    let args = [&["explore", program.to_str().unwrap(), "--json", "--target", &proxy.address], &flags[..]].concat();
    let mut search = desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Greetings are short: so many bytes are answers to runs.
    wait_until("the first target has made runs", || proxy.answered.load(Ordering::SeqCst) > 20_000);
    assert!(search.try_wait().unwrap().is_none(), "it ended before its target was gone");
    drop(first);
    let before = proxy.connections.load(Ordering::SeqCst);
    let second = TargetProcess::start(&["--listen", &address]);
    let there = Run::of(search.wait_with_output().unwrap());
    assert_eq!(here, (there.status, json_without_times(&there.stdout)), "{}", there.stderr);
    assert!(proxy.connections.load(Ordering::SeqCst) > before, "it did not connect again");
    // A target logs its runs when it notices that the search is gone.
    wait_until("the second target has logged that it made runs", || second.runs() > 0);
}

/// Local addresses that a process listens on, as the kernel writes them.
fn listening(pid: u32) -> Vec<String> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let Ok(table) = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")) else { continue };
        for line in table.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if sockets.iter().any(|inode| inode == fields[9]) {
                found.push(fields[1].to_owned());
            }
        }
    }
    found
}

#[test]
fn it_listens_on_loopback_and_nowhere_else() {
    // 127.0.0.1 and port 7223.
    for args in [&[][..], &["--listen"]] {
        let target = TargetProcess::start(args);
        assert_eq!(
            (target.address.as_str(), listening(target.pid())),
            ("127.0.0.1:7223", vec!["0100007F:1C37".into()])
        );
    }
    let target = TargetProcess::start(&["--listen", "127.0.0.2:0", "--listen", "127.0.0.3"]);
    let mut found = listening(target.pid());
    found.sort();
    assert!(found.len() == 2 && found[0].starts_with("0200007F:") && found[1] == "0300007F:1C37", "{found:?}");
}

#[test]
fn what_is_no_target_is_refused() {
    let desk = Desk::new();
    let program = tests().join("search/locked.c");
    let refused = |address: &str, parts: &[&str]| {
        let run = desk.raceproof(&["explore", program.to_str().unwrap(), "--target", address]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "`{part}` is missing in:\n{}", run.stderr);
        }
    };
    refused("127.0.0.1:1", &["cannot reach a target at `127.0.0.1:1`", "refused", "raceproof target --listen"]);
    refused("no such name", &["`no such name:7223`", "help: "]);
    // Who answers something else, and targets of another version.
    let answering = |answer: &'static [u8]| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                stream.read_exact(&mut [0; 20]).unwrap();
                stream.write_all(answer).unwrap();
            }
        });
        address
    };
    refused(&answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"), &["not a raceproof target", "help: "]);
    refused(&answering(b"raceproof target\0\0\0\x7f"), &["another version", "0x7f000000", "same version"]);
    refused(&answering(b""), &["cannot reach a target"]);
    // What an option says that cannot be had there.
    let witness = desk.raceproof(&["replay", "x.rpw", "--gdb", "--target", "localhost"]);
    assert!(witness.status == 2 && witness.stderr.contains("cannot be used with"), "{}", witness.stderr);
    for (args, part) in [
        (&["target", "--listen", "203.0.113.1"][..], "cannot listen on `203.0.113.1`"),
        (&["target", "--runner", "'"], "is not a command"),
    ] {
        let run = desk.raceproof(args);
        assert!(run.status == 2 && run.stderr.contains(part) && run.stderr.contains("help: "), "{}", run.stderr);
    }
}

#[test]
fn strangers_do_not_disturb_a_target() {
    let target = TargetProcess::start(&["--listen", "127.0.0.1:0"]);
    let connect = || std::net::TcpStream::connect(&target.address).unwrap();
    let silent = connect();
    let mut answer = Vec::new();
    let mut stranger = connect();
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    // A stranger is told nothing. (That it had more to say may reset the connection.)
    let _ = stranger.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    let mut garbled = connect();
    let mut greeting = b"raceproof target".to_vec();
    let mut reader = connect();
    reader.write_all(&[&greeting[..], &[0; 4]].concat()).unwrap();
    let mut version = [0; 20];
    reader.read_exact(&mut version).unwrap();
    greeting.extend(&version[16..]);
    greeting.extend([0xff; 64]);
    garbled.write_all(&greeting).unwrap();
    let desk = Desk::new();
    let at = ["--target", target.address.as_str()];
    assert_eq!(desk.explore("search/locked.c", &[]), desk.explore("search/locked.c", &at));
    drop(silent);
}
