//! The rules of runs: the policy after the prefix, how runs end, and the events of compound operations.

use model::{End, Executor, Schedule, ThreadId, Trace};
use program::Program;
use testkit::{Interpreter, Options};

/// Runs under segments `(thread, until)`.
fn run(text: &str, segments: &[(u32, u32)], options: Options) -> Trace {
    let mut schedule = Schedule::new();
    segments.iter().for_each(|(thread, until)| schedule.push(ThreadId(*thread), *until));
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let Ok(trace) = Interpreter::with_options(program, options).unwrap().run(&schedule);
    trace
}

/// The events as `thread:operation`, without starts and exits.
fn story(trace: &Trace) -> String {
    let name = |op: &model::Op| format!("{op:?}").split([' ', '(']).next().unwrap_or_default().to_owned();
    let events = trace.events.iter().map(|e| (e.id.thread.0, name(&e.op)));
    let events = events.filter(|(_, name)| !["Start", "Exit"].contains(&name.as_str()));
    events.map(|(thread, name)| format!("{thread}:{name}")).collect::<Vec<_>>().join(" ")
}

const TWO: &str = "global x: 4
fn t(%a) { store 4, @x, 1\n yield\n store 4, @x, 2\n return 0 }
fn main() { %h = create &t, 0\n yield\n store 4, @x, 3\n yield\n return 0 }";

#[test]
fn the_policy_lets_a_thread_run_on_and_rotates_after_a_yield() {
    let story_of = |segments: &[(u32, u32)]| story(&run(TWO, segments, Options::default()));
    assert_eq!(story_of(&[]), "0:Create 0:Yield 1:Access 1:Yield 0:Access 0:Yield 1:Access");
    // Main is before its store, after its yield, so the other thread's turn comes.
    assert_eq!(story_of(&[(0, 3)]), "0:Create 0:Yield 1:Access 1:Yield 0:Access 0:Yield 1:Access");
    assert_eq!(story_of(&[(0, 2), (1, 2)]), "0:Create 1:Access 1:Yield 0:Yield 1:Access 0:Access 0:Yield");
    assert_eq!(story_of(&[(0, 4)]), "0:Create 0:Yield 0:Access 0:Yield 1:Access 1:Yield 1:Access");
}

#[test]
fn a_quantum_ends_a_turn() {
    let text = "global x: 4
fn t(%a) { store 4, @x, 1\n store 4, @x, 1\n return 0 }
fn main() { %h = create &t, 0\n store 4, @x, 3\n store 4, @x, 3\n return 0 }";
    let quantum = |quantum| story(&run(text, &[], Options { quantum, ..Options::default() }));
    assert_eq!(quantum(0), "0:Create 0:Access 0:Access 1:Access 1:Access");
    assert_eq!(quantum(2), "0:Create 1:Access 0:Access 0:Access 1:Access");
}

#[test]
fn divergence_is_reported() {
    let end = |segments: &[(u32, u32)]| run(TWO, segments, Options::default()).end;
    let diverged = |segment, message: &str| End::Diverged { segment, message: message.to_owned() };
    assert_eq!(end(&[(1, 1)]), diverged(0, "thread 1 has not been created"));
    assert_eq!(end(&[(0, 9)]), diverged(0, "thread 0 cannot execute its event 5, on the way to 9"));
    assert_eq!(end(&[(0, 3), (1, 1), (0, 1)]), diverged(2, "thread 0 is at its event 3, past 1"));
    assert_eq!(run(TWO, &[], Options { max_steps: 4, ..Options::default() }).end, End::StepLimit);
    assert_eq!(run("fn main() { a: goto a }", &[], Options::default()).end, End::TimeLimit);
}

#[test]
fn the_end_of_the_process_is_postponed() {
    let text = "global x: 4\nglobal m: 40
fn t(%a) { store 4, @x, 1\n store 4, @x, 2\n return 0 }
fn main() { %h = create &t, 0\n exit 7\n unreachable }";
    let trace = run(text, &[], Options::default());
    assert_eq!((story(&trace).as_str(), trace.end), ("0:Create 1:Access 1:Access", End::Exit { code: 7 }));

    let blocked = "global m: 40\nfn t(%a) { lock @m\n return 0 }\nfn main() { lock @m\n %h = create &t, 0\n return 2 }";
    let trace = run(blocked, &[], Options::default());
    assert_eq!(trace.end, End::Exit { code: 2 });
    assert_eq!((trace.pending.len(), trace.pending[0].enabled), (1, false));

    let failing = "fn t(%a) { assert 0\n return 0 }\nfn main() { %h = create &t, 0\n return 2 }";
    let end = run(failing, &[], Options::default()).end;
    assert!(matches!(end, End::Assertion { thread: ThreadId(1), .. }), "{end:?}");

    let exited = "fn t(%a) { return 0 }\nfn main() { %h = create &t, 0\n exit_thread\n return 2 }";
    assert_eq!(run(exited, &[], Options::default()).end, End::Exit { code: 0 });

    let crash = "fn main() { store 4, 0, 1\n return 0 }";
    let trace = run(crash, &[], Options::default());
    assert_eq!(story(&trace), "0:Access");
    let End::Crash { message, .. } = trace.end else { panic!("{:?}", trace.end) };
    assert_eq!(message, "segmentation fault at address 0x0");
}

#[test]
fn a_wait_is_three_events() {
    let text = "global m: 40\nglobal c: 48
fn t(%a) { lock @m\n wait @c, @m\n unlock @m\n return 0 }
fn main() { %h = create &t, 0\n lock @m\n signal @c\n unlock @m\n join %h\n return 0 }";
    let trace = run(text, &[(0, 2), (1, 3)], Options::default());
    let expected = "0:Create 1:Acquire 1:WaitBegin 0:Acquire 0:Signal 0:Release 1:WaitEnd 1:Acquire 1:Release 0:Join";
    assert_eq!((story(&trace).as_str(), &trace.end), (expected, &End::Exit { code: 0 }));

    let lost = run(text, &[(0, 5)], Options::default());
    assert_eq!(lost.end, End::Deadlock);
    let sites: Vec<bool> = lost.pending.iter().map(|p| p.enabled).collect();
    assert_eq!(sites, [false, false]);
    let spurious = run(text, &[(0, 5)], Options { spurious: true, ..Options::default() });
    assert_eq!(spurious.end, End::Exit { code: 0 });
    assert!(format!("{:?}", spurious.events).contains("Spurious"));
    let timed = run(&text.replace("wait @c", "timedwait @c"), &[(0, 5)], Options::default());
    assert!(format!("{:?}", timed.events).contains("TimedOut"));
}

#[test]
fn a_loop_around_a_wait_ends_though_wake_ups_need_no_cause() {
    let text = "global m: 40\nglobal c: 48\nglobal ready: 4
fn t(%a) { lock @m\n goto test\ntest:\n %r = load 4, @ready\n branch %r, done, again\nagain:\n wait @c, @m\n goto test
done:\n unlock @m\n return 0 }
fn main() { %h = create &t, 0\n lock @m\n SET\n unlock @m\n join %h\n return 0 }";
    let options = Options { spurious: true, ..Options::default() };
    let count = |trace: &Trace| format!("{:?}", trace.events).matches("Spurious").count();
    // No signal: one spurious wake-up, then nothing more.
    let never = run(&text.replace("SET", "signal @c"), &[(0, 5)], options);
    assert_eq!((count(&never), never.end), (1, End::Deadlock));
    // Signalled: no spurious wake-up is needed, but the prefix may request one.
    let set = text.replace("SET", "store 4, @ready, 1\n signal @c");
    let usual = run(&set, &[(0, 2), (1, 4)], options);
    assert_eq!((count(&usual), usual.end), (0, End::Exit { code: 0 }));
    let asked = run(&set, &[(0, 2), (1, 8)], options);
    assert_eq!((count(&asked), asked.end), (1, End::Exit { code: 0 }));
}

#[test]
fn a_cancelled_thread_ends_at_its_wait() {
    let text = "global s: 32
fn t(%a) { sem_wait @s\n assert 0\n return 0 }
fn main() { sem_init @s, 0\n %h = create &t, 0\n cancel %h\n join %h\n return 0 }";
    let trace = run(text, &[], Options::default());
    assert_eq!(story(&trace), "0:Init 0:Create 0:Cancel 1:Cancelled 0:Join");
    assert_eq!(trace.end, End::Exit { code: 0 });
}

#[test]
fn wrong_use_of_the_api_is_recorded_and_the_run_goes_on() {
    let misuse = |body: &str| {
        let text = format!("global m: 40\nfn t(%a) {{ return 0 }}\nfn main() {{ {body}\n return 0 }}");
        let trace = run(&text, &[], Options::default());
        assert_eq!(trace.end, End::Exit { code: 0 }, "{body}");
        trace.misuses.into_iter().map(|m| m.what).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(misuse("unlock @m"), "unlocks a mutex it does not hold");
    assert_eq!(misuse("lock @m\n lock_destroy @m"), "destroys a synchronisation object in use");
    assert_eq!(misuse("%h = create &t, 0\n join %h\n join %h"), "joins a thread that was detached or joined before");
    assert_eq!(misuse("%h = current\n join %h"), "joins itself");
    assert_eq!(misuse("%p = alloc 4\n free %p\n free %p"), "frees a block that was freed before");
    assert_eq!(misuse("free @m"), "frees an address that no allocation returned");
    assert_eq!(misuse("join 5"), "uses a value that is no thread's handle");
    assert_eq!(misuse("%p = alloc 40\n lock %p\n free %p"), "frees the memory of a synchronisation object in use");
}

#[test]
fn addresses_follow_from_paths_not_from_the_order_of_creation() {
    let text = "fn g(%a) { %p = alloc 4\n store 4, %p, 1\n return 0 }
fn t(%a) { %h = create &g, 0\n join %h\n return 0 }
fn main() { %h = create &t, 0\n %i = create &t, 0\n join %h\n join %i\n return 0 }";
    let cells = |trace: &Trace| {
        let path = |e: &model::Event| trace.threads[e.id.thread].path.clone();
        trace.accesses().map(|(_, e, a)| (path(e), a.cell)).collect::<std::collections::BTreeMap<_, _>>()
    };
    let first = run(text, &[], Options::default());
    let second = run(text, &[(0, 3), (2, 2), (1, 2)], Options::default());
    assert_eq!(cells(&first).len(), 2);
    assert_eq!(cells(&first), cells(&second));
}
