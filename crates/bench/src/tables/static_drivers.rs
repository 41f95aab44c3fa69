//! Paper 004's table: drivers with kernel-style locks, and how many warnings remain after reduction.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Rows;
use crate::Failure;
use crate::drivers::Driver;
use crate::environment::Environment;
use crate::page::Page;
use crate::statistics::Sample;

/// The paper's figures: lines in thousands, shared variables, warnings, after reduction, after folding contexts, seconds.
type Paper = [&'static str; 6];

/// A driver of the paper, and ours of the same size and number of shared variables.
const TABLE: [(Driver, Paper); 10] = [
    (driver("hugetlb", 1_200, 5, 1), ["1.2", "5", "4", "1", "1", "3.2"]),
    (driver("ipoibmulticast", 26_100, 10, 2), ["26.1", "10", "33228", "6", "6", "7"]),
    (driver("plip", 13_700, 17, 6), ["13.7", "17", "94", "51", "51", "5"]),
    (driver("sock", 900, 6, 3), ["0.9", "6", "32", "21", "13", "2"]),
    (driver("ctrace_comb", 1_400, 19, 8), ["1.4", "19", "985", "218", "58", "6.7"]),
    (driver("autofs_expire", 8_300, 7, 2), ["8.3", "7", "20", "8", "3", "6"]),
    (driver("ptrace", 15_400, 3, 1), ["15.4", "3", "9", "1", "1", "15"]),
    (driver("tty_io", 17_800, 1, 1), ["17.8", "1", "6", "3", "3", "4"]),
    (driver("raid", 17_200, 6, 2), ["17.2", "6", "23", "21", "13", "1.5"]),
    (driver("pci_gart", 600, 1, 1), ["0.6", "1", "3", "1", "1", "1"]),
];

const fn driver(name: &'static str, lines: usize, fields: usize, stray: usize) -> Driver {
    Driver { name, lines, fields, stray }
}

#[derive(Serialize, Deserialize)]
struct Row {
    lines: usize,
    shared: usize,
    /// Pairs of accesses with a warning, including those not listed one by one.
    warnings: usize,
    /// Of those listed, the ones that no other implies.
    reduced: usize,
    /// The number of pairs of lines among these.
    folded: usize,
    absent: usize,
    seconds: Sample,
}

/// One for each driver, in the same order.
#[derive(Serialize, Deserialize)]
pub(super) struct Drivers(Vec<Row>);

impl Rows for Drivers {
    const NAME: &'static str = "drivers";
    const TITLE: &'static str = "Paper 004: drivers";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        TABLE.iter().map(|(driver, _)| row(environment, driver)).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "Ten sources without `main`, written by the driver of these benchmarks, of the size and with the number of shared \
             variables of the paper's; `raceproof static` with their entry points and `--locks linux`. Each cell has the \
             paper's figure before ours. A warning is a pair of accesses; *reduced* are those that no other warning implies \
             (the paper's weaker-than relation); *folded* are the pairs of lines of these, whatever \
             the context. Seconds are processor time with the compiler's; the paper's are without building.",
        );
        let head = ["driver", "lines (k)", "shared", "warnings", "reduced", "folded", "seconds", "proved absent"];
        page.table(
            &head,
            TABLE.iter().zip(&self.0).map(|((driver, paper), row)| {
                let ours = [
                    format!("{:.1}", row.lines as f64 / 1e3),
                    row.shared.to_string(),
                    row.warnings.to_string(),
                    row.reduced.to_string(),
                    row.folded.to_string(),
                    row.seconds.to_string(),
                ];
                let pairs = paper.iter().zip(ours).map(|(paper, ours)| format!("{paper}; {ours}"));
                let name = driver.name.to_owned();
                [name].into_iter().chain(pairs).chain([row.absent.to_string()]).collect()
            }),
        );
        Ok(())
    }
}

fn row(environment: &Environment, driver: &Driver) -> Result<Row, Failure> {
    let (folder, source) = (environment.scratch_folder()?, driver.source());
    let path = folder.path().join("driver.c");
    std::fs::write(&path, &source)?;
    let include = format!("--cflags=-I{}", environment.path("tests/static/drivers").display());
    let entries = driver.entries().join(",");
    let args = ["--entry", &entries, "--locks", "linux", "--stats", &include];
    let mut seconds = Sample::default();
    let mut answer = None;
    for _ in 0..environment.either(1, 3) {
        let run = environment.raceproof("static", &path.display().to_string(), &args, Some(1))?;
        seconds.0.push(run.usage.processor);
        answer = Some(run);
    }
    let answer = answer.ok_or("no round")?;
    let all = answer.document["pairs"].as_array().ok_or("no pairs")?;
    let listed: Vec<&Value> = all.iter().filter(|pair| pair["verdict"] == "unknown").collect();
    let implied = answer.note("warnings that others imply")?;
    let variable = |pair: &Value| pair["variable"].as_str().unwrap_or_default().to_owned();
    Ok(Row {
        lines: source.lines().count(),
        shared: all.iter().map(variable).collect::<BTreeSet<_>>().len(),
        warnings: listed.len() + answer.unlisted(),
        reduced: listed.len() - implied,
        folded: answer.note("pairs of lines in the rest")?,
        absent: all.len() - listed.len(),
        seconds,
    })
}
