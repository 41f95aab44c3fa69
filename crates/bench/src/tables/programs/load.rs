//! Running a program with its load: a text to compress, or clients.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::subject::{Protocol, Subject};
use crate::Failure;
use crate::process::{Limits, Usage, run_during};

const LINES: u64 = 120_000;
const CLIENTS: usize = 8;
const REQUESTS: usize = 200;

/// How long a server may take until it listens, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the command on the subject's arguments. What it writes goes to `output`, its errors to `output.errors`.
pub(super) fn run(command: &mut Command, subject: &Subject, output: &Path, time: Duration) -> Result<Usage, Failure> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("text");
    std::fs::write(&text, lines())?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let words = shlex::split(subject.program.args).ok_or("arguments that are no words")?;
    let writes_file = words.iter().any(|word| word.contains("{out}"));
    for word in words {
        let word = word.replace("{text}", &text.display().to_string()).replace("{port}", &port.to_string());
        let word = word.replace("{out}", &output.display().to_string());
        command.arg(word.replace("{folder}", &folder.path().join("folder").display().to_string()));
    }
    let errors = std::fs::File::create(output.with_extension("errors"))?;
    let printed = if writes_file { errors.try_clone()? } else { std::fs::File::create(output)? };
    command.current_dir(folder.path()).stdout(printed).stderr(errors);
    let options = "exitcode=0 report_signal_unsafe=0 external_symbolizer_path=/usr/bin/llvm-symbolizer-19";
    command.env("TSAN_OPTIONS", options);
    let server = subject.program.server;
    let (usage, ()) = run_during(command, Limits { processors: None, time }, |group| {
        let served = server.map_or(Ok(()), |protocol| serve(protocol, port));
        if server.is_some() {
            group.interrupt();
        }
        served
    })?;
    Ok(usage)
}

/// A text that compresses well, but not too well.
fn lines() -> String {
    let mut text = String::new();
    for i in 0..LINES {
        let _ = writeln!(text, "line {} of a text to compress {}", i * 7919 % 65_537, i % 977);
    }
    text
}

/// Clients at once, each with its requests one after the other.
fn serve(protocol: Protocol, port: u16) -> Result<(), Failure> {
    // Nobody talks before the server listens.
    connect(port)?;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || talk(protocol, port, number))).collect();
        clients.into_iter().try_for_each(|client| client.join().map_err(|_| "a client panicked")?)
    })
}

fn connect(port: u16) -> Result<TcpStream, Failure> {
    let start = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(connection) => {
                connection.set_read_timeout(Some(PATIENCE))?;
                return Ok(connection);
            }
            Err(error) if start.elapsed() > PATIENCE => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn talk(protocol: Protocol, port: u16, number: usize) -> Result<(), Failure> {
    let connection = connect(port)?;
    let mut answers = BufReader::new(&connection).lines();
    for request in 0..REQUESTS {
        let key = format!("k{}", request % 7);
        // A request and how its answer ends; nothing for an answer of one line.
        let (text, end) = match (protocol, request % 5) {
            (Protocol::Memcached, 0) => (format!("set {key} 0 0 5\r\nvalue\r\n"), None),
            (Protocol::Memcached, 1) => (format!("get {key}\r\n"), Some("END")),
            (Protocol::Memcached, 2) => (format!("incr n{number} 1\r\n"), None),
            (Protocol::Memcached, 3) => (format!("delete {key}\r\n"), None),
            (Protocol::Memcached, _) => ("stats\r\n".to_owned(), Some("END")),
            (Protocol::Redis, 0 | 3) => (format!("SET {key} value\r\n"), None),
            (Protocol::Redis, _) => ("INCR n\r\n".to_owned(), None),
        };
        (&connection).write_all(text.as_bytes())?;
        loop {
            let line = answers.next().ok_or("the server hung up")??;
            if end.is_none_or(|end| line == end) {
                break;
            }
        }
    }
    Ok(())
}
