//! One run under a debugger.

use std::path::Path;
use std::process::Command;

use model::Schedule;
use wire::layout::SEGMENTS_OFFSET;
use wire::{Header, Policy, Request, SEGMENT_CAPACITY};

use crate::backend::RunMode;
use crate::config::Config;
use crate::error::Error;
use crate::process;
use crate::shared::Shared;

/// The commands that the debugger gets, in Python.
const EXTENSION: &str = include_str!("gdb.py");

/// The command that runs `program` under `gdb` with this schedule and stops right before the event after its last
/// segment. `directory` gets the file through which program and schedule meet, and the extension with the `story` of the run
/// (JSON), which it shows; all must outlive the command. `more` are further arguments of gdb.
///
/// # Errors
/// When a file cannot be written.
pub fn gdb_command(
    program: &Path,
    config: &Config,
    schedule: &Schedule,
    directory: &Path,
    story: &str,
    more: &[String],
) -> Result<Command, Error> {
    let path = directory.join("gdb-run");
    let system = |source| Error::System { action: "set up the debugger's shared file", source };
    let file =
        std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).map_err(system)?;
    let mut shared = Shared::create(&file, config, true).map_err(system)?;
    let mode = RunMode { policy: Policy::FIXED, stacks: false, fresh: true };
    shared.ask(Request { trap: 1, ..process::request(config, mode) }, schedule)?;
    let mut command = Command::new("gdb");
    command.arg("-q");
    let request = std::mem::offset_of!(Header, request);
    let layout = format!(
        "LAYOUT = {{'segments': {SEGMENTS_OFFSET}, 'capacity': {SEGMENT_CAPACITY}, 'count': {}, 'trap': {}}}\n",
        request + std::mem::offset_of!(Request, segments),
        request + std::mem::offset_of!(Request, trap),
    );
    let extension = directory.join("raceproof-gdb.py");
    std::fs::write(directory.join("gdb-story.json"), story).map_err(system)?;
    std::fs::write(&extension, layout + EXTENSION).map_err(system)?;
    let directory_setting = config.directory.as_ref().map(|d| format!("set cwd {}", d.display()));
    // Only a shell can give the program another standard input than the debugger's own.
    let stdin = match &config.stdin {
        Some(bytes) => {
            let file = directory.join("gdb-stdin");
            std::fs::write(&file, bytes).map_err(system)?;
            Some(file)
        }
        None => None,
    };
    let settings = [
        "set disable-randomization on".to_owned(),
        format!("set startup-with-shell {}", if stdin.is_some() { "on" } else { "off" }),
        // The watchdog's; a run under a debugger takes as long as it takes.
        "handle SIGALRM nostop noprint ignore".to_owned(),
        format!("set environment {}={}", wire::FILE_VARIABLE, path.display()),
        format!("source {}", extension.display()),
    ];
    let variables = config.variables.iter().map(|(name, value)| match value {
        Some(value) => format!("set environment {name}={value}"),
        None => format!("unset environment {name}"),
    });
    let arguments = stdin.map(|file| {
        let words: Vec<String> = config.args.iter().map(|arg| quoted(&arg.to_string_lossy())).collect();
        format!("set args {} < {}", words.join(" "), quoted(&file.to_string_lossy()))
    });
    let begin = ["raceproof begin".to_owned()];
    for setting in variables.chain(settings).chain(directory_setting).chain(arguments).chain(begin) {
        command.arg("-ex").arg(setting);
    }
    command.args(more).arg("--args").arg(program).args(&config.args);
    Ok(command)
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
