//! `raceproof build`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;

use cc::capture::{self, Made};
use cc::shims::{Role, Shims};

use crate::commands::flags::cache_folder;
use crate::failure::Failure;
use crate::output;

/// Executables that are listed at the end.
const LISTED: usize = 30;

/// Run a build, and keep in what it makes what raceproof needs to check it
///
/// `raceproof build -- make -j8` runs `make -j8` as it is. The compilers that it finds on PATH, and those that CC and CXX
/// name, do what they always do and also embed bitcode in objects and executables, which every command then takes as
/// inputs. No file of the project is changed. Exit status: that of the build.
#[derive(clap::Args)]
pub(crate) struct Build {
    /// The command that builds, with its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Build {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        cc::find_clang().map_err(check::Error::from)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let shims = make_shims(&path)?;
        let folder = tempfile::Builder::new().prefix("raceproof-build-").tempdir();
        let folder = folder.map_err(|error| {
            Failure::new(
                format!("cannot work in the folder for temporary files: {error}"),
                "make room there, or set TMPDIR",
            )
        })?;
        let log = folder.path().join("log");
        let status = self.build(&shims, &path, &log)?;
        let made = capture::read(&log).map_err(check::Error::from)?;
        output::note(&summary(&made, status.success()));
        Ok(ExitCode::from(exit_code(status)))
    }

    /// Runs the build with compilers of ours.
    fn build(&self, shims: &Shims, path: &OsStr, log: &Path) -> Result<ExitStatus, Failure> {
        let folders = std::iter::once(shims.folder().to_owned()).chain(std::env::split_paths(path));
        let path = std::env::join_paths(folders).map_err(|error| {
            Failure::new(format!("PATH cannot be extended: {error}"), "use a cache folder without `:`")
        })?;
        let help = "give the command that builds after `--`: raceproof build -- make -j8";
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| Failure::new("there is nothing to run", help))?;
        let mut command = Command::new(program);
        command.args(arguments).env("PATH", path).env(capture::LOG_VARIABLE, log);
        // A compiler that is not called makes no bitcode.
        command.env("CCACHE_DISABLE", "1").env("SCCACHE_RECACHE", "1");
        for variable in ["CC", "CXX"] {
            if let Some(compiler) = std::env::var(variable).ok().filter(|value| !value.trim().is_empty()) {
                command.env(variable, captured(shims, &compiler)?);
            }
        }
        // Ctrl-C is for the build; what it made is listed then, too.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
        command
            .status()
            .map_err(|error| Failure::new(format!("cannot start `{}`: {error}", program.to_string_lossy()), help))
    }
}

/// The folder with our compilers.
fn make_shims(path: &OsStr) -> Result<Shims, Failure> {
    let cache = cache_folder().ok_or_else(|| {
        Failure::new(
            "there is no folder for the compilers of the build",
            "set HOME or XDG_CACHE_HOME to an absolute path",
        )
    })?;
    let own = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find raceproof itself: {error}"), "start it by its path"))?;
    Ok(Shims::write(&cache.join("compilers"), &own, path).map_err(check::Error::from)?)
}

/// The value of CC or CXX with a compiler of ours in place of the one that it names.
fn captured(shims: &Shims, value: &str) -> Result<String, Failure> {
    let mut words = super::flags::split(&[value.to_owned()])?;
    let name_of = |word: &str| Path::new(word).file_name().and_then(OsStr::to_str).map(str::to_owned);
    let is_launcher = |word: &&mut String| name_of(word).is_some_and(|name| Role::of(&name) == Some(Role::Launcher));
    let Some(compiler) = words.iter_mut().find(|word| !is_launcher(word)) else { return Ok(value.to_owned()) };
    if name_of(compiler).is_some_and(|name| name == "raceproof") {
        return Ok(value.to_owned());
    }
    *compiler = shims.of(compiler).map_err(check::Error::from)?.to_string_lossy().into_owned();
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quoted
        .map_err(|error| Failure::new(format!("`{value}` cannot be used as a compiler: {error}"), "correct CC or CXX"))
}

/// What was made, and what to do with it.
fn summary(made: &[Made], succeeded: bool) -> String {
    let compiled = made.iter().filter(|made| matches!(made, Made::Compiled { .. })).count();
    let linked =
        made.iter().filter_map(|made| if let Made::Linked { executable } = made { Some(executable) } else { None });
    let mut executables: Vec<PathBuf> = linked.map(|executable| shown(executable)).collect();
    executables.sort();
    executables.dedup();
    let (there, gone): (Vec<_>, Vec<_>) = executables.into_iter().partition(|executable| executable.is_file());
    let checkable: Vec<_> = there.into_iter().filter(|executable| cc::embedded_contents(executable).is_ok()).collect();
    let mut text = Vec::new();
    if compiled == 0 && checkable.is_empty() && !succeeded {
        // The build itself says what is wrong.
    } else if compiled == 0 && checkable.is_empty() {
        let _ = writeln!(
            text,
            "raceproof: this build compiled nothing that raceproof saw\n\
             help: if everything was up to date, run `make clean` or remove the build folder, and build again\n\
             help: a build that names its compiler by an absolute path, as CMake and Meson do once they are configured, is \
             configured under `raceproof build`, too: see docs/builds.md"
        );
    } else {
        let (sources, executables) = (counted(compiled, "source"), counted(checkable.len(), "executable"));
        let _ = writeln!(text, "raceproof: {sources} compiled, {executables} to check");
    }
    for executable in checkable.iter().take(LISTED) {
        let path = executable.to_string_lossy();
        let _ = writeln!(text, "  raceproof check {}", shlex::try_quote(&path).unwrap_or_else(|_| path.clone()));
    }
    if checkable.len() > LISTED {
        let _ = writeln!(text, "  and {} more", checkable.len() - LISTED);
    }
    for executable in gone.iter().take(LISTED) {
        let _ = writeln!(text, "raceproof: `{}` was linked and is no longer there", executable.display());
    }
    let without = made.iter().filter(|made| matches!(made, Made::Without { .. })).count();
    if without > 0 {
        let _ = writeln!(text, "raceproof: {} without bitcode, see the warnings above", counted(without, "source"));
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// An executable as the user would call it: from the current folder, by libtool's script if there is one.
fn shown(executable: &Path) -> PathBuf {
    let script = executable.parent().filter(|folder| folder.ends_with(".libs")).and_then(Path::parent);
    let name = executable.file_name().map(|name| name.to_string_lossy().trim_start_matches("lt-").to_owned());
    let script =
        script.zip(name).map(|(folder, name)| folder.join(name)).filter(|script| cc::wrapped(script).is_some());
    let path = script.as_deref().unwrap_or(executable);
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).map_or_else(|_| path.to_owned(), |inside| Path::new(".").join(inside))
}

fn counted(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The exit status as a shell would give it.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}
