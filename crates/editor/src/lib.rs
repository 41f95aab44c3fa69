//! `raceproof lsp`: races in an editor, by the Language Server Protocol over two streams.
//!
//! When a file is opened or saved, the program that it belongs to is checked by a process of its own: a check that fails, is
//! slow or is no longer wanted takes nothing with it. Its findings become diagnostics, and for some of them there is an edit.
//! Nothing here decides anything about races; what is known comes from the result document.

mod checker;
mod diagnose;
mod options;
mod positions;
mod programs;
mod protect;
mod scope;
mod server;
mod story;
mod syntax;
mod transport;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

pub use options::Options;

/// Answers one client until it goes away; whether it did so as the protocol says, by `shutdown` and `exit`. `raceproof` is the
/// executable that checks programs; `project` finds what the settings of the project in a folder say.
///
/// # Errors
/// When the client's stream breaks, or has something other than messages.
pub fn serve(
    raceproof: PathBuf,
    project: fn(&Path) -> Result<Options, String>,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> std::io::Result<bool> {
    let (events, queue) = std::sync::mpsc::channel();
    transport::read(input, events.clone());
    server::Server::new(raceproof, project, transport::Writer::new(output), events).run(&queue)
}
