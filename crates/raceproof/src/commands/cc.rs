//! `raceproof cc` and `raceproof c++`.

use std::io::Write;
use std::process::ExitCode;

use cc::{Language, Tools};

use crate::failure::Failure;

/// Compile as a C compiler does, and keep in the result what raceproof needs to check it
///
/// For `make CC="raceproof cc"` and the like. What is made is what clang makes, and can be given to every command as an
/// input. RACEPROOF_CC and RACEPROOF_CXX name another compiler for the native code.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Cc {
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
        Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
    }
}
