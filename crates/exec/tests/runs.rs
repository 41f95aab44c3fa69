//! Runs of real programs: the same schedule gives the same trace, whatever the program does and however runs are kept
//! apart.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use exec::{Config, Error, Isolation, Target};
use model::{Access, End, Environment, EventId, Executor, Op, Schedule, Step, Surprise, ThreadId, Trace, WakeCause};
use support::{Built, build, schedule};

const BOTH: [Isolation; 2] = [Isolation::Restore, Isolation::Fork];

fn stdout(target: &mut Target) -> String {
    String::from_utf8(target.output().unwrap().stdout).unwrap()
}

/// Schedules with one switch after another event each, and a few more.
fn some_schedules(trace: &Trace) -> Vec<Schedule> {
    let mut all = vec![Schedule::new()];
    for step in 0..trace.events.len() as u32 {
        for thread in trace.runnable_at(Step(step)).iter() {
            let mut schedule = trace.schedule_to(Step(step));
            let done = trace.events.iter().take(step as usize).filter(|e| e.id.thread == thread).count() as u32;
            schedule.push(thread, done + 1);
            all.push(schedule);
        }
    }
    all
}

#[test]
fn the_same_schedule_gives_the_same_trace_a_thousand_times() {
    let program = build("counter.c");
    let mut target = program.isolated(Isolation::Restore);
    let schedules = [Schedule::new(), schedule(&[(0, 3), (1, 2), (2, 8), (1, 8)])];
    let expected: Vec<(Trace, String)> = schedules
        .iter()
        .map(|s| {
            let trace = target.run(s).unwrap();
            (trace, stdout(&mut target))
        })
        .collect();
    assert_eq!((expected[0].1.as_str(), expected[1].1.as_str()), ("counter = 6\n", "counter = 3\n"));
    for round in 0..1000 {
        let which = round % 2;
        assert_eq!(target.run(&schedules[which]).unwrap(), expected[which].0, "round {round}");
        assert_eq!(stdout(&mut target), expected[which].1);
    }
}

#[test]
fn a_trace_says_what_happened() {
    let trace = build("counter.c").trace();
    assert_eq!(trace.end, End::Exit { code: 0 });
    let paths: Vec<String> = trace.threads.iter().map(|t| t.path.to_string()).collect();
    assert_eq!(paths, ["0", "0.1", "0.2"]);
    assert!(trace.events.iter().filter(|e| e.op == Op::Start).count() == 3);
    assert_eq!(trace.accesses().count(), 13);
    assert_eq!(trace.events[Step(1)].op, Op::Create { child: ThreadId(1) });
    assert_eq!(trace.events[Step(1)].site.unwrap().0, 16);
    assert_eq!((trace.misuses.len(), trace.unmodelled.len(), trace.pending.len()), (0, 0, 0));
}

#[test]
fn restored_forked_and_new_processes_give_the_same_traces() {
    for name in ["counter.c", "heap.c", "locals.c", "exceptions.cpp"] {
        let program = build(name);
        let (mut restored, mut forked) = (program.isolated(Isolation::Restore), program.isolated(Isolation::Fork));
        let base = restored.run(&Schedule::new()).unwrap();
        assert_eq!(base.end, End::Exit { code: 0 }, "{name}");
        for (i, schedule) in some_schedules(&base).iter().enumerate() {
            let trace = restored.run(schedule).unwrap();
            assert!(!matches!(trace.end, End::Diverged { .. }), "{name}: {schedule:?} gave {:?}", trace.end);
            assert_eq!(forked.run(schedule).unwrap(), trace, "{name}: {schedule:?}");
            assert_eq!(stdout(&mut forked), stdout(&mut restored));
            if i % 20 == 0 {
                assert_eq!(program.isolated(Isolation::Auto).run(schedule).unwrap(), trace, "{name}: {schedule:?}");
            }
            let again = restored.run(&trace.schedule_to(trace.events.next_id())).unwrap();
            assert_eq!(again.events, trace.events, "{name}: replay of {schedule:?}");
            assert_eq!(again.end, trace.end);
        }
    }
}

#[test]
fn the_counter_has_every_result_that_schedules_can_give() {
    let program = build("counter.c");
    let mut target = program.isolated(Isolation::Auto);
    let mut seen = std::collections::BTreeSet::new();
    // Thread 1 executes events 1 to 6, thread 2 likewise; interleave them in all ways with two switches.
    for (a, b) in (1..=7).flat_map(|a| (1..=7).map(move |b| (a, b))) {
        let trace = target.run(&schedule(&[(0, 3), (1, a), (2, b), (1, 8), (2, 8)])).unwrap();
        assert_eq!(trace.end, End::Exit { code: 0 });
        seen.insert(stdout(&mut target));
    }
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        ["counter = 3\n", "counter = 4\n", "counter = 5\n", "counter = 6\n"]
    );
}

fn ending(program: &Built, how: &str, config: Config) -> Trace {
    let mut target = program.target(Config { args: vec![how.into()], ..config });
    let trace = target.run(&Schedule::new()).unwrap();
    // Whatever happened, the next run is as good as the first.
    if trace.end != End::TimeLimit {
        assert_eq!(target.run(&Schedule::new()).unwrap(), trace, "{how}");
    }
    trace
}

#[test]
fn threads_that_end_the_process_do_not_cut_off_the_others() {
    let program = build("endings.c");
    for isolation in BOTH {
        let crash = |how: &str, expected: &str| {
            let trace = ending(&program, how, Config { isolation, ..Config::default() });
            match &trace.end {
                End::Crash { thread: ThreadId(1), message, .. } => assert_eq!(message, expected, "{how}"),
                other => panic!("{how} ended with {other:?}"),
            }
            let others = trace.events.iter().filter(|e| e.id.thread == ThreadId(2)).count();
            assert_eq!(others, 10, "{how}: the other thread runs to its end");
            assert!(trace.pending.iter().all(|p| p.event.id.thread != ThreadId(1)), "{how}");
        };
        crash("null", "segmentation fault at address 0x0");
        crash("inside", "segmentation fault at address 0x1");
        crash("overflow", "stack overflow");
        crash("divide", "integer division by zero");
        crash("trap", "illegal instruction");
        crash("abort", "abort");
        let trace = ending(&program, "exit", Config { isolation, ..Config::default() });
        assert_eq!(trace.end, End::Exit { code: 7 });
        let trace = ending(&program, "alone", Config { isolation, ..Config::default() });
        assert_eq!((trace.end, trace.threads.len()), (End::Exit { code: 3 }, 1));
    }
}

#[test]
fn endless_runs_are_ended() {
    let program = build("endings.c");
    for isolation in BOTH {
        let time_limit = Duration::from_millis(200);
        let trace = ending(&program, "loop", Config { isolation, time_limit, ..Config::default() });
        assert_eq!(trace.end, End::TimeLimit);
        assert!(trace.events.len() > 3);
        let config = Config { isolation, max_steps: 500, ..Config::default() };
        let trace = ending(&program, "steps", config);
        assert_eq!((trace.end, trace.events.len()), (End::StepLimit, 500));
        let config = Config { isolation, trace_capacity: 1 << 12, ..Config::default() };
        assert_eq!(ending(&program, "steps", config).end, End::StepLimit, "a full trace area");
        let config = Config { isolation, max_steps: 2, ..Config::default() };
        assert_eq!(ending(&program, "", config).events.len(), 2, "before the checkpoint");
    }
}

#[test]
fn a_process_that_dies_is_an_error_and_started_again() {
    let program = build("endings.c");
    let mut target = program.target(Config { args: vec!["kill".into()], ..Config::default() });
    for _ in 0..2 {
        match target.run(&Schedule::new()) {
            Err(Error::Died { status, .. }) => assert!(status.contains("signal: 9"), "{status}"),
            Err(other) => panic!("{other}"),
            Ok(trace) => panic!("{:?}", trace.end),
        }
    }
    let missing = Target::launch(std::path::Path::new("/nonexistent/program"), Config::default());
    assert!(matches!(missing, Err(Error::Launch { .. })));
}

#[test]
fn divergence_is_reported() {
    let program = build("counter.c");
    for isolation in BOTH {
        let mut target = program.isolated(isolation);
        let mut told = |segments: &[(u32, u32)]| match target.run(&schedule(segments)).unwrap().end {
            End::Diverged { segment, message } => format!("{segment} {message}"),
            other => format!("{other:?}"),
        };
        assert_eq!(told(&[(0, 3), (3, 1)]), "1 thread 3 has not been created");
        assert_eq!(told(&[(1, 1)]), "0 thread 1 has not been created");
        assert_eq!(told(&[(0, 9)]), "0 thread 0 cannot execute its event 3, on the way to 9");
        assert_eq!(told(&[(0, 3), (1, 9)]), "1 thread 1 ended after 8 events, before 9");
        assert_eq!(told(&[(0, 3), (1, 4), (1, 2)]), "2 thread 1 is at its event 4, past 2");
        assert_eq!(told(&[(0, 3), (1, 4)]), "Exit { code: 0 }");
    }
}

#[test]
fn addresses_depend_on_the_thread_alone() {
    let program = build("heap.c");
    let mut target = program.isolated(Isolation::Restore);
    let base = target.run(&Schedule::new()).unwrap();
    let addresses = |trace: &Trace, thread: u32| -> Vec<u64> {
        let of_thread = trace.allocations.iter().filter(|a| a.thread == ThreadId(thread));
        of_thread.take(3).map(|a| a.start.0).collect()
    };
    assert_eq!(addresses(&base, 1).len(), 3);
    assert_ne!(addresses(&base, 1), addresses(&base, 2));
    for schedule in some_schedules(&base) {
        let trace = target.run(&schedule).unwrap();
        for thread in [1, 2] {
            assert_eq!(addresses(&trace, thread), addresses(&base, thread), "{schedule:?}");
        }
        assert!(trace.misuses.is_empty(), "{:?}", trace.misuses);
    }
    let mut wrong = program.target(Config { args: vec!["wrong".into()], ..Config::default() });
    let misuses = wrong.run(&Schedule::new()).unwrap().misuses;
    let what: Vec<&str> = misuses.iter().map(|m| m.what.as_str()).collect();
    assert_eq!(what, ["frees a block that was freed before", "frees memory that no allocation returned"]);
    assert_eq!(misuses[0].site.unwrap().0, 44);
}

#[test]
fn many_nested_threads() {
    let program = build("tree.c");
    let (mut restored, mut forked) = (program.isolated(Isolation::Restore), program.isolated(Isolation::Fork));
    let base = restored.run(&Schedule::new()).unwrap();
    assert_eq!((base.end.clone(), base.threads.len()), (End::Exit { code: 0 }, 1 + 6 + 24 + 96));
    assert!(base.threads.iter().any(|t| t.path.to_string() == "0.6.4.4"));
    assert!(base.unmodelled.is_empty(), "{:?}", base.unmodelled);
    // The last child of main first, then its children from the last on.
    let late = schedule(&[(0, 7), (6, 5), (5, 5), (10, 2), (7, 2)]);
    let trace = restored.run(&late).unwrap();
    assert_eq!(trace.end, End::Exit { code: 0 });
    assert_eq!(forked.run(&late).unwrap(), trace);
    assert_eq!(forked.run(&Schedule::new()).unwrap(), base);
    assert_eq!(restored.run(&Schedule::new()).unwrap(), base);
    // A thread's memory is where its name puts it, whatever its number.
    let blocks = |trace: &Trace| -> std::collections::BTreeMap<String, u64> {
        trace.allocations.iter().map(|a| (trace.threads[a.thread].path.to_string(), a.start.0)).collect()
    };
    assert_eq!(blocks(&trace), blocks(&base));
}

#[test]
fn thread_locals_errno_arguments_and_environment() {
    let program = build("locals.c");
    for isolation in BOTH {
        let args = vec!["one".into(), "two words".into()];
        let mut target = program.target(Config { isolation, args, ..Config::default() });
        for _ in 0..3 {
            target.run(&schedule(&[(0, 4), (1, 3), (2, 5), (1, 7)])).unwrap();
            assert_eq!(stdout(&mut target), "46 46 1 1 one two words clean\n");
        }
    }
}

#[test]
fn input_and_output_start_over_in_every_run() {
    let program = build("files.c");
    for isolation in BOTH {
        let stdin = Some(b"a\nb\nc\n".to_vec());
        let mut target = program.target(Config { isolation, stdin, ..Config::default() });
        for _ in 0..3 {
            assert_eq!(target.run(&Schedule::new()).unwrap().end, End::Exit { code: 0 });
            let output = target.output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "first: a\nkept rest: b\nrest: c\n");
            assert_eq!(output.stderr, b"note\n");
        }
    }
}

#[test]
fn symbols_name_addresses() {
    let program = build("counter.c");
    let mut target = program.isolated(Isolation::Auto);
    let trace = target.run(&Schedule::new()).unwrap();
    let symbols = target.symbols().unwrap();
    let (_, _, access) = trace.accesses().next().unwrap();
    assert_eq!(symbols.symbol_at(access.cell.start.0), Some(("counter", 0)));
    assert_eq!(symbols.symbol_at(access.cell.start.0 + 3), Some(("counter", 3)));
    assert_eq!(symbols.address_of("counter"), Some(access.cell.start.0));
    assert_eq!(symbols.symbol_at(1), None);
}

#[test]
fn pages_written_in_some_runs_only() {
    let program = build("pages.c");
    let (mut restored, mut forked) = (program.isolated(Isolation::Restore), program.isolated(Isolation::Fork));
    // Each order of the three threads writes to pages of its own.
    let orders = [[1, 2, 3], [3, 2, 1], [2, 1, 3], [1, 3, 2]].map(|order| {
        let starts = order.map(|thread| (thread, 3));
        schedule(&[&[(0, 4)][..], &starts].concat())
    });
    let expected = orders.each_ref().map(|order| forked.run(order).unwrap());
    assert_ne!(expected[0], expected[1]);
    let mut run = |which: usize| {
        let trace = restored.run(&orders[which]).unwrap();
        assert_eq!(trace.end, End::Exit { code: 0 });
        assert_eq!(trace, expected[which]);
    };
    // Written in every run for long, then not at all, then again; some not before many runs have passed.
    for (times, which) in [(150, 0), (150, 1), (20, 0), (150, 2), (1, 3), (80, 0), (1, 1), (1, 2)] {
        (0..times).for_each(|_| run(which));
    }
    for i in 0..300 {
        run([0, 1, 0, 2, 0, 0, 3][i % 7]);
    }
}

#[test]
fn a_loop_around_a_wait_ends_though_wake_ups_need_no_cause() {
    let program = build("waits.c");
    let spurious = |trace: &Trace| {
        let is_spurious = |op: &Op| matches!(op, Op::WaitEnd { cause: WakeCause::Spurious, .. });
        trace.events.iter().filter(|e| is_spurious(&e.op)).count()
    };
    for isolation in BOTH {
        let start = |args| {
            program.target(Config {
                isolation,
                args,
                environment: Environment::default().with(Surprise::Spurious),
                ..Config::default()
            })
        };
        // Nobody signals: one wake-up without a cause, then nothing more.
        let never = start(vec![]).run(&Schedule::new()).unwrap();
        assert_eq!((spurious(&never), never.end), (1, End::Deadlock));
        // Signalled: nothing else is needed, but the prefix may ask for it.
        let mut target = start(vec!["set".into()]);
        let usual = target.run(&schedule(&[(0, 2), (1, 4)])).unwrap();
        assert_eq!((spurious(&usual), usual.end), (0, End::Exit { code: 0 }));
        let asked = target.run(&schedule(&[(0, 2), (1, 8)])).unwrap();
        assert_eq!((spurious(&asked), asked.end), (1, End::Exit { code: 0 }));
    }
}

#[test]
fn a_crash_names_its_own_line() {
    let program = build("endings.c");
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/endings.c")).unwrap();
    for isolation in BOTH {
        let run = |how: &str| {
            let mut target = program.target(Config { isolation, args: vec![how.into()], ..Config::default() });
            target.run(&Schedule::new()).unwrap();
            target.crash_counter().map(|counter| target.line_of(counter).unwrap())
        };
        for (how, text) in [("null", "*nothing = 1"), ("overflow", "deep("), ("divide", "100 / zero")] {
            let line = run(how).unwrap().unwrap();
            assert!(line.file.ends_with("tests/programs/endings.c"), "{line:?}");
            let shown = source.lines().nth(line.line as usize - 1).unwrap();
            assert!(shown.contains(text), "{how}: {line:?}: {shown}");
        }
        assert_eq!(run("inside"), Some(None), "in the C library");
        assert_eq!(run("exit"), None);
    }
}

/// What events find and leave, by any order of the threads: nothing of another thread comes between.
#[test]
fn values_are_those_of_the_events() {
    let program = build("counter.c");
    let schedule = schedule(&[(0, 3), (1, 2), (2, 5), (1, 4)]);
    for isolation in BOTH {
        let mut target = program.isolated(isolation);
        let trace = target.run(&schedule).unwrap();
        let accesses = trace.events.iter().filter(|event| event.id.thread != ThreadId(0));
        let accesses: BTreeMap<EventId, Access> = accesses
            .filter_map(|event| if let Op::Access(access) = event.op { Some((event.id, access)) } else { None })
            .collect();
        let wanted = accesses.keys().copied().filter(|id| id.position < 4).collect();
        let (again, values) = target.run_with_values(&schedule, &wanted).unwrap();
        assert_eq!(again.events, trace.events);
        let of = |thread, position| {
            let id = EventId { thread: ThreadId(thread), position };
            values[&(id, accesses[&id].cell.start, 4)].map(Option::unwrap)
        };
        // Thread 1 reads 0, thread 2 adds twice, thread 1 writes 1.
        assert_eq!((of(1, 1), of(2, 1), of(2, 2), of(2, 3)), ([0, 0], [0, 0], [0, 1], [1, 1]));
        assert_eq!((of(1, 2), of(1, 3)), ([2, 1], [1, 1]));
        assert_eq!(values.len(), 6, "{values:?}");
    }
}
