//! One run under a debugger.

use std::path::Path;
use std::process::Command;

use model::Schedule;
use wire::{Policy, Request};

use crate::backend::RunMode;
use crate::config::Config;
use crate::error::Error;
use crate::process;
use crate::shared::Shared;

/// The command that runs `program` under `gdb` with this schedule and stops right before the event after its last
/// segment. `directory` gets the file through which program and schedule meet; it must outlive the command.
///
/// # Errors
/// When the file cannot be written.
pub fn gdb_command(program: &Path, config: &Config, schedule: &Schedule, directory: &Path) -> Result<Command, Error> {
    let path = directory.join("gdb-run");
    let system = |source| Error::System { action: "set up the debugger's shared file", source };
    let file =
        std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).map_err(system)?;
    let mut shared = Shared::create(&file, config, true).map_err(system)?;
    let mode = RunMode { policy: Policy::FIXED, stacks: false, fresh: true };
    shared.ask(Request { trap: 1, ..process::request(config, mode) }, schedule)?;
    let mut command = Command::new("gdb");
    command.arg("-q");
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
    ];
    let variables = config.variables.iter().map(|(name, value)| match value {
        Some(value) => format!("set environment {name}={value}"),
        None => format!("unset environment {name}"),
    });
    let arguments = stdin.map(|file| {
        let words: Vec<String> = config.args.iter().map(|arg| quoted(&arg.to_string_lossy())).collect();
        format!("set args {} < {}", words.join(" "), quoted(&file.to_string_lossy()))
    });
    for setting in variables.chain(settings).chain(directory_setting).chain(arguments).chain(["run".to_owned()]) {
        command.arg("-ex").arg(setting);
    }
    command.arg("--args").arg(program).args(&config.args);
    Ok(command)
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
