//! One message for each variable, however many lines are about it: the races of `predict`, the strongest evidence first, and
//! the warnings of `static`, the most promising first.
//! Bytes of one block that have no names count as one variable.

use std::collections::{BTreeMap, BTreeSet};

use super::count;
use super::message::{finding_message, pair_message, place, replay_help, unknown_message};
use crate::Code;
use crate::document::{Pair, PairVerdict, Report, Unknown};
use crate::excerpt::{Message, Note};
use crate::source::Sources;

/// Further pairs of lines named for one variable, and further places for one unknown.
const NAMED: usize = 8;

/// The races, other errors and unknowns, without the summary.
pub(super) fn findings(report: &Report, sources: &mut Sources, width: usize) -> String {
    let mut out = String::new();
    let mut show = |text: String| {
        out.push_str(&text);
        out.push_str("\n\n");
    };
    for group in variables(report) {
        let Some((first, rest)) = group.split_first() else { continue };
        let mut message = pair_message(first, replay_help);
        if let Some(note) = further(rest) {
            let at = message.notes.len().saturating_sub(usize::from(first.witness.is_some()));
            message.notes.insert(at, note);
        }
        message.notes.extend(first.details.settle.clone().filter(|_| first.is_observed()).map(Note::Help));
        show(message.render(sources, width));
    }
    for error in &report.errors {
        show(finding_message(error, replay_help).render(sources, width));
    }
    for (first, rest) in unknowns(report) {
        let mut message = unknown_message(first);
        if !rest.is_empty() {
            let places: BTreeSet<String> = rest.iter().map(|u| place(u.file.as_deref(), u.line, u.column)).collect();
            message.notes.insert(0, Note::Note(format!("the same at {}", listed(places.into_iter().collect()))));
        }
        show(message.render(sources, width));
    }
    out
}

/// The pairs to show: those of one variable together, confirmed before observed before predicted.
fn variables(report: &Report) -> Vec<Vec<&Pair>> {
    let worth = |pair: &&Pair| {
        let known = pair.details.suppressed.is_some();
        let told = pair.verdict == PairVerdict::Race || pair.is_predicted() || pair.code == Some(Code::UNCONFIRMED);
        told && !known
    };
    let mut pairs: Vec<&Pair> = report.pairs.iter().filter(worth).collect();
    pairs.sort_by_key(|pair| (pair.verdict, pair.details.shown));
    together(pairs)
}

/// Pairs of one variable together, in the order of the first of each.
pub(crate) fn together<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> Vec<Vec<&'a Pair>> {
    let mut groups: Vec<Vec<&Pair>> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in pairs {
        match at.get(block(&pair.variable)) {
            Some(group) => groups[*group].push(pair),
            None => {
                at.insert(block(&pair.variable), groups.len());
                groups.push(vec![pair]);
            }
        }
    }
    groups
}

/// What is said of the warnings about one variable: the best one, and where else there is one.
pub(super) fn warning<'a>(group: &[&'a Pair]) -> Option<Message<'a>> {
    let (best, rest) = group.split_first()?;
    let mut message = pair_message(best, replay_help);
    let mut named: Vec<String> = Vec::new();
    for pair in rest {
        let name = lines(pair);
        if name != lines(best) && !named.contains(&name) {
            named.push(name);
        }
    }
    message
        .notes
        .extend((!named.is_empty()).then(|| Note::Note(format!("the same of other lines: {}", listed(named)))));
    Some(message)
}

/// `a.c:3 and a.c:9`.
fn lines(pair: &Pair) -> String {
    let [one, other] = pair.accesses.each_ref().map(|access| match access.own_place() {
        (Some(file), line, _) => format!("{file}:{line}"),
        (None, ..) => access.function.clone(),
    });
    format!("{one} and {other}")
}

/// The block of bytes that have no name but their offset: `heap@pool.c:43+128` is a part of `heap@pool.c:43`.
fn block(variable: &str) -> &str {
    match variable.rsplit_once('+') {
        Some((block, offset)) if offset.bytes().all(|byte| byte.is_ascii_digit()) => block,
        _ => variable,
    }
}

/// Where else the variable races, each pair of lines once.
fn further(rest: &[&Pair]) -> Option<Note> {
    let mut named: Vec<String> = Vec::new();
    for pair in rest {
        let how = if pair.confirmed {
            "confirmed"
        } else if pair.is_observed() {
            "observed"
        } else {
            "predicted"
        };
        let name = format!("{} ({how})", lines(pair));
        if !named.contains(&name) {
            named.push(name);
        }
    }
    (!named.is_empty()).then(|| Note::Note(format!("it races at other lines too: {}", listed(named))))
}

/// The unknowns, those that blame one function together, with their other places.
fn unknowns(report: &Report) -> Vec<(&Unknown, Vec<&Unknown>)> {
    let mut groups: Vec<(&Unknown, Vec<&Unknown>)> = Vec::new();
    for unknown in &report.unknowns {
        let same = |(first, _): &&mut (&Unknown, Vec<&Unknown>)| {
            first.code == unknown.code && first.function == unknown.function && first.reason == unknown.reason
        };
        match groups.iter_mut().find(same) {
            Some((_, rest)) => rest.push(unknown),
            None => groups.push((unknown, Vec::new())),
        }
    }
    groups
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if more > 0 {
        names.push(format!("and {} more", count(more, "place")));
    }
    names.join(", ")
}
