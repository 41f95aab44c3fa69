//! Paper 000, Table 1: property driven pruning against DPOR.

use serde::{Deserialize, Serialize};

use super::Rows;
use super::search::{Search, Searches, ratio, searches};
use crate::Failure;
use crate::environment::Environment;
use crate::page::Page;

/// A row of the paper and our program of the same shape.
struct Shape {
    name: &'static str,
    threads: u32,
    program: &'static str,
    cflags: &'static str,
    /// Seconds, thousands of transitions, traces; none after an hour.
    dpor: Option<Paper>,
    pdp: Paper,
    /// Race-free checks, those answered yes, backtracks skipped.
    checks: [u32; 3],
}

/// Seconds, thousands of transitions, traces.
type Paper = (u32, f32, u32);

const fn shape(
    name: &'static str,
    threads: u32,
    (program, cflags): (&'static str, &'static str),
    dpor: Option<Paper>,
    pdp: Paper,
    checks: [u32; 3],
) -> Shape {
    Shape { name, threads, program, cflags, dpor, pdp, checks }
}

const FIGURE1: &str = "tests/search/figure1.c";
const QSORT: &str = "bench/programs/search/qsort.c";
const PFSCAN: &str = "bench/programs/search/pfscan.c";
const AGET: &str = "bench/programs/search/aget.c";
const BZIP2SMP: &str = "bench/programs/search/bzip2smp.c";

#[rustfmt::skip]
const TABLE: [Shape; 15] = [
    shape("fdrd2", 2, (FIGURE1, "-DLOCKS=1"), Some((3, 2.0, 89)), (1, 0.6, 14), [88, 75, 75]),
    shape("fdrd4", 2, (FIGURE1, "-DLOCKS=2"), Some((11, 10.0, 233)), (3, 4.0, 68), [232, 165, 165]),
    shape("qsort", 2, (QSORT, ""), Some((17, 12.0, 4)), (8, 8.0, 1), [2, 2, 2]),
    shape("pfscan-good", 2, (PFSCAN, ""), Some((179, 71.0, 2519)), (15, 10.0, 182), [398, 217, 217]),
    shape("pfscan-bug", 2, (PFSCAN, "-DBUG"), Some((3, 1.0, 31)), (1, 1.0, 10), [5, 5, 6]),
    shape("aget", 3, (AGET, "-DTHREADS=3"), Some((183, 103.0, 3432)), (1, 0.1, 1), [6, 6, 9]),
    shape("aget", 4, (AGET, "-DTHREADS=4"), None, (1, 0.1, 1), [9, 9, 18]),
    shape("aget", 5, (AGET, "-DTHREADS=5"), None, (1, 0.1, 1), [12, 12, 30]),
    shape("bzip2smp", 4, (BZIP2SMP, "-DTHREADS=4"), Some((128, 63.0, 1465)), (3, 2.0, 45), [48, 5, 5]),
    shape("bzip2smp", 5, (BZIP2SMP, "-DTHREADS=5"), Some((203, 99.0, 2316)), (4, 2.0, 45), [48, 5, 7]),
    shape("bzip2smp", 6, (BZIP2SMP, "-DTHREADS=6"), Some((287, 135.0, 3167)), (4, 2.0, 45), [48, 5, 9]),
    shape("bzip2smp2", 4, (BZIP2SMP, "-DTHREADS=4 -DBYTES=60"), Some((291, 63.0, 1573)), (136, 21.0, 45), [48, 5, 5]),
    shape("bzip2smp2", 5, (BZIP2SMP, "-DTHREADS=5 -DBYTES=60"), Some((487, 85.0, 2532)), (155, 21.0, 45), [48, 5, 7]),
    shape("bzip2smp2", 6, (BZIP2SMP, "-DTHREADS=6 -DBYTES=60"), Some((672, 116.0, 3491)), (164, 21.0, 45), [48, 5, 9]),
    shape("bzip2smp2", 10, (BZIP2SMP, "-DTHREADS=10 -DBYTES=60"), Some((1435, 223.0, 7327)), (183, 21.0, 45), [48, 5, 17]),
];

/// One for each shape, in the same order.
#[derive(Serialize, Deserialize)]
pub(super) struct Pdp(Vec<Searches>);

impl Rows for Pdp {
    const NAME: &'static str = "pdp";
    const TITLE: &'static str = "Paper 000, Table 1: property driven pruning";

    fn measure(environment: &Environment) -> Result<Self, Failure> {
        let reductions = ["dpor", "pdp", "best"];
        TABLE
            .iter()
            .map(|shape| searches(environment, shape.program, shape.cflags, &reductions))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn write(&self, page: &mut Page) -> Result<(), Failure> {
        let rows = || TABLE.iter().zip(&self.0);
        let first = self.0.first().and_then(|searches| searches.get("pdp")).map_or("", |search| &search.command);
        page.say(format!(
            "Executions until every race is found and nothing is left, as by `{first}`. \
             The paper's figures are those of its own programs, of which ours have the shape: threads, locks, what they \
             protect, race or none; \"> \" is a search that was stopped after its time, in the paper after an hour. \
             Ours were written so that the question which `pdp` asks can be answered: what a thread touches does not \
             depend on shared data. Rows that stay flat show that there are such programs, not that all are."
        ));
        let cells = |shape: &Shape, searches: &Searches, paper: [String; 2], ours: &dyn Fn(&Search) -> String| {
            let names = [shape.name.to_owned(), shape.threads.to_string()];
            let ours = ["dpor", "pdp", "best"].map(|name| searches.get(name).map_or_else(String::new, ours));
            names.into_iter().chain(paper).chain(ours).collect()
        };
        let head = ["program", "threads", "paper: DPOR", "paper: PDP", "`dpor`", "`pdp`", "`best`"];
        page.table(
            &head,
            rows().map(|(shape, searches)| {
                let dpor = shape.dpor.map_or("> 1 h".to_owned(), |(.., traces)| traces.to_string());
                cells(shape, searches, [dpor, shape.pdp.2.to_string()], &|search| search.count(search.executions))
            }),
        );
        page.say("Transitions, the paper's in thousands:");
        page.table(
            &head,
            rows().map(|(shape, searches)| {
                let dpor = shape.dpor.map_or("> 1 h".to_owned(), |(_, transitions, _)| format!("{transitions} k"));
                let pdp = format!("{} k", shape.pdp.1);
                cells(shape, searches, [dpor, pdp], &|search| search.count(search.transitions))
            }),
        );
        page.say("Wall-clock seconds, medians, and how many times as long `dpor` takes as `pdp`, round by round:");
        page.table(
            &[&head[..], &["`dpor` ÷ `pdp`"]].concat(),
            rows().map(|(shape, searches)| {
                let dpor = shape.dpor.map_or("> 1 h".to_owned(), |(seconds, ..)| seconds.to_string());
                let mut cells: Vec<String> = cells(shape, searches, [dpor, shape.pdp.0.to_string()], &Search::time);
                let both = searches.get("dpor").zip(searches.get("pdp"));
                cells.push(both.map_or_else(String::new, |(dpor, pdp)| ratio(dpor, pdp)));
                cells
            }),
        );
        page.say(
            "Race-free checks of `pdp`, those answered yes, and omitted backtracking points, the paper's before ours:",
        );
        page.table(
            &["program", "threads", "checks", "yes", "skipped"],
            rows().filter_map(|(shape, searches)| {
                let pdp = searches.get("pdp")?;
                let pairs = shape.checks.iter().zip([pdp.checks, pdp.yes, pdp.skipped]);
                let names = [shape.name.to_owned(), shape.threads.to_string()];
                Some(names.into_iter().chain(pairs.map(|(paper, ours)| format!("{paper}; {ours}"))).collect())
            }),
        );
        self.judge(page);
        Ok(())
    }
}

impl Pdp {
    /// Compares the paper's claims with the figures.
    fn judge(&self, page: &mut Page) {
        let pairs = || {
            TABLE.iter().zip(&self.0).filter_map(|(s, searches)| Some((s, searches.get("dpor")?, searches.get("pdp")?)))
        };
        let exceeds =
            |dpor: &Search, pdp: &Search| dpor.is_complete && (!pdp.is_complete || pdp.executions > dpor.executions);
        let worse: Vec<String> = pairs()
            .filter(|(_, dpor, pdp)| exceeds(dpor, pdp))
            .map(|(shape, ..)| format!("{} with {} threads", shape.name, shape.threads))
            .collect();
        if worse.is_empty() {
            let ended = pairs().filter(|(_, dpor, _)| dpor.is_complete).count();
            let alone = pairs().filter(|(_, dpor, pdp)| !dpor.is_complete && pdp.is_complete).count();
            page.say(format!(
                "`pdp` executes no more than `dpor` on any of the {ended} rows where `dpor` finished; on {alone} others \
                 only `pdp` did."
            ));
        } else {
            page.say(format!("`pdp` executes more than `dpor` on {}, which is a defect.", worse.join(", ")));
        }
        for name in ["aget", "bzip2smp", "bzip2smp2"] {
            let of: Vec<&Search> = pairs().filter(|(shape, ..)| shape.name == name).map(|(.., pdp)| pdp).collect();
            let is_flat = of.windows(2).all(|two| two[0].executions == two[1].executions && two[1].is_complete);
            let words = if is_flat { "stays at" } else { "does not stay flat on" };
            let counts: Vec<String> = of.iter().map(|pdp| pdp.count(pdp.executions)).collect();
            let figures = if is_flat { counts.first().cloned().unwrap_or_default() } else { counts.join(", ") };
            page.say(format!("On {name} `pdp` {words} {figures} as threads grow."));
        }
        let longer = pairs().filter(|(_, dpor, pdp)| dpor.is_complete && dpor.seconds.median() < pdp.seconds.median());
        let longer: Vec<String> =
            longer.map(|(shape, ..)| format!("{} ({} threads)", shape.name, shape.threads)).collect();
        if !longer.is_empty() {
            page.defeat(format!(
                "Plain `dpor` takes less time than `pdp` on {}: what threads may still do is computed at every backtrack, which \
                 does not pay where little is skipped or the whole search takes milliseconds.",
                longer.join(", ")
            ));
        }
    }
}
