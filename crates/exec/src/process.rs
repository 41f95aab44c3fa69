//! A process of the program under test that runs on request.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use launch::memory_file;
use model::{Budget, Schedule};
use wire::layout::environment;
use wire::{Reply, Request};

use crate::backend::RunMode;
use crate::config::Config;
use crate::error::Error;
use crate::processor;
use crate::shared::Shared;
use crate::streams::Streams;

/// How long the process may take to answer the watchdog's signal.
const GRACE: Duration = Duration::from_secs(1);

/// How much of the memory limit one run of the program gets, as a fraction.
const PROGRAM_SHARE: (u64, u64) = (3, 4);

/// Polling interval while a process does not answer.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Where OpenMP looks for the number of threads.
const TEAM_SIZE_VARIABLE: &str = "OMP_NUM_THREADS";

/// An executable, and what is started to run it.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The executable.
    pub path: PathBuf,
    /// A program that runs it, with arguments before the executable's path; empty if it is started itself. `{name}` in an
    /// argument stands for the name that the program is to see as its own.
    pub runner: Vec<OsString>,
}

/// A process of the program.
pub(crate) struct Process {
    child: Child,
    pub(crate) shared: Shared,
    /// Number of runs asked for.
    pub(crate) runs: u64,
}

/// What a run asks for, but for its schedule. A fresh one shows something that another run showed.
pub(crate) fn request(config: &Config, mode: RunMode) -> Request {
    Request {
        environment: config.environment.bits() | if mode.fresh { environment::TIME } else { 0 },
        policy: mode.policy,
        stacks: mode.stacks.into(),
        max_steps: config.max_steps,
        quantum: config.quantum,
        verify: config.verify_isolation.into(),
        ..Request::default()
    }
}

impl Executable {
    /// The command that starts it, without its arguments.
    fn command(&self, config: &Config) -> io::Result<Command> {
        // A path without a slash would be looked for in PATH.
        let path = std::path::absolute(&self.path)?;
        let name = config.name.as_deref().unwrap_or(self.path.as_os_str());
        let Some((runner, arguments)) = self.runner.split_first() else {
            let mut command = Command::new(path);
            command.arg0(name);
            return Ok(command);
        };
        let mut command = Command::new(runner);
        command.args(arguments.iter().map(|argument| if argument == "{name}" { name } else { argument })).arg(path);
        Ok(command)
    }
}

impl Process {
    pub(crate) fn start(executable: &Executable, config: &Config, streams: &Streams) -> Result<Self, Error> {
        let program = &executable.path;
        let cannot = |source| Error::Launch { program: program.clone(), source };
        let cannot_share = Error::system("set up shared memory");
        let memory = memory_file(c"raceproof").map_err(&cannot_share)?;
        let shared = Shared::create(&memory, config, false).map_err(&cannot_share)?;
        let children = config.children.file().map_err(&cannot_share)?;
        let stdin = launch::stdin_of(config.stdin.as_deref()).map_err(Error::system("fill the program's input"))?;
        let copy = |file: &File| file.try_clone().map_err(Error::system("duplicate a descriptor"));
        let mut command = executable.command(config).map_err(cannot)?;
        launch::set_variables(&mut command, &config.variables);
        command
            .args(&config.args)
            .env(wire::FD_VARIABLE, memory.as_raw_fd().to_string())
            .env(wire::CHILDREN_VARIABLE, children.as_raw_fd().to_string())
            .stdin(stdin)
            .stdout(copy(streams.stdout())?)
            .stderr(copy(streams.stderr())?);
        if let Some(size) = config.team_size {
            command.env(TEAM_SIZE_VARIABLE, size.to_string());
        }
        // An interruption of the search from the terminal is not meant for the program.
        command.process_group(0);
        if let Some(directory) = &config.directory {
            command.current_dir(directory);
        }
        launch::prepare(&mut command, [&memory, children]).map_err(cannot)?;
        let child = spawn(&mut command).map_err(cannot)?;
        let process = Self { child, shared, runs: 0 };
        processor::confine(process.id(), config.processor);
        Ok(process)
    }

    pub(crate) fn id(&self) -> libc::pid_t {
        self.child.id() as libc::pid_t
    }

    /// Begins a run.
    pub(crate) fn begin(&mut self, request: Request, schedule: &Schedule) -> Result<(), Error> {
        self.shared.ask(request, schedule)?;
        self.runs += 1;
        Ok(())
    }

    /// Waits for the end of the run that began at `start`. `None` when the process had to be killed.
    pub(crate) fn finish(
        &mut self,
        config: &Config,
        start: Instant,
        streams: &Streams,
    ) -> Result<Option<Reply>, Error> {
        let mut told = None;
        loop {
            if self.shared.wait(POLL_INTERVAL) {
                return Ok(Some(self.shared.reply()));
            }
            let exited = self.child.try_wait().map_err(Error::system("wait for the program's process"))?;
            if let Some(status) = exited {
                // It may have answered just before it left.
                if self.shared.wait(Duration::ZERO) {
                    return Ok(Some(self.shared.reply()));
                }
                return Err(Error::Died { status: status.to_string(), stderr: String::new() });
            }
            streams.trim();
            if told.is_none() && (start.elapsed() > config.time_limit || self.is_too_much(&config.budget)) {
                told = Some(Instant::now());
            }
            match told {
                Some(since) if since.elapsed() > GRACE => {
                    self.kill();
                    return Ok(None);
                }
                Some(_) => self.signal(libc::SIGALRM),
                None => {}
            }
        }
    }

    /// Whether the budget is spent, or the program's processes alone use [most](PROGRAM_SHARE) of its memory. A run has to
    /// end before all memory is used: that would end the command, whatever the run has shown.
    fn is_too_much(&self, budget: &Budget) -> bool {
        let (part, whole) = PROGRAM_SHARE;
        let is_too_large = |most: u64| launch::memory::used_by(self.child.id()) > most / whole * part;
        budget.is_spent() || budget.memory().is_some_and(is_too_large)
    }

    /// Signals the process that runs the program.
    fn signal(&self, signal: libc::c_int) {
        let pid = self.shared.header().running_pid.load(Ordering::Acquire) as libc::pid_t;
        // The word is the program's to write over: only our child or its children are signalled.
        if pid > 1 && (pid == self.id() || parent_of(pid) == Some(self.child.id())) {
            // SAFETY: the call takes numbers only; the check above says whose the number is.
            unsafe { libc::kill(pid, signal) };
        }
    }

    fn kill(&mut self) {
        self.signal(libc::SIGKILL);
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a process. A program that was written just now may be open for writing for a moment, in a child of another thread
/// that has not come to its own program yet.
fn spawn(command: &mut Command) -> io::Result<Child> {
    const ATTEMPTS: u32 = 100;
    for _ in 1..ATTEMPTS {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::sleep(POLL_INTERVAL),
            result => return result,
        }
    }
    command.spawn()
}

/// The parent of a process.
fn parent_of(pid: libc::pid_t) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it, in parentheses, may contain anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
