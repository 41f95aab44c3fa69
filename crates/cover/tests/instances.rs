//! Proofs for any number of threads against brute force for 2, 3 and 4 instances of each thread function: the same
//! pairs are proved for each number, and none of them races.
//!
//! Each program creates its threads one by one or in a loop, by turns, and waits for them in the same way. Where brute
//! force has too many states, one execution of each class of equivalent schedules is looked at instead; where both
//! finish they agree.

#![allow(clippy::print_stdout, reason = "how many programs were compared is worth seeing")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cover::{Options, Result, verify};
use explore::{Coverage, ReductionName, search};
use facts::Facts;
use model::Pair;
use program::Program;
use testkit::generator::{Feature, Item, Sketch};
use testkit::{Interpreter, Limits, oracle};

/// Programs compared, each with 2, 3 and 4 instances.
const PROGRAMS: u64 = 5_000;
/// Parts of the work, for as many processors.
const PARTS: u64 = 4;
/// Instances of each thread function.
const INSTANCES: [usize; 3] = [2, 3, 4];
/// Most executions for each number, beyond which there would be too many for the next.
const EXECUTIONS: [u64; 3] = [4, 12, 50];

/// The program with so many instances of each thread function.
fn multiply(text: &str, instances: usize, in_loops: bool) -> String {
    let mut out = String::new();
    let mut label = String::new();
    // Blocks that end in a loop of ours: later blocks come from the end of that loop.
    let mut renamed: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        for (old, new) in &renamed {
            line = line
                .replace(&format!("[{old}:"), &format!("[{new}:"))
                .replace(&format!(", {old}:"), &format!(", {new}:"));
        }
        let statement = line.split('!').next().unwrap_or_default().trim().to_owned();
        let site = line.find('!').map_or("", |at| &line[at..]).to_owned();
        if let Some(name) = statement.strip_suffix(':') {
            label = name.to_owned();
        }
        if statement.starts_with("fn ") {
            renamed.clear();
        }
        let words: Vec<&str> = statement.split_whitespace().collect();
        let (name, handle, operation) = match words.as_slice() {
            [handle, "=", "create", function, ..] => ("create", *handle, format!("create {function} 0")),
            [name @ ("join" | "detach"), handle] => (*name, *handle, format!("{name} ")),
            _ => {
                let _ = writeln!(out, "{line}");
                if in_loops && statement == "entry:" {
                    out.push_str("  %slots1 = alloca 32\n  %slots2 = alloca 32\n");
                }
                continue;
            }
        };
        let child = handle.trim_start_matches("%t").trim_end_matches(',');
        if !in_loops {
            for number in 0..instances {
                let _ = match name {
                    "create" => writeln!(out, "  %t{child}_{number} = {operation} {site}"),
                    _ => writeln!(out, "  {operation}%t{child}_{number} {site}"),
                };
            }
            continue;
        }
        let (n, from) = (format!("{name}{child}"), label.clone());
        let body = match name {
            "create" => format!("%t{child} = {operation} {site}\n  store 8, %{n}a, %t{child}"),
            _ => format!("%{n}h = load 8, %{n}a\n  {operation}%{n}h {site}"),
        };
        let _ = write!(
            out,
            "  goto {n}
{n}:
  %{n}i = phi [{from}: 0, {n}_do: %{n}j]
  %{n}c = slt 32 %{n}i, {instances}
  branch %{n}c, {n}_do, {n}_over
{n}_do:
  %{n}a = offset %slots{child}, %{n}i, 8, 0
  {body}
  %{n}j = add 32 %{n}i, 1
  goto {n}
{n}_over:
"
        );
        label = format!("{n}_over");
        renamed.push((from, label.clone()));
    }
    out
}

/// Whether a sketch is small enough for many threads.
fn is_small(sketch: &Sketch) -> bool {
    fn weight(items: &[Item]) -> usize {
        let of = |item: &Item| match item {
            Item::Create(_) | Item::Join(_) | Item::Detach(_) | Item::Yield => 0,
            Item::If { then, .. } => 1 + weight(then),
            Item::Repeat { times, body } => usize::from(*times) * weight(body),
            Item::Increment { .. } | Item::Update { .. } => 2,
            _ => 1,
        };
        items.iter().map(of).sum()
    }
    let threads: usize = sketch.threads.iter().skip(1).map(|items| weight(items)).sum();
    let others = sketch.threads.len().saturating_sub(2);
    threads + 2 * others <= 4 && weight(&sketch.threads[0]) <= 4
}

/// The racing pairs, if they can be found within the limits.
fn races(program: &Program, executions: u64, by_brute_force: bool) -> Option<BTreeSet<Pair>> {
    let limits = Limits { executions: u64::MAX, states: 400, events: 100 };
    let brute = if by_brute_force { oracle::explore(program, limits).ok()? } else { None };
    let brute = brute.map(|truth| truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect());
    let options = explore::Options {
        reduction: ReductionName::Optimal,
        max_executions: Some(executions),
        ..explore::Options::default()
    };
    let outcome = search(&mut Interpreter::new(program.clone()).ok()?, &options, &mut ()).ok()?;
    let found: Option<BTreeSet<Pair>> =
        (outcome.coverage == Coverage::Complete).then(|| outcome.races.into_keys().collect());
    if let (Some(brute), Some(found)) = (&brute, &found) {
        assert_eq!(brute, found, "brute force and search differ\n{program}");
    }
    brute.or(found)
}

fn absent(program: &Program) -> BTreeSet<Pair> {
    let facts = Facts::of(program.clone());
    let answers = verify(&facts, &facts.pairs().unwrap(), &Options::default()).into_iter();
    answers.filter(|(_, answer)| matches!(answer, Result::Absent(_))).map(|(pair, _)| pair).collect()
}

/// Compares one part of the programs.
fn compare(part: u64) {
    let (mut compared, mut proved, mut raced, mut tried) = (0u64, 0, 0, 0u64);
    let (features, programs) = (Feature::ALL.into(), testkit::programs(PROGRAMS) / PARTS);
    for seed in (part..).step_by(PARTS as usize) {
        if compared == programs {
            break;
        }
        let sketch = Sketch::random(seed, &features);
        if !is_small(&sketch) {
            continue;
        }
        tried += 1;
        let text = sketch.emit().text;
        let turn = seed / PARTS;
        let in_loops = !turn.is_multiple_of(4);
        let programs = INSTANCES.map(|n| {
            let text = multiply(&text, n, in_loops);
            Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
        });
        let truths: Option<Vec<_>> = programs
            .iter()
            .zip(EXECUTIONS)
            .map(|(p, most)| races(p, most, most == EXECUTIONS[0] && turn % 4 == 1))
            .collect();
        let Some(truths) = truths else { continue };
        compared += 1;
        // Where loops create the threads, the net is the same for every number of them.
        let same = in_loops && turn % 8 != 1;
        let first = absent(&programs[0]);
        let absents = programs.each_ref().map(|p| if same { first.clone() } else { absent(p) });
        for ((n, races), absent) in INSTANCES.iter().zip(&truths).zip(&absents) {
            let wrong: Vec<_> = races.intersection(absent).collect();
            assert!(
                wrong.is_empty(),
                "{wrong:?} race with {n} instances: seed {seed}\n{}",
                multiply(&text, *n, in_loops)
            );
            raced += races.len();
        }
        if in_loops {
            assert!(absents.iter().all(|a| *a == absents[0]), "the number of instances matters: seed {seed}");
        }
        proved += absents[0].len();
    }
    println!("part {part}: {compared} of {tried} programs, {proved} pairs proved absent, {raced} races");
    assert!(proved > 0 && raced > 0);
}

#[test]
fn first_part() {
    compare(0);
}

#[test]
fn second_part() {
    compare(1);
}

#[test]
fn third_part() {
    compare(2);
}

#[test]
fn fourth_part() {
    compare(3);
}
