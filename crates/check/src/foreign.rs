//! Traces of other tools, in RAPID's text form: prediction without a program to replay.

use std::path::Path;
use std::time::Instant;

use ::predict::rapid::{self, Document};
use ::predict::{PredictedRace, Unsettled};
use model::race::could_race;
use model::verdict::{Inputs, Memory, Scope, Threads};
use model::{Access, Engine, EventId, SiteId};
use report::document::SCHEMA;
use report::{Code, Details, PairVerdict, Report, Unknown};

use crate::predict::{ONE_RUN, PredictOptions, engine, method};
use crate::record::in_form;
use crate::{Error, words};

/// Whether the bytes are text, which no trace of ours is.
pub fn is_foreign(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

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

/// Predicts races from a trace in RAPID's text form.
pub fn predict_foreign(path: &Path, bytes: &[u8], options: &PredictOptions) -> Result<Report, Error> {
    let start = Instant::now();
    let document = read(path, bytes)?;
    let prediction = ::predict::predict(&document.trace, &options.search());
    let pairs: Vec<report::Pair> =
        prediction.races.iter().enumerate().filter_map(|(at, race)| pair(&document, race, at as u32 + 1)).collect();
    let mut reasons = vec![ONE_RUN.to_owned()];
    for reason in [Unsettled::Window, Unsettled::Budget, Unsettled::Rigid, Unsettled::Unmodelled] {
        let open = prediction.open.iter().filter(|open| open.reason == reason).count();
        if open > 0 {
            reasons.push(format!("{open} conflicting pairs are not settled: {reason}"));
        }
    }
    let unknown = |reason: String| Unknown {
        code: Code::SEARCH_BOUND,
        reason,
        function: None,
        file: None,
        line: 0,
        column: 0,
        settle: "record the program with `raceproof record`, so that predictions can be replayed".to_owned(),
        witness: None,
    };
    let report = Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "predict".to_owned(),
        inputs: vec![path.to_string_lossy().into_owned()],
        args: Vec::new(),
        verdict: report::Verdict::Unknown,
        scope: Scope { inputs: Inputs::This, threads: Threads::These, bounded: true, memory: Memory::Sc },
        pairs,
        unknowns: reasons.into_iter().map(unknown).collect(),
        errors: Vec::new(),
        engines: vec![engine(&prediction, &document.trace, 0, start.elapsed())],
        assumptions: Vec::new(),
        time_ms: start.elapsed().as_millis() as u64,
    };
    Ok(report)
}

fn pair(document: &Document, race: &PredictedRace, rank: u32) -> Option<report::Pair> {
    let find = |id: EventId| document.trace.events.iter().find(|event| event.id == id);
    let (one, other) = (find(race.first)?, find(race.second)?);
    let (a, b) = one.op.accesses().iter().find_map(|a| {
        let others = other.op.accesses().iter();
        others.into_iter().find(|b| could_race(a, b)).map(|b| (a, b))
    })?;
    let access = |id: EventId, site: Option<SiteId>, access: &Access| report::Access {
        kind: words::kind(access.kind).to_owned(),
        atomic: access.atomic.is_some(),
        file: None,
        line: 0,
        column: 0,
        function: site.and_then(|site| document.locations.get(site)).cloned().unwrap_or_default(),
        thread: document.threads.get(id.thread).cloned().unwrap_or_default(),
        locks: Vec::new(),
        created: None,
        stack: Vec::new(),
    };
    let variable = document.variables.get(&a.cell.start).cloned().unwrap_or_else(|| "unnamed memory".to_owned());
    let [from, to] = [one, other].map(|event| event.site.and_then(|site| document.locations.get(site)));
    let place = |location: Option<&String>| location.map_or("?", String::as_str).to_owned();
    Some(report::Pair {
        id: format!("P{rank}"),
        verdict: PairVerdict::Unknown,
        confirmed: false,
        by: Engine::Predict,
        rank,
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
        details: Details::default(),
    })
}
