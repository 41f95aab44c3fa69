//! What a command asks of the line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use files::TraceFile;
use model::{Budget, Engine};
use report::Command;

use crate::build::BuildOptions;
use crate::engine::explore::SearchOptions;
use crate::engine::verify::ProofOptions;
use crate::record::RecordOptions;
use crate::run::Limits;

/// The engines in the order in which they work.
pub const LINE: [Engine; 4] = [Engine::Static, Engine::Verify, Engine::Predict, Engine::Explore];

/// How much to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Effort {
    /// A few seconds, for editors and before commits.
    Quick,
    /// A minute.
    #[default]
    Normal,
    /// An hour.
    Thorough,
}

impl Effort {
    /// The time for everything.
    pub fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Quick => 5,
            Self::Normal => 60,
            Self::Thorough => 3_600,
        })
    }

    /// How long a search may take before samples are made beside it.
    pub(crate) fn samples_after(self) -> Option<Duration> {
        match self {
            Self::Quick => None,
            Self::Normal | Self::Thorough => Some(Duration::from_secs(5)),
        }
    }

    /// Executions for other errors once no pair is left open.
    pub(crate) fn executions_for_other_errors(self) -> Option<u64> {
        match self {
            Self::Quick => None,
            Self::Normal => Some(2_000),
            Self::Thorough => Some(1_000_000),
        }
    }
}

/// The run that prediction reorders.
#[derive(Clone, Debug, Default)]
pub enum Recording {
    /// The run under the controlled scheduler with the empty schedule: the same one every time, with every access.
    #[default]
    Controlled,
    /// A run that is recorded first.
    New(RecordOptions),
    /// A run that was recorded before.
    Given(Arc<TraceFile>),
}

/// What a command asks of the line: the program, the engines, and how each works.
#[derive(Clone, Debug)]
pub struct Request {
    /// The command, which decides what the answer is about.
    pub command: Command,
    /// The program and its input.
    pub build: BuildOptions,
    /// The engines that may work, in any order.
    pub engines: Vec<Engine>,
    /// Time, memory and interrupt for everything.
    pub budget: Budget,
    /// How much to try where engines have a choice.
    pub effort: Effort,
    /// How runs are kept apart and how long each may be.
    pub limits: Limits,
    /// How many threads teams of OpenMP have, one number after the other, where the program leaves it open; none if
    /// nobody says.
    pub team_sizes: Vec<u32>,
    /// How to prove.
    pub proofs: ProofOptions,
    /// How to predict.
    pub prediction: predict::Options,
    /// From which run to predict.
    pub recording: Recording,
    /// How to search.
    pub search: SearchOptions,
    /// Whether the answer of `check` is also about errors other than races, in every schedule.
    pub promises_other_errors: bool,
    /// Whether only what runs reach is asked about, whatever the program reads from outside.
    pub reached_only: bool,
    /// Whether an answer that is kept is not given again.
    pub fresh: bool,
    /// Whether all pairs are to be listed, where an answer is kept.
    pub all_pairs: bool,
    /// Where witness files go; created when there is something to write.
    pub witness_dir: PathBuf,
    /// Where the bundle goes when an engine turns out to be wrong.
    pub bundle_dir: PathBuf,
}

impl Request {
    /// The request of a command, with the engines it is about and usual settings.
    pub fn new(command: Command, build: BuildOptions, budget: Budget) -> Self {
        let engines = match command {
            Command::Static => vec![Engine::Static],
            Command::Verify => vec![Engine::Verify, Engine::Explore],
            Command::Predict => vec![Engine::Predict],
            Command::Explore | Command::Replay => vec![Engine::Explore],
            Command::Check | Command::Cover | Command::Test => LINE.to_vec(),
        };
        Self {
            command,
            build,
            engines,
            budget,
            effort: Effort::default(),
            limits: Limits::default(),
            team_sizes: Vec::new(),
            proofs: ProofOptions::default(),
            prediction: predict::Options::default(),
            recording: Recording::default(),
            search: SearchOptions::default(),
            reached_only: false,
            promises_other_errors: false,
            fresh: false,
            all_pairs: false,
            witness_dir: PathBuf::from("raceproof-witnesses"),
            bundle_dir: PathBuf::from("."),
        }
    }

    /// Whether an engine may work. What is proved of the text does not hold where the environment does what the text
    /// does not show.
    pub(crate) fn asks(&self, engine: Engine) -> bool {
        let of_text = matches!(engine, Engine::Static | Engine::Verify);
        self.engines.contains(&engine) && !(of_text && self.command == Command::Check && self.limits.leaves_text())
    }

    /// Whether every pair of the program's text is listed before the engines work. `static` lists pairs itself; what only
    /// runs the program lists what met in runs.
    pub(crate) fn lists_text_pairs(&self) -> bool {
        match self.command {
            Command::Check => !self.limits.leaves_text(),
            command => command == Command::Verify,
        }
    }

    /// Whether a search only confirms candidates, because the scope asked for is larger than one input.
    pub(crate) fn confirms_only(&self) -> bool {
        self.command == Command::Verify
    }

    /// Whether the user declared effects of functions.
    pub(crate) fn declares_effects(&self) -> bool {
        !self.build.assume_pure.is_empty() || self.build.locks.is_some()
    }
}
