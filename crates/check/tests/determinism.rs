//! One schedule run ten thousand times gives ten thousand identical traces and outputs.

use std::path::Path;
use std::sync::Arc;

use check::{BuildOptions, Built, build};
use exec::{Config, Isolation, Target};
use model::{Budget, Executor, Schedule, Step, Trace};

const RUNS: usize = 10_000;

const PROGRAMS: [&str; 12] = [
    "determinism/everything.cpp",
    "twins/array_slots.c",
    "twins/barrier_twice.c",
    "twins/cond_broadcast.c",
    "twins/cxx_exception.cpp",
    "twins/heap_reuse.c",
    "twins/keys.c",
    "twins/libc_epoll_server.c",
    "twins/libc_files.c",
    "twins/libc_pipe.c",
    "twins/libc_sockets.c",
    "twins/thread_local.c",
];

fn launch(executable: &Path, isolation: Isolation) -> Target {
    Target::launch(executable, Config { isolation, ..Config::default() }).unwrap_or_else(|e| panic!("{e}"))
}

fn run(target: &mut Target, schedule: &Schedule) -> (Trace, Vec<u8>) {
    let trace = target.run(schedule).unwrap_or_else(|e| panic!("{e}"));
    (trace, target.output().unwrap_or_else(|e| panic!("{e}")).stdout)
}

/// A schedule unlike the policy's: a switch in the middle, to the last thread that can run there.
fn switched(trace: &Trace) -> Schedule {
    let middle = Step(trace.events.len() as u32 / 2);
    let mut schedule = trace.schedule_to(middle);
    if let Some(thread) = trace.runnable_at(middle).iter().last() {
        let done = trace.events.iter().take(middle.0 as usize).filter(|e| e.id.thread == thread).count();
        schedule.push(thread, done as u32 + 1);
    }
    schedule
}

fn built(program: &str) -> Arc<Built> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(program);
    let inputs = vec![source.to_string_lossy().into_owned()];
    let options = BuildOptions { inputs, ..BuildOptions::default() };
    build(&options, &Budget::default()).unwrap_or_else(|e| panic!("{program}: {e}"))
}

fn check_program(program: &str) {
    let built = built(program);
    let mut restored = launch(&built.executable(), Isolation::Restore);
    let (first, _) = run(&mut restored, &Schedule::new());
    let schedule = switched(&first);
    let expected = run(&mut restored, &schedule);
    for n in 0..RUNS {
        // The output costs two system calls, so it is looked at now and then.
        let same = if n % 100 == 0 {
            run(&mut restored, &schedule) == expected
        } else {
            restored.run(&schedule).is_ok_and(|trace| trace == expected.0)
        };
        assert!(same, "{program}: run {n} of {schedule:?} differs");
    }
    let mut forked = launch(&built.executable(), Isolation::Fork);
    for _ in 0..10 {
        assert_eq!(run(&mut forked, &schedule), expected, "{program}: a forked run differs");
    }
    assert_eq!(
        run(&mut launch(&built.executable(), Isolation::Restore), &schedule),
        expected,
        "{program}: a new process differs"
    );
}

#[test]
fn one_schedule_ten_thousand_times() {
    std::thread::scope(|scope| {
        let (one, other) = PROGRAMS.split_at(PROGRAMS.len() / 2);
        for half in [one, other] {
            scope.spawn(move || half.iter().for_each(|program| check_program(program)));
        }
    });
}

/// Written memory in more places than the kernel tells at once is put back too.
#[test]
fn many_threads_are_restored() {
    let built = built("determinism/many_threads.c");
    let mut targets = [Isolation::Restore, Isolation::Fork].map(|isolation| launch(&built.executable(), isolation));
    for max_steps in [300, 700, 1500, 700, 3000, 300] {
        let [restored, forked] = targets.each_mut().map(|target| {
            let Config { time_limit, quantum, environment, .. } = *target.config();
            target.set_limits(max_steps, time_limit, quantum, environment);
            run(target, &Schedule::new())
        });
        assert!(restored == forked, "restored and forked runs of {max_steps} events differ");
    }
}
