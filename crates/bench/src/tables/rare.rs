//! Rare races: what other tools find in many runs, and what one call of `raceproof check` finds.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Rows;
use super::tools::{Runs, Subject, TOOLS, Tool};
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::process::Usage;
use crate::statistics::{Figure, Sample};

/// The folders of the programs. Each program has a race and, with `-DFIXED`, none.
const FOLDERS: [&str; 2] = ["examples/rare", "bench/programs/scenarios"];
/// The result of one call of `raceproof check`.
#[derive(Serialize, Deserialize)]
struct Check {
    verdict: String,
    races: usize,
    seconds: Sample,
    megabytes: f64,
    command: String,
}

/// A program, or its repaired twin, with the results. Tools that are not installed are omitted.
#[derive(Serialize, Deserialize)]
struct Findings {
    check: Check,
    tools: BTreeMap<String, Runs>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    program: String,
    racy: Findings,
    /// Races that `predict` confirms from one run on real threads.
    foreseen: usize,
    fixed: Findings,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Rare(Vec<Row>);

impl Rows for Rare {
    const NAME: &'static str = "rare";
    const TITLE: &'static str = "Rare races, compared with tools that observe runs";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let programs = programs(environment)?;
        let row = |program: &String| {
            let (runs, few) = (environment.either(5, 100), environment.either(2, 20));
            Ok(Row {
                racy: findings(environment, program, &[], runs)?,
                foreseen: environment.raceproof("predict", program, &[], None)?.pairs("race"),
                fixed: findings(environment, program, &["-DFIXED"], few)?,
                program: program.clone(),
            })
        };
        environment.side_by_side(&programs, row).map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        let first = self.0.first().ok_or("no program was measured")?;
        let runs = first.racy.tools.values().map(|tool| tool.runs).max().unwrap_or_default();
        page.say(format!(
            "{} programs with a race that almost no run shows: they were written for this, with pauses (`usleep`) that keep the \
             two accesses in order, so tools that look at what a run did are bound to find little. `raceproof check` looks at each once, as by `{}`, \
             and `predict` shows the predictions from one run on real threads; the other tools observe {runs} runs each, and the table says how many of them report something. Then the seconds that one \
             call or one run takes in wall-clock time (median), and the megabytes. All are compiled by clang without optimisation; \
             building takes part in the time of `check` only.",
            self.0.len(),
            first.racy.check.command
        ));
        self.found(page);
        self.alarms(page);
        self.defeats(page);
        Ok(())
    }
}

/// The sources, as paths from the root.
fn programs(environment: &Environment) -> Result<Vec<String>, Failure> {
    let mut programs = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(environment.path(folder))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".c") {
                programs.push(format!("{folder}/{name}"));
            }
        }
    }
    programs.sort();
    Ok(programs)
}

/// The name without its folder and ending.
fn short(program: &str) -> &str {
    Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or(program)
}

fn findings(environment: &Environment, program: &str, flags: &[&str], runs: usize) -> Result<Findings, Failure> {
    let folder = environment.scratch_folder()?;
    let tools: Vec<&Tool> = TOOLS.iter().filter(|tool| tool.is_installed(environment)).collect();
    let subjects = tools.iter().map(|&tool| Subject::new(environment, program, flags, tool, folder.path()));
    let subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    let cflags = format!("--cflags={}", flags.join(" "));
    let mut args = vec!["--time", environment.either("10", "60")];
    args.extend((!flags.is_empty()).then_some(cflags.as_str()));
    let (mut seen, mut answers) = (vec![Vec::<Usage>::new(); subjects.len()], Vec::new());
    for run in 0..runs {
        if run < environment.either(1, 3) {
            answers.push(environment.raceproof("check", program, &args, None)?);
        }
        for (subject, seen) in subjects.iter().zip(&mut seen) {
            seen.push(subject.run(environment)?);
        }
    }
    let first = answers.first().ok_or("no run was asked for")?;
    let check = Check {
        verdict: first.document["verdict"].as_str().unwrap_or_default().to_owned(),
        races: first.pairs("race"),
        seconds: Sample(answers.iter().map(|answer| answer.usage.clock).collect()),
        megabytes: answers.iter().map(|answer| answer.usage.megabytes).fold(0.0, f64::max),
        command: first.command.clone(),
    };
    let tools = tools.iter().zip(seen).map(|(tool, seen)| (tool.name.to_owned(), Runs::of(&seen))).collect();
    Ok(Findings { check, tools })
}

impl Rare {
    /// The tools that ran, those that are installed.
    fn tools(&self) -> impl Iterator<Item = &'static str> {
        TOOLS.iter().map(|tool| tool.name).filter(|name| self.0.iter().all(|row| row.racy.tools.contains_key(*name)))
    }

    fn found(&self, page: &mut Page) {
        let mut head = ["program", "`check`: races", "s; MB", "`predict`"].map(str::to_owned).to_vec();
        for tool in &TOOLS {
            head.extend([tool.name.to_owned(), "s; MB".to_owned()]);
        }
        let cost = |seconds: &Sample, megabytes: f64| format!("{}; {megabytes:.0}", Figure(seconds.median()));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        page.table(
            &head,
            self.0.iter().map(|Row { program, racy, foreseen, .. }| {
                let races = match racy.check.races {
                    0 => racy.check.verdict.clone(),
                    races => races.to_string(),
                };
                let own = [races, cost(&racy.check.seconds, racy.check.megabytes), foreseen.to_string()];
                let others = TOOLS.iter().flat_map(|tool| match racy.tools.get(tool.name) {
                    Some(runs) => [format!("{} of {}", runs.found, runs.runs), cost(&runs.seconds, runs.megabytes)],
                    None => ["not installed".to_owned(), String::new()],
                });
                let name = format!("[`{}`](../{program})", short(program));
                [name].into_iter().chain(own).chain(others).collect()
            }),
        );
        let all = self.0.len();
        let ours = self.0.iter().filter(|row| row.racy.check.races > 0).count();
        let foreseen = self.0.iter().filter(|row| row.foreseen > 0).count();
        let mut parts = vec![format!("`check` finds the race of {ours} of {all} programs, `predict` of {foreseen}")];
        for tool in self.tools() {
            let ever = self.0.iter().filter(|row| row.racy.tools[tool].found > 0).count();
            let always = self.0.iter().filter(|row| row.racy.tools[tool].found == row.racy.tools[tool].runs).count();
            parts.push(format!("{tool} reports something in some run of {ever}, in every run of {always}"));
        }
        page.say(parts.join("; ") + ".");
    }

    fn alarms(&self, page: &mut Page) {
        page.say("The same programs with the race repaired (`-DFIXED`): every report is a false alarm.");
        let mut head = vec!["program", "`check`"];
        head.extend(TOOLS.iter().map(|tool| tool.name));
        page.table(
            &head,
            self.0.iter().map(|Row { program, fixed, .. }| {
                let ours = match fixed.check.races {
                    0 => fixed.check.verdict.clone(),
                    races => format!("{races} races"),
                };
                let others = TOOLS.iter().map(|tool| match fixed.tools.get(tool.name) {
                    Some(runs) => format!("{} of {}", runs.found, runs.runs),
                    None => "not installed".to_owned(),
                });
                [format!("`{}`", short(program)), ours].into_iter().chain(others).collect()
            }),
        );
    }

    fn defeats(&self, page: &mut Page) {
        let names = |is_meant: &dyn Fn(&Row) -> bool| {
            let rows = self.0.iter().filter(|row| is_meant(row));
            rows.map(|row| format!("`{}`", short(&row.program))).collect::<Vec<_>>()
        };
        for tool in self.tools() {
            let missed = names(&|row| row.racy.check.races == 0 && row.racy.tools[tool].found > 0);
            if !missed.is_empty() {
                page.defeat(format!(
                    "{tool} finds the race of {} and one call of `check` does not: the schedules were too many for its time, \
                     and a run on real threads needs no luck there.",
                    missed.join(", ")
                ));
            }
            let quicker = names(&|row| row.racy.tools[tool].seconds.median() < row.racy.check.seconds.median());
            if !quicker.is_empty() {
                page.defeat(format!(
                    "One run with {tool} takes less time than `check` on {} of {} programs with a rare race: it observes one \
                     run of a program that is already built, while `check` compiles, proves what it can and runs many \
                     schedules.",
                    quicker.len(),
                    self.0.len()
                ));
            }
            let smaller = names(&|row| row.racy.tools[tool].megabytes < row.racy.check.megabytes);
            if !smaller.is_empty() {
                page.defeat(format!(
                    "{tool} needs less memory than `check` on {} of {} programs with a rare race: `check` holds the \
                     compiler's library, the program's text and the search.",
                    smaller.len(),
                    self.0.len()
                ));
            }
            let settled = names(&|row| row.fixed.check.verdict == "unknown" && row.fixed.tools[tool].found == 0);
            if !settled.is_empty() {
                page.defeat(format!(
                    "{tool} is silent on the repaired {} where `check` says unknown; silence is no proof, but it is no work \
                     for the reader either.",
                    settled.join(", ")
                ));
            }
        }
        let alarms = names(&|row| row.fixed.check.races > 0);
        if !alarms.is_empty() {
            page.defeat(format!("`check` reports a race in the repaired {}, which is a defect.", alarms.join(", ")));
        }
    }
}
