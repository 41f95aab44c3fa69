//! `raceproof target`: runs programs for searches on other machines.
//!
//! It needs neither LLVM nor a compiler, so it is also a program of its own, `raceproof-target`, for machines that have
//! neither.

use std::ffi::OsString;
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use remote::{DEFAULT_ADDRESS, LogEntry, Server, with_port};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Run programs for `raceproof explore --target` on another machine
///
/// Whoever can connect can run programs as this user: there is neither a password nor encryption. It listens on the
/// addresses that are named and no others; across a network, forward the port with ssh.
#[derive(clap::Args)]
pub struct Arguments {
    /// Listen on this address, with a port or on 7223; may be repeated. Without one, on the loopback interface
    #[arg(long, value_name = "ADDRESS[:PORT]", num_args = 0..=1, default_missing_value = DEFAULT_ADDRESS)]
    listen: Vec<String>,

    /// A command that runs the programs, split as a shell would, for example an emulator; `{name}` in it stands for the
    /// name that the program is to see as its own
    #[arg(long, value_name = "COMMAND")]
    runner: Option<String>,
}

/// Why there is no target.
#[derive(Debug)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What can be done about it.
    pub help: &'static str,
}

impl Arguments {
    /// Serves until a signal ends it. `warn` says something on standard error.
    ///
    /// # Errors
    /// When it cannot.
    pub fn run(self, warn: impl Fn(&str)) -> Result<(), Refusal> {
        let runner = self.runner()?;
        let server = Server::new(runner, log).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The kernel refuses only signals that cannot be handled; then the default stays: the process ends.
            let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
        }
        let listeners = self.listeners(warn)?;
        server.serve(&listeners, &stop).map_err(failed)
    }

    fn runner(&self) -> Result<Vec<OsString>, Refusal> {
        let Some(runner) = &self.runner else { return Ok(Vec::new()) };
        let words = shlex::split(runner).filter(|words| !words.is_empty()).ok_or_else(|| Refusal {
            message: format!("`--runner '{runner}'` is not a command"),
            help: "quote it as for a shell",
        })?;
        Ok(words.into_iter().map(OsString::from).collect())
    }

    /// Listens, and then says where.
    fn listeners(&self, warn: impl Fn(&str)) -> Result<Vec<TcpListener>, Refusal> {
        let default = [DEFAULT_ADDRESS.to_owned()];
        let addresses = if self.listen.is_empty() { &default[..] } else { &self.listen };
        let (mut listeners, mut said) = (Vec::new(), String::new());
        for address in addresses {
            let refused = |cause| Refusal {
                message: format!("cannot listen on `{address}`: {cause}"),
                help: "give an address of this machine, with a port that is free",
            };
            let listener = TcpListener::bind(with_port(address)).map_err(refused)?;
            let address = listener.local_addr().map_err(refused)?;
            if !is_loopback(address) {
                warn(&format!("whoever can connect to {address} can run programs as this user"));
            }
            said.push_str(&format!("listening on {address}, for {} programs\n", Server::architecture()));
            listeners.push(listener);
        }
        let mut stdout = std::io::stdout().lock();
        // A closed pipe is the reader's choice.
        let _ = stdout.write_all(said.as_bytes()).and_then(|()| stdout.flush());
        Ok(listeners)
    }
}

fn is_loopback(address: SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    }
}

fn failed(error: exec::Error) -> Refusal {
    Refusal { message: error.to_string(), help: "make room there, or set TMPDIR to another folder" }
}

/// Tells what happens, one line each.
fn log(entry: LogEntry) {
    let line = match entry {
        LogEntry::Connected { peer } => format!("{peer}: connected"),
        LogEntry::Refused { peer, why } => format!("{peer}: refused: {why}"),
        LogEntry::Gone { peer, runs } => format!("{peer}: gone after {runs} runs"),
    };
    // Nobody may be reading.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
