//! Programs from Debian's source packages, built with `raceproof cc` and `raceproof c++` through their own build systems: they
//! run as before, write the same under every schedule that is tried, and a lock taken out of them is missed.
//! Where the sources cannot be fetched there is nothing to test, and the tests say so. What takes more than a
//! minute is tried only where `RACEPROOF_PROGRAMS` asks for more than samples, as `make soak` does.
#![allow(clippy::print_stderr, reason = "says what it saw")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::debian::{LBZIP2_FLAGS, in_folder, ours, patched, run, sources, tries_large_programs};
use serde_json::Value;

const RACEPROOF: &str = env!("CARGO_BIN_EXE_raceproof");

/// A text of more than two of the smallest blocks of bzip2.
fn text() -> String {
    (0..5_200).map(|line| format!("line {line} of a small file for a compressor\n")).collect()
}

/// Compresses and decompresses the text.
fn compresses(program: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, text()).unwrap();
    let packed = folder.path().join("packed.bz2");
    std::fs::write(&packed, run(Command::new(program).arg("-c").arg(&file))).unwrap();
    assert!(std::fs::metadata(&packed).unwrap().len() < text().len() as u64 / 4);
    assert_eq!(run(Command::new(program).arg("-dc").arg(&packed)), text().into_bytes());
}

/// pbzip2, built.
fn pbzip2(patch: Option<&str>) -> Option<tempfile::TempDir> {
    let folder = patched("pbzip2", patch)?;
    run(in_folder(folder.path(), "make").arg(format!("CXX={RACEPROOF} c++ -std=gnu++98 -w")).arg("pbzip2"));
    std::fs::write(folder.path().join("text"), text()).unwrap();
    Some(folder)
}

/// What pbzip2 is asked to do: compress the text.
const PBZIP2: [&str; 6] = ["pbzip2", "--", "-c", "-p2", "-b1", "text"];
/// The same for pixz.
const PIXZ: [&str; 8] = ["src/pixz", "--", "-t", "-0", "-p", "2", "-i", "text"];

/// A server, and its two clients.
const SERVER: [&str; 3] = ["server", "--peer", "clients.toml"];

/// Runs `raceproof` in a folder on a program with its arguments: the exit status and the document.
fn raceproof(folder: &Path, args: &[&str], program: &[&str]) -> (Option<i32>, Value) {
    let mut command = in_folder(folder, RACEPROOF);
    command.args(args).arg("--json").args(program);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let document = serde_json::from_slice(&output.stdout);
    (output.status.code(), document.unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr))))
}

/// Runs so many schedules of a program: nothing is found, and all write the same.
fn writes_the_same(folder: &Path, executions: u64, program: &[&str]) {
    let executions_text = executions.to_string();
    let (status, document) =
        raceproof(folder, &["explore", "--max-executions", &executions_text, "--compare-output"], program);
    assert_eq!(status, Some(3), "nothing found, and not everything tried");
    let engine = &document["engines"][0];
    assert_eq!(engine["executions"], executions);
    assert_eq!(engine["outputs"]["different"], 1);
    assert!(engine["outputs"]["runs"].as_u64().unwrap() >= executions);
    let time = engine["time_ms"].as_u64().unwrap();
    eprintln!("{executions} executions in {time} ms, {} events", engine["transitions"]);
}

/// Seconds that `check` is given, and how much later its report may be there.
const LIMIT: u64 = 30;
const GRACE: Duration = Duration::from_secs(3);

/// Checks a program: there is a report within the limit, and no error besides races.
fn reports_in_time(folder: &Path, program: &[&str]) {
    let started = Instant::now();
    let (status, document) = raceproof(folder, &["check", "--time", &LIMIT.to_string()], program);
    let took = started.elapsed();
    assert!(matches!(status, Some(0 | 1 | 3)), "{status:?}");
    assert!(took < Duration::from_secs(LIMIT) + GRACE, "{took:?}");
    assert_eq!(document["errors"].as_array().map(Vec::len), Some(0), "{}", document["errors"]);
    let races = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race").count();
    eprintln!("check: {}, {races} races, {took:.1?}", document["verdict"]);
}

/// Checks a program from which we took a lock, for so many seconds: a race on a variable with this name is confirmed, and every race replays.
fn misses_the_lock(folder: &Path, seconds: &str, variable: &str, program: &[&str]) {
    let (status, document) = raceproof(folder, &["check", "--time", seconds], program);
    assert_eq!(status, Some(1), "a race");
    let races = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race");
    let planted = races.clone().find(|pair| pair["variable"].as_str().is_some_and(|name| name.contains(variable)));
    assert!(planted.is_some_and(|pair| pair["confirmed"] == true), "{:?}", races.collect::<Vec<_>>());
    for race in races {
        let witness = race["witness"].as_str().expect("a witness");
        let replayed = in_folder(folder, RACEPROOF).args(["replay", witness]).output().unwrap();
        let text = String::from_utf8_lossy(&replayed.stdout);
        assert_eq!(replayed.status.code(), Some(1), "{text}");
        assert!(text.contains("replayed exactly"), "{text}");
    }
}

#[test]
fn pbzip2_writes_the_same_in_a_thousand_schedules() {
    let Some(folder) = pbzip2(None) else { return };
    compresses(&folder.path().join("pbzip2"));
    writes_the_same(folder.path(), 1000, &PBZIP2);
}

#[test]
fn a_lock_taken_out_of_pbzip2_is_missed() {
    let Some(folder) = pbzip2(Some("pbzip2-producer-done.patch")) else { return };
    compresses(&folder.path().join("pbzip2"));
    misses_the_lock(folder.path(), "60", "producerDone", &PBZIP2);
}

/// pixz, built; the text is small.
fn pixz(patch: Option<&str>) -> Option<tempfile::TempDir> {
    let folder = patched("pixz", patch)?;
    if !folder.path().join("configure").exists() {
        run(&mut in_folder(folder.path(), "./autogen.sh"));
    }
    run(in_folder(folder.path(), "./configure").arg(format!("CC={RACEPROOF} cc")).arg("--without-manpage"));
    run(in_folder(folder.path(), "make").arg("-j2"));
    std::fs::write(folder.path().join("text"), &text()[..1500]).unwrap();
    Some(folder)
}

#[test]
fn pixz_writes_the_same_in_a_hundred_schedules() {
    let Some(folder) = pixz(None) else { return };
    writes_the_same(folder.path(), 100, &PIXZ);
    if tries_large_programs() {
        reports_in_time(folder.path(), &PIXZ);
    }
}

#[test]
fn a_lock_taken_out_of_pixz_is_missed() {
    let folder = tries_large_programs().then(|| pixz(Some("pixz-queue-push.patch")));
    let Some(folder) = folder.flatten() else { return };
    misses_the_lock(folder.path(), "20", "first", &PIXZ);
}

/// A server of ours over cpp-httplib, built.
fn server() -> Option<tempfile::TempDir> {
    let folder = tries_large_programs().then(|| sources("cpp-httplib"))??;
    let mut compiler = in_folder(folder.path(), RACEPROOF);
    compiler.args(["c++", "-std=c++17", "-g", "-I."]).arg(ours("cpp-httplib-server.cc"));
    run(compiler.args(["-o", "server", "-pthread"]));
    std::fs::copy(ours("cpp-httplib-clients.toml"), folder.path().join("clients.toml")).unwrap();
    Some(folder)
}

#[test]
fn a_server_answers_two_clients_in_a_hundred_schedules() {
    let Some(folder) = server() else { return };
    writes_the_same(folder.path(), 100, &SERVER);
    reports_in_time(folder.path(), &SERVER);
}

#[test]
fn two_threads_write_to_one_database_in_a_hundred_schedules() {
    let Some(folder) = tries_large_programs().then(|| sources("sqlite3")).flatten() else { return };
    run(in_folder(folder.path(), "./configure").arg("--disable-tcl"));
    run(in_folder(folder.path(), "make").arg("sqlite3.c"));
    let mut compiler = in_folder(folder.path(), RACEPROOF);
    compiler.args(["cc", "-g", "-I.", "-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION"]);
    compiler.arg(ours("sqlite3-two-threads.c")).args(["sqlite3.c", "-lpthread", "-lm", "-o", "two-threads"]);
    run(&mut compiler);
    assert_eq!(run(&mut in_folder(folder.path(), "./two-threads")), b"3\n");
    writes_the_same(folder.path(), 100, &["two-threads"]);
    reports_in_time(folder.path(), &["two-threads"]);
}

/// What xz is asked to do: compress the text in two blocks.
const XZ: [&str; 7] = ["src/xz/xz", "--", "-T2", "--block-size=1000", "-0", "-c", "text"];

/// xz, built; the text is small.
fn xz(patch: Option<&str>) -> Option<tempfile::TempDir> {
    let folder = tries_large_programs().then(|| patched("xz-utils", patch))??;
    let left_out = ["shared", "nls", "doc", "scripts", "lzmadec", "lzmainfo", "xzdec"];
    let mut configure = in_folder(folder.path(), "./configure");
    run(configure.arg(format!("CC={RACEPROOF} cc")).args(left_out.map(|part| format!("--disable-{part}"))));
    run(in_folder(folder.path(), "make").arg("-j2"));
    std::fs::write(folder.path().join("text"), &text()[..1500]).unwrap();
    Some(folder)
}

#[test]
fn xz_writes_the_same_in_a_hundred_schedules() {
    let Some(folder) = xz(None) else { return };
    let [program, _, options @ ..] = XZ;
    std::fs::write(folder.path().join("packed.xz"), run(in_folder(folder.path(), program).args(options))).unwrap();
    assert_eq!(run(in_folder(folder.path(), program).args(["-dc", "packed.xz"])), &text().as_bytes()[..1500]);
    writes_the_same(folder.path(), 100, &XZ);
    reports_in_time(folder.path(), &XZ);
}

/// The progress of the stream is kept in a block of liblzma's allocator.
#[test]
fn a_lock_taken_out_of_xz_is_missed() {
    let Some(folder) = xz(Some("xz-progress.patch")) else { return };
    misses_the_lock(folder.path(), "60", "heap@src/liblzma/common/common.c:50", &XZ);
}

/// What libcurl is built without.
const CURL_WITHOUT: [&str; 8] = ["ssl", "zlib", "brotli", "zstd", "libpsl", "libidn2", "nghttp2", "librtmp"];

/// Two threads that download halves of a file from a server of a script.
const DOWNLOADER: [&str; 3] = ["download", "--peer", "mirror.toml"];

/// A downloader of ours over libcurl, built.
fn downloader(patch: Option<&str>) -> Option<tempfile::TempDir> {
    let folder = tries_large_programs().then(|| patched("curl", patch))??;
    let mut configure = in_folder(folder.path(), "./configure");
    configure.arg(format!("CC={RACEPROOF} cc")).args(["--disable-shared", "--disable-ipv6", "--disable-ldap"]);
    run(configure.args(CURL_WITHOUT.map(|library| format!("--without-{library}"))));
    run(in_folder(folder.path(), "make").args(["-j2", "-C", "lib"]));
    let mut compiler = in_folder(folder.path(), RACEPROOF);
    compiler.args(["cc", "-g", "-Iinclude"]).arg(ours("curl-two-threads.c"));
    run(compiler.args(["lib/.libs/libcurl.a", "-lpthread", "-o", "download"]));
    std::fs::copy(ours("curl-mirror.toml"), folder.path().join("mirror.toml")).unwrap();
    Some(folder)
}

#[test]
fn a_downloader_writes_the_same_in_a_hundred_schedules() {
    let Some(folder) = downloader(None) else { return };
    writes_the_same(folder.path(), 100, &DOWNLOADER);
    reports_in_time(folder.path(), &DOWNLOADER);
}

#[test]
fn a_lock_taken_out_of_libcurl_is_missed() {
    let Some(folder) = downloader(Some("curl-resolv-unlock.patch")) else { return };
    misses_the_lock(folder.path(), "60", "heap", &DOWNLOADER);
}

/// leveldb's own benchmark reads a database that it has filled before.
#[test]
fn leveldb_reads_the_same_in_a_hundred_schedules() {
    let Some(folder) = tries_large_programs().then(|| sources("leveldb")).flatten() else { return };
    let is_part = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".cc")
            && !["_test.cc", "windows", "leveldbutil", "testutil"].iter().any(|part| name.contains(part))
    };
    let parts = ["db", "table", "util"].map(|part| std::fs::read_dir(folder.path().join(part)).unwrap());
    let parts = parts.into_iter().flatten().map(|entry| entry.unwrap().path()).filter(|path| is_part(path));
    let own = ["helpers/memenv/memenv.cc", "util/testutil.cc", "benchmarks/db_bench.cc"];
    let mut compiler = in_folder(folder.path(), RACEPROOF);
    compiler.args(["c++", "-std=c++17", "-g", "-DLEVELDB_PLATFORM_POSIX", "-DHAVE_FDATASYNC=1", "-DHAVE_O_CLOEXEC=1"]);
    compiler.args(["-I.", "-Iinclude", "-Ihelpers/memenv", "-pthread"]).args(parts).args(own);
    run(compiler.args(["-o", "db_bench", "-lgmock", "-lgtest"]));
    let bench = |rest: &[&str]| run(in_folder(folder.path(), "./db_bench").args(["--db=filled", "--num=5"]).args(rest));
    bench(&["--benchmarks=fillseq"]);
    let reads = ["--use_existing_db=1", "--threads=2", "--benchmarks=readrandom,seekrandom"];
    let native = String::from_utf8(bench(&reads)).unwrap();
    assert_eq!(native.matches("(5 of 5 found)").count(), 2, "{native}");
    let program = [&["db_bench", "--", "--db=filled", "--num=5"], &reads[..]].concat();
    writes_the_same(folder.path(), 100, &program);
    reports_in_time(folder.path(), &program);
}

/// A server with a thread for input and output, and its two clients.
const REDIS: [&str; 5] = ["src/redis-server", "--peer", "redis-clients.toml", "--", "redis.conf"];

/// redis, built, with the files that it is run with.
fn redis() -> Option<tempfile::TempDir> {
    let folder = tries_large_programs().then(|| patched("redis", Some("redis-spins.patch")))??;
    let compiler = format!("CC={RACEPROOF} cc");
    let without = ["MALLOC=libc", "BUILD_TLS=no", "USE_SYSTEMD=no", "OPTIMIZATION=-O0"];
    run(in_folder(folder.path(), "make").args(["-j2", "-C", "src", &compiler, "redis-server"]).args(without));
    for name in ["redis-clients.toml", "redis.conf"] {
        std::fs::copy(ours(name), folder.path().join(name)).unwrap();
    }
    Some(folder)
}

#[test]
fn redis_answers_two_clients_in_a_hundred_schedules() {
    let Some(folder) = redis() else { return };
    writes_the_same(folder.path(), 100, &REDIS);
    reports_in_time(folder.path(), &REDIS);
}

#[test]
fn lbzip2_compresses() {
    let Some(folder) = sources("lbzip2") else { return };
    run(in_folder(folder.path(), "./configure").arg(format!("CC={RACEPROOF} cc")).arg(LBZIP2_FLAGS));
    run(in_folder(folder.path(), "make").arg("-j2"));
    compresses(&folder.path().join("src/lbzip2"));
}

#[test]
fn memcached_remembers() {
    let Some(folder) = sources("memcached") else { return };
    run(in_folder(folder.path(), "./configure").arg(format!("CC={RACEPROOF} cc")));
    run(in_folder(folder.path(), "make").args(["-j2", "memcached"]));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = in_folder(folder.path(), "./memcached");
    command.args(["-u", "root", "-l", "127.0.0.1", "-U", "0", "-p", &port.to_string()]);
    let mut server = command.stdin(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    let connection = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(connection) => break connection,
            Err(error) if started.elapsed() > Duration::from_secs(30) => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    (&connection).write_all(b"set key 0 0 5\r\nvalue\r\nget key\r\n").unwrap();
    let lines = BufReader::new(&connection).lines().take(4).collect::<Result<Vec<_>, _>>();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(lines.unwrap(), ["STORED", "VALUE key 0 5", "value", "END"]);
}
