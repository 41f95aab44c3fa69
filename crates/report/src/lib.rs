//! What raceproof tells its user: the result as data, and one file per way to show it.
//!
//! [`document`] is the contract: the JSON document of schema 1. Everything else renders it: [`json`] as itself,
//! [`terminal`] for people. [`diagnostics`] is the list of findings that [`short`], [`gitlab`] and editors show. [`cover`] is the same for plain coverability questions. [`story`] shows one run as columns, one per thread; [`step`] one of its events. Nothing here knows how a result
//! came to be; nothing prints.

pub mod assumption;
pub mod code;
pub mod cover;
pub mod diagnostics;
pub mod document;
mod excerpt;
pub mod fingerprint;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod json;
pub mod junit;
pub mod listing;
pub mod merge;
pub mod run;
pub mod sarif;
pub mod schema;
pub mod short;
pub mod since;
pub mod source;
pub mod step;
pub mod story;
pub mod suite;
pub mod suppress;
pub mod svcomp;
pub mod terminal;
pub mod uri;

pub use code::Code;
pub use cover::{CoverReport, CoverStatistics, CoverVariable, CoverVerdict};
pub use document::{
    Access, Assurance, Command, Coverage, Created, Details, Engine, ErrorKind, Finding, Frame, NetStatistics, Outputs,
    Pair, PairVerdict, Protection, Report, ShownBy, Suppressed, SuppressedBy, Unknown, Verdict, Waiting,
};
pub use listing::{Absent, Unlisted};
pub use run::{Action, Run, RunEvent, RunThread, Value};
pub use since::Since;
pub use source::Sources;
pub use suite::{Outcome, TestResult};
