//! `raceproof lsp`.

use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

use crate::failure::Failure;
use crate::settings::Settings;

/// Show races in an editor: a language server on standard input and output
///
/// When a file is opened or saved, the program it belongs to is checked for a few seconds: the `inputs` of raceproof.toml or of
/// the editor's initializationOptions, else that of compile_commands.json, else the file alone if it defines `main`.
#[derive(clap::Args)]
pub(crate) struct Lsp {
    /// Speak over standard input and output, which is the only way: editors like to say so
    #[arg(long)]
    stdio: bool,
}

impl Lsp {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let Self { stdio: _ } = self;
        let cannot = |error: std::io::Error| {
            Failure::new(
                format!("the language server cannot go on: {error}"),
                "start it from an editor; see docs/ci.md",
            )
        };
        let raceproof = std::env::current_exe().map_err(cannot)?;
        let input = BufReader::new(std::io::stdin());
        let in_order = editor::serve(raceproof, options, input, std::io::stdout()).map_err(cannot)?;
        Ok(ExitCode::from(u8::from(!in_order)))
    }
}

/// What the settings of a project in a folder say.
fn options(folder: &Path) -> Result<editor::Options, String> {
    let settings = Settings::find_from(folder).map_err(|failure| failure.to_string())?;
    Ok(editor::Options { inputs: settings.inputs, ..editor::Options::default() })
}
