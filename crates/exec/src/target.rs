//! The program under test as a process that runs on request.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use model::{End, EventId, Executor, Sample, Sampler, Schedule, Segment, SiteId, Step, ThreadId, Trace};
use wire::{Policy, Reply, ReplyKind, Request};

use crate::config::Config;
use crate::decode::{Decoding, decode_with_stacks};
use crate::error::Error;
use crate::lines::{Frame, Line, Lines};
use crate::shared::Shared;
use crate::symbols::Symbols;

/// How long the process may take to answer the watchdog's signal.
const GRACE: Duration = Duration::from_secs(2);
/// How often the host looks after a process that does not answer.
const LOOK: Duration = Duration::from_millis(20);

/// The program under test. Its process is started with the first run, and again whenever it is gone.
pub struct Target {
    program: PathBuf,
    config: Config,
    process: Option<Process>,
    /// Standard output and error of the last run.
    streams: Option<Streams>,
    load_base: u64,
    /// The program counter at which the last run crashed.
    crash: Option<u64>,
    decoding: Decoding,
    /// Who runs after the schedule.
    policy: Policy,
    /// The debug information, once it was asked for.
    lines: Option<Lines>,
}

struct Process {
    child: Child,
    shared: Shared,
    /// Number of runs asked for.
    runs: u64,
}

/// What a run is asked for besides its schedule.
#[derive(Clone, Copy)]
struct Wish {
    /// Who runs after the schedule.
    policy: Policy,
    /// Whether stacks are written down where threads stop.
    stacks: bool,
}

/// Files in memory that the program writes to.
struct Streams {
    stdout: File,
    stderr: File,
}

/// What the program wrote in a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// To standard output.
    pub stdout: Vec<u8>,
    /// To standard error.
    pub stderr: Vec<u8>,
}

/// A file that lives in memory.
pub(crate) fn memory_file(name: &'static std::ffi::CStr) -> Result<File, Error> {
    // Safety: a new descriptor, owned from here on.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(Error::System { action: "create a file in memory", source: io::Error::last_os_error() });
    }
    // Safety: as above.
    Ok(unsafe { File::from_raw_fd(fd) })
}

pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System { action, source }
}

/// What a run asks for, but for its schedule.
pub(crate) fn request(config: &Config) -> Request {
    Request {
        spurious: config.spurious.into(),
        max_steps: config.max_steps,
        quantum: config.quantum,
        ..Request::default()
    }
}

/// Reads a stream from its start, without moving its offset.
fn contents(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; file.metadata()?.len() as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

impl Streams {
    fn new() -> Result<Self, Error> {
        Ok(Self { stdout: memory_file(c"stdout")?, stderr: memory_file(c"stderr")? })
    }
    fn output(&self) -> Result<Output, Error> {
        let read = |file| contents(file).map_err(system("read the program's output"));
        Ok(Output { stdout: read(&self.stdout)?, stderr: read(&self.stderr)? })
    }
}

impl Process {
    fn start(program: &Path, config: &Config, streams: &Streams) -> Result<Self, Error> {
        let launch = |source| Error::Launch { program: program.to_owned(), source };
        let memory = memory_file(c"raceproof")?;
        let shared = Shared::create(&memory, config, false).map_err(system("set up shared memory"))?;
        let stdin = match &config.stdin {
            None => Stdio::null(),
            Some(bytes) => {
                let mut file = memory_file(c"stdin")?;
                file.write_all(bytes).map_err(system("fill the program's input"))?;
                // The descriptor's offset is the program's: at the start.
                io::Seek::rewind(&mut file).map_err(system("fill the program's input"))?;
                file.into()
            }
        };
        let copy = |file: &File| file.try_clone().map_err(system("duplicate a descriptor"));
        let fd = memory.as_raw_fd();
        // A path without a slash would be looked for in PATH.
        let path = std::path::absolute(program).map_err(launch)?;
        let mut command = Command::new(path);
        command
            .arg0(config.name.as_deref().unwrap_or(program.as_os_str()))
            .args(&config.args)
            .env(wire::FD_VARIABLE, fd.to_string())
            .stdin(stdin)
            .stdout(copy(&streams.stdout)?)
            .stderr(copy(&streams.stderr)?);
        // An interruption of the search from the terminal is not meant for the program.
        command.process_group(0);
        if let Some(directory) = &config.directory {
            command.current_dir(directory);
        }
        // Safety: only system calls between fork and exec.
        unsafe {
            command.pre_exec(move || {
                if libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0
                    || libc::fcntl(fd, libc::F_SETFD, 0) < 0
                {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().map_err(launch)?;
        Ok(Self { child, shared, runs: 0 })
    }

    /// Runs once. `None` when the process had to be killed.
    fn run(&mut self, config: &Config, schedule: &Schedule, wish: Wish) -> Result<Option<Reply>, Error> {
        self.shared.ask(Request { policy: wish.policy, stacks: wish.stacks.into(), ..request(config) }, schedule)?;
        self.runs += 1;
        let start = Instant::now();
        loop {
            if self.shared.wait(LOOK) {
                return Ok(Some(self.shared.reply()));
            }
            let exited = self.child.try_wait().map_err(system("look after the program's process"))?;
            if let Some(status) = exited {
                // It may have answered just before it left.
                if self.shared.wait(Duration::ZERO) {
                    return Ok(Some(self.shared.reply()));
                }
                return Err(Error::Died { status: status.to_string(), stderr: String::new() });
            }
            let late = start.elapsed().saturating_sub(config.time_limit);
            if late > GRACE {
                self.kill();
                return Ok(None);
            }
            if !late.is_zero() {
                self.signal(libc::SIGALRM);
            }
        }
    }

    /// Signals the process that runs the program.
    fn signal(&self, signal: libc::c_int) {
        let pid = self.shared.header().running_pid.load(Ordering::Acquire) as libc::pid_t;
        // The word is the program's to write over: only our child or its children are signalled.
        if pid > 1 && (pid == self.child.id() as libc::pid_t || parent_of(pid) == Some(self.child.id())) {
            // Safety: sends a signal.
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

/// The parent of a process.
fn parent_of(pid: libc::pid_t) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it, in parentheses, may contain anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

impl Target {
    /// Prepares to run `program`, an executable linked with the runtime, and starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(program: &Path, config: Config) -> Result<Self, Error> {
        let mut target = Self {
            program: program.to_owned(),
            config,
            process: None,
            streams: None,
            load_base: 0,
            crash: None,
            decoding: Decoding::default(),
            policy: Policy::FIXED,
            lines: None,
        };
        target.start()?;
        Ok(target)
    }

    fn start(&mut self) -> Result<(), Error> {
        let streams = Streams::new()?;
        self.process = Some(Process::start(&self.program, &self.config, &streams)?);
        self.streams = Some(streams);
        Ok(())
    }

    /// How the program is run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The program's name as it sees it.
    pub fn name(&self) -> &OsStr {
        self.config.name.as_deref().unwrap_or(self.program.as_os_str())
    }

    /// Changes limits and policy for the runs to come. What the process was started with stays as it is.
    pub fn set_limits(&mut self, max_steps: u64, time_limit: Duration, quantum: u32, spurious: bool) {
        (self.config.max_steps, self.config.time_limit) = (max_steps, time_limit);
        (self.config.quantum, self.config.spurious) = (quantum, spurious);
    }

    /// Says whether processors are scarce; see [`Config::crowded`].
    pub fn set_crowded(&mut self, crowded: bool) {
        self.config.crowded = crowded;
        if let Some(process) = &self.process {
            process.shared.header().crowded.store(crowded.into(), Ordering::Relaxed);
        }
    }

    /// What the program wrote in the last run.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn output(&mut self) -> Result<Output, Error> {
        self.streams.as_ref().map_or_else(|| Ok(Output::default()), Streams::output)
    }

    /// The program's symbols at the addresses of its runs, after the first run.
    ///
    /// # Errors
    /// When the executable cannot be read.
    pub fn symbols(&self) -> Result<Symbols, Error> {
        Symbols::load(&self.program, self.load_base)
    }

    /// Where in the code the last run crashed: a program counter of the program, or of a library it called. `None` if
    /// it did not crash.
    pub fn crash_counter(&self) -> Option<u64> {
        self.crash
    }

    /// The source line of a run's program counter; `None` for code outside the executable (a library), and for code
    /// without debug information (the runtime).
    ///
    /// # Errors
    /// When the executable cannot be read.
    pub fn line_of(&mut self, counter: u64) -> Result<Option<Line>, Error> {
        let Some(counter) = counter.checked_sub(self.load_base) else { return Ok(None) };
        self.lines()?.find(counter)
    }

    fn lines(&mut self) -> Result<&Lines, Error> {
        let lines = match self.lines.take() {
            Some(lines) => lines,
            None => Lines::load(&self.program)?,
        };
        Ok(self.lines.insert(lines))
    }

    /// Runs in a new process, from the start of the program, and looks at the stacks of threads that stand before some
    /// events: innermost function first, without those that have no debug information. Events that the schedule does not
    /// come to have none.
    ///
    /// # Errors
    /// As [`Executor::run`], and when the executable cannot be read.
    pub fn run_with_stacks(
        &mut self,
        schedule: &Schedule,
        before: &BTreeSet<EventId>,
    ) -> Result<(Trace, BTreeMap<EventId, Vec<Frame>>), Error> {
        // Runs of a process that has a checkpoint do not begin at the start.
        self.process = None;
        let (reply, end) = self.execute(&stopping_before(schedule, before), true)?;
        let (Some(reply), Some(process)) = (reply, &self.process) else { return Ok((unknown_run(), BTreeMap::new())) };
        let mut records = Vec::new();
        process.shared.records(&reply, &mut records)?;
        self.retire(&end);
        let (trace, stacks) = decode_with_stacks(&records, end)?;
        let load_base = self.load_base;
        let lines = self.lines()?;
        let mut found = BTreeMap::new();
        for (event, counters) in stacks.into_iter().filter(|(event, _)| before.contains(event)) {
            let mut frames = Vec::new();
            // A return address may be that of the next line, or function.
            for counter in counters.iter().filter_map(|counter| counter.checked_sub(load_base + 1)) {
                frames.extend(lines.frames(counter)?);
            }
            found.insert(event, frames);
        }
        Ok((trace, found))
    }

    /// Whether runs are kept apart by forking, after the first run.
    pub fn forks(&self) -> bool {
        let isolation = |p: &Process| p.shared.header().isolation.load(Ordering::Relaxed);
        self.process.as_ref().is_some_and(|p| isolation(p) == wire::layout::isolation::FORK)
    }

    /// Runs without decoding the trace: how long it is, and how it ended.
    ///
    /// # Errors
    /// As [`Executor::run`].
    pub fn run_undecoded(&mut self, schedule: &Schedule) -> Result<(u64, End), Error> {
        let (reply, end) = self.execute(schedule, false)?;
        self.retire(&end);
        Ok((reply.map_or(0, |reply| reply.records), end))
    }

    /// Gives up a process that leaves after a run that ended so.
    fn retire(&mut self, end: &End) {
        let checkpointed = |p: &Process| p.shared.header().checkpointed.load(Ordering::Acquire) != 0;
        if *end == End::TimeLimit || !self.process.as_ref().is_some_and(checkpointed) {
            self.process = None;
        }
    }

    /// Runs and finds out how the run ended. Without a reply the process had to be killed.
    fn execute(&mut self, schedule: &Schedule, stacks: bool) -> Result<(Option<Reply>, End), Error> {
        self.crash = None;
        loop {
            if self.process.is_none() {
                self.start()?;
            }
            let Self { process: Some(process), config, load_base, policy, .. } = self else { continue };
            let reply = match process.run(config, schedule, Wish { policy: *policy, stacks }) {
                Ok(Some(reply)) => reply,
                Ok(None) => {
                    self.process = None;
                    return Ok((None, End::TimeLimit));
                }
                Err(error) => {
                    self.process = None;
                    return Err(self.with_stderr(error));
                }
            };
            *load_base = process.shared.header().load_base.load(Ordering::Relaxed);
            match ending(&reply, process) {
                Ok(Some(end)) => {
                    let crashed = matches!(end, End::Crash { .. }) && reply.counter != 0;
                    self.crash = crashed.then_some(reply.counter);
                    return Ok((Some(reply), end));
                }
                // The prefix leaves the common past of the runs of this process: a new one has none.
                Ok(None) if process.runs > 1 => self.process = None,
                Ok(None) => return Err(Error::Runtime { message: "a new process refuses the schedule".into() }),
                Err(error) => {
                    self.process = None;
                    return Err(error);
                }
            }
        }
    }

    /// Adds what the program said to the report of its death.
    fn with_stderr(&self, error: Error) -> Error {
        match (error, self.streams.as_ref().map(Streams::output)) {
            (Error::Died { status, .. }, Some(Ok(output))) => {
                Error::Died { status, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
            }
            (error, _) => error,
        }
    }
}

/// The same schedule with a stop before each of these events.
fn stopping_before(schedule: &Schedule, events: &BTreeSet<EventId>) -> Schedule {
    let mut positions: BTreeMap<ThreadId, u32> = BTreeMap::new();
    let mut segments = Vec::new();
    for Segment { thread, until } in &schedule.segments {
        let position = positions.entry(*thread).or_insert(0);
        let id = |position| EventId { thread: *thread, position };
        let stops = events.range(id(*position)..id(*until)).map(|event| event.position);
        segments.extend(stops.chain([*until]).map(|until| Segment { thread: *thread, until }));
        *position = *until;
    }
    Schedule { segments, choices: schedule.choices.clone() }
}

/// How the run ended; `None` when another process has to be asked.
fn ending(reply: &Reply, process: &Process) -> Result<Option<End>, Error> {
    let garbled = || Error::Garbled { record: 0, what: format!("a run cannot end with {}", reply.kind) };
    let thread = ThreadId(reply.thread);
    let site = (reply.site != wire::NO_SITE).then_some(SiteId(reply.site));
    let message = || process.shared.message(reply);
    Ok(Some(match ReplyKind::from_u32(reply.kind).ok_or_else(garbled)? {
        ReplyKind::None => return Err(garbled()),
        ReplyKind::Exit => End::Exit { code: reply.code },
        ReplyKind::Deadlock => End::Deadlock,
        ReplyKind::Assumed => End::Assumed { thread, site },
        ReplyKind::Assertion => End::Assertion { thread, site, message: message() },
        ReplyKind::Crash => End::Crash { thread, site, message: message() },
        ReplyKind::StepLimit | ReplyKind::TraceFull => End::StepLimit,
        ReplyKind::TimeLimit => End::TimeLimit,
        ReplyKind::Diverged => End::Diverged { segment: reply.code as u32, message: message() },
        ReplyKind::Failure => return Err(Error::Runtime { message: message() }),
        ReplyKind::Fresh => return Ok(None),
    }))
}

/// The trace of a run of which nothing is known but that it took too long.
fn unknown_run() -> Trace {
    let runnable = vec![(Step(0), std::iter::once(ThreadId::MAIN).collect())];
    Trace { runnable, ..Trace::empty(End::TimeLimit) }
}

impl Sampler for Target {
    fn sample(&mut self, sample: Sample) -> Result<Trace, Error> {
        self.policy = match sample {
            Sample::Random { seed } => Policy::random(seed),
            Sample::Priorities { seed, depth, length } => Policy::priorities(seed, depth, length.into()),
        };
        let trace = self.run(&Schedule::new());
        self.policy = Policy::FIXED;
        trace
    }
}

impl Executor for Target {
    type Error = Error;

    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Error> {
        let (reply, end) = self.execute(schedule, false)?;
        let (Some(reply), Some(process)) = (reply, &self.process) else { return Ok(unknown_run()) };
        let trace = self.decoding.decode(end, |records| process.shared.records(&reply, records))?;
        self.retire(&trace.end);
        Ok(trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_stops_before_events() {
        let segment = |thread, until| Segment { thread: ThreadId(thread), until };
        let event = |thread, position| EventId { thread: ThreadId(thread), position };
        let schedule = Schedule { segments: vec![segment(0, 5), segment(1, 2), segment(0, 7)], choices: Vec::new() };
        let events = [event(0, 0), event(0, 3), event(0, 5), event(1, 4), event(2, 0)].into_iter().collect();
        let stops = stopping_before(&schedule, &events).segments;
        let expected = [(0, 0), (0, 3), (0, 5), (1, 2), (0, 5), (0, 7)].map(|(thread, until)| segment(thread, until));
        assert_eq!(stops, expected);
    }
}
