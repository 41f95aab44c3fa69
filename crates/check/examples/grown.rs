//! Grows nets whose target is covered from programs of this repository, answers each, checks each answer, and prints a
//! Markdown table. A net is that of the last pair of a program that proofs leave open, in as many copies as the number of
//! places asks for: *beside* each other, with all targets at once, or *behind* each other, where the target of one starts the
//! next.
//!
//! `cargo run --release -p raceproof-check --example grown [-- FOLDER [PROGRAM...]]`, where the nets are written to the
//! folder, and other programs may be named
#![allow(clippy::print_stdout, reason = "an example that prints a table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use check::{BuildOptions, Subject};
use cover::{Options, Result as Proved};
use facts::Facts;
use model::Budget;
use petri::backward::{Answer, Pruning, solve};
use petri::{Initial, Marking, Net, PlaceId, Transition, certificate, spec};

const LIMIT: Duration = Duration::from_secs(60);
/// Least places of the grown nets, by turns.
const PLACES: [usize; 4] = [500, 1_000, 2_000, 2_800];
const PROGRAMS: [&str; 10] = [
    "bench/programs/scenarios/fft.c",
    "bench/programs/scenarios/lu.c",
    "bench/programs/scenarios/quicksort.c",
    "bench/programs/scenarios/streamcluster.c",
    "bench/programs/scenarios/tracer.c",
    "bench/programs/search/bzip2smp.c",
    "bench/programs/search/pfscan.c",
    "examples/rare/relay.c",
    "tests/bugs/deque_late_read.c",
    "tests/bugs/rwlock_upgrade.c",
];

/// How copies are put together.
#[derive(Clone, Copy)]
enum Form {
    Beside,
    Behind,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next();
    let named: Vec<String> = arguments.collect();
    let usual = PROGRAMS.map(str::to_owned).to_vec();
    println!("| program | copies | places | transitions | answer | time ms | iterations | markings |");
    println!("|---|---|---|---|---|---|---|---|");
    for (turn, program) in (if named.is_empty() { usual } else { named }).iter().enumerate() {
        let one = net(program)?;
        for (form, turn) in [(Form::Beside, turn), (Form::Behind, turn + 2)] {
            let wanted = PLACES[turn % PLACES.len()];
            let copies = wanted.div_ceil(one.places.len());
            let (name, grown) = match form {
                Form::Beside => (format!("{copies} beside each other"), beside(&one, copies)),
                Form::Behind => (format!("{copies} behind each other"), behind(&one, copies)),
            };
            grown.validate()?;
            if let Some(folder) = &folder {
                let file = format!("{}_{}.spec", program.replace(['/', '.'], "_"), name.replace(' ', "_"));
                std::fs::write(Path::new(folder).join(file), spec::write(&grown))?;
            }
            print(program, &name, &grown)?;
        }
    }
    Ok(())
}

/// Answers a net and prints its row.
fn print(program: &str, name: &str, net: &Net) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let (answer, statistics) = solve(net, Pruning::default(), |_| start.elapsed() < LIMIT);
    let time = start.elapsed().as_millis();
    let verdict = match &answer {
        Answer::Covered { initial, sequence } => {
            certificate::replay(net, initial, sequence)?;
            format!("covered in {}", sequence.len())
        }
        Answer::Safe(_) => return Err(format!("{program}, {name}: safe, though one copy is covered").into()),
        Answer::Stopped(_) => "unknown".to_owned(),
    };
    let (places, transitions) = (net.places.len(), net.transitions.len());
    let (iterations, markings) = (statistics.iterations, statistics.markings);
    println!("| {program} | {name} | {places} | {transitions} | {verdict} | {time} | {iterations} | {markings} |");
    Ok(())
}

/// The net of the last pair that is not proved absent.
fn net(program: &str) -> Result<Net, Box<dyn Error>> {
    let build = BuildOptions { inputs: vec![program.to_owned()], ..BuildOptions::default() };
    let subject = Subject::text(&build, &Budget::default())?;
    let facts = Facts::new(subject.program().clone(), facts::Options::default(), Budget::default());
    let pairs = facts.pairs().map_err(|spent| spent.to_string())?;
    let answers = cover::verify(&facts, &pairs, &Options::default());
    let open = answers.into_iter().rev().find(|(_, answer)| matches!(answer, Proved::Candidate(_)));
    let (pair, _) = open.ok_or_else(|| format!("{program}: every pair is proved absent, or none can be"))?;
    let net = cover::net(&facts, pair, &Options::default()).ok_or_else(|| format!("{program}: no net"))?;
    let alone = |target: &Marking| Net { targets: vec![target.clone()], ..net.clone() };
    let covered = |net: &Net| matches!(solve(net, Pruning::default(), |_| true).0, Answer::Covered { .. });
    let found = net.targets.iter().map(alone).find(covered);
    found.ok_or_else(|| format!("{program}: no target is covered").into())
}

/// So many copies of a net, without targets; what is behind a place of the first copy is so many places further.
fn copied(net: &Net, copies: usize) -> Net {
    let mut grown = Net::default();
    for copy in 0..copies {
        let moved = |p: &PlaceId| PlaceId(p.0 + (copy * net.places.len()) as u32);
        grown.places.extend(net.places.iter().map(|name| format!("{name}_copy{copy}")));
        grown.initial.extend(net.initial.iter().copied());
        grown.transitions.extend(net.transitions.iter().map(|t| Transition {
            name: format!("{}_copy{copy}", t.name),
            guard: t.guard.iter().map(|(p, n)| (moved(p), *n)).collect(),
            delta: t.delta.iter().map(|(p, d)| (moved(p), *d)).collect(),
            flows: t.flows.iter().map(|(p, to)| (moved(p), to.iter().map(moved).collect())).collect(),
        }));
    }
    grown
}

/// The target of a copy.
fn target(net: &Net, copy: usize) -> Vec<(PlaceId, u32)> {
    let entries = net.targets.iter().flat_map(Marking::entries);
    entries.map(|(p, n)| (PlaceId(p.0 + (copy * net.places.len()) as u32), *n)).collect()
}

fn beside(net: &Net, copies: usize) -> Net {
    let all = (0..copies).flat_map(|copy| target(net, copy));
    Net { targets: vec![Marking::new(all)], ..copied(net, copies) }
}

fn behind(net: &Net, copies: usize) -> Net {
    let mut grown = copied(net, copies);
    for copy in 1..copies {
        let first = copy * net.places.len();
        let mut consumed: BTreeMap<PlaceId, u32> = BTreeMap::new();
        target(net, copy - 1).into_iter().for_each(|(p, n)| *consumed.entry(p).or_default() += n);
        let mut produced = BTreeMap::new();
        for (number, initial) in net.initial.iter().enumerate() {
            produced.insert(PlaceId((first + number) as u32), initial.low);
            grown.initial[first + number] = Initial { low: 0, high: Some(0) };
        }
        grown.transitions.push(Transition::with_arcs(format!("start_copy{copy}"), &consumed, &produced));
    }
    Net { targets: vec![Marking::new(target(net, copies - 1))], ..grown }
}
