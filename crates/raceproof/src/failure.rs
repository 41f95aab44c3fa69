//! Telling the user why there is no result.

use std::fmt;
use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
const HELP: Style = AnsiColor::BrightCyan.on_default().bold();

/// Wrong use, or a failure of our own: exit status 2.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()) }
    }

    /// Prints `error: …` and `help: …`.
    pub(crate) fn report(self) -> ExitCode {
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(stderr, "{ERROR}error{ERROR:#}: {}", self.message.trim_end());
        if let Some(help) = self.help {
            let _ = writeln!(stderr, "{HELP}help{HELP:#}: {help}");
        }
        ExitCode::from(2)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

impl From<check::Error> for Failure {
    fn from(error: check::Error) -> Self {
        Self { message: error.to_string(), help: error.help() }
    }
}

/// Makes a panic say that it is our bug and what to send; the exit status is 2.
pub(crate) fn install_panic_hook() {
    let standard = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        {
            let mut stderr = anstream::stderr().lock();
            let _ = writeln!(stderr, "{ERROR}error{ERROR:#}: raceproof bug: raceproof itself failed");
        }
        standard(info);
        let mut stderr = anstream::stderr().lock();
        let _ = writeln!(
            stderr,
            "{HELP}help{HELP:#}: please report this with the lines above, the command line, the version ({}) and, if \
             you can share it, the program",
            env!("CARGO_PKG_VERSION")
        );
        std::process::exit(2);
    }));
}
