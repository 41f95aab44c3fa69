//! A target in a process of its own, and a proxy that cuts connections to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A running target. It ends with this value.
pub(crate) struct TargetProcess {
    process: Child,
    /// Where it listens.
    pub(crate) address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl TargetProcess {
    /// Starts `raceproof target` with these arguments.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.arg("target").args(args);
        Self::of(command)
    }

    /// Starts a target by a command, and waits until it listens.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the target starts");
        let log = Arc::new(Mutex::new(Vec::new()));
        let (stderr, lines) = (BufReader::new(process.stderr.take().expect("piped")), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                lines.lock().expect("no panic").push(line);
            }
        });
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("it says where it listens");
        let address = line.strip_prefix("listening on ").and_then(|rest| rest.split(',').next());
        let address = address.unwrap_or_else(|| panic!("it does not say where it listens: `{line}`")).to_owned();
        Self { process, address, log }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Runs made for hosts that are gone, by its log.
    pub(crate) fn runs(&self) -> u64 {
        let log = self.log.lock().expect("no panic");
        let runs = |line: &String| line.split_once("gone after ")?.1.split(' ').next()?.parse::<u64>().ok();
        log.iter().filter_map(runs).sum()
    }
}

impl Drop for TargetProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Forwards connections to a target and cuts each after some bytes, but for the first.
pub(crate) struct Proxy {
    pub(crate) address: String,
    /// Connections cut so far.
    pub(crate) cuts: Arc<AtomicU32>,
    /// Connections made so far.
    pub(crate) connections: Arc<AtomicU32>,
    /// Bytes that the target sent so far.
    pub(crate) answered: Arc<AtomicU64>,
}

impl Proxy {
    /// `lifetime` says after how many bytes the n-th connection is cut.
    pub(crate) fn start(target: &str, lifetime: impl Fn(u32) -> i64 + Send + 'static) -> Self {
        let target: SocketAddr = target.parse().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let proxy = Self { address, cuts: Arc::default(), connections: Arc::default(), answered: Arc::default() };
        let counts = [&proxy.cuts, &proxy.connections].map(Arc::clone);
        let answered = Arc::clone(&proxy.answered);
        std::thread::spawn(move || {
            for (n, host) in listener.incoming().enumerate() {
                let (Ok(host), Ok(target)) = (host, TcpStream::connect(target)) else { continue };
                let [cuts, connections] = &counts;
                connections.fetch_add(1, Ordering::SeqCst);
                let left = Arc::new(AtomicI64::new(if n == 0 { i64::MAX } else { lifetime(n as u32) }));
                for ([from, to], counted) in
                    [([&host, &target], Arc::default()), ([&target, &host], Arc::clone(&answered))]
                {
                    let (from, to) = (from.try_clone().expect("a copy"), to.try_clone().expect("a copy"));
                    let (left, cuts) = (Arc::clone(&left), Arc::clone(cuts));
                    std::thread::spawn(move || pump(from, to, &left, &cuts, &counted));
                }
            }
        });
        proxy
    }
}

/// Copies bytes until one end is gone or there have been enough; the last of them may be in the middle of a message.
fn pump(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64, cuts: &AtomicU32, passed: &AtomicU64) {
    let mut buffer = [0; 1 << 14];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let before = left.fetch_sub(n as i64, Ordering::SeqCst);
        let passing = n.min(usize::try_from(before).unwrap_or(0));
        if to.write_all(&buffer[..passing]).is_err() {
            break;
        }
        passed.fetch_add(passing as u64, Ordering::SeqCst);
        if passing < n {
            if before >= 0 {
                cuts.fetch_add(1, Ordering::SeqCst);
            }
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
