//! The programs under `tests/recorded`: what one run on real threads shows. The race-free twin shows nothing, whatever it
//! hands over and in whichever way; the racy one shows a race, on annotated lines only.

mod common;

use std::path::Path;

use serde_json::Value;
use testkit::annotations::{Annotations, Mark};

use common::annotated::{Bench, for_each_program, items, racy_lines};

/// Records a run with every access, and predicts from it: the exit status and the document.
fn recorded(program: &Path, flags: &[&str]) -> Result<(i32, Value), String> {
    let bench = Bench::new(program);
    let name = program.file_name().and_then(|name| name.to_str()).ok_or("a program without a name")?;
    let record = ["record", name, "-o", "run.rpt", "--every-access", "--run-time", "20"];
    let record = bench.raceproof(&[&record, flags].concat());
    if record.status != 0 || !record.stderr.contains("the run ended with exit status 0") {
        return Err(format!("record: {}", record.stderr));
    }
    let predict = bench.raceproof(&["predict", "run.rpt", "--json", "--time", "20"]);
    let document = serde_json::from_str(&predict.stdout).map_err(|error| format!("{error}: {}", predict.stderr))?;
    Ok((predict.status, document))
}

#[test]
fn a_run_shows_what_is_not_ordered() {
    for_each_program("recorded", |program| {
        let source = std::fs::read_to_string(program).map_err(|error| error.to_string())?;
        let annotated = Annotations::parse(&source).lines(Mark::Race);
        let (status, document) = recorded(program, &[])?;
        let shown = items(&document, "pairs").iter().filter(|pair| pair["shown"].is_string());
        let shown: Vec<&Value> = shown.collect();
        if status != 3 || !shown.is_empty() {
            return Err(format!("the race-free twin: status {status}, {shown:?}"));
        }
        let (status, document) = recorded(program, &["--cflags=-DRACY"])?;
        let lines = racy_lines(&document);
        if status != 1 || lines.is_empty() || !lines.is_subset(&annotated) {
            return Err(format!("the racy twin: status {status}, races on {lines:?}, annotated are {annotated:?}"));
        }
        Ok(())
    });
}
