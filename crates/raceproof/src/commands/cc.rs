//! `raceproof cc` and `raceproof c++`.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use cc::capture::{self, Made};
use cc::shims::{self, Role};
use cc::{Language, Outcome, Tools};
use check::{BuildOptions, RecordOptions};
use model::Budget;

use crate::commands::flags::cache_folder;
use crate::failure::Failure;

/// The exit status of a shell for a program that it does not find.
const NOT_FOUND: u8 = 127;

/// Compile as a C compiler does, and keep in the result what raceproof needs to check it
///
/// For `make CC="raceproof cc"` and the like. What is made is what clang makes, and can be given to every command as an
/// input. RACEPROOF_CC and RACEPROOF_CXX name another compiler for the native code.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Cc {
    /// Also make the executable ready for `raceproof record`, so that recording starts at once; comes before the
    /// compiler's arguments
    #[arg(long)]
    recorder: bool,

    /// Stand for the compiler of this name, as the compilers of `raceproof build` do
    #[arg(long = "as", value_name = "COMPILER", hide = true)]
    stands_for: Option<String>,

    /// The program of that name
    #[arg(long, value_name = "PROGRAM", hide = true, requires = "stands_for")]
    real: Option<OsString>,

    /// The compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Cc {
    pub(crate) fn run(self, language: Language) -> Result<ExitCode, Failure> {
        match (&self.stands_for, &self.real) {
            (Some(name), Some(real)) => return capture(name, real, &self.arguments),
            (Some(name), None) => return Ok(stand_for(name, &self.arguments)),
            (None, _) => {}
        }
        let Some(arguments) = as_text(&self.arguments) else {
            return Err(Failure::new("an argument is not UTF-8", "rename the file"));
        };
        let clang = cc::find_clang().map_err(check::Error::from)?;
        let (variable, driver) = match language {
            Language::C => ("RACEPROOF_CC", "--driver-mode=gcc"),
            Language::Cxx => ("RACEPROOF_CXX", "--driver-mode=g++"),
        };
        let native = match std::env::var(variable) {
            Ok(named) => super::flags::split(&[named])?,
            Err(_) => vec![clang.clone(), driver.to_owned()],
        };
        let tools = Tools { native, clang, objcopy: "objcopy".to_owned(), target: None };
        let Outcome { status, made, .. } = wrap(&tools, language, &arguments)?;
        if self.recorder {
            made.iter().for_each(prepare_recorder);
        }
        Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
    }
}

/// Compiles, prints warnings, and tells a build that captures what was made.
fn wrap(tools: &Tools, language: Language, arguments: &[String]) -> Result<Outcome, Failure> {
    let outcome = cc::wrap(tools, language, arguments).map_err(check::Error::from)?;
    for warning in &outcome.warnings {
        warn(warning);
    }
    if let Some(log) = std::env::var_os(capture::LOG_VARIABLE)
        && let Err(error) = capture::append(Path::new(&log), &outcome.made)
    {
        warn(&error.to_string());
    }
    Ok(outcome)
}

fn warn(text: &str) {
    let _ = writeln!(anstream::stderr(), "raceproof cc: warning: {text}");
}

fn as_text(arguments: &[OsString]) -> Option<Vec<String>> {
    arguments.iter().map(|argument| argument.to_str().map(str::to_owned)).collect()
}

/// What the program of this name is, where it stands for a compiler.
fn role_of(name: &str) -> Role {
    let file_name = Path::new(name).file_name().and_then(OsStr::to_str).unwrap_or(name);
    Role::of(file_name).unwrap_or(Role::Compiler { language: Language::C, target: None })
}

/// Does what the program behind a shim does, and captures what that compiles. What raceproof starts itself must not be a shim,
/// so it goes on in a process whose PATH has none.
fn stand_for(name: &str, arguments: &[OsString]) -> ExitCode {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(real) = shims::real(name, &path) else {
        warn(&format!("{name}: not found"));
        return ExitCode::from(NOT_FOUND);
    };
    let clean = shims::without_shims(&path);
    let is_inside = std::env::var_os(shims::INSIDE_VARIABLE).is_some();
    match (role_of(name), arguments.split_first()) {
        // The compiler is one of ours, whose work is not to be kept elsewhere.
        (Role::Launcher, Some((compiler, rest))) if !is_inside && !compiler.to_string_lossy().starts_with('-') => {
            become_program(Command::new(compiler).args(rest))
        }
        (Role::Compiler { .. }, _) if !is_inside => {
            let Ok(own) = std::env::current_exe() else {
                return become_program(Command::new(real).args(arguments).env("PATH", clean));
            };
            let mut again = Command::new(own);
            again.args(["cc", "--as", name, "--real"]).arg(real).args(arguments);
            become_program(again.env("PATH", clean).env(shims::INSIDE_VARIABLE, "1"))
        }
        _ => become_program(Command::new(real).args(arguments).env("PATH", clean)),
    }
}

/// Compiles with the real compiler and keeps the bitcode. What is not understood is left to that compiler.
fn capture(name: &str, real: &OsStr, arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let role = role_of(name);
    let (Some(text), Some(native), Role::Compiler { language, target }, Ok(clang)) =
        (as_text(arguments), real.to_str(), role, cc::find_clang())
    else {
        return Ok(become_program(Command::new(real).args(arguments)));
    };
    // The tools of another machine have the name of that machine.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let objcopy = target.as_ref().map(|target| format!("{target}-objcopy"));
    let objcopy = objcopy.filter(|name| shims::real(name, &path).is_some()).unwrap_or_else(|| "objcopy".to_owned());
    let tools = Tools { native: vec![native.to_owned()], clang, objcopy, target };
    let Outcome { status, .. } = wrap(&tools, language, &text)?;
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

/// Lets another program take the place of this process. Returns only if it cannot be started.
fn become_program(command: &mut Command) -> ExitCode {
    let error = command.exec();
    warn(&format!("cannot start `{}`: {error}", command.get_program().to_string_lossy()));
    ExitCode::from(NOT_FOUND)
}

/// Makes an executable that was linked ready to be recorded. What fails is only said: the program is built.
fn prepare_recorder(made: &Made) {
    let Made::Linked { executable } = made else { return };
    let executable = executable.to_string_lossy().into_owned();
    let build = BuildOptions { inputs: vec![executable.clone()], cache: cache_folder(), ..BuildOptions::default() };
    if let Err(error) = check::prepare_recorder(&build, &RecordOptions::default(), &Budget::default()) {
        warn(&format!("`{executable}` cannot be recorded: {error}"));
    }
}
