//! The default reduction beside `optimal`, and beside a previous raceproof where there is one: what it leaves out, and what
//! that costs where it can leave out nothing.

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::{Environment, Which};
use crate::page::Page;
use crate::statistics::{Figure, Sample};

/// A program below the project's root, and its flags in a quick and a full measurement.
const SHAPES: [(&str, &str, &str); 12] = [
    ("tests/search/increments.c", "-O0", "-O0"),
    ("tests/search/elements.c", "-O0", "-O0"),
    ("tests/search/meetings.c", "-O0", "-O0"),
    ("tests/search/crowd.c", "-O0", "-O0"),
    ("tests/search/readers.c", "-DN=10", "-DN=15"),
    ("tests/search/tickets.c", "-DN=3 -DK=2", "-DN=3 -DK=4"),
    ("tests/search/figure1.c", "-DLOCKS=2", "-DLOCKS=2"),
    ("tests/search/lastzero.c", "-DN=9", "-DN=14"),
    ("bench/programs/search/pfscan.c", "-O0", "-O0"),
    ("bench/programs/search/qsort.c", "-O0", "-O0"),
    ("bench/programs/search/indexer.c", "-DTHREADS=12", "-DTHREADS=15"),
    ("bench/programs/search/filesystem.c", "-DTHREADS=14", "-DTHREADS=24"),
];

/// Searches of one program: seconds by the clock, without the build.
#[derive(Serialize, Deserialize, Default)]
struct Search {
    executions: u64,
    seconds: Sample,
}

#[derive(Serialize, Deserialize, Default)]
struct Row {
    optimal: Search,
    best: Search,
    previous: Option<Search>,
}

/// One row for each shape.
#[derive(Serialize, Deserialize)]
pub(super) struct Defaults {
    rows: Vec<Row>,
}

impl Rows for Defaults {
    const NAME: &'static str = "defaults";
    const TITLE: &'static str = "What the default leaves out, and what that costs";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let rows =
            SHAPES.iter().map(|(program, quick, full)| row(environment, program, environment.either(quick, full)));
        Ok(Self { rows: rows.collect::<Result<_, _>>()? })
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "Executions and wall-clock seconds of `raceproof explore` on one processor, without building the program: \
             `optimal`, which executes each class of schedules once, and `best`, the default. *Previous* is `best` of an \
             earlier version, measured in turns with this one.",
        );
        let none = || "–".to_owned();
        let seconds = |search: &Search| Figure(search.seconds.median()).to_string();
        let cells = |((program, ..), row): (&(&str, &str, &str), &Row)| {
            let Row { optimal, best, previous } = row;
            let name = program.rsplit('/').next().unwrap_or(program);
            vec![
                format!("[`{}`](../{program})", name.trim_end_matches(".c")),
                optimal.executions.to_string(),
                best.executions.to_string(),
                previous.as_ref().map_or_else(none, |search| search.executions.to_string()),
                seconds(optimal),
                seconds(best),
                previous.as_ref().map_or_else(none, seconds),
                best.seconds.per(&optimal.seconds).to_string(),
                previous.as_ref().map_or_else(none, |search| search.seconds.per(&best.seconds).to_string()),
            ]
        };
        page.table(
            &[
                "program",
                "`optimal`: executions",
                "`best`",
                "previous",
                "`optimal`: s",
                "`best`",
                "previous",
                "`best` ÷ `optimal`",
                "previous ÷ `best`",
            ],
            SHAPES.iter().zip(&self.rows).map(cells),
        );
        Ok(())
    }
}

fn row(environment: &Environment, program: &str, cflags: &str) -> Result<Row, Failure> {
    let mut row = Row::default();
    for _ in 0..environment.either(1, 5) {
        add(environment, Which::Measured, program, cflags, "optimal", &mut row.optimal)?;
        add(environment, Which::Measured, program, cflags, "best", &mut row.best)?;
        if environment.has_previous() {
            add(environment, Which::Previous, program, cflags, "best", row.previous.get_or_insert_default())?;
        }
    }
    Ok(row)
}

fn add(
    environment: &Environment,
    which: Which,
    program: &str,
    cflags: &str,
    reduction: &str,
    search: &mut Search,
) -> Result<(), Failure> {
    let cflags = format!("--cflags={cflags}");
    let args = [&cflags, "--reduction", reduction, "--time", "120"];
    let answer = environment.raceproof_of(which, "explore", program, &args, Some(1))?;
    search.executions = answer.number("executions");
    // Times below a millisecond count as one.
    search.seconds.0.push(answer.number("time_ms").max(1) as f64 / 1e3);
    Ok(())
}
