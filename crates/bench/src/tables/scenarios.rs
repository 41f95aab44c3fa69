//! Paper 002's table: one recorded run of each scenario, what is predicted from it and confirmed, and ThreadSanitizer.

use serde::{Deserialize, Serialize};

use super::Rows;
use super::tools::{Runs, SANITIZER, Subject};
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::statistics::{Figure, Sample};

const FOLDER: &str = "bench/programs/scenarios";

/// Our scenario, the paper's scenario with the same subject, and the paper's counterexamples, confirmed errors and runs
/// of 100 with ThreadSanitizer.
const TABLE: [(&str, &str, [u32; 3]); 8] = [
    ("downloader", "aget", [2, 2, 3]),
    ("bounded_buffer", "boundedBuffer", [0, 0, 0]),
    ("tracer", "ctrace", [4, 3, 2]),
    ("fft", "fft", [1, 0, 0]),
    ("lu", "lu", [0, 0, 0]),
    ("quicksort", "qsort", [2, 6, 1]),
    ("streamcluster", "streamcluster", [1, 1, 1]),
    ("nbody", "water-nsquared", [0, 0, 0]),
];

#[derive(Serialize, Deserialize)]
struct Row {
    /// Pairs that another order of the recorded run brings together.
    predicted: usize,
    /// Those of them that a replay has shown.
    confirmed: usize,
    seconds: Sample,
    command: String,
    sanitizer: Runs,
}

/// One for each scenario, in the same order.
#[derive(Serialize, Deserialize)]
pub(super) struct Scenarios(Vec<Row>);

impl Rows for Scenarios {
    const NAME: &'static str = "scenarios";
    const TITLE: &'static str = "Paper 002: prediction from one recorded run";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let row = |(name, ..): &(&str, &str, [u32; 3])| {
            let program = format!("{FOLDER}/{name}.c");
            let folder = environment.scratch_folder()?;
            let subject = Subject::new(environment, &program, &[], &SANITIZER, folder.path())?;
            let (mut seconds, mut first, mut seen) = (Sample::default(), None, Vec::new());
            for run in 0..environment.either(10, 100) {
                if run < environment.either(1, 5) {
                    let answer = environment.raceproof("predict", &program, &[], None)?;
                    seconds.0.push(answer.usage.clock);
                    first.get_or_insert(answer);
                }
                seen.push(subject.run(environment)?);
            }
            let answer = first.ok_or("no round")?;
            let pairs = answer.document["pairs"].as_array().ok_or("no pairs")?;
            // Races that a replay did not reach have a code of their own.
            let missed = pairs.iter().filter(|pair| pair["code"] == "RP0130").count();
            let confirmed = answer.pairs("race");
            let command = answer.command.clone();
            Ok(Row { predicted: confirmed + missed, confirmed, seconds, command, sanitizer: Runs::of(&seen) })
        };
        environment.side_by_side(&TABLE, row).map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        let command = self.0.first().map_or("", |row| &row.command);
        page.say(format!(
            "One run on real threads is recorded, races are predicted from it and each is replayed, as by `{command}`. \
             ThreadSanitizer observes {} runs. The paper's figures are for its own programs, whose races are others; ours each \
             have a rare one.",
            self.0.first().map_or(0, |row| row.sanitizer.runs)
        ));
        let head = [
            "scenario",
            "paper: counterexamples",
            "confirmed",
            "TSan of 100",
            "ours: counterexamples",
            "confirmed",
            "TSan",
            "seconds of `predict`",
        ];
        page.table(
            &head,
            TABLE.iter().zip(&self.0).map(|((name, paper, figures), row)| {
                let mut cells = vec![format!("[`{name}`](../{FOLDER}/{name}.c) ({paper})")];
                cells.extend(figures.map(|figure| figure.to_string()));
                cells.extend([row.predicted.to_string(), row.confirmed.to_string()]);
                cells.push(format!("{} of {}", row.sanitizer.found, row.sanitizer.runs));
                cells.push(Figure(row.seconds.median()).to_string());
                cells
            }),
        );
        let silent = TABLE.iter().zip(&self.0).filter(|(_, row)| row.confirmed == 0 && row.sanitizer.found > 0);
        let silent: Vec<String> = silent.map(|((name, ..), _)| format!("`{name}`")).collect();
        if !silent.is_empty() {
            page.defeat(format!(
                "ThreadSanitizer sees the race of {} in some run, and nothing is confirmed from the one run that `predict` \
                 recorded.",
                silent.join(", ")
            ));
        }
        Ok(())
    }
}
