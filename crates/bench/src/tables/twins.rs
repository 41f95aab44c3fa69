//! Executions per second compared with Shuttle's, on Rust twins of our programs.

use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::statistics::{Figure, Sample};

/// The twin's name, which is that of our program in `tests/search`, and the flags that make ours the same size.
const TWINS: [(&str, &str); 5] = [
    ("readers", "-DN=8"),
    ("lastzero", "-DN=8"),
    ("locked", "-DN=2 -DM=10"),
    ("launch_control", "-DTASKS=3"),
    ("figure1", "-O0"),
];

/// A checker that runs the schedules one by one, up to a bound.
#[derive(Serialize, Deserialize)]
struct Walk {
    executions: u64,
    per_second: Sample,
}

#[derive(Serialize, Deserialize)]
struct Row {
    ours: Walk,
    shuttle: Walk,
    bound: u64,
    /// Executions that `best` needs to decide the program.
    best: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Twins {
    /// One for each twin, in the same order; none if they cannot be built.
    rows: Vec<Row>,
    /// Why they cannot be built.
    missing: Option<String>,
}

impl Rows for Twins {
    const NAME: &'static str = "twins";
    const TITLE: &'static str = "Executions per second beside Shuttle";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        match built(environment) {
            Ok(twins) => {
                let rows = TWINS.iter().map(|(name, cflags)| row(environment, &twins, name, cflags));
                Ok(Self { rows: rows.collect::<Result<_, _>>()?, missing: None })
            }
            // Their libraries may be unavailable.
            Err(why) => Ok(Self { rows: Vec::new(), missing: Some(why.to_string()) }),
        }
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        if let Some(why) = &self.missing {
            page.say(format!("Not measured: {}", why.lines().next().unwrap_or_default()));
            return Ok(());
        }
        page.say(format!(
            "The same programs in C and as Rust twins ([bench/twins](../bench/twins/src/main.rs)), schedule after schedule \
             without any reduction, up to {} of them: `raceproof explore --reduction none` and Shuttle's `check_dfs`, both on \
             one processor. Beside it, what `best` needs to settle the program; Shuttle has no reduction.",
            self.rows.first().map_or(0, |row| row.bound)
        ));
        let all = |walk: &Walk, bound: u64| match walk.executions {
            n if n < bound => n.to_string(),
            _ => format!("> {bound}"),
        };
        page.table(
            &["program", "ours per second", "Shuttle per second", "Shuttle ÷ ours", "schedules (Shuttle)", "`best`"],
            TWINS.iter().zip(&self.rows).map(|((name, _), row)| {
                vec![
                    format!("[`{name}`](../tests/search/{name}.c)"),
                    row.ours.per_second.to_string(),
                    row.shuttle.per_second.to_string(),
                    row.shuttle.per_second.per(&row.ours.per_second).to_string(),
                    all(&row.shuttle, row.bound),
                    row.best.to_string(),
                ]
            }),
        );
        let ratios = self.rows.iter().map(|row| row.shuttle.per_second.per(&row.ours.per_second));
        let faster: Vec<Sample> = ratios.filter(|ratio| ratio.least() > 1.0).collect();
        if !faster.is_empty() {
            let most = faster.iter().map(Sample::median).fold(0.0, f64::max);
            page.defeat(format!(
                "Shuttle executes more schedules per second in every round on {} of {} twins, up to {} times as many: its threads are \
                 coroutines inside the checker, which looks at synchronisation alone and keeps no record of accesses, while \
                 ours run in a process of their own whose memory is restored, and each run's events are read back and \
                 examined.",
                faster.len(),
                self.rows.len(),
                Figure(most)
            ));
        }
        Ok(())
    }
}

/// Builds the twins, which are not part of the workspace.
fn built(environment: &Environment) -> Result<PathBuf, Failure> {
    let folder = environment.path("bench/twins");
    let output =
        Command::new("cargo").args(["build", "--release", "--quiet", "--locked"]).current_dir(&folder).output()?;
    if output.status.success() {
        return Ok(folder.join("target/release/twins"));
    }
    Err(format!("the twins cannot be built: {}", String::from_utf8_lossy(&output.stderr)).into())
}

fn row(environment: &Environment, twins: &PathBuf, name: &str, cflags: &str) -> Result<Row, Failure> {
    let (program, cflags) = (format!("tests/search/{name}.c"), format!("--cflags={cflags}"));
    let bound = environment.either(5_000, 50_000);
    let words = bound.to_string();
    let walk = || Walk { executions: 0, per_second: Sample::default() };
    let (mut ours, mut shuttle) = (walk(), walk());
    for _ in 0..environment.either(1, 5) {
        let args = [&cflags, "--reduction", "none", "--max-executions", &words];
        let answer = environment.raceproof("explore", &program, &args, Some(1))?;
        ours.executions = answer.number("executions");
        ours.per_second.0.push(ours.executions as f64 / (answer.number("time_ms").max(1) as f64 / 1e3));
        let output = Command::new("taskset").args(["-c", "0"]).arg(twins).args([name, &words]).output()?;
        let text = String::from_utf8(output.stdout)?;
        let (executions, seconds) = text.trim().split_once(' ').ok_or_else(|| format!("{name}: {text}"))?;
        shuttle.executions = executions.parse()?;
        shuttle.per_second.0.push(shuttle.executions as f64 / seconds.parse::<f64>()?);
    }
    let best =
        environment.raceproof("explore", &program, &[&cflags, "--reduction", "best"], Some(1))?.number("executions");
    Ok(Row { ours, shuttle, bound, best })
}
