//! Runs on this machine.

use std::sync::atomic::Ordering;
use std::time::Instant;

use model::Schedule;
use wire::layout::isolation;
use wire::{Record, Reply, ReplyKind, Request};

use crate::ahead::{Ahead, Asked, Made};
use crate::backend::{Backend, RunMode, RunSummary};
use crate::config::{Config, Isolation};
use crate::error::Error;
use crate::process::{self, Executable, Process};
use crate::processor::{self, Confined, Processor};
use crate::streams::{Output, Streams};

/// The program on this machine. Its process is started again whenever it is gone.
pub struct Local {
    executable: Executable,
    process: Option<Process>,
    /// Whether the process leaves after its last run, or is not fit for another.
    leaves: bool,
    /// Standard output and error of the last run.
    streams: Option<Streams>,
    /// The last run's.
    reply: Reply,
    /// The last run's records, if it was made ahead.
    records: Option<Vec<Record>>,
    ahead: Ahead,
    /// Whether host and program can work at the same time.
    is_parallel: bool,
    host: Confined,
}

impl Local {
    /// Starts the program.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(executable: Executable, config: &Config) -> Result<Self, Error> {
        let mut local = Self {
            executable,
            process: None,
            leaves: false,
            streams: None,
            reply: Reply::default(),
            records: None,
            ahead: Ahead::default(),
            is_parallel: std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1),
            host: Confined::default(),
        };
        local.start(config)?;
        Ok(local)
    }

    fn start(&mut self, config: &Config) -> Result<(), Error> {
        let streams = Streams::new()?;
        self.process = Some(Process::start(&self.executable, config, &streams)?);
        self.leaves = false;
        self.streams = Some(streams);
        Ok(())
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

/// Whether a process can make no other run after one that ended so.
fn leaves_after(reply: &Reply, process: &Process, config: &Config) -> bool {
    let kind = ReplyKind::from_u32(reply.kind);
    let stays = !matches!(kind, None | Some(ReplyKind::None | ReplyKind::TimeLimit | ReplyKind::Failure));
    let spoiled = reply.spoiled != 0 || config.isolation == Isolation::Fresh;
    !stays || spoiled || process.shared.header().checkpointed.load(Ordering::Acquire) == 0
}

fn summary(reply: Reply, process: &Process) -> RunSummary {
    let header = process.shared.header();
    RunSummary {
        reply,
        message: process.shared.message(&reply),
        load_base: header.load_base.load(Ordering::Relaxed),
        forks: header.isolation.load(Ordering::Relaxed) == isolation::FORK,
    }
}

impl Local {
    /// Ends the run that is under way, if it is not the one that is asked for, and keeps it if the process can make others
    /// after it. Returns when the run began that is asked for.
    fn end_others(&mut self, config: &Config, request: &Request, schedule: &Schedule) -> Option<Instant> {
        let (asked, start) = self.ahead.underway.take()?;
        let (Some(process), Some(streams)) = (&mut self.process, &self.streams) else { return None };
        if asked.request == *request && asked.schedule == *schedule {
            return Some(start);
        }
        let kept = match process.finish(config, start, streams) {
            Ok(Some(reply)) => {
                let is_run = ReplyKind::from_u32(reply.kind) != Some(ReplyKind::Fresh);
                (is_run && !leaves_after(&reply, process, config)).then_some(reply)
            }
            Ok(None) | Err(_) => None,
        };
        let Some(reply) = kept else {
            // It will be made again when it is asked for, and seen to there.
            self.process = None;
            return None;
        };
        let mut records = Vec::new();
        if Ahead::keeps(reply.records) && process.shared.records(&reply, &mut records).is_ok() {
            self.ahead.keep(asked, Made { summary: summary(reply, process), records });
        }
        None
    }
}

impl Backend for Local {
    fn execute(&mut self, config: &Config, schedule: &Schedule, mode: RunMode) -> Result<Option<RunSummary>, Error> {
        self.records = None;
        if self.leaves || mode.fresh {
            self.process = None;
            self.ahead = Ahead::default();
        }
        let request = process::request(config, mode);
        if let Some(Made { summary, records }) = self.ahead.take(&request, schedule) {
            self.records = Some(records);
            return Ok(Some(summary));
        }
        let mut begun = self.end_others(config, &request, schedule);
        self.host.stay_on(config.processor);
        let mut died = false;
        loop {
            if self.process.is_none() {
                self.start(config)?;
            }
            let (Some(process), Some(streams)) = (&mut self.process, &self.streams) else { continue };
            let finished = match begun.take() {
                Some(start) => process.finish(config, start, streams),
                None => process.begin(request, schedule).and_then(|()| process.finish(config, Instant::now(), streams)),
            };
            let reply = match finished {
                Ok(Some(reply)) => reply,
                Ok(None) => {
                    self.process = None;
                    return Ok(None);
                }
                // Somebody may have killed it: what the program itself does, it does again.
                Err(Error::Died { .. }) if !std::mem::replace(&mut died, true) => {
                    self.process = None;
                    continue;
                }
                Err(error) => {
                    self.process = None;
                    return Err(self.with_stderr(error));
                }
            };
            if ReplyKind::from_u32(reply.kind) == Some(ReplyKind::Fresh) {
                // The prefix leaves the common past of the runs of this process: a new one has none.
                if process.runs == 1 {
                    return Err(Error::Runtime { message: "a new process refuses the schedule".into() });
                }
                self.process = None;
                continue;
            }
            self.leaves = leaves_after(&reply, process, config);
            self.reply = reply;
            return Ok(Some(summary(reply, process)));
        }
    }

    fn prefetch(&mut self, config: &Config, schedule: &Schedule, mode: RunMode) -> bool {
        let request = process::request(config, mode);
        if self.ahead.has(&request, schedule) {
            return false;
        }
        let can = self.is_parallel && config.processor.is_none() && !self.leaves && self.ahead.underway.is_none();
        if let Some(process) = self.process.as_mut().filter(|_| can)
            && process.begin(request, schedule).is_ok()
        {
            self.ahead.underway = Some((Asked { request, schedule: schedule.clone() }, Instant::now()));
        }
        true
    }

    fn forget_prefetched(&mut self) {
        let Ahead { underway, .. } = std::mem::take(&mut self.ahead);
        if underway.is_some() {
            self.process = None;
        }
    }

    fn records(&self, out: &mut Vec<Record>) -> Result<usize, Error> {
        if let Some(records) = &self.records {
            let same = out.iter().zip(records).take_while(|(old, new)| old == new).count();
            out.truncate(same);
            out.extend_from_slice(&records[same..]);
            return Ok(same);
        }
        match &self.process {
            Some(process) => process.shared.records(&self.reply, out),
            None => {
                out.clear();
                Ok(0)
            }
        }
    }

    fn output(&self) -> Result<Output, Error> {
        self.streams.as_ref().map_or_else(|| Ok(Output::default()), Streams::output)
    }

    fn set_processor(&mut self, processor: Option<Processor>) {
        if let Some(process) = &self.process {
            process.shared.header().crowded.store(processor.is_some().into(), Ordering::Relaxed);
            processor::confine(process.id(), processor);
        }
    }
}
