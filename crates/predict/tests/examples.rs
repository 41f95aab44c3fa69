//! Small traces with known answers, windows, budgets, and reduced traces.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use model::{Addr, Cell, Step, Trace};
use predict::reduce::{group, reduce};
use predict::{Method, Options, PredictedRace, Unsettled, predict, rapid};
use support::random_run;
use testkit::generator::{Case, Feature, Random};
use testkit::{Interpreter, Limits};

const PAPER: &str = "t1|w(y)|1\nt1|acq(m)|2\nt1|w(x)|3\nt1|rel(m)|4\nt2|acq(m)|5\nt2|w(x)|6\nt2|rel(m)|7\nt2|r(y)|8\n";

/// The locations of races, with how they were found.
fn races(text: &str, options: &Options) -> BTreeSet<(String, String, Method)> {
    let document = rapid::read(text).unwrap();
    let name = |site: Option<model::SiteId>| document.locations[site.unwrap()].clone();
    let prediction = predict(&document.trace, options);
    prediction.races.iter().map(|r| (name(r.sites.0), name(r.sites.1), r.method)).collect()
}

fn one(first: &str, second: &str, method: Method) -> BTreeSet<(String, String, Method)> {
    BTreeSet::from([(first.to_owned(), second.to_owned(), method)])
}

/// Thread 2 can acquire the lock first, so another order shows the race.
#[test]
fn the_papers_example() {
    assert_eq!(races(PAPER, &Options::default()), one("1", "8", Method::SyncPreserving));
    let document = rapid::read(PAPER).unwrap();
    let prediction = predict(&document.trace, &Options::default());
    let segments: Vec<(u32, u32)> =
        prediction.plan(&prediction.races[0]).schedule.segments.iter().map(|s| (s.thread.0, s.until)).collect();
    assert_eq!(segments, [(1, 3), (0, 1), (1, 4)], "thread 2's section, then both accesses");
    assert_eq!(prediction.rejected.len(), 1, "x is always under the lock");
}

/// If thread 2 reads under the lock what thread 1 wrote there, it comes after it in every reordering.
#[test]
fn reads_from_orders() {
    let text = PAPER.replace("t2|w(x)|6", "t2|r(x)|6");
    assert!(races(&text, &Options::default()).is_empty());
    let relaxed = Options { relaxed: true, ..Options::default() };
    assert_eq!(races(&text, &relaxed), one("1", "8", Method::SyncPreserving));
    assert!(predict(&rapid::read(&text).unwrap().trace, &relaxed).candidates);
}

/// The critical sections have to change places, which only the search can do.
#[test]
fn sections_change_places() {
    let text = "a|acq(m)|1\na|w(y)|2\na|rel(m)|3\nb|acq(m)|4\nb|rel(m)|5\nb|w(y)|6\n";
    assert_eq!(races(text, &Options::default()), one("2", "6", Method::Reordering));
    assert!(races(text, &Options { window: 4, ..Options::default() }).is_empty());
    let trace = rapid::read(text).unwrap().trace;
    let open = |options: &Options| predict(&trace, options).open.iter().map(|o| o.reason).collect::<Vec<_>>();
    assert_eq!(open(&Options { window: 4, ..Options::default() }), [Unsettled::Window]);
    assert_eq!(open(&Options { budget: 1, ..Options::default() }), [Unsettled::Budget]);
    assert!(open(&Options::default()).is_empty());
}

/// Windows find races within half a window, wherever they are.
#[test]
fn windows_overlap() {
    let hidden = "a|acq(m)|1\na|w(y)|2\na|rel(m)|3\nb|acq(m)|4\nb|rel(m)|5\nb|w(y)|6\n";
    for before in 0..40 {
        let text = "a|acq(l)|7\na|w(z)|8\na|rel(l)|9\nb|acq(l)|7\nb|w(z)|8\nb|rel(l)|9\n".repeat(before) + hidden;
        let options = Options { window: 24, ..Options::default() };
        assert_eq!(races(&text, &options), one("2", "6", Method::Reordering), "after {before}");
    }
}

fn small_cases(mut check: impl FnMut(u64, &Trace, &mut Interpreter)) {
    let features = BTreeSet::from(Feature::ALL);
    for seed in 0..testkit::programs(300) {
        let case = Case::generate(seed, &features, Limits { executions: 5_000, states: 4_000, events: 60 });
        let program = case.program();
        let mut random = Random::new(seed);
        let trace = random_run(&program, &mut random);
        check(seed, &trace, &mut Interpreter::new(program).unwrap());
    }
}

#[test]
fn reduced_traces_have_the_same_predictions() {
    let mut left_out = 0;
    small_cases(|seed, trace, _| {
        let reduced = reduce(trace);
        left_out += trace.events.len() - reduced.trace.events.len();
        let sites = |races: &[PredictedRace]| races.iter().map(|r| (r.sites, r.method)).collect::<Vec<_>>();
        let (whole, less) = (predict(trace, &Options::default()), predict(&reduced.trace, &Options::default()));
        assert_eq!(sites(&whole.races), sites(&less.races), "seed {seed}");
        assert_eq!(whole.rejected, less.rejected, "seed {seed}");
        for (whole, less) in whole.races.iter().zip(&less.races) {
            assert_eq!(whole.first, reduced.whole(less.first), "seed {seed}");
        }
    });
    assert!(left_out > 100, "{left_out} accesses left out");
}

/// The variables that two racing events share.
fn variables(trace: &Trace, race: &PredictedRace) -> BTreeSet<Cell> {
    let accesses = |id| trace.events.iter().find(|e| e.id == id).unwrap().op.accesses();
    let (ones, others) = (accesses(race.first), accesses(race.second));
    let meet = |a: &&model::Access| others.iter().any(|b| model::race::could_race(a, b));
    ones.iter().filter(meet).map(|a| a.cell).collect()
}

#[test]
fn one_variable_stands_for_those_used_alike() {
    let relaxed = Options { relaxed: true, ..Options::default() };
    let (mut merged, mut guarded) = (0, 0);
    let mut check = |name: String, trace: &Trace| {
        let grouped = group(trace);
        merged += grouped.groups.values().map(Vec::len).sum::<usize>();
        guarded += grouped.guarded.len();
        let stands_for: BTreeMap<Cell, Cell> = grouped
            .groups
            .iter()
            .flat_map(|(cell, others)| others.iter().chain([cell]).map(|other| (*other, *cell)))
            .collect();
        let racing = |trace: &Trace| {
            let races = predict(trace, &relaxed).races;
            races.iter().flat_map(|race| variables(trace, race)).collect::<BTreeSet<Cell>>()
        };
        let expected: BTreeSet<Cell> = racing(trace)
            .into_iter()
            .map(|cell| *stands_for.get(&cell).unwrap_or_else(|| panic!("{name}: {cell:?} is guarded and races")))
            .collect();
        assert_eq!(racing(&grouped.reduced.trace), expected, "{name}");
    };
    small_cases(|seed, trace, _| check(format!("seed {seed}"), trace));
    // Two variables used in the same places, one of them under a lock.
    let both = PAPER.replace("t1|w(y)|1\n", "t1|w(y)|1\nt1|w(z)|9\n") + "t2|r(z)|10\n";
    check("both".to_owned(), &rapid::read(&both).unwrap().trace);
    assert!(merged > 0 && guarded > 0, "{merged} merged, {guarded} guarded");
}

/// Writing a trace in RAPID's form and reading it back keeps the predictions.
#[test]
fn text_keeps_predictions() {
    let mut written = 0;
    small_cases(|seed, trace, _| {
        let Ok(text) = rapid::write(trace) else { return };
        let document = rapid::read(&text).unwrap();
        written += 1;
        let site = |site: Option<model::SiteId>| document.locations[site.unwrap()].parse::<u32>().unwrap();
        let order = |(a, b): (u32, u32)| (a.min(b), a.max(b));
        let read: BTreeSet<_> = predict(&document.trace, &Options::default())
            .races
            .iter()
            .map(|r| order((site(r.sites.0), site(r.sites.1))))
            .collect();
        let number = |site: Option<model::SiteId>| site.unwrap().0 + 1;
        let whole: BTreeSet<_> = predict(trace, &Options::default())
            .races
            .iter()
            .map(|r| order((number(r.sites.0), number(r.sites.1))))
            .collect();
        assert_eq!(read, whole, "seed {seed}\n{text}");
    });
    assert!(written > 80, "{written} traces written");
}

/// Foreign traces may break every rule; they are refused or analysed without a panic.
#[test]
fn malformed_traces_do_not_panic() {
    let texts = [
        "",
        "a|rel(m)|1\nb|acq(m)|2\nc|acq(m)|3\na|w(x)|4\nb|w(x)|5\n",
        "a|join(b)|1\nb|w(x)|2\na|w(x)|3\n",
        "a|end|1\na|w(x)|2\nb|begin|3\nb|begin|4\nb|r(x)|5\n",
    ];
    for text in texts {
        let trace = rapid::read(text).unwrap().trace;
        for window in [0, 1, 3, 100] {
            let prediction = predict(&trace, &Options { window, ..Options::default() });
            assert!(prediction.races.iter().all(|race| race.pair().is_some()));
        }
    }
    let mut trace = rapid::read(PAPER).unwrap().trace;
    trace.events[Step(1)].op = model::Op::BarrierArrive { barrier: Addr(64) };
    trace.events[Step(4)].op = model::Op::WaitEnd { cond: Addr(8), cause: model::WakeCause::Signalled };
    let prediction = predict(&trace, &Options::default());
    assert!(prediction.open.iter().all(|open| open.reason == Unsettled::Rigid));
}
