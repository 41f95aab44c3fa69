//! Random programs whose threads make many plain accesses between two synchronisations, recorded as the recorder does
//! when such sequences are long: redundant accesses are omitted (docs/decisions/0025). A race may be lost only behind
//! another race of the same sequence of accesses.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::race::SitePair;
use model::{AccessKind, Cell, Event, Op, SiteId, ThreadId, Trace};
use predict::reduce::Reduced;
use predict::{Options, predict};
use program::Program;
use support::{brute, random_run};
use testkit::generator::Random;

const PROGRAMS: u64 = 3_000;
const RUNS: usize = 2;

/// A thread's accesses between two synchronisations.
type Segment = (ThreadId, u32);

/// A trace with some accesses omitted.
struct Thinned {
    trace: Trace,
    /// The segment of each access, including the omitted ones. Each site is executed once.
    segments: BTreeMap<SiteId, Segment>,
    left_out: BTreeSet<SiteId>,
}

impl Thinned {
    /// Omits an access, though not every time, if an equally strong access to the same memory was logged in this
    /// segment. (The recorder's table is lossy and starts at any point.)
    fn new(full: &Trace, random: &mut Random) -> Self {
        let (mut logged, mut number) = (BTreeMap::<ThreadId, BTreeSet<(Cell, bool)>>::new(), BTreeMap::new());
        let (mut segments, mut left_out) = (BTreeMap::new(), BTreeSet::new());
        let reduced = Reduced::new(full, |_, event: &Event| {
            let (thread, logged) = (event.id.thread, logged.entry(event.id.thread).or_default());
            let access = match &event.op {
                Op::Access(access) if access.atomic.is_none() => access,
                op => {
                    logged.clear();
                    *number.entry(thread).or_insert(0) += 1;
                    return Some(op.clone());
                }
            };
            let site = event.site.expect("accesses have sites");
            segments.insert(site, (thread, number.get(&thread).copied().unwrap_or(0)));
            let written = access.kind == AccessKind::Write;
            if (logged.contains(&(access.cell, true)) || (!written && logged.contains(&(access.cell, false))))
                && !random.one_in(5)
            {
                left_out.insert(site);
                return None;
            }
            logged.insert((access.cell, written));
            Some(event.op.clone())
        });
        Self { trace: reduced.trace.into_owned(), segments, left_out }
    }

    fn segments_of(&self, (one, other): SitePair) -> BTreeSet<Segment> {
        [one, other].iter().filter_map(|site| self.segments.get(&(*site)?).copied()).collect()
    }

    /// Whether a race of the full trace may be missing from the predictions of the thinned one.
    fn may_lack(&self, race: SitePair, predicted: &BTreeSet<SitePair>) -> bool {
        let is_left_out = |site: Option<SiteId>| site.is_some_and(|site| self.left_out.contains(&site));
        let sides = [race.0, race.1].into_iter().filter(|side| is_left_out(*side));
        let hidden: BTreeSet<Segment> = sides.filter_map(|side| self.segments.get(&side?).copied()).collect();
        let of = |sites: &BTreeSet<SiteId>| sites.iter().map(|site| self.segments[site]).collect::<BTreeSet<_>>();
        let behind = if hidden.is_empty() { of(&self.left_out) } else { hidden };
        predicted.iter().any(|other| !self.segments_of(*other).is_disjoint(&behind))
    }
}

fn accesses(random: &mut Random, names: &mut usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(4) {
        *names += 1;
        let place = random.pick(&["@x", "@x", "@y", "@y+4"]);
        let line = if random.one_in(2) {
            format!("store 4, {place}, {names}")
        } else {
            format!("%v{names} = load 4, {place}")
        };
        writeln!(text, "{line}").unwrap();
    }
    text
}

fn program(seed: u64) -> (String, Program) {
    let random = &mut Random::new(seed);
    let mut text = "global x: 4\nglobal y: 8\nglobal m: 80\nglobal s: 32\nglobal f: 4\n".to_owned();
    let workers = 2 + random.below(2);
    for worker in 0..workers {
        let mut names = 0;
        let mut body = String::new();
        for _ in 0..1 + random.below(if workers == 2 { 3 } else { 2 }) {
            let lock = random.pick(&["@m", "@m", "@m+40"]);
            let inside = accesses(random, &mut names);
            body += &match random.below(7) {
                0..=2 => format!("lock {lock}\n{inside}unlock {lock}\n"),
                3 => format!("{inside}sem_post @s\n"),
                4 => format!("sem_wait @s\n{inside}"),
                5 => format!("{inside}store 4 seq_cst, @f, 1\n"),
                _ => inside,
            };
        }
        writeln!(text, "fn t{worker}(%tid) {{\nentry:\n{body}return\n}}").unwrap();
    }
    text.push_str("fn main() {\nentry:\nsem_init @s, 1\n");
    (0..workers).for_each(|worker| writeln!(text, "%h{worker} = create &t{worker}, 0").unwrap());
    (0..workers).for_each(|worker| writeln!(text, "join %h{worker}").unwrap());
    text.push_str("return 0\n}\nentry main\n");
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, program)
}

#[test]
fn thinning_loses_no_racing_segment() {
    let programs = testkit::programs(PROGRAMS);
    let (mut compared, mut thinner, mut hidden) = (0, 0, 0);
    for seed in 0..programs {
        let (text, program) = program(seed);
        let mut random = Random::new(seed ^ 0x5eed);
        for _ in 0..RUNS {
            let full = random_run(&program, &mut random);
            let thinned = Thinned::new(&full, &mut random);
            if thinned.left_out.is_empty() {
                continue;
            }
            thinner += 1;
            let Some(races) = brute::side_by_side(&full, 3_000) else { continue };
            compared += 1;
            let prediction = predict(&thinned.trace, &Options::default());
            let predicted: BTreeSet<SitePair> = prediction.races.iter().map(|race| race.sites).collect();
            for race in races.difference(&predicted) {
                hidden += 1;
                assert!(
                    thinned.may_lack(*race, &predicted),
                    "seed {seed}: {race:?} is lost, predicted {predicted:?} without {:?}\n{text}\n{:#?}",
                    thinned.left_out,
                    full.events
                );
            }
        }
    }
    assert!(compared > programs / 2 && compared * 3 > thinner, "{compared} of {thinner} compared");
    assert!(hidden > 1_000, "{hidden} races behind others");
}
