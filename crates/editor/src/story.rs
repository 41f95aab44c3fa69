//! The story of a witness as a file that editors show.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

use crate::server::Event;

/// Replays a witness in the background; the text becomes an event.
pub(crate) fn replay(raceproof: &Path, folder: &Path, witness: &Path, events: Sender<Event>) {
    let mut command = Command::new(raceproof);
    command.args(["replay", "--color", "never"]).arg(witness).current_dir(folder).stdin(Stdio::null());
    let name = witness.with_extension("txt");
    std::thread::spawn(move || {
        let told = tell(command, &name);
        // Nobody listens when the server has ended.
        let _ = events.send(Event::Replayed(told));
    });
}

/// Writes what the command prints to a file.
fn tell(mut command: Command, file: &Path) -> Result<PathBuf, String> {
    let output = command.output().map_err(|error| format!("cannot start raceproof: {error}"))?;
    if output.status.code() != Some(1) {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    std::fs::write(file, &output.stdout).map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    Ok(file.to_owned())
}
