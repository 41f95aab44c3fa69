//! From a result to diagnostics of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range};
use report::diagnostics::{self, About, Severity, told};
use report::{Access, Finding, Pair, PairVerdict, Report};

use crate::positions::{range_at, uri_of};
use crate::programs::Program;
use crate::protect::Wish;

/// A diagnostic, with what can be done about it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Found {
    /// The file, with an absolute name.
    pub(crate) file: PathBuf,
    /// As the editor shows it.
    pub(crate) diagnostic: Diagnostic,
    /// The lines from which it was made, which an edit relies on.
    pub(crate) lines: Vec<(u32, String)>,
    /// What would protect the access.
    pub(crate) wish: Option<Wish>,
    /// The witness that shows it.
    pub(crate) witness: Option<PathBuf>,
}

/// The diagnostics of a result: those of [`diagnostics::list`], each race at both its accesses. What has no place is at the
/// start of `main_file`.
pub(crate) fn diagnose(report: &Report, program: &Program, main_file: &Path) -> Vec<Found> {
    let mut maker = Maker { report, program, texts: BTreeMap::new() };
    let mut found: Vec<Found> = Vec::new();
    for entry in diagnostics::list(report) {
        let severity = match entry.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        let (file, line, column) = entry.place();
        let main_file = main_file.to_string_lossy();
        let place = (file.unwrap_or(&main_file), line, column);
        let code = entry.code.name();
        let made = match entry.about {
            About::Pair(pair) if pair.verdict == PairVerdict::Race => {
                let each = [(0, 1), (1, 0)].map(|(this, other)| {
                    let message = format!("{}: {}", entry.what, told(&pair.accesses[this]));
                    let place = maker.own_place(&pair.accesses[this]);
                    let made = place.map(|place| maker.make((&place.0, place.1, place.2), severity, code, message));
                    made.map(|made| maker.about_pair(made, pair, this, other))
                });
                each.into_iter().flatten().collect()
            }
            About::Pair(pair) => {
                let made = maker.make(place, severity, code, entry.message());
                vec![maker.about_pair(made, pair, 0, 1)]
            }
            About::Error(error) => {
                let made = maker.make(place, severity, code, entry.message());
                vec![maker.about_error(made, error)]
            }
            About::Unknown(unknown) => {
                let message = format!("{}; what would settle it: {}", entry.message(), unknown.settle);
                vec![maker.make(place, severity, code, message)]
            }
        };
        for one in made {
            add(&mut found, one);
        }
    }
    found
}

/// Adds a diagnostic; what says the same at the same place becomes one.
fn add(found: &mut Vec<Found>, new: Found) {
    let same = |known: &&mut Found| {
        let told = |found: &Found| (found.diagnostic.range, found.diagnostic.message.clone());
        known.file == new.file && told(known) == told(&new)
    };
    match found.iter_mut().find(same) {
        Some(known) => {
            let related = known.diagnostic.related_information.get_or_insert_default();
            for more in new.diagnostic.related_information.unwrap_or_default() {
                if !related.contains(&more) {
                    related.push(more);
                }
            }
        }
        None => found.push(new),
    }
}

struct Maker<'a> {
    report: &'a Report,
    program: &'a Program,
    /// Files as they were checked.
    texts: BTreeMap<PathBuf, String>,
}

impl Maker<'_> {
    fn path(&self, file: &str) -> PathBuf {
        tidy(&self.program.folder.join(file))
    }

    fn text(&mut self, path: &Path) -> &str {
        self.texts
            .entry(path.to_owned())
            .or_insert_with(|| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned())
    }

    fn own_place(&self, access: &Access) -> Option<(String, u32, u32)> {
        let (file, line, column) = access.own_place();
        Some((file?.to_owned(), line, column))
    }

    fn range(&mut self, path: &Path, line: u32, column: u32) -> Range {
        range_at(self.text(path), line, column)
    }

    fn make(
        &mut self,
        (file, line, column): (&str, u32, u32),
        severity: DiagnosticSeverity,
        code: &str,
        message: String,
    ) -> Found {
        let path = self.path(file);
        let diagnostic = Diagnostic {
            range: self.range(&path, line, column),
            severity: Some(severity),
            code: Some(NumberOrString::String(code.to_owned())),
            source: Some("raceproof".to_owned()),
            message,
            ..Diagnostic::default()
        };
        Found { file: path, diagnostic, lines: Vec::new(), wish: None, witness: None }
    }

    fn related(
        &mut self,
        (file, line, column): (&str, u32, u32),
        message: String,
    ) -> Option<DiagnosticRelatedInformation> {
        let path = self.path(file);
        let range = self.range(&path, line, column);
        Some(DiagnosticRelatedInformation { location: Location { uri: uri_of(&path)?, range }, message })
    }

    /// The other access, the creations of both threads, what would protect this access.
    fn about_pair(&mut self, mut found: Found, pair: &Pair, this: usize, other: usize) -> Found {
        let mut related = Vec::new();
        if let Some((file, line, column)) = self.own_place(&pair.accesses[other]) {
            let message = format!("the other access: {}", told(&pair.accesses[other]));
            related.extend(self.related((&file, line, column), message));
        }
        for access in [&pair.accesses[this], &pair.accesses[other]] {
            if let Some(created) = &access.created
                && let Some(file) = &created.file
            {
                let message = format!("thread {} was created here by thread {}", access.thread, created.thread);
                related.extend(self.related((file, created.line, created.column), message));
            }
        }
        found.diagnostic.related_information = Some(related);
        found.witness = self.witness(pair.witness.as_deref());
        if let Some(wish) = self.wish(pair, &pair.accesses[this]) {
            let text = self.text(&found.file.clone()).to_owned();
            let line = |line: u32| text.lines().nth((line as usize).checked_sub(1)?).map(str::to_owned);
            found.lines = wish.places.iter().filter_map(|(at, _)| Some((*at, line(*at)?))).collect();
            found.wish = Some(wish);
        }
        found
    }

    fn about_error(&mut self, mut found: Found, error: &Finding) -> Found {
        let waiting = error.waiting.iter().filter_map(|waiting| {
            let locks = if waiting.locks.is_empty() {
                String::new()
            } else {
                format!(", holding {}", waiting.locks.join(", "))
            };
            let message = format!("thread {} waits {}{locks}", waiting.thread, waiting.waits);
            self.related((waiting.file.as_deref()?, waiting.line, waiting.column), message)
        });
        found.diagnostic.related_information = Some(waiting.collect());
        found.witness = self.witness(error.witness.as_deref());
        found
    }

    fn witness(&self, witness: Option<&str>) -> Option<PathBuf> {
        witness.map(|witness| self.program.folder.join(witness))
    }

    /// What would protect an access: where a lock is held at all other places that touch the variable, and this one holds none.
    fn wish(&self, pair: &Pair, access: &Access) -> Option<Wish> {
        let protection = pair.details.protection.as_ref()?;
        let lock = &protection.lock;
        if !access.locks.is_empty() || access.called().is_some() {
            return None;
        }
        let of_variable = self.report.pairs.iter().filter(|other| other.variable == pair.variable);
        let mut without: Vec<(&str, u32, u32)> = of_variable
            .clone()
            .flat_map(|pair| &pair.accesses)
            .filter(|access| !access.thread.is_empty() && !access.locks.contains(lock))
            .filter_map(|access| Some((access.file.as_deref()?, access.line, access.column)))
            .collect();
        without.sort_unstable();
        without.dedup();
        let file = access.file.as_deref()?;
        let is_same_place = |other: &&Access| other.file == access.file && other.line == access.line;
        if of_variable
            .clone()
            .flat_map(|pair| &pair.accesses)
            .filter(is_same_place)
            .any(|other| !other.locks.is_empty())
        {
            return None;
        }
        let all_known = protection.held + without.len() >= protection.places;
        let here = without.iter().all(|(other, ..)| *other == file);
        let places = without.iter().map(|(_, line, column)| (*line, *column)).collect();
        (all_known && here).then(|| Wish { variable: pair.variable.clone(), lock: lock.clone(), places })
    }
}

/// Without `.` and `..`, as editors name files.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => drop(tidy.pop()),
            part => tidy.push(part),
        }
    }
    tidy
}
