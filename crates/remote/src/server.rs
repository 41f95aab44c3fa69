//! The target's end of a connection.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use archives::runtime_archive;
use exec::{Backend, Config, Error, Executable, Local, RunMode};
use files::hash;
use launch::Scratch;

use crate::message::{Answer, Connection, Demand, Hello, RunAnswer, RunDemand, SummaryFields, VERSION, bytes_of};

/// How long a host may take to say what it is.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// Polling interval of a server that nobody connects to, in milliseconds. (A signal wakes it.)
const POLL_INTERVAL: i32 = 500;

/// Something that happened at a target, for its log.
#[derive(Debug)]
#[allow(missing_docs, reason = "said by the names")]
pub enum LogEntry {
    /// A host connected.
    Connected { peer: SocketAddr },
    /// Something that is not a host of this version connected.
    Refused { peer: SocketAddr, why: String },
    /// A host is gone, after so many runs.
    Gone { peer: SocketAddr, runs: u64 },
}

/// A target: runs the programs that hosts send.
pub struct Server {
    shared: Arc<Shared>,
}

/// What the connections have in common.
struct Shared {
    /// Programs, by their hash. Deleted with the server.
    folder: Scratch,
    /// Those that are complete.
    programs: Mutex<BTreeSet<String>>,
    runner: Vec<OsString>,
    log: Box<dyn Fn(LogEntry) + Send + Sync>,
}

impl Server {
    /// Prepares to run programs with a `runner` before them, if that is not empty.
    ///
    /// # Errors
    /// When there is no folder to put them in.
    pub fn new(runner: Vec<OsString>, log: impl Fn(LogEntry) + Send + Sync + 'static) -> Result<Self, Error> {
        let folder = Scratch::new("target-");
        let folder = folder.map_err(Error::system("create a folder for programs"))?;
        let shared = Shared { folder, programs: Mutex::default(), runner, log: Box::new(log) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The architecture of the programs that it runs.
    pub fn architecture() -> &'static str {
        std::env::consts::ARCH
    }

    /// Serves hosts that connect until `stop` becomes true, each in a thread of its own.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn serve(&self, listeners: &[TcpListener], stop: &AtomicBool) -> Result<(), Error> {
        let accept = "accept connections";
        for listener in listeners {
            listener.set_nonblocking(true).map_err(Error::system(accept))?;
        }
        while !stop.load(Ordering::Relaxed) {
            wait(listeners);
            for listener in listeners {
                match listener.accept() {
                    Ok((stream, peer)) => self.welcome(stream, peer).map_err(Error::system(accept))?,
                    Err(error) if passes(&error) => {}
                    Err(error) => return Err(Error::system(accept)(error)),
                }
            }
        }
        Ok(())
    }

    fn welcome(&self, stream: TcpStream, peer: SocketAddr) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        std::thread::Builder::new().spawn(move || shared.attend(stream, peer)).map(drop)
    }
}

/// Whether an error of accepting says nothing about the next time: nobody is there, or is there no more, or descriptors
/// are scarce.
fn passes(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted | ConnectionReset)
        || matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::EPROTO))
}

/// Waits until somebody connects, a signal comes, or some time is over.
fn wait(listeners: &[TcpListener]) {
    let wanted = |listener: &TcpListener| libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut wanted: Vec<_> = listeners.iter().map(wanted).collect();
    // SAFETY: the call reads and writes as many entries as the vector has.
    unsafe { libc::poll(wanted.as_mut_ptr(), wanted.len() as libc::nfds_t, POLL_INTERVAL) };
}

impl Shared {
    /// Serves one host.
    fn attend(&self, stream: TcpStream, peer: SocketAddr) {
        let mut session =
            Session { shared: self, program: None, config: Config::default(), records: Vec::new(), runs: 0 };
        let refused = |why: String| (self.log)(LogEntry::Refused { peer, why });
        match open(stream) {
            Ok(Ok(mut connection)) => {
                (self.log)(LogEntry::Connected { peer });
                // A host that is gone is as good as one that is done.
                let _ = session.serve(&mut connection);
                (self.log)(LogEntry::Gone { peer, runs: session.runs });
            }
            Ok(Err(why)) => refused(why),
            Err(error) => refused(error.to_string()),
        }
    }

    /// Where the program with this hash is.
    fn path(&self, hash: &str) -> PathBuf {
        self.folder.path().join(hash)
    }

    fn has(&self, hash: &str) -> bool {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).contains(hash)
    }

    /// Keeps a program.
    fn keep(&self, claimed: &str, program: &[u8]) -> Result<(), Error> {
        let hash = hash(program);
        if hash != claimed {
            return Err(Error::Runtime { message: format!("the program has the hash {hash}, not {claimed}") });
        }
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if !programs.contains(&hash) {
            let path = self.path(&hash);
            let cannot = Error::system("keep the program");
            std::fs::write(&path, program).map_err(&cannot)?;
            std::fs::set_permissions(&path, Permissions::from_mode(0o700)).map_err(&cannot)?;
            programs.insert(hash);
        }
        Ok(())
    }
}

/// Finds out what connected: a host of this version, or why not.
fn open(stream: TcpStream) -> io::Result<Result<Connection, String>> {
    stream.set_nonblocking(false)?;
    let mut connection = Connection::new(stream)?;
    connection.set_read_timeout(Some(GREETING_TIMEOUT))?;
    let Some(version) = connection.greeting()? else { return Ok(Err("not a raceproof".to_owned())) };
    connection.greet()?;
    if version != VERSION {
        return Ok(Err(format!("it speaks version {version:#x}, this target {VERSION:#x}")));
    }
    let hello = Hello { architecture: Server::architecture().to_owned(), runtime: hash(runtime_archive()) };
    connection.send(&Answer::Hello(hello), &[])?;
    connection.set_read_timeout(None)?;
    Ok(Ok(connection))
}

/// One host's program.
struct Session<'s> {
    shared: &'s Shared,
    program: Option<Local>,
    config: Config,
    /// What the host has: the last run's.
    records: Vec<wire::Record>,
    runs: u64,
}

impl Session<'_> {
    /// Answers until the host is done.
    fn serve(&mut self, connection: &mut Connection) -> io::Result<()> {
        while let Some((demand, bytes)) = connection.receive::<Demand>()? {
            let failed = |error: Error| (Answer::Failed { message: error.to_string() }, Vec::new());
            let (answer, bytes) = self.answer(demand, &bytes).unwrap_or_else(failed);
            connection.send(&answer, &bytes)?;
        }
        Ok(())
    }

    fn answer(&mut self, demand: Demand, bytes: &[u8]) -> Result<(Answer, Vec<u8>), Error> {
        match demand {
            Demand::Runtime => Ok((Answer::Runtime, runtime_archive().to_owned())),
            Demand::Program { hash, .. } if !self.shared.has(&hash) => Ok((Answer::Wanted, Vec::new())),
            Demand::Program { hash, config } => self.launch(&hash, config),
            Demand::Upload { hash, config } => {
                self.shared.keep(&hash, bytes)?;
                self.launch(&hash, config)
            }
            Demand::Run(demand) => self.run(demand),
        }
    }

    fn launch(&mut self, hash: &str, config: Config) -> Result<(Answer, Vec<u8>), Error> {
        let executable = Executable { path: self.shared.path(hash), runner: self.shared.runner.clone() };
        // Folders and processors of the host mean nothing here.
        self.config = Config { directory: None, processor: None, ..config };
        self.program = Some(Local::launch(executable, &self.config)?);
        Ok((Answer::Ready, Vec::new()))
    }

    fn run(&mut self, demand: RunDemand) -> Result<(Answer, Vec<u8>), Error> {
        let RunDemand { number, schedule, policy, stacks, fresh, max_steps, time_limit, quantum, environment } = demand;
        (self.config.max_steps, self.config.time_limit) = (max_steps, time_limit);
        (self.config.quantum, self.config.environment) = (quantum, environment);
        let no_program = || Error::Runtime { message: "no program was sent".into() };
        let program = self.program.as_mut().ok_or_else(no_program)?;
        let ran = program.execute(&self.config, &schedule, RunMode { policy, stacks, fresh })?;
        let same = if ran.is_some() { program.records(&mut self.records)? } else { self.records.len() };
        let output = program.output()?;
        self.runs += 1;
        let mut bytes = bytes_of(&self.records[same..]);
        let answer = RunAnswer {
            number,
            ran: ran.map(SummaryFields::from),
            same: same as u64,
            records: bytes.len() as u64,
            stdout: output.stdout.len() as u64,
        };
        bytes.extend(output.stdout);
        bytes.extend(output.stderr);
        Ok((Answer::Ran(answer), bytes))
    }
}
