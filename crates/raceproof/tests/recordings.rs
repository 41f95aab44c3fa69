//! Programs from Debian's source packages with one lock removed by a patch of ours, built with `raceproof cc --recorder`:
//! a recording ends with the program's own output, and the first one shows the missing lock. Where the sources cannot be
//! fetched there is nothing to test, and the tests say so. Programs that take minutes to build are tried only where
//! `RACEPROOF_PROGRAMS` asks for more than samples, as `make soak` does.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::debian::{LBZIP2_FLAGS, patched, succeeded, tries_large_programs};
use serde_json::Value;

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");
/// How long `predict` may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(60);

/// A program with a lock removed.
struct Patched {
    folder: tempfile::TempDir,
}

impl Patched {
    /// The sources of a package with a patch, and a text of several small blocks.
    fn new(package: &str, patch: &str) -> Option<Self> {
        let patched = Self { folder: patched(package, Some(patch))? };
        let text: String = (0..20_000).map(|line| format!("line {line} of a small file for a compressor\n")).collect();
        std::fs::write(patched.folder.path().join("text"), text).unwrap();
        Some(patched)
    }

    /// Prepares a command to run in the folder, with a cache of its own.
    fn command(&self, program: &str) -> Command {
        let mut command = common::debian::in_folder(self.folder.path(), program);
        command.env_remove("MAKEFLAGS").stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        command
    }

    /// Runs a command that has to succeed; what it wrote to standard output.
    fn run(&self, program: &str, args: &[&str]) -> Vec<u8> {
        let output = self.command(program).args(args).output().unwrap();
        succeeded(&format!("{program} {args:?}"), &output);
        output.stdout
    }

    /// Configures for the recorder's compiler and makes these parts.
    fn build(&self, flags: &[&str], parts: &[&[&str]]) {
        self.run("./configure", &[&[format!("CC={RACEPROOF} cc --recorder").as_str()], flags].concat());
        parts.iter().for_each(|part| drop(self.run("make", &[&["-j2"], *part].concat())));
    }

    /// Records a run of a program that ends by itself: it writes what it writes otherwise.
    fn record(&self, program: &str, args: &[&str]) {
        let plain = self.run(self.folder.path().join(program).to_str().unwrap(), args);
        let recorded = self.run(RACEPROOF, &[&["record", "-o", "t.rpt", program, "--"], args].concat());
        assert!(!plain.is_empty() && plain == recorded, "{program} writes something else when it is recorded");
    }

    /// The recording shows a race on a variable, or in a function, of this name, in time.
    fn shows(&self, name: &str) {
        let start = Instant::now();
        let mut command = self.command(RACEPROOF);
        command.args(["predict", "--json", "--time", &LIMIT.as_secs().to_string(), "t.rpt"]);
        let output = command.output().unwrap();
        let took = start.elapsed();
        assert!(took < LIMIT + Duration::from_secs(15), "took {took:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", document["verdict"]);
        let races = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race");
        let names = |pair: &Value| [&pair["variable"], &pair["accesses"][0]["function"]].map(|name| name.to_string());
        let races: Vec<_> = races.map(names).collect();
        assert!(races.iter().flatten().any(|found| found.contains(name)), "{races:?}");
    }
}

#[test]
fn pbzip2_without_the_lock_of_the_end() {
    let Some(patched) = Patched::new("pbzip2", "pbzip2-producer-done.patch") else { return };
    patched.run("make", &[&format!("CXX={RACEPROOF} c++ --recorder -std=gnu++98 -w"), "pbzip2"]);
    patched.record("pbzip2", &["-c", "-p2", "-b1", "text"]);
    patched.shows("producerDone");
}

#[test]
fn lbzip2_without_the_lock_of_the_free_slots() {
    let patched = tries_large_programs().then(|| Patched::new("lbzip2", "lbzip2-out-slots.patch"));
    let Some(patched) = patched.flatten() else { return };
    patched.build(&[LBZIP2_FLAGS], &[&[]]);
    patched.record("src/lbzip2", &["-c", "-n2", "-1", "text"]);
    patched.shows("out_slots");
}

#[test]
fn pixz_without_the_lock_of_the_queue() {
    let patched = tries_large_programs().then(|| Patched::new("pixz", "pixz-queue-push.patch"));
    let Some(patched) = patched.flatten() else { return };
    if !patched.folder.path().join("configure").exists() {
        patched.run("./autogen.sh", &[]);
    }
    patched.build(&["--without-manpage"], &[&[]]);
    patched.record("src/pixz", &["-t", "-0", "-p", "2", "-i", "text"]);
    patched.shows("first");
}

#[test]
fn xz_without_the_lock_of_the_progress() {
    let patched = tries_large_programs().then(|| Patched::new("xz-utils", "xz-progress.patch"));
    let Some(patched) = patched.flatten() else { return };
    let flags = ["--disable-shared", "--disable-nls", "--disable-assembler"];
    patched.build(&flags, &[&["-C", "src/liblzma"], &["-C", "src/xz"]]);
    patched.record("src/xz/xz", &["-T2", "--block-size=64KiB", "-0", "-c", "text"]);
    // The coder is a block of its own allocator: its fields have no names.
    patched.shows("worker_start");
}

/// A server that is ended with its owner.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client of memcached, from its connection to its last answer.
fn talk(port: u16) {
    let start = Instant::now();
    let connection = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(connection) => break connection,
            Err(error) if start.elapsed() > START => panic!("nobody listens: {error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    connection.set_read_timeout(Some(START)).unwrap();
    (&connection).write_all(b"set key 0 0 5\r\nvalue\r\n").unwrap();
    let answer = BufReader::new(&connection).lines().next();
    assert_eq!(answer.unwrap().unwrap(), "STORED");
}

#[test]
fn memcached_without_the_lock_of_the_counted_connections() {
    let patched = tries_large_programs().then(|| Patched::new("memcached", "memcached-connections.patch"));
    let Some(patched) = patched.flatten() else { return };
    patched.build(&[], &[&["memcached"]]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = patched.command(RACEPROOF);
    command.args(["record", "-o", "t.rpt", "--run-time=8", "memcached", "--", "-u", "root", "-l", "127.0.0.1"]);
    let mut server = Server(command.args(["-U", "0", "-t", "4", "-p", &port.to_string()]).spawn().unwrap());
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(|| talk(port)))));
    server.0.wait().unwrap();
    patched.shows("conns");
}
