//! The program and its input, for every command that is about one.

use std::path::PathBuf;

use check::{BuildOptions, Input};
use remote::Machine;

use super::pragmas;
use crate::failure::Failure;
use crate::settings::Settings;

/// The program and its input.
#[derive(clap::Args)]
pub(crate) struct ProgramFlags {
    /// One program: C or C++ sources, `.bc` or `.ll` files, an executable of `raceproof cc` or `raceproof build`, a
    /// `compile_commands.json`, or a folder with one
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,

    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,

    /// Which executable, where `compile_commands.json` has the sources of several
    #[arg(long, value_name = "NAME", help_heading = "Program")]
    executable: Option<String>,

    /// Folder to run the program in; everything else is relative to the current one
    #[arg(long, value_name = "DIR", conflicts_with = "target", help_heading = "Program")]
    folder: Option<String>,

    /// Variable of the program's environment; without `=VALUE` it is removed; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Program")]
    env: Vec<String>,

    /// File to give the program as standard input; `-` for the standard input of this command
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    stdin: Option<String>,

    /// Script of clients and servers that the program talks to (TOML, see docs/peers.md)
    #[arg(long, value_name = "SCRIPT", help_heading = "Program")]
    peer: Option<String>,

    /// Further compiler flags, split as a shell would; may be repeated
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Program")]
    cflags: Vec<String>,

    /// Assume that an external function touches no shared memory; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Program")]
    assume_pure: Vec<String>,

    /// Functions that any number of threads may run at any time, for sources without `main`
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Program")]
    entry: Vec<String>,

    /// Which functions are lock functions: a TOML file, or `linux` for those of the Linux kernel
    #[arg(long, value_name = "SPEC", help_heading = "Program")]
    locks: Option<String>,

    /// Run the program on another machine, where `raceproof target` listens
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Program")]
    target: Option<String>,
}

impl ProgramFlags {
    /// What the inputs are.
    pub(crate) fn input(&self) -> Result<Input, Failure> {
        Ok(check::classify(&self.inputs)?)
    }

    /// What to build, for inputs that are a program. The project's settings come before the command line.
    pub(crate) fn build_options(&self, settings: &Settings) -> Result<BuildOptions, Failure> {
        let build = BuildOptions {
            inputs: self.input()?.program()?,
            cflags: [split(&settings.cflags)?, split(&self.cflags)?].concat(),
            assume_pure: settings.assume_pure.iter().chain(&self.assume_pure).cloned().collect(),
            executable: self.executable.clone(),
            folder: self.folder.as_deref().map(existing_folder).transpose()?,
            variables: self.env.iter().map(|given| variable(given)).collect::<Result<_, _>>()?,
            args: self.args.clone(),
            stdin: self.stdin.clone(),
            peers: self.peer.clone(),
            machine: self.target.as_deref().map(find_target).transpose()?,
            entries: self.entry.clone(),
            locks: self.locks.clone(),
            cache: cache_folder(),
        };
        pragmas::warn_if_ignored(&build);
        Ok(build)
    }
}

/// A folder that a program can run in.
fn existing_folder(given: &str) -> Result<String, Failure> {
    if std::path::Path::new(given).is_dir() {
        return Ok(given.to_owned());
    }
    Err(Failure::new(format!("there is no folder `{given}`, given with `--folder`"), "name a folder that exists"))
}

/// A variable of the environment: `NAME=VALUE`, or `NAME` for one that is removed.
fn variable(given: &str) -> Result<(String, Option<String>), Failure> {
    let (name, value) = given.split_once('=').map_or((given, None), |(name, value)| (name, Some(value.to_owned())));
    if name.is_empty() || given.contains('\0') {
        let help = "write it as NAME=VALUE, or NAME to remove it";
        return Err(Failure::new(format!("`--env {given}` names no variable"), help));
    }
    Ok((name.to_owned(), value))
}

/// The user's folder for what can be built again.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(caches.join("raceproof"))
}

/// The machine at an address given with `--target`.
pub(crate) fn find_target(address: &str) -> Result<Machine, Failure> {
    Ok(Machine::find(address).map_err(check::Error::from)?)
}

/// Compiler flags, each given text split as a shell would.
pub(crate) fn split(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut split = Vec::new();
    for flags in given {
        split.extend(shlex::split(flags).ok_or_else(|| {
            Failure::new(format!("the flags `{flags}` have an unclosed quote"), "quote them as for a shell")
        })?);
    }
    Ok(split)
}
