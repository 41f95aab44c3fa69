//! How cost grows with threads, iterations, lines, the length of a trace and the size of a net: one plot each, with the
//! best-fitting power.

use serde::{Deserialize, Serialize};

use super::Rows;
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;
use crate::plot::{Line, powers};
use crate::process::Usage;
use crate::statistics::{Figure, exponent};

/// What grows, and how to measure one size of it.
struct Axis {
    name: &'static str,
    says: &'static str,
    /// Of the horizontal axis.
    unit: &'static str,
    quick: &'static [usize],
    full: &'static [usize],
    /// A size so small that its cost is the compiler's, which is subtracted from the others; 0 to subtract nothing.
    idle: usize,
    measure: fn(&Environment, usize) -> Result<Usage, Failure>,
}

const AXES: [Axis; 5] = [
    Axis {
        name: "threads",
        says: "`raceproof explore` on threads that add to a counter 1,000 times each under its lock, one execution",
        unit: "threads",
        quick: &[16, 32, 64],
        full: &[16, 32, 64, 128],
        idle: 1,
        measure: |environment, threads| locked(environment, "explore", &[], &format!("-DN={threads} -DM=1000")),
    },
    Axis {
        name: "iterations",
        says: "`raceproof explore` on two threads that add to a counter under its lock, one execution",
        unit: "iterations of each thread",
        quick: &[10_000, 20_000, 40_000],
        full: &[12_500, 25_000, 50_000, 100_000],
        idle: 1,
        measure: |environment, iterations| locked(environment, "explore", &[], &format!("-DM={iterations}")),
    },
    Axis {
        name: "trace",
        says: "`raceproof predict` on a run of four threads that add to a counter under its lock, every access recorded",
        unit: "iterations of each thread, four events each",
        quick: &[20_000, 40_000, 80_000],
        full: &[50_000, 100_000, 200_000, 400_000],
        idle: 1,
        measure: |environment, iterations| {
            locked(environment, "predict", &["--every-access"], &format!("-DN=4 -DM={iterations}"))
        },
    },
    Axis {
        name: "lines",
        says: "`raceproof static` on a generated server, its compilation included: a pool of workers, locks behind pointers, \
               wrappers around them, lists of nodes with a lock each, chains of calls through ten modules",
        unit: "lines",
        quick: &[4_000, 8_000, 16_000],
        full: &[25_000, 50_000, 100_000, 200_000],
        idle: 0,
        measure: server,
    },
    Axis {
        name: "net",
        says: "`raceproof cover --pruning plain`, the published algorithm, on a ring of sections under one lock",
        unit: "places",
        quick: &[65, 97, 129],
        full: &[65, 97, 129, 193],
        idle: 0,
        measure: ring,
    },
];

/// One size and its cost.
#[derive(Serialize, Deserialize)]
struct Point {
    size: usize,
    /// Of processor time, the least of the rounds.
    seconds: f64,
    megabytes: f64,
}

/// One for each axis, in the same order.
#[derive(Serialize, Deserialize)]
pub(super) struct Growth(Vec<Vec<Point>>);

impl Rows for Growth {
    const NAME: &'static str = "growth";
    const TITLE: &'static str = "How cost grows";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let point = |axis: &Axis, size: usize| {
            let runs = (0..3).map(|_| (axis.measure)(environment, size)).collect::<Result<Vec<_>, _>>()?;
            let seconds = runs.iter().map(|usage| usage.processor).fold(f64::INFINITY, f64::min);
            let megabytes = runs.iter().map(|usage| usage.megabytes).fold(0.0, f64::max);
            Ok::<_, Failure>(Point { size, seconds, megabytes })
        };
        let points = |axis: &Axis| {
            let idle = if axis.idle == 0 { 0.0 } else { point(axis, axis.idle)?.seconds };
            let sizes = environment.either(axis.quick, axis.full);
            let points = sizes.iter().map(|&size| point(axis, size)).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, Failure>(
                points.into_iter().map(|p| Point { seconds: (p.seconds - idle).max(0.001), ..p }).collect(),
            )
        };
        AXES.iter().map(points).collect::<Result<_, _>>().map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        page.say(
            "Processor time of the whole command on one processor, the least of the rounds; where the program is small, what \
             its compilation takes is subtracted. The exponent is the slope of the logarithms by least squares.",
        );
        for (axis, points) in AXES.iter().zip(&self.0) {
            let curve: Vec<(f64, f64)> = points.iter().map(|point| (point.size as f64, point.seconds)).collect();
            let exponent = exponent(&curve);
            page.say(format!("### By {}\n\n{}. Time grows as n^{exponent:.2}.", axis.name, axis.says));
            page.table(
                &[axis.unit, "seconds", "MB"],
                points
                    .iter()
                    .map(|p| vec![p.size.to_string(), Figure(p.seconds).to_string(), format!("{:.0}", p.megabytes)]),
            );
            let line = Line { label: format!("n^{exponent:.2}"), points: curve };
            let svg = powers(axis.unit, "seconds of processor time", &[line]);
            page.plot(axis.name, &format!("time over {}", axis.unit), svg)?;
        }
        Ok(())
    }
}

fn locked(environment: &Environment, command: &str, args: &[&str], cflags: &str) -> Result<Usage, Failure> {
    let cflags = format!("--cflags={cflags}");
    environment
        .raceproof(command, "tests/search/locked.c", &[&[cflags.as_str()], args].concat(), Some(1))
        .map(|answer| answer.usage)
}

/// The static engine on a generated program. It must warn about every line marked as a race.
fn server(environment: &Environment, lines: usize) -> Result<Usage, Failure> {
    let folder = environment.scratch_folder()?;
    let source = testkit::scale::program(lines);
    let path = folder.path().join("server.c");
    std::fs::write(&path, &source)?;
    let answer = environment.raceproof("static", &path.display().to_string(), &[], Some(1))?;
    let pairs = answer.document["pairs"].as_array().ok_or("no pairs")?;
    let warned = |line: u64| {
        let mut accesses =
            pairs.iter().filter(|pair| pair["verdict"] != "absent").flat_map(|pair| pair["accesses"].as_array());
        accesses.any(|accesses| accesses.iter().any(|access| access["line"] == line))
    };
    let unlisted = answer.document["unknowns"].as_array().is_some_and(|unknowns| !unknowns.is_empty());
    let missed =
        (1..).zip(source.lines()).find(|(line, text)| text.ends_with("// RACE!") && !unlisted && !warned(*line));
    match missed {
        Some((line, _)) => Err(format!("the race on line {line} of {lines} is missed").into()),
        None => Ok(answer.usage),
    }
}

/// Coverability of a ring of sections under one lock, with this many places.
fn ring(environment: &Environment, places: usize) -> Result<Usage, Failure> {
    let folder = environment.scratch_folder()?;
    let path = folder.path().join("ring.spec");
    std::fs::write(&path, testkit::ring::ring(places / 2))?;
    let answer = environment.raceproof("cover", &path.display().to_string(), &["--pruning", "plain"], Some(1))?;
    match answer.document["verdict"].as_str() {
        Some("safe") => Ok(answer.usage),
        verdict => Err(format!("the lock of a ring of {places} places is said to be {verdict:?}").into()),
    }
}
