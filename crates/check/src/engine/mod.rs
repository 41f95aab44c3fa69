//! The engines: each turns open pairs into verdicts, once, in one typed result.
//!
//! | module | engine | what it answers |
//! |---|---|---|
//! | `static_` | lockset analysis of the text | absent for all inputs |
//! | `verify` | coverability of Petri nets | absent for any number of threads |
//! | `predict` | reorderings of one recorded run | races |
//! | `explore` | every schedule of this input | races; absent for this input |
//!
//! No engine knows ids, witness files or the document; those are made at the end of the line.

pub(crate) mod checkpoint;
pub(crate) mod clients;
pub(crate) mod explore;
pub(crate) mod hints;
mod outputs;
pub(crate) mod predict;
pub(crate) mod reach;
pub(crate) mod static_;
pub(crate) mod verify;

use std::collections::BTreeSet;
use std::time::Duration;

use ::explore::{Assurance, Failure, Witness};
use cover::Candidate;
use model::{Engine, Pair, Scope};
use report::{Code, NetStatistics, Outputs, Protection};

use crate::assumptions::Assumption;
use crate::describe::{SeenAccess, Sightings};
use crate::gap::Gap;

/// All that an engine has to say.
pub(crate) struct Answer {
    /// Verdicts for pairs, each pair at most once, races in the order in which they were found.
    pub(crate) verdicts: Vec<Settled>,
    /// Other errors that runs have shown.
    pub(crate) failures: Vec<Failure>,
    /// What stayed open and why. An engine without gaps looked at everything it is about.
    pub(crate) gaps: Vec<Gap>,
    /// What it did.
    pub(crate) figures: Figures,
    /// What the verdicts rest on.
    pub(crate) assumptions: BTreeSet<Assumption>,
    /// Accesses that its runs executed.
    pub(crate) sightings: Option<Sightings>,
    /// What went wrong besides, and takes nothing from the answer.
    pub(crate) warnings: Vec<String>,
}

impl Answer {
    /// An answer without verdicts.
    pub(crate) fn new(figures: Figures) -> Self {
        Self {
            verdicts: Vec::new(),
            failures: Vec::new(),
            gaps: Vec::new(),
            figures,
            assumptions: BTreeSet::new(),
            sightings: None,
            warnings: Vec::new(),
        }
    }
}

/// A verdict for a pair.
#[derive(Clone)]
pub(crate) struct Settled {
    /// The pair.
    pub(crate) pair: Pair,
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// Both accesses as runs executed them, if they did.
    pub(crate) seen: Option<Box<[SeenAccess; 2]>>,
}

/// What an engine says of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// A run shows the race, and so does the run of this witness.
    Race(Witness),
    /// A recorded run left the two accesses unordered; no controlled run has shown the race so far.
    Observed {
        /// One sentence.
        reason: String,
        /// What would show it again.
        settle: String,
    },
    /// The pair cannot race in the scope.
    Absent {
        /// One sentence.
        reason: String,
        /// Where that holds.
        scope: Scope,
    },
    /// Not settled.
    Open(Open),
}

/// Why a pair stays open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Open {
    /// What to look up with `raceproof explain`.
    pub(crate) code: Code,
    /// One sentence.
    pub(crate) reason: String,
    /// What would settle it.
    pub(crate) settle: Option<String>,
    /// How a net covers the pair, if it does.
    pub(crate) candidate: Option<Box<Candidate>>,
    /// The lock that most accesses hold, if the text tells.
    pub(crate) protection: Option<Protection>,
}

impl Open {
    /// An open pair of which nothing more is known.
    pub(crate) fn new(code: Code, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), settle: None, candidate: None, protection: None }
    }

    /// The same with what would settle it.
    pub(crate) fn settled_by(self, settle: impl Into<String>) -> Self {
        Self { settle: Some(settle.into()), ..self }
    }
}

/// What an engine did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Figures {
    /// Which engine.
    pub(crate) engine: Engine,
    /// Whether it left nothing out.
    pub(crate) complete: bool,
    /// What it left out, or what stopped it.
    pub(crate) reason: Option<String>,
    /// How long it took.
    pub(crate) time: Duration,
    /// The variant of its algorithm.
    pub(crate) method: String,
    /// Runs and questions of a search.
    pub(crate) statistics: ::explore::Statistics,
    /// Counters of nets, where they were wanted.
    pub(crate) nets: Option<NetStatistics>,
    /// Whether the program wrote the same in all runs, where that was asked for.
    pub(crate) outputs: Option<Outputs>,
    /// Most threads that a run of a search had.
    pub(crate) threads: Option<u32>,
    /// What samples promise.
    pub(crate) assurance: Option<Assurance>,
}

impl Figures {
    /// An engine that stopped for this reason, or finished.
    pub(crate) fn new(engine: Engine, method: impl Into<String>, stopped: Option<String>, time: Duration) -> Self {
        Self {
            engine,
            complete: stopped.is_none(),
            reason: stopped,
            time,
            method: method.into(),
            statistics: ::explore::Statistics::default(),
            nets: None,
            outputs: None,
            threads: None,
            assurance: None,
        }
    }
}
