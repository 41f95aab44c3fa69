//! The report as one page that works from a file, without any network.
//!
//! The page carries the document and the sources it speaks of as data; `script.js` shows them, with `timeline.js` for runs and
//! `elements.js` for both. Its content policy forbids every request.

use minijinja::{Environment, context};
use model::verdict::{Inputs, Threads};
use serde::Serialize;

use std::collections::{BTreeMap, BTreeSet};

use crate::document::{Report, Verdict};
use crate::source::Sources;
use crate::terminal;

/// Longest source file that goes into the page.
const LONGEST_SOURCE: usize = 1 << 20;

/// Source lines that the page shows before and after a marked one, as `script.js` has it.
const AROUND: u32 = 4;

/// The page's script, of which no name is global.
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("elements.js"),
    include_str!("timeline.js"),
    include_str!("script.js"),
    "})();\n"
);

#[derive(Serialize)]
struct Data<'a> {
    report: &'a Report,
    files: BTreeMap<&'a str, String>,
}

/// The whole page.
pub fn render(report: &Report, sources: &mut Sources) -> String {
    let data = Data { report, files: files(report, sources) };
    let data = serde_json::to_string(&data).expect("raceproof bug: a report that cannot be serialised");
    let word = match report.verdict {
        Verdict::Race => "race",
        Verdict::Safe => "safe",
        Verdict::Unknown => "unknown",
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    let page = environment.render_str(
        include_str!("page.html"),
        context! {
            word,
            headline => terminal::headline(report),
            scope => scope(report),
            inputs => report.inputs.join(" "),
            args => report.args.join(" "),
            assumptions => report.assumptions.join(", "),
            version => report.raceproof,
            style => include_str!("style.css"),
            script => SCRIPT,
            // Nothing in the data may look like the end of its element.
            data => data.replace('<', "\\u003c"),
        },
    );
    page.expect("raceproof bug: a page that cannot be made")
}

fn scope(report: &Report) -> &'static str {
    match (report.verdict, report.scope.inputs, report.scope.threads) {
        (Verdict::Safe, Inputs::All, Threads::Any) => "The answer holds with any input and any number of threads.",
        (Verdict::Safe, Inputs::All, Threads::These) => "The answer holds with any input.",
        (Verdict::Safe, Inputs::This, _) => "The answer holds for this input.",
        (Verdict::Race, ..) if report.pairs.iter().any(crate::Pair::is_observed) => {
            "Confirmed races can be replayed; observed ones were seen in a recorded run of real threads."
        }
        (Verdict::Race, ..) => "Each race was shown by a run and can be replayed.",
        (Verdict::Unknown, ..) => "What would settle the rest is listed below.",
    }
}

/// The sources that the report speaks of and that are there. Of headers of the system, only the lines that the page may show.
fn files<'a>(report: &'a Report, sources: &mut Sources) -> BTreeMap<&'a str, String> {
    let accesses = report.pairs.iter().flat_map(|pair| pair.accesses.iter().map(|access| (&access.file, access.line)));
    let waiting = report.errors.iter().flat_map(|error| error.waiting.iter().map(|thread| (&thread.file, thread.line)));
    let errors = report.errors.iter().map(|error| (&error.file, error.line));
    let of_pairs = report.pairs.iter().filter_map(|pair| pair.details.run.as_ref());
    let runs = of_pairs.chain(report.errors.iter().filter_map(|error| error.run.as_ref()));
    let events = runs.flat_map(|run| run.events.iter().map(|event| (&event.file, event.line)));
    let mut marked: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in accesses.chain(waiting).chain(errors).chain(events) {
        if let Some(file) = file {
            marked.entry(file).or_default().insert(line);
        }
    }
    let mut files = BTreeMap::new();
    for (file, lines) in marked {
        sources.load(file);
        if let Some(text) = sources.text(file).filter(|text| text.len() <= LONGEST_SOURCE) {
            files.insert(file, if model::is_foreign(file) { around(text, &lines) } else { text.to_owned() });
        }
    }
    files
}

/// A text in which lines that are far from the marked ones are empty.
fn around(text: &str, marked: &BTreeSet<u32>) -> String {
    let is_near = |line: u32| marked.range(line.saturating_sub(AROUND)..=line.saturating_add(AROUND)).next().is_some();
    let lines = (1..).zip(text.lines()).map(|(number, line)| if is_near(number) { line } else { "" });
    lines.collect::<Vec<_>>().join("\n")
}
