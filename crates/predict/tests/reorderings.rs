//! Random programs made of single operations of every kind: the races predicted from a trace are exactly those of some
//! correct reordering, by brute force over all reorderings.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::{End, Executor, Step};
use predict::{Method, Options, Unsettled, predict};
use program::Program;
use support::{brute, random_run};
use testkit::Interpreter;
use testkit::generator::Random;

const PROGRAMS: u64 = 2_500;
const RUNS: usize = 3;

const GLOBALS: &str =
    "global x: 8\nglobal y: 4\nglobal z: 4\nglobal m: 80\nglobal c: 48\nglobal s: 32\nglobal b: 32\nglobal o: 4\n";

/// A few related operations. `n` makes names unique in the thread's body.
fn operation(random: &mut Random, n: usize) -> String {
    let place = random.pick(&["@x", "@x+4", "@y", "@z", "@y"]);
    let other = random.pick(&["@x", "@y", "@z"]);
    let lock = random.pick(&["@m", "@m", "@m+40"]);
    let order = random.pick(&["relaxed", "seq_cst"]);
    match random.below(30) {
        0..=2 => format!("store 4, {place}, 1"),
        3 | 4 => format!("%v{n} = load 4, {place}"),
        5 => "store 8, @x, 0".into(),
        6 => format!("%v{n} = rmw add 4 {order}, {place}, 1"),
        7 => format!("%v{n}, %ok{n} = cas 4 seq_cst {order}, {place}, 0, 1"),
        8..=11 => format!("lock {lock}\nstore 4, {place}, 3\nunlock {lock}"),
        12 | 13 => format!("lock {lock}\n%v{n} = load 4, {place}\nunlock {lock}"),
        14 => format!("rdlock {lock}\n%v{n} = load 4, {place}\nunlock {lock}"),
        15 => format!(
            "%t{n} = trylock {lock}\nbranch %t{n}, next{n}, got{n}\ngot{n}:\nstore 4, {place}, 4\nunlock {lock}\ngoto next{n}\nnext{n}:"
        ),
        16 => format!("store 4, {place}, 5\nsem_post @s"),
        17 => format!("sem_wait @s\n%v{n} = load 4, {place}"),
        18 => format!("%v{n} = sem_trywait @s"),
        19 => format!("%v{n} = sem_get @s"),
        20 => format!("lock @m\nwait @c, @m\nstore 4, {place}, 6\nunlock @m"),
        21 => "lock @m\ntimedwait @c, @m\nunlock @m".into(),
        22 => format!("store 4, {place}, 1\nsignal @c"),
        23 => "broadcast @c".into(),
        24 => format!("store 4, {place}, 2\nbarrier_wait @b"),
        25 => "once @o, &routine".into(),
        26 => format!("lock @m\nlock @m+40\nstore 4, {place}, 7\nunlock @m\nstore 4, {other}, 8\nunlock @m+40"),
        27 => format!("store 4, {place}, 1\nstore 4 {order}, {other}, 1"),
        28 => format!("%v{n} = load 4 {order}, {place}\nstore 4, {other}, 1"),
        _ => format!("copy {place}, {other}, 4"),
    }
}

fn program(seed: u64) -> (String, Program) {
    let random = &mut Random::new(seed);
    let mut text = format!("{GLOBALS}fn routine() {{\nentry:\n  store 4, @z, 9\n  return\n}}\n");
    let workers = 2 + random.below(2);
    for worker in 0..workers {
        let operations = 1 + random.below(if workers == 2 { 4 } else { 3 });
        let body: Vec<String> = (0..operations).map(|n| operation(random, n)).collect();
        writeln!(text, "fn t{worker}(%tid) {{\nentry:\n{}\nreturn\n}}", body.join("\n")).unwrap();
    }
    text.push_str("fn main() {\nentry:\n");
    if random.one_in(2) {
        writeln!(text, "sem_init @s, {}", random.below(2)).unwrap();
    }
    text.push_str("barrier_init @b, 2\n");
    for worker in 0..workers {
        writeln!(text, "%h{worker} = create &t{worker}, 0").unwrap();
    }
    if random.one_in(2) {
        text.push_str(&operation(random, 0));
        text.push('\n');
    }
    for worker in 0..workers {
        let how = random.pick(&["join", "join", "detach", "tryjoin"]);
        let how = if how == "tryjoin" { format!("%r{worker} = tryjoin") } else { how.to_owned() };
        writeln!(text, "{how} %h{worker}").unwrap();
    }
    text.push_str("%w = load 4, @y\nreturn 0\n}\nentry main\n");
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, program)
}

#[test]
fn predictions_are_what_reorderings_have() {
    let programs = testkit::programs(PROGRAMS);
    let (mut compared, mut by_method) = (0u64, BTreeMap::<Method, u32>::new());
    for seed in 0..programs {
        let (text, program) = program(seed);
        let mut interpreter = Interpreter::new(program.clone()).expect("the program is valid");
        let mut random = Random::new(seed ^ 0x5eed);
        for _ in 0..RUNS {
            let trace = random_run(&program, &mut random);
            let prediction = predict(&trace, &Options::default());
            let context = || {
                let events = trace.events.iter().map(|e| format!("{:?} {:?} {:?}\n", e.id, e.site, e.op));
                format!("seed {seed}\n{text}\n{}{:?}", events.collect::<String>(), prediction.races)
            };
            for race in &prediction.races {
                *by_method.entry(race.method).or_default() += 1;
                let plan = prediction.plan(race);
                let run = interpreter.run(&plan.schedule).expect("interpreters do not fail");
                assert!(!matches!(run.end, End::Diverged { .. }), "{:?}\n{race:?}\n{}", run.end, context());
                let step = |id| run.events.iter().position(|e| e.id == id).map(|at| Step(at as u32));
                let (first, second) = (step(plan.in_run[0]).unwrap(), step(plan.in_run[1]).unwrap());
                assert!(!race.adjacent || first.0 + 1 == second.0, "{race:?}\n{}", context());
                assert!(model::race::is_race(&run, first, second), "{race:?}\n{}", context());
            }
            if !trace.misuses.is_empty() {
                assert!(prediction.open.iter().all(|open| open.reason == Unsettled::Rigid), "{}", context());
                continue;
            }
            let Some(expected) = brute::side_by_side(&trace, 30_000) else { continue };
            compared += 1;
            let adjacent: BTreeSet<_> = prediction.races.iter().filter(|r| r.adjacent).map(|r| r.sites).collect();
            let all: BTreeSet<_> = prediction.races.iter().map(|r| r.sites).collect();
            assert!(expected.is_subset(&all), "missed {:?}\n{}", expected.difference(&all), context());
            assert!(adjacent.is_subset(&expected), "too many {:?}\n{}", adjacent.difference(&expected), context());
            assert!(prediction.open.is_empty(), "{:?}\n{}", prediction.open, context());
        }
    }
    assert!(compared > programs, "{compared} traces compared with brute force");
    for method in [Method::Observed, Method::SyncPreserving, Method::Reordering] {
        assert!(by_method.get(&method).is_some_and(|n| *n >= 100), "{by_method:?}");
    }
}
