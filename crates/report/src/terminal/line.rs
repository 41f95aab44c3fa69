//! The report of the whole line: races that share their lines are told once, each with the story of its run; what is
//! unknown is grouped by what would settle it.

use std::collections::{BTreeMap, BTreeSet};

use super::count;
use super::message::{finding_message, pair_message, place, replay_help, unknown_message};
use crate::document::{Access, ErrorKind, Finding, Pair, PairVerdict, Report, Unknown};
use crate::excerpt::{Message, Note};
use crate::source::Sources;
use crate::story::{self, Story};
use crate::suite::shown_by;
use crate::{Code, Run};

/// Runs told in full. Further ones are a command away.
const STORIES: usize = 3;

/// Pairs named in one group.
const NAMED: usize = 6;

/// The races, other errors and unknowns, without the summary.
pub(super) fn findings(report: &Report, sources: &mut Sources, width: usize) -> String {
    let mut out = String::new();
    let mut stories = 0;
    let mut show = |message: Message<'_>, run: Option<&Run>, sources: &mut Sources| {
        out.push_str(&message.render(sources, width));
        out.push_str("\n\n");
        if let Some(run) = run.filter(|_| stories < STORIES) {
            stories += 1;
            out.push_str(&story::render(&Story::of(run), sources, width));
            out.push('\n');
        }
    };
    for (pair, same) in races(report) {
        let inside = report.inside(pair).count();
        show(race(pair, &same, inside), pair.details.run.as_ref(), sources);
    }
    // A race explains most crashes.
    let explained = report.told_races().next().is_some();
    for (error, same) in errors(report) {
        let run = error.run.as_ref().filter(|_| !(explained && error.kind == ErrorKind::Crash));
        show(failure(error, &same), run, sources);
    }
    let mut open: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
    for pair in report.pairs_with(PairVerdict::Unknown) {
        open.entry(settle(pair)).or_default().push(pair);
    }
    for (unknown, same) in unknowns(report) {
        let mut message = unknown_message(unknown);
        message.notes.splice(0..0, shown_by(&unknown.tests).map(Note::Note));
        message.notes.splice(0..0, elsewhere(&same).map(Note::Note));
        if let Some(pairs) = open.remove(unknown.settle.as_str()) {
            message
                .notes
                .insert(0, Note::Note(format!("it leaves {} open: {}", count(pairs.len(), "pair"), named(&pairs))));
        }
        show(message, None, sources);
    }
    for pairs in open.values() {
        if let [first, rest @ ..] = pairs.as_slice() {
            show(group(first, rest), None, sources);
        }
    }
    out.push_str(&super::unlisted(report));
    out
}

/// Races, those on the same variable and lines together.
fn races(report: &Report) -> Vec<(&Pair, Vec<&Pair>)> {
    let mut groups: Vec<(&Pair, Vec<&Pair>)> = Vec::new();
    for pair in report.told_races() {
        match groups.iter_mut().find(|(first, _)| same_lines(first, pair)) {
            Some((_, same)) => same.push(pair),
            None => groups.push((pair, Vec::new())),
        }
    }
    groups
}

/// Errors other than races, crashes at the same place together.
fn errors(report: &Report) -> Vec<(&Finding, Vec<&Finding>)> {
    let mut groups: Vec<(&Finding, Vec<&Finding>)> = Vec::new();
    let place = |error: &Finding| (error.kind, error.file.clone(), error.line);
    for error in report.errors.iter().filter(|error| error.suppressed.is_none()) {
        let crashes = error.kind == ErrorKind::Crash;
        match groups.iter_mut().find(|(first, _)| crashes && place(first) == place(error)) {
            Some((_, same)) => same.push(error),
            None => groups.push((error, Vec::new())),
        }
    }
    groups
}

/// What is unknown, once for each reason, with the other places.
pub(super) fn unknowns(report: &Report) -> Vec<(&Unknown, Vec<&Unknown>)> {
    let mut groups: Vec<(&Unknown, Vec<&Unknown>)> = Vec::new();
    for unknown in &report.unknowns {
        let says_same = |first: &Unknown| (&first.reason, &first.settle) == (&unknown.reason, &unknown.settle);
        match groups.iter_mut().find(|(first, _)| says_same(first)) {
            Some((_, same)) => same.push(unknown),
            None => groups.push((unknown, Vec::new())),
        }
    }
    groups
}

/// Where else something holds.
pub(super) fn elsewhere(same: &[&Unknown]) -> Option<String> {
    let mut places: Vec<String> =
        same.iter().filter_map(|u| Some(format!("{}:{}", u.file.as_ref()?, u.line))).collect();
    places.dedup();
    let more = places.len().saturating_sub(NAMED);
    places.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!places.is_empty()).then(|| format!("also at {}{more}", places.join(", ")))
}

/// An error with those at its place.
fn failure<'a>(error: &'a Finding, same: &[&Finding]) -> Message<'a> {
    let mut message = finding_message(error, replay_help);
    message.notes.splice(0..0, shown_by(&error.tests).map(Note::Note));
    if !same.is_empty() {
        let others: BTreeSet<&str> = same.iter().map(|other| other.message.as_str()).collect();
        let others = others.into_iter().collect::<Vec<_>>().join("; ");
        message.notes.insert(0, Note::Note(format!("in other schedules it crashes there with: {others}")));
    }
    message
}

fn same_lines(one: &Pair, other: &Pair) -> bool {
    let lines = |pair: &Pair| {
        let mut lines = pair.accesses.each_ref().map(|access| (access.file.clone(), access.line));
        lines.sort();
        lines
    };
    one.variable == other.variable && lines(one) == lines(other)
}

fn race<'a>(pair: &'a Pair, same: &[&Pair], inside: usize) -> Message<'a> {
    let mut message = pair_message(pair, replay_help);
    let mut notes: Vec<Note> = shown_by(&pair.details.tests).map(Note::Note).into_iter().collect();
    if let Some(protection) = &pair.details.protection {
        let without: Vec<&Access> = pair.accesses.iter().filter(|a| !a.locks.contains(&protection.lock)).collect();
        let missing = match without.as_slice() {
            [one] => format!("not by thread {} at {}", one.thread, place(one.file.as_deref(), one.line, one.column)),
            _ => "at neither of these two".to_owned(),
        };
        let (lock, places) = (&protection.lock, count(protection.places, "place"));
        let (held, variable) = (protection.held, &pair.variable);
        notes.push(Note::Help(format!(
            "`{lock}` is held at {held} of the {places} seen to touch `{variable}`, but {missing}"
        )));
    }
    if inside > 0 {
        let race = if inside == 1 {
            "pair of accesses inside the same calls races"
        } else {
            "pairs of accesses inside the same calls race"
        };
        notes.push(Note::Note(format!("{inside} more {race}; `--json` lists them")));
    }
    if !same.is_empty() {
        let kinds = same.iter().map(|pair| {
            let [one, other] = pair.accesses.each_ref().map(|access| access.kind);
            format!("{} ({one}, {other})", pair.id)
        });
        notes.push(Note::Note(format!("the same lines race as {} too", kinds.collect::<Vec<_>>().join(", "))));
    }
    // The command to replay stays last.
    let at = message.notes.len().saturating_sub(usize::from(pair.witness.is_some()));
    message.notes.splice(at..at, notes);
    message
}

/// Pairs that the same thing would settle.
fn group<'a>(first: &'a Pair, rest: &[&Pair]) -> Message<'a> {
    let mut message = pair_message(first, replay_help);
    if !rest.is_empty() {
        message.title = format!("it is not known whether {} race", count(rest.len() + 1, "pair"));
        message.notes.push(Note::Note(format!("the same holds for {}", named(rest))));
    }
    message.notes.extend(first.details.settle.clone().map(Note::Help));
    message
}

/// What would settle an open pair.
fn settle(pair: &Pair) -> &str {
    pair.details.settle.as_deref().unwrap_or_else(|| pair.code.unwrap_or(Code::NOT_ASKED).title())
}

/// `P3 (`x`, a.c:3 and a.c:9), P4 …`.
fn named(pairs: &[&Pair]) -> String {
    let spot = |access: &Access| match &access.file {
        Some(file) => format!("{file}:{}", access.line),
        None => "an unknown place".to_owned(),
    };
    let mut names: Vec<String> = Vec::new();
    for pair in pairs.iter().take(NAMED) {
        let [one, other] = pair.accesses.each_ref().map(spot);
        names.push(format!("{} (`{}`, {one} and {other})", pair.id, pair.variable));
    }
    if pairs.len() > NAMED {
        names.push(format!("and {} more", pairs.len() - NAMED));
    }
    names.join(", ")
}
