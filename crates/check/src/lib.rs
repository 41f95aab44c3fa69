//! The line from inputs to result: build the program, run the engines, settle every pair.
//!
//! [`build`] turns sources into an instrumented executable; [`explore`] searches its schedules and returns the
//! result document; [`verify`] proves pairs absent for any number of threads; [`replay`] runs a witness again. The ledger
//! of pairs lives here. Nothing here knows how a result is shown.

mod assumptions;
mod build;
mod checkpoint;
mod crash;
mod dump;
mod error;
mod examples;
mod explore;
mod finding;
mod foreign;
mod hints;
mod line;
mod listing;
mod names;
mod outputs;
mod patience;
mod place;
mod predict;
mod record;
mod replay;
mod run;
mod settle;
mod small_language;
mod stacks;
mod static_engine;
mod story;
mod subject;
mod verify;
mod witnesses;
mod words;

pub use build::{BuildOptions, Built, build, lower};
pub use dump::{Run, run};
pub use error::Error;
pub use explore::{ExploreOptions, explore};
pub use foreign::{emit_foreign, is_foreign, predict_foreign};
pub use line::{CheckOptions, Effort, LINE, Watcher, check};
pub use predict::{PredictOptions, predict};
pub use record::{
    RecordOptions, Recorded, Recorder, emit_trace, prepare_recorder, read_trace, rebuild_recorded, record,
};
pub use replay::{Replayed, debugger, replay};
pub use run::Limits;
pub use small_language::{is_small_language, small_language_net, verify_small_language};
pub use static_engine::{Inspected, LOCK_PRESETS, StaticOptions, static_check, static_facts};
pub use verify::{ProofOptions, VerifyOptions, net, verify};
