//! SARIF 2.1.0, for code-scanning services and editors.
//!
//! Races and other errors are failures with rank, both places, and the run as thread flows; what is only predicted is a
//! warning; what is unknown is an open question, one for each variable, at the place of best rank; absent pairs are left
//! out. `partialFingerprints` survive moved lines.

use serde_json::{Value, json};

use crate::Code;
use crate::document::{Access, Created, Finding, Frame, Pair, PairVerdict, Report, SuppressedBy, Unknown};
use crate::fingerprint::{self, Fingerprints};
use crate::run::Run;
use crate::source::Sources;
use crate::{terminal, uri};

/// Most results of a log: GitHub shows as many. The gravest come first.
const MOST_RESULTS: usize = 5_000;

/// Most places of one result: GitHub shows as many steps of a run, and as many related places.
const MOST_STEPS: usize = 1_000;
const MOST_RELATED: usize = 100;

/// Most bytes of runs and stacks in a log. GitHub takes 10 MB after compression, which makes less than a fifth of such text.
const MOST_RUN_BYTES: usize = 30 << 20;

/// The name of a fingerprint.
const FINGERPRINT: &str = "raceproof/v1";

/// The report as one indented SARIF log with a final newline.
pub fn render(report: &Report) -> String {
    let mut prints = Fingerprints::default();
    let mut results = Vec::new();
    let races = report.pairs_with(PairVerdict::Race).filter(|pair| pair.is_told());
    let (predicted, open): (Vec<&Pair>, Vec<&Pair>) =
        report.pairs_with(PairVerdict::Unknown).partition(|pair| pair.is_predicted());
    results.extend(races.map(|pair| race(pair, &mut prints)));
    results.extend(report.errors.iter().map(|finding| error(finding, &mut prints)));
    results.extend(predicted.into_iter().map(|pair| open_pair(pair, &[])));
    let of_variables = terminal::together(open);
    results
        .extend(of_variables.iter().filter_map(|group| group.split_first()).map(|(best, rest)| open_pair(best, rest)));
    results.extend(report.unknowns.iter().map(unknown));
    results.truncate(MOST_RESULTS);
    keep_small(&mut results);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "raceproof",
                "version": report.raceproof,
                "semanticVersion": report.raceproof,
                "rules": Code::ALL.iter().copied().map(rule).collect::<Vec<_>>(),
            } },
            "invocations": [{ "executionSuccessful": true, "arguments": arguments(report) }],
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    let mut log = log;
    count_in_utf16(&mut log, &mut Sources::new());
    format!("{log:#}\n")
}

/// Leaves the runs and stacks out of results from where they would become too many bytes.
fn keep_small(results: &mut [Value]) {
    let mut bytes = 0;
    for fields in results.iter_mut().filter_map(Value::as_object_mut) {
        for name in ["codeFlows", "stacks"] {
            bytes += fields.get(name).map_or(0, |value| format!("{value:#}").len());
            if bytes > MOST_RUN_BYTES {
                fields.remove(name);
            }
        }
    }
}

/// Turns the columns of all locations, which clang counts in bytes, into what `columnKind` promises.
fn count_in_utf16(value: &mut Value, sources: &mut Sources) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| count_in_utf16(value, sources)),
        Value::Object(fields) => {
            if let Some(physical) = fields.get_mut("physicalLocation") {
                in_utf16(physical, sources);
            }
            fields.values_mut().for_each(|value| count_in_utf16(value, sources));
        }
        _ => {}
    }
}

/// The same for one location. A file that cannot be read keeps its columns.
fn in_utf16(physical: &mut Value, sources: &mut Sources) {
    let file = physical["artifactLocation"]["uri"].as_str().map(|uri| uri::path_of(uri.trim_start_matches("file://")));
    let [line, column] = ["startLine", "startColumn"].map(|name| physical["region"][name].as_u64());
    let (Some(file), Some(line), Some(column)) = (file, line, column) else { return };
    sources.load(&file);
    let text = sources.text(&file).and_then(|text| text.lines().nth((line as usize).checked_sub(1)?));
    if let Some(before) = text.and_then(|text| text.get(..(column as usize).checked_sub(1)?)) {
        physical["region"]["startColumn"] = json!(before.encode_utf16().count() + 1);
    }
}

fn arguments(report: &Report) -> Vec<String> {
    let mut arguments = vec![report.command.to_string()];
    arguments.extend(report.inputs.iter().cloned());
    if !report.args.is_empty() {
        arguments.push("--".to_owned());
        arguments.extend(report.args.iter().cloned());
    }
    arguments
}

fn rule(code: Code) -> Value {
    let (_, text) = code.text().split_once('\n').unwrap_or_default();
    let level = if code < Code::UNMODELLED { "error" } else { "warning" };
    json!({
        "id": code.name(),
        "shortDescription": { "text": code.title() },
        "fullDescription": { "text": text.trim() },
        "help": { "text": text.trim() },
        "defaultConfiguration": { "level": level },
    })
}

fn rule_index(code: Code) -> Option<usize> {
    Code::ALL.iter().position(|known| *known == code)
}

fn race(pair: &Pair, prints: &mut Fingerprints) -> Value {
    let [first, second] = &pair.accesses;
    let told = |access: &Access| {
        let locks = if access.locks.is_empty() { "no lock".to_owned() } else { access.locks.join(", ") };
        let atomic = if access.atomic { "atomic " } else { "" };
        format!("{atomic}{} by thread {} in {}, holding {locks}", access.kind, access.thread, access.function)
    };
    let text = format!("Data race on {}: {}; {}. {}.", pair.variable, told(first), told(second), pair.reason);
    let mut related = vec![related(1, second, &told(second))];
    for (id, access) in (2..).zip(&pair.accesses) {
        related.extend(access.created.as_ref().map(|created| creation(id, &access.thread, created)));
    }
    let code = if pair.is_observed() { Code::OBSERVED_RACE } else { Code::DATA_RACE };
    let mut result = json!({
        "ruleId": code.name(),
        "ruleIndex": rule_index(code),
        "level": "error",
        "rank": rank(pair.rank),
        "message": { "text": text },
        "locations": [at(first)],
        "relatedLocations": related,
        "partialFingerprints": { FINGERPRINT: prints.unique(fingerprint::of_pair(pair)) },
        "properties": {
            "by": pair.by.to_string(), "confirmed": pair.confirmed, "shown": pair.details.shown, "witness": pair.witness
        },
    });
    add(&mut result["properties"], "tests", of_tests(&pair.details.tests));
    let stacks: Vec<Value> = pair.accesses.iter().filter(|access| !access.stack.is_empty()).map(stack).collect();
    add(&mut result, "stacks", (!stacks.is_empty()).then(|| json!(stacks)));
    add(&mut result, "codeFlows", pair.details.run.as_ref().map(code_flows));
    add(&mut result, "suppressions", pair.details.suppressed.as_ref().map(|s| suppression(s.by, &s.reason)));
    result
}

/// The tests that show a finding, of `raceproof test`.
fn of_tests(tests: &[String]) -> Option<Value> {
    (!tests.is_empty()).then(|| json!(tests))
}

fn add(result: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(value), Some(fields)) = (value, result.as_object_mut()) {
        fields.insert(name.to_owned(), value);
    }
}

fn suppression(by: SuppressedBy, reason: &str) -> Value {
    let kind = if by == SuppressedBy::Comment { "inSource" } else { "external" };
    json!([{ "kind": kind, "justification": reason }])
}

fn error(finding: &Finding, prints: &mut Fingerprints) -> Value {
    let mut result = json!({
        "ruleId": finding.code.name(),
        "ruleIndex": rule_index(finding.code),
        "level": "error",
        "message": { "text": finding.message },
        "locations": finding.file.iter().map(|file| located(file, finding.line, finding.column)).collect::<Vec<_>>(),
        "partialFingerprints": { FINGERPRINT: prints.unique(fingerprint::of_error(finding)) },
    });
    add(&mut result, "properties", of_tests(&finding.tests).map(|tests| json!({ "tests": tests })));
    add(&mut result, "codeFlows", finding.run.as_ref().map(code_flows));
    add(&mut result, "suppressions", finding.suppressed.as_ref().map(|s| suppression(s.by, &s.reason)));
    result
}

/// Other places named for a variable with open pairs.
const NAMED: usize = 8;

/// An open pair, and the others of the same variable.
fn open_pair(pair: &Pair, rest: &[&Pair]) -> Value {
    let code = pair.code.unwrap_or(Code::NOT_ASKED);
    let [first, second] = &pair.accesses;
    let text = match pair.is_predicted() {
        true => format!("Predicted data race on {}: {}.", pair.variable, pair.reason),
        false => format!("It is not known whether accesses to {} race: {}.", pair.variable, pair.reason),
    };
    let more = match rest.len() {
        0 => String::new(),
        1 => " 1 more pair of accesses to it is open.".to_owned(),
        n => format!(" {n} more pairs of accesses to it are open."),
    };
    let others = rest.iter().take(NAMED).flat_map(|pair| &pair.accesses);
    let others = (2..).zip(others).map(|(id, access)| related(id, access, "of another open pair"));
    let related: Vec<Value> =
        std::iter::once(related(1, second, "the other access")).chain(others).take(MOST_RELATED).collect();
    let mut result = json!({
        "ruleId": code.name(),
        "ruleIndex": rule_index(code),
        "kind": if pair.is_predicted() { "fail" } else { "open" },
        "message": { "text": text + &more },
        "locations": [at(first)],
        "relatedLocations": related,
        "partialFingerprints": { FINGERPRINT: fingerprint::of_pair(pair) },
    });
    // What is open has no level.
    add(&mut result, "level", pair.is_predicted().then(|| json!("warning")));
    result
}

fn unknown(unknown: &Unknown) -> Value {
    let location = unknown.file.iter().map(|file| located(file, unknown.line, unknown.column));
    json!({
        "ruleId": unknown.code.name(),
        "ruleIndex": rule_index(unknown.code),
        "kind": "open",
        "message": { "text": format!("No proof: {}. What would settle it: {}.", unknown.reason, unknown.settle) },
        "locations": location.collect::<Vec<_>>(),
    })
}

/// 100 for the first, less for each further one.
fn rank(rank: u32) -> f64 {
    100.0 / f64::from(rank.max(1)).sqrt()
}

/// Where an access is in the user's own code.
fn at(access: &Access) -> Value {
    place(access.own_place(), access.own_call().map_or(&access.function, |call| &call.function))
}

fn place((file, line, column): (Option<&str>, u32, u32), function: &str) -> Value {
    match file {
        Some(file) => {
            let mut location = located(file, line, column);
            add(&mut location, "logicalLocations", Some(json!([{ "name": function, "kind": "function" }])));
            location
        }
        None => json!({ "logicalLocations": [{ "name": function, "kind": "function" }] }),
    }
}

/// The access and the calls that led to it, the innermost first.
fn stack(access: &Access) -> Value {
    let call =
        |frame: &Frame| json!({ "location": place((Some(&frame.file), frame.line, frame.column), &frame.function) });
    let innermost = place((access.file.as_deref(), access.line, access.column), &access.function);
    let frames: Vec<Value> =
        std::iter::once(json!({ "location": innermost })).chain(access.stack.iter().map(call)).collect();
    json!({ "message": { "text": format!("{} by thread {}", access.kind, access.thread) }, "frames": frames })
}

fn related(id: u32, access: &Access, text: &str) -> Value {
    let mut location = at(access);
    add(&mut location, "id", Some(json!(id)));
    add(&mut location, "message", Some(json!({ "text": text })));
    location
}

fn creation(id: u32, thread: &str, created: &Created) -> Value {
    let text = format!("thread {thread} was created here by thread {}", created.thread);
    let mut location = match &created.file {
        Some(file) => located(file, created.line, created.column),
        None => json!({}),
    };
    add(&mut location, "id", Some(json!(id)));
    add(&mut location, "message", Some(json!({ "text": text })));
    location
}

fn located(file: &str, line: u32, column: u32) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(file) });
    if line > 0 {
        let mut region = json!({ "startLine": line });
        add(&mut region, "startColumn", (column > 0).then(|| json!(column)));
        add(&mut physical, "region", Some(region));
    }
    json!({ "physicalLocation": physical })
}

fn artifact(file: &str) -> Value {
    let uri = uri::of_path(file);
    if file.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}

/// The run as one flow per thread, in one common order.
fn code_flows(run: &Run) -> Value {
    // The finding is at the end.
    let skipped = run.events.len().saturating_sub(MOST_STEPS);
    let flow = |(index, thread): (usize, &crate::run::RunThread)| {
        let events = run.events.iter().enumerate().skip(skipped).filter(|(_, event)| event.thread == index);
        let locations: Vec<Value> = events
            .map(|(order, event)| {
                let mut location = match &event.file {
                    Some(file) => located(file, event.line, 0),
                    None => json!({}),
                };
                add(&mut location, "message", Some(json!({ "text": event.told() })));
                let importance = if event.marked { "essential" } else { "important" };
                json!({ "location": location, "executionOrder": order + 1, "importance": importance })
            })
            .collect();
        (!locations.is_empty()).then(|| json!({ "id": format!("thread {}", thread.thread), "locations": locations }))
    };
    let flows: Vec<Value> = run.threads.iter().enumerate().filter_map(flow).collect();
    if flows.is_empty() { json!([]) } else { json!([{ "threadFlows": flows }]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_names_are_files() {
        assert_eq!(artifact("/x/a b.c")["uri"], "file:///x/a%20b.c");
    }

    /// Two bytes of UTF-8, one unit of UTF-16; four bytes, two units.
    #[test]
    fn columns_are_counted_in_utf16() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ä 1.c");
        std::fs::write(&file, "int a;\n/* ü 𝄞 */ a = 1;\n").unwrap();
        let mut location = located(&file.to_string_lossy(), 2, 16);
        count_in_utf16(&mut location, &mut Sources::new());
        assert_eq!(location["physicalLocation"]["region"]["startColumn"], 13);
    }
}
