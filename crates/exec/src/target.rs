//! The program under test, which runs on request.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use decode::Garbled;
use decode::records::{Decoding, Values, decode_with_notes};
use model::{End, Environment, EventId, Executor, Sample, Sampler, Schedule, Segment, SiteId, Step, ThreadId, Trace};
use symbols::{Frame, Line, Lines, Symbols};
use wire::{Policy, ReplyKind};

use crate::backend::{Backend, RunMode, RunSummary};
use crate::config::Config;
use crate::error::Error;
use crate::local::Local;
use crate::process::Executable;
use crate::processor::Processor;
use crate::streams::Output;

/// The program under test, on this machine or another.
pub struct Target {
    program: PathBuf,
    config: Config,
    backend: Box<dyn Backend>,
    load_base: u64,
    /// Whether runs are kept apart by forking.
    forks: bool,
    /// The program counter at which the last run crashed.
    crash: Option<u64>,
    decoding: Decoding,
    /// Who runs after the schedule.
    policy: Policy,
    /// The debug information, once it was asked for.
    lines: Option<Lines>,
}

impl Target {
    /// Prepares to run `program`, an executable linked with the runtime, and starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(program: &Path, config: Config) -> Result<Self, Error> {
        let executable = Executable { path: program.to_owned(), runner: Vec::new() };
        let local = Local::launch(executable, &config)?;
        Ok(Self::new(Box::new(local), program, config))
    }

    /// The program whose runs `backend` makes, with the executable that it runs.
    pub fn new(backend: Box<dyn Backend>, program: &Path, config: Config) -> Self {
        Self {
            program: program.to_owned(),
            config,
            backend,
            load_base: 0,
            forks: false,
            crash: None,
            decoding: Decoding::default(),
            policy: Policy::FIXED,
            lines: None,
        }
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
    pub fn set_limits(&mut self, max_steps: u64, time_limit: Duration, quantum: u32, environment: Environment) {
        (self.config.max_steps, self.config.time_limit) = (max_steps, time_limit);
        (self.config.quantum, self.config.environment) = (quantum, environment);
    }

    /// Changes where host and program run; see [`Config::processor`].
    pub fn set_processor(&mut self, processor: Option<Processor>) {
        self.config.processor = processor;
        self.backend.set_processor(processor);
    }

    /// What the program wrote in the last run.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn output(&mut self) -> Result<Output, Error> {
        self.backend.output()
    }

    /// The program's symbols at the addresses of its runs, after the first run.
    ///
    /// # Errors
    /// When the executable cannot be read.
    pub fn symbols(&self) -> Result<Symbols, Error> {
        Ok(Symbols::load(&self.program, self.load_base)?)
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
        Ok(self.lines()?.find(counter)?)
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
        let mode = RunMode { policy: self.policy, stacks: true, fresh: true };
        let Some((end, _)) = self.execute(&stopping_before(schedule, before), mode)? else {
            return Ok((unknown_run(), BTreeMap::new()));
        };
        let mut records = Vec::new();
        self.backend.records(&mut records)?;
        let (trace, notes) = decode_with_notes(&records, end)?;
        self.config.opened.note(&trace);
        let load_base = self.load_base;
        let lines = self.lines()?;
        let mut found = BTreeMap::new();
        for (event, counters) in notes.stacks.into_iter().filter(|(event, _)| before.contains(event)) {
            let mut frames = Vec::new();
            // A return address may be that of the next line, or function.
            for counter in counters.iter().filter_map(|counter| counter.checked_sub(load_base + 1)) {
                frames.extend(lines.frames(counter)?);
            }
            found.insert(event, frames);
        }
        Ok((trace, found))
    }

    /// Runs in the same way, and looks at what some events find in memory and what they leave there.
    ///
    /// # Errors
    /// As [`Executor::run`].
    pub fn run_with_values(&mut self, schedule: &Schedule, of: &BTreeSet<EventId>) -> Result<(Trace, Values), Error> {
        let mode = RunMode { policy: self.policy, stacks: true, fresh: true };
        // What an event left is seen where its thread stops next.
        let next = of.iter().map(|event| EventId { position: event.position + 1, ..*event });
        let stops: BTreeSet<EventId> = of.iter().copied().chain(next).collect();
        let Some((end, _)) = self.execute(&stopping_before(schedule, &stops), mode)? else {
            return Ok((unknown_run(), Values::new()));
        };
        let mut records = Vec::new();
        self.backend.records(&mut records)?;
        let (trace, mut notes) = decode_with_notes(&records, end)?;
        notes.values.retain(|(event, ..), _| of.contains(event));
        Ok((trace, notes.values))
    }

    /// Whether runs are kept apart by forking, after the first run.
    pub fn forks(&self) -> bool {
        self.forks
    }

    /// Runs without decoding the trace: how long it is, and how it ended.
    ///
    /// # Errors
    /// As [`Executor::run`].
    pub fn run_undecoded(&mut self, schedule: &Schedule) -> Result<(u64, End), Error> {
        Ok(self.execute(schedule, self.search_mode())?.map_or((0, End::TimeLimit), |(end, records)| (records, end)))
    }

    /// What a run is asked for in a search.
    fn search_mode(&self) -> RunMode {
        RunMode { policy: self.policy, stacks: false, fresh: false }
    }

    /// Runs and decodes the trace.
    fn run_in(&mut self, schedule: &Schedule, mode: RunMode) -> Result<Trace, Error> {
        let Some((end, _)) = self.execute(schedule, mode)? else { return Ok(unknown_run()) };
        let trace = self.decoding.decode(end, |records| self.backend.records(records))?;
        self.config.opened.note(&trace);
        Ok(trace)
    }

    /// Runs and finds out how the run ended and how many records it has; `None` when all that is known is that it took too
    /// long.
    fn execute(&mut self, schedule: &Schedule, mode: RunMode) -> Result<Option<(End, u64)>, Error> {
        self.crash = None;
        let Some(ran) = self.backend.execute(&self.config, schedule, mode)? else { return Ok(None) };
        (self.load_base, self.forks) = (ran.load_base, ran.forks);
        let end = ending(&ran)?;
        let crashed = matches!(end, End::Crash { .. }) && ran.reply.counter != 0;
        self.crash = crashed.then_some(ran.reply.counter);
        Ok(Some((end, ran.reply.records)))
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

/// How the run ended.
fn ending(RunSummary { reply, message, .. }: &RunSummary) -> Result<End, Error> {
    let garbled = || Garbled { record: 0, what: format!("a run cannot end with {}", reply.kind) };
    let thread = ThreadId(reply.thread);
    let site = (reply.site != wire::NO_SITE).then_some(SiteId(reply.site));
    let message = || message.clone();
    Ok(match ReplyKind::from_u32(reply.kind).ok_or_else(garbled)? {
        ReplyKind::None | ReplyKind::Fresh => return Err(garbled().into()),
        ReplyKind::Exit => End::Exit { code: reply.code },
        ReplyKind::Deadlock => End::Deadlock,
        ReplyKind::Assumed => End::Assumed { thread, site },
        ReplyKind::Assertion => End::Assertion { thread, site, message: message() },
        ReplyKind::Crash => End::Crash { thread, site, message: message() },
        ReplyKind::StepLimit | ReplyKind::TraceFull => End::StepLimit,
        ReplyKind::TimeLimit => End::TimeLimit,
        ReplyKind::Diverged => End::Diverged { segment: reply.code as u32, message: message() },
        ReplyKind::Failure => return Err(Error::Runtime { message: message() }),
    })
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
            Sample::Events { seed } => Policy::events(seed),
        };
        let trace = self.run(&Schedule::new());
        self.policy = Policy::FIXED;
        trace
    }
}

impl Executor for Target {
    type Error = Error;

    fn run(&mut self, schedule: &Schedule) -> Result<Trace, Error> {
        self.run_in(schedule, self.search_mode())
    }

    fn prefetch(&mut self, schedule: &Schedule) -> bool {
        self.backend.prefetch(&self.config, schedule, self.search_mode())
    }

    fn forget_prefetched(&mut self) {
        self.backend.forget_prefetched();
    }

    /// Runs in a new process, as its only run.
    fn run_alone(&mut self, schedule: &Schedule) -> Result<Trace, Error> {
        self.run_in(schedule, RunMode { fresh: true, ..self.search_mode() })
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
