//! Runs on this machine.

use std::sync::atomic::Ordering;

use model::Schedule;
use wire::layout::isolation;
use wire::{Record, Reply, ReplyKind};

use crate::backend::{Backend, RunMode, RunSummary};
use crate::config::{Config, Isolation};
use crate::error::Error;
use crate::process::{Executable, Process};
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
    host: Confined,
}

impl Local {
    /// Starts the program.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(executable: Executable, config: &Config) -> Result<Self, Error> {
        let reply = Reply::default();
        let mut local =
            Self { executable, process: None, leaves: false, streams: None, reply, host: Confined::default() };
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

impl Backend for Local {
    fn execute(&mut self, config: &Config, schedule: &Schedule, mode: RunMode) -> Result<Option<RunSummary>, Error> {
        if self.leaves || mode.fresh {
            self.process = None;
        }
        self.host.stay_on(config.processor);
        let mut died = false;
        loop {
            if self.process.is_none() {
                self.start(config)?;
            }
            let (Some(process), Some(streams)) = (&mut self.process, &self.streams) else { continue };
            let reply = match process.run(config, schedule, mode, streams) {
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
            let kind = ReplyKind::from_u32(reply.kind);
            if kind == Some(ReplyKind::Fresh) {
                // The prefix leaves the common past of the runs of this process: a new one has none.
                if process.runs == 1 {
                    return Err(Error::Runtime { message: "a new process refuses the schedule".into() });
                }
                self.process = None;
                continue;
            }
            let header = process.shared.header();
            let stays = !matches!(kind, None | Some(ReplyKind::None | ReplyKind::TimeLimit | ReplyKind::Failure));
            let spoiled = reply.spoiled != 0 || config.isolation == Isolation::Fresh;
            self.leaves = !stays || spoiled || header.checkpointed.load(Ordering::Acquire) == 0;
            self.reply = reply;
            return Ok(Some(RunSummary {
                reply,
                message: process.shared.message(&reply),
                load_base: header.load_base.load(Ordering::Relaxed),
                forks: header.isolation.load(Ordering::Relaxed) == isolation::FORK,
            }));
        }
    }

    fn records(&self, out: &mut Vec<Record>) -> Result<usize, Error> {
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
