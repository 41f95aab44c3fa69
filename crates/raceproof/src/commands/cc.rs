//! `raceproof cc` and `raceproof c++`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use cc::{Language, Tools};
use check::{BuildOptions, RecordOptions};
use model::Budget;

use crate::commands::flags::cache_folder;
use crate::failure::Failure;

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

    /// The compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

impl Cc {
    pub(crate) fn run(self, language: Language) -> Result<ExitCode, Failure> {
        let failed = |error| Failure::from(check::Error::from(error));
        let clang = cc::find_clang().map_err(failed)?;
        let (variable, driver) = match language {
            Language::C => ("RACEPROOF_CC", "--driver-mode=gcc"),
            Language::Cxx => ("RACEPROOF_CXX", "--driver-mode=g++"),
        };
        let native = match std::env::var(variable) {
            Ok(named) => super::flags::split(&[named])?,
            Err(_) => vec![clang.clone(), driver.to_owned()],
        };
        let tools = Tools { native, clang, objcopy: "objcopy".to_owned() };
        let (status, warnings) = cc::wrap(&tools, language, &self.arguments).map_err(failed)?;
        for warning in warnings {
            let _ = writeln!(anstream::stderr(), "raceproof cc: warning: {warning}");
        }
        if self.recorder && status == 0 {
            prepare_recorder(&self.arguments);
        }
        Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
    }
}

/// Makes the executable that these arguments link ready to be recorded, if it is one. What fails is only said: the program
/// is built.
fn prepare_recorder(arguments: &[String]) {
    let Some(executable) = linked(arguments) else { return };
    let build = BuildOptions { inputs: vec![executable.clone()], cache: cache_folder(), ..BuildOptions::default() };
    match check::prepare_recorder(&build, &RecordOptions::default(), &Budget::default()) {
        Ok(_) => {}
        Err(error) => {
            let _ = writeln!(anstream::stderr(), "raceproof cc: warning: `{executable}` cannot be recorded: {error}");
        }
    }
}

/// The executable that a compiler's arguments make. `None` where they do not link one, and for the programs with which
/// build systems try out the compiler.
fn linked(arguments: &[String]) -> Option<String> {
    let stops_before = |argument: &String| {
        ["-c", "-S", "-E", "-M", "-MM", "-shared", "-r", "-fsyntax-only"].contains(&argument.as_str())
    };
    if arguments.iter().any(stops_before) || arguments.iter().all(|argument| argument.starts_with('-')) {
        return None;
    }
    let after = arguments.iter().position(|argument| argument == "-o").and_then(|at| arguments.get(at + 1));
    let joined = arguments.iter().find_map(|argument| argument.strip_prefix("-o").filter(|name| !name.is_empty()));
    let executable = after.map(String::as_str).or(joined).unwrap_or("a.out");
    let name = Path::new(executable).file_name()?.to_str()?;
    let is_trial = ["conftest", "cmTC_", "cmTryCompileExec", "testfile"].iter().any(|start| name.starts_with(start));
    (!is_trial && Path::new(executable).is_file()).then(|| executable.to_owned())
}

#[cfg(test)]
mod tests {
    use super::linked;

    #[test]
    fn what_is_linked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("prog").display().to_string();
        std::fs::write(&file, "").unwrap();
        let of = |arguments: &[&str]| linked(&arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["-O2", "a.c", "-o", &file]), Some(file.clone()));
        assert_eq!(of(&["a.o", &format!("-o{file}")]), Some(file.clone()));
        assert_eq!(of(&["-c", "a.c", "-o", &file]), None);
        assert_eq!(of(&["-shared", "a.o", "-o", &file]), None);
        assert_eq!(of(&["--version"]), None);
        let trial = folder.path().join("conftest").display().to_string();
        std::fs::write(&trial, "").unwrap();
        assert_eq!(of(&["conftest.c", "-o", &trial]), None);
    }
}
