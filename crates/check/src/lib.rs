//! The line from inputs to result: build the program, let the engines work, settle every pair, make the report.
//!
//! [`run`] carries out a [`Request`]: it builds the program ([`Subject`]), lets the engines answer one after the other
//! (`engine`), keeps one verdict per pair (`ledger`) and makes the report last (`document`). [`record`] and [`replay`] use
//! the same parts. Nothing here knows how a result is shown.

mod assumptions;
mod build;
mod bundle;
mod coverability;
mod describe;
mod doctor;
mod document;
mod doubt;
mod dump;
mod engine;
mod error;
mod foreign;
mod gap;
mod given;
mod input;
mod ledger;
mod line;
mod objects;
mod outside;
mod peers;
mod record;
mod recorder;
mod replay;
mod request;
mod reuse;
mod run;
mod small_language;
mod stray;
mod subject;
mod text;

pub use build::{BuildOptions, Built, LOCK_PRESETS};
pub use coverability::{Checked, Coverability, NetFile, NetForm, check_certificate, cover, print_net};
pub use doctor::{Examined, Health, examine};
pub use document::{cut_short, nothing_known};
pub use dump::{Run, first_run};
pub use engine::explore::SearchOptions;
pub use engine::static_::AnalysisFigures;
pub use engine::verify::ProofOptions;
pub use error::Error;
pub use foreign::{emit_foreign, predict_foreign};
pub use input::{Input, classify};
pub use line::{Watcher, run, run_on};
pub use record::{RecordOptions, Recorded, build_of_recording, emit_trace, read_trace, rebuild_recorded, record};
pub use recorder::{Recorder, prepare_recorder};
pub use replay::{Extent, Replayed, debugger, replay};
pub use request::{Effort, LINE, Recording, Request};
pub use run::Limits;
pub use small_language::{small_language_net, verify_small_language};
pub use subject::{Subject, build};
pub use text::{facts_text, net};
