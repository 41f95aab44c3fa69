//! Traces of other tools, in RAPID's text form: prediction without a program to replay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use ::predict::rapid::{self, Document};
use ::predict::{Aim, PredictedRace, Unsettled};
use model::race::could_race;
use model::{Access, Budget, Engine, Event, EventId, SiteId};
use report::{Code, Command, Details, PairVerdict, Report, ShownBy};

use crate::Error;
use crate::document::{self, ONE_RUN, Parts};
use crate::engine::predict::{ONE_RUN as ONE_RUN_ONLY, figures, method};
use crate::gap::Gap;
use crate::record::in_form;

fn read(path: &Path, bytes: &[u8]) -> Result<Document, Error> {
    let error = |cause| Error::ForeignTrace { path: path.to_owned(), cause: Box::new(cause) };
    rapid::read(&String::from_utf8_lossy(bytes)).map_err(error)
}

/// A trace in RAPID's text form in another form.
pub fn emit_foreign(path: &Path, bytes: &[u8], as_cspm: bool) -> Result<String, Error> {
    let document = read(path, bytes)?;
    let name = |addr| document.variables.get(&addr).or_else(|| document.locks.get(&addr)).cloned();
    if as_cspm { in_form(&document.trace, true, name) } else { Ok(document.to_string()) }
}

/// Predicts races from a trace in RAPID's text form, while the budget lasts. The text is gone when it has been read: it may
/// be as large as the trace.
pub fn predict_foreign(
    path: &Path,
    bytes: Vec<u8>,
    options: &::predict::Options,
    budget: &Budget,
) -> Result<Report, Error> {
    let start = Instant::now();
    let document = read(path, &bytes)?;
    drop(bytes);
    let aim = Aim { is_over: &|| budget.is_spent(), ..Aim::default() };
    let prediction = ::predict::predict_some(&document.trace, options, &aim);
    let wanted = prediction.races.iter().flat_map(|race| [race.first, race.second]);
    let mut racing: BTreeMap<EventId, Option<&Event>> = wanted.map(|id| (id, None)).collect();
    for event in &document.trace.events {
        if let Some(found) = racing.get_mut(&event.id) {
            *found = Some(event);
        }
    }
    let pairs = prediction.races.iter().filter_map(|race| pair(&document, race, &racing)).collect();
    let mut reasons = vec![ONE_RUN_ONLY.to_owned()];
    for reason in [Unsettled::Stopped, Unsettled::Window, Unsettled::Budget, Unsettled::Rigid, Unsettled::Unmodelled] {
        let open = prediction.open.iter().filter(|open| open.reason == reason).count();
        if open > 0 {
            reasons.push(format!("{open} conflicting pairs are not settled: {reason}"));
        }
    }
    let settle = "record the program with `raceproof record`, so that predictions can be replayed";
    let unknown = |reason: String| Gap::new(Code::SEARCH_BOUND, reason, settle).without_place();
    Ok(document::assemble(Parts {
        command: Command::Predict,
        inputs: vec![path.to_string_lossy().into_owned()],
        args: Vec::new(),
        pairs,
        unknowns: reasons.into_iter().map(unknown).collect(),
        errors: Vec::new(),
        figures: vec![figures(&prediction, &document.trace, start)],
        assumptions: BTreeSet::new(),
        scope: ONE_RUN,
        incomplete: true,
        warnings: Vec::new(),
        start,
    }))
}

fn pair(document: &Document, race: &PredictedRace, racing: &BTreeMap<EventId, Option<&Event>>) -> Option<report::Pair> {
    let find = |id: EventId| racing.get(&id).copied().flatten();
    let (one, other) = (find(race.first)?, find(race.second)?);
    let (a, b) = one.op.accesses().iter().find_map(|a| {
        let others = other.op.accesses().iter();
        others.into_iter().find(|b| could_race(a, b)).map(|b| (a, b))
    })?;
    let access = |id: EventId, site: Option<SiteId>, access: &Access| report::Access {
        kind: access.kind,
        atomic: access.atomic.is_some(),
        file: None,
        line: 0,
        column: 0,
        function: site.and_then(|site| document.locations.get(site)).cloned().unwrap_or_default(),
        inside: None,
        thread: document.threads.get(id.thread).cloned().unwrap_or_default(),
        locks: Vec::new(),
        created: None,
        stack: Vec::new(),
    };
    let variable = document.variables.get(&a.cell.start).cloned().unwrap_or_else(|| "unnamed memory".to_owned());
    let [from, to] = [one, other].map(|event| event.site.and_then(|site| document.locations.get(site)));
    let place = |location: Option<&String>| location.map_or("?", String::as_str).to_owned();
    Some(report::Pair {
        id: String::new(),
        verdict: PairVerdict::Unknown,
        confirmed: false,
        by: Engine::Predict,
        rank: 0,
        code: Some(Code::NOT_REPRODUCED),
        variable,
        reason: format!(
            "predicted between locations {} and {} ({}), and there is no program to replay",
            place(from),
            place(to),
            method(race)
        ),
        accesses: [access(race.first, one.site, a), access(race.second, other.site, b)],
        witness: None,
        details: Details { shown: Some(ShownBy::Prediction), ..Details::default() },
    })
}
