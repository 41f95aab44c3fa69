//! Generated programs, compiled and run for real: both searches find exactly the racing pairs of brute force, and
//! forked and restored runs of one schedule are the same, event for event.
#![allow(clippy::print_stdout, reason = "the number of executions is worth seeing")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use exec::{Config, Isolation, Target};
use explore::{Coverage, Observer, Options, Outcome, ReductionName, StopReason};
use model::{Executor, Schedule, SiteId, Step, Trace};
use program::Program;
use testkit::generator::{Case, Feature};
use testkit::oracle::Limits;

/// Programs in one executable: compiling and linking takes longer than searching.
const BATCH: u64 = 25;
const PROGRAMS: u64 = 1000;
/// Programs with values left open, sections and loops that wait.
const OPEN: u64 = 150;

fn case(seed: u64, features: &BTreeSet<Feature>) -> Case {
    Case::generate(seed, features, Limits { executions: 2_000, ..Limits::default() })
}

/// The source of a case as part of a batch: its `main` renamed, its lines those of `case<seed>.c`.
fn source(seed: u64, case: &Case) -> String {
    format!("#define main main_{seed}\n#line 1 \"case{seed}.c\"\n{}", case.c())
}

fn driver(seeds: &[u64]) -> String {
    let declarations: String = seeds.iter().map(|s| format!("int main_{s}(void);\n")).collect();
    let cases: String = seeds.iter().map(|s| format!("    case {s}: return main_{s}();\n")).collect();
    format!(
        "#include <stdlib.h>\n{declarations}int main(int argc, char **argv) {{\n    \
         switch (argc > 1 ? atoi(argv[1]) : -1) {{\n{cases}    }}\n    return 99;\n}}\n"
    )
}

struct Batch {
    program: std::sync::Arc<Program>,
    executable: PathBuf,
}

fn build(folder: &Path, seeds: &[u64], cases: &[Case]) -> Batch {
    let mut inputs = vec![folder.join("driver.c")];
    std::fs::write(&inputs[0], driver(seeds)).unwrap();
    for (seed, case) in seeds.iter().zip(cases) {
        let file = folder.join(format!("case{seed}.c"));
        std::fs::write(&file, source(*seed, case)).unwrap();
        inputs.push(file);
    }
    let options = llvm::Options { inputs, work_dir: folder.to_owned(), ..llvm::Options::default() };
    let compiled = llvm::compile(&options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(compiled.unmodelled, [], "generated programs are within the model");
    let (archive, executable) = (folder.join("runtime.a"), folder.join("program"));
    std::fs::write(&archive, archives::runtime_archive()).unwrap();
    llvm::link(&compiled, &archive, &[], &executable).unwrap_or_else(|e| panic!("{e}"));
    Batch { program: compiled.program, executable }
}

fn launch(batch: &Batch, seed: u64, isolation: Isolation) -> Target {
    let config = Config { isolation, args: vec![seed.to_string().into()], ..Config::default() };
    Target::launch(&batch.executable, config).unwrap_or_else(|e| panic!("seed {seed}: {e}"))
}

/// Keeps some of the schedules a search used.
#[derive(Default)]
struct Keep(Vec<Schedule>);

impl Observer for Keep {
    fn trace(&mut self, trace: &Trace, _from: model::Step) {
        if self.0.len() < 6 {
            self.0.push(trace.schedule_to(Step(trace.events.len() as u32)));
        }
    }
}

fn search(target: &mut Target, reduction: ReductionName, observer: &mut dyn Observer) -> Result<Outcome, String> {
    let options = Options { reduction, ..Options::default() };
    let outcome = explore::search(target, &options, observer).map_err(|e| format!("{reduction}: {e}"))?;
    match outcome.coverage {
        Coverage::Complete | Coverage::Stopped(StopReason::Assumptions) => Ok(outcome),
        Coverage::Stopped(reason) => Err(format!("{reduction} stopped: {reason}")),
    }
}

/// Racing pairs as pairs of lines.
fn lines(program: &Program, outcome: &Outcome) -> BTreeSet<(u32, u32)> {
    let line = |site: SiteId| program.sites[site].location.map_or(0, |l| l.line);
    let pairs = outcome.races.keys().map(|pair| pair.sites().map(line));
    pairs.map(|[a, b]| (a.min(b), a.max(b))).collect()
}

fn check(batch: &Batch, seed: u64, case: &Case) -> Result<u64, String> {
    let expected: BTreeSet<(u32, u32)> = case.racing_lines().into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
    let mut restore = launch(batch, seed, Isolation::Restore);
    let mut kept = Keep::default();
    let mut executions = 0;
    for reduction in [ReductionName::None, ReductionName::Dpor] {
        let outcome = search(&mut restore, reduction, &mut kept)?;
        executions += outcome.statistics.executions;
        let found = lines(&batch.program, &outcome);
        if found != expected {
            return Err(format!("{reduction} finds {found:?}, brute force {expected:?}"));
        }
        if let Some((pair, _)) = outcome.races.iter().find(|(_, race)| !race.confirmed) {
            return Err(format!("{reduction}: the race {pair:?} is not confirmed"));
        }
    }
    let mut fork = launch(batch, seed, Isolation::Fork);
    for schedule in &kept.0 {
        let run = |target: &mut Target| target.run(schedule).map_err(|e| e.to_string());
        let (restored, forked) = (run(&mut restore)?, run(&mut fork)?);
        if restored != forked {
            return Err(format!("forked and restored runs of {schedule:?} differ"));
        }
    }
    Ok(executions)
}

#[test]
fn searches_equal_brute_force_and_isolations_agree() {
    compare(PROGRAMS, &Feature::ALL.into());
}

#[test]
fn values_left_open_sections_and_loops_that_wait() {
    compare(OPEN, &Feature::SEARCH.into_iter().chain([Feature::Lock, Feature::Branch]).collect());
}

fn compare(sample: u64, features: &BTreeSet<Feature>) {
    let programs = testkit::programs(sample);
    let batches: Vec<u64> = (0..programs / BATCH).collect();
    let (next, executions, complaints) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let seeds: Vec<u64> = (batch * BATCH..(batch + 1) * BATCH).collect();
                    let cases: Vec<Case> = seeds.iter().map(|seed| case(*seed, features)).collect();
                    let folder = tempfile::tempdir().unwrap();
                    let built = build(folder.path(), &seeds, &cases);
                    for (seed, case) in seeds.iter().zip(&cases) {
                        match check(&built, *seed, case) {
                            Ok(n) => drop(executions.fetch_add(n, Ordering::Relaxed)),
                            Err(e) => complaints.lock().unwrap().push(format!("seed {seed}: {e}\n{}", case.c())),
                        }
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    let first = complaints.first().map_or("", String::as_str);
    assert!(complaints.is_empty(), "{} of {programs}; the first:\n{first}", complaints.len());
    println!("{programs} programs, {} executions", executions.load(Ordering::Relaxed));
}
