//! Which programs are checked, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_types::MessageType;
use serde_json::json;
use tempfile::TempDir;

use super::Server;
use crate::checker::{self, Outcome, Running};
use crate::diagnose::{Found, diagnose};
use crate::positions::uri_of;
use crate::programs::{Program, program_of};

/// The programs of a session.
#[derive(Default)]
pub(super) struct Checks {
    programs: BTreeMap<Program, Checked>,
    /// The number of the last check.
    last: u64,
    /// Shared by all checks at work.
    at_work: Arc<()>,
}

/// What is known of a program.
#[derive(Default)]
struct Checked {
    /// The check at work, and its number.
    running: Option<(u64, Running)>,
    /// The file that it was checked for.
    file: PathBuf,
    found: Vec<Found>,
    /// The witnesses of what was found.
    _witnesses: Option<TempDir>,
}

/// How long the server waits at its end for checks that it has cancelled.
const PATIENCE: Duration = Duration::from_secs(2);

impl Checks {
    /// Cancels all checks and waits until they have ended.
    pub(super) fn end(&mut self) {
        self.programs.clear();
        let start = Instant::now();
        while Arc::strong_count(&self.at_work) > 1 && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What was found in a file.
    pub(super) fn found_in<'c>(&'c self, file: &'c Path) -> impl Iterator<Item = (&'c Program, &'c Found)> {
        let all =
            self.programs.iter().flat_map(|(program, checked)| checked.found.iter().map(move |found| (program, found)));
        all.filter(move |(_, found)| found.file == file)
    }
}

impl Server {
    /// Checks the program that a file belongs to: again when it was saved, once when it was opened. A check at work ends.
    pub(super) fn check(&mut self, file: &Path, saved: bool) -> io::Result<()> {
        let text = self.texts.get(file).map_or("", String::as_str);
        let Some(program) = program_of(file, text, &self.roots, &self.options) else {
            let name = file.display();
            let how = "it has no `main` and no compile_commands.json names it; \
                       name the program's sources as `inputs` in raceproof.toml or in the initializationOptions";
            return self.log(MessageType::INFO, &format!("{name} is not checked: {how}"));
        };
        if !saved && self.checks.programs.contains_key(&program) {
            return Ok(());
        }
        self.checks.last += 1;
        let number = self.checks.last;
        let before = self.checks.programs.get_mut(&program).and_then(|checked| checked.running.take());
        if let Some((before, _)) = before {
            self.end_progress(before, "cancelled")?;
        }
        self.begin_progress(number, &program)?;
        let running =
            checker::start(&self.raceproof, &program, &self.options, number, self.events.clone(), &self.checks.at_work);
        let checked = self.checks.programs.entry(program).or_default();
        checked.running = Some((number, running));
        file.clone_into(&mut checked.file);
        Ok(())
    }

    /// Takes over what came of a check, unless another has begun since.
    pub(super) fn checked(&mut self, program: &Program, number: u64, outcome: Outcome) -> io::Result<()> {
        let Some(checked) = self.checks.programs.get_mut(program) else { return Ok(()) };
        if checked.running.as_ref().is_none_or(|(running, _)| *running != number) {
            return Ok(());
        }
        checked.running = None;
        match outcome {
            Outcome::Cancelled => self.end_progress(number, "cancelled"),
            Outcome::Failed(why) => {
                // What was known is still the best that is known.
                self.end_progress(number, "failed")?;
                self.log(MessageType::WARNING, &format!("raceproof cannot check {}: {why}", program.inputs.join(" ")))
            }
            Outcome::Report(report, witnesses) => {
                let found = diagnose(&report, program, &checked.file);
                let old = std::mem::replace(&mut checked.found, found);
                checked._witnesses = Some(witnesses);
                let files: BTreeSet<PathBuf> =
                    old.iter().chain(&checked.found).map(|found| found.file.clone()).collect();
                let opened = std::iter::once(checked.file.clone());
                for file in files.into_iter().chain(opened).collect::<BTreeSet<_>>() {
                    self.publish(&file)?;
                }
                self.end_progress(number, &report::terminal::headline(&report))
            }
        }
    }

    /// Sends all diagnostics of a file; none clears it.
    fn publish(&mut self, file: &Path) -> io::Result<()> {
        let Some(uri) = uri_of(file) else { return Ok(()) };
        let mut diagnostics: Vec<_> = Vec::new();
        for (_, found) in self.checks.found_in(file) {
            // Programs share files.
            if !diagnostics.contains(&found.diagnostic) {
                diagnostics.push(found.diagnostic.clone());
            }
        }
        self.notify("textDocument/publishDiagnostics", &json!({ "uri": uri, "diagnostics": diagnostics }))
    }

    fn begin_progress(&mut self, number: u64, program: &Program) -> io::Result<()> {
        if !self.shows_progress {
            return Ok(());
        }
        let token = token(number);
        self.request("window/workDoneProgress/create", &json!({ "token": token }))?;
        let value = json!({ "kind": "begin", "title": "raceproof", "message": program.inputs.join(" ") });
        self.notify("$/progress", &json!({ "token": token, "value": value }))
    }

    fn end_progress(&mut self, number: u64, message: &str) -> io::Result<()> {
        if !self.shows_progress {
            return Ok(());
        }
        let value = json!({ "kind": "end", "message": message });
        self.notify("$/progress", &json!({ "token": token(number), "value": value }))
    }
}

fn token(number: u64) -> String {
    format!("raceproof/{number}")
}
