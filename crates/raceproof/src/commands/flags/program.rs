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
    /// One program: C or C++ sources, `.bc` or `.ll` files, an executable of `raceproof cc`, or a folder with
    /// `compile_commands.json`
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<String>,

    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,

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
