//! Files come back as they were written, and nothing else is accepted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::index::Idx;
use model::{
    Access, AccessKind, Addr, Allocation, Cell, Choice, End, Environment, Event, EventId, IndexVec, LockMode, Misuse,
    Op, Order, Pending, Region, SiteId, Step, Surprise, ThreadId, ThreadInfo, ThreadPath, ThreadSet, Trace, Unmodelled,
};
use proptest::prelude::*;

use super::*;

fn identity() -> ProgramIdentity {
    ProgramIdentity {
        hash: "00ff".to_owned(),
        inputs: vec!["dir/a.c".to_owned()],
        executable: Some("server".to_owned()),
        folder: Some("work".to_owned()),
        variables: [("A".to_owned(), Some("x=y".to_owned())), ("B".to_owned(), None)].into(),
        cflags: vec!["-DX=\"y z\"".to_owned()],
        assume_pure: vec![],
        args: vec!["-n".to_owned(), "ä".to_owned()],
        stdin: Some("in.txt".to_owned()),
        stdin_hash: Some("ab".to_owned()),
        peers: Some("peers.toml".to_owned()),
        peers_hash: Some("cd".to_owned()),
    }
}

fn run_options() -> RunOptions {
    RunOptions { environment: Environment::default(), max_steps: 1000, quantum: 50, team_size: Some(3) }
}

/// Every combination of what may be left out of what binary files begin with.
fn beginnings() -> impl Iterator<Item = (ProgramIdentity, RunOptions)> {
    (0u32..64).map(|bits| {
        let has = |bit: u32| bits & 1 << bit != 0;
        let all = identity();
        let program = ProgramIdentity {
            assume_pure: if has(0) { vec!["f".to_owned()] } else { vec![] },
            executable: all.executable.filter(|_| has(2)),
            folder: all.folder.filter(|_| has(1)),
            variables: if has(5) { all.variables } else { BTreeMap::new() },
            stdin: all.stdin.filter(|_| has(1)),
            stdin_hash: all.stdin_hash.filter(|_| has(2)),
            peers: all.peers.filter(|_| has(3)),
            peers_hash: all.peers_hash.filter(|_| has(3)),
            cflags: if has(4) { all.cflags } else { vec![] },
            ..identity()
        };
        let environment = Surprise::ALL.into_iter().filter(|_| has(4)).fold(Environment::default(), Environment::with);
        let team_size = run_options().team_size.filter(|_| has(5));
        (program, RunOptions { environment, team_size, ..run_options() })
    })
}

#[test]
fn what_binary_files_begin_with_comes_back_with_every_option_set_or_not() {
    const KIND: BinaryKind = BinaryKind { magic: *b"rpoption", version: 1, name: "options" };
    let path = PathBuf::from("options");
    for (program, run) in beginnings() {
        // A field that is left out would shift what follows.
        let written = (program, run, 7u64);
        assert_eq!(
            KIND.from_bytes::<(ProgramIdentity, RunOptions, u64)>(&KIND.to_bytes(&written), &path).unwrap(),
            written
        );
        let (program, run, _) = written;
        for cut in [None, Some("full".to_owned())] {
            let symbols = symbols::Symbols::default();
            let file = TraceFile { program: program.clone(), symbols, trace: small_trace(), cut, left_out: 0 };
            assert_eq!(TraceFile::from_bytes(&file.to_bytes(), &path, Detail::Every).unwrap(), file);
        }
        let (folder, trace) = (tempfile::tempdir().unwrap(), small_trace());
        let schedule = trace.schedule_to(trace.events.next_id());
        let path = folder.path().join("w.rpw");
        let witness = Witness::new(program, run, deadlock(), &schedule, &trace).unwrap();
        witness.write(&path).unwrap();
        assert_eq!(Witness::read(&path).unwrap(), witness);
    }
}

fn any_access() -> impl Strategy<Value = Access> {
    let kind = prop_oneof![
        Just(AccessKind::Read),
        Just(AccessKind::Write),
        Just(AccessKind::ReadModifyWrite),
        Just(AccessKind::Free)
    ];
    let order = prop_oneof![Just(None), Just(Some(Order::Relaxed)), Just(Some(Order::SeqCst))];
    (kind, order, 0u64..64, 1u32..9).prop_map(|(kind, atomic, start, len)| Access {
        kind,
        atomic,
        cell: Cell { start: Addr(0x1000 + start), len },
    })
}

fn any_choice() -> impl Strategy<Value = Choice> {
    (any::<i64>(), any::<i64>(), any::<i64>()).prop_map(|(a, b, value)| {
        let (lo, hi) = (a.min(b), a.max(b));
        Choice { lo, hi, value: value.clamp(lo, hi) }
    })
}

fn any_op() -> impl Strategy<Value = Op> {
    let lock = Addr(0x9000);
    prop_oneof![
        4 => any_access().prop_map(Op::Access),
        1 => prop::collection::vec(any_access(), 1..4).prop_map(|a| Op::Accesses(a.into())),
        1 => Just(Op::Acquire { lock, mode: LockMode::Exclusive }),
        1 => any::<bool>().prop_map(move |success| Op::TryAcquire { lock, mode: LockMode::Shared, success }),
        1 => Just(Op::WaitBegin { cond: Addr(0x9100), lock }),
        1 => Just(Op::Join { child: ThreadId(1) }),
        1 => Just(Op::Yield),
        1 => any_choice().prop_map(Op::Choose),
        1 => (prop::collection::vec(any_access(), 0..3), prop::collection::vec(any_choice(), 0..3))
            .prop_map(|(accesses, choices)| {
                let sites = accesses.iter().map(|_| Some(SiteId(3))).collect();
                Op::Section { accesses: accesses.into(), sites, choices: choices.into() }
            }),
        1 => Just(Op::Await { cells: Box::new([Cell { start: Addr(0x1000), len: 4 }]) }),
    ]
}

prop_compose! {
    /// A trace of three threads whose events have consecutive positions.
    fn any_trace()(
        ops in prop::collection::vec((0u32..3, prop::option::of(0u32..9), any_op()), 1..40),
        sets in prop::collection::vec(1u64..8, 1..5),
        code in any::<i32>(),
    ) -> Trace {
        let main = ThreadPath::main();
        let threads = [main.clone(), main.child(1), main.child(2)];
        let mut next = [0u32; 3];
        let events: IndexVec<Step, Event> = ops
            .into_iter()
            .map(|(t, site, op)| {
                next[t as usize] += 1;
                let id = EventId { thread: ThreadId(t), position: next[t as usize] - 1 };
                Event { id, site: site.map(SiteId), op }
            })
            .collect();
        let last = events.len();
        let pending = events.iter().next().cloned().unwrap();
        Trace {
            threads: threads
                .into_iter()
                .map(|path| ThreadInfo { created: path.parent().map(|_| Step(0)), path })
                .collect(),
            runnable: sets
                .iter()
                .enumerate()
                .map(|(i, bits)| (Step::new(i.min(last)), ThreadSet::from_words(&[*bits])))
                .collect(),
            pending: vec![Pending { event: pending, enabled: false }],
            allocations: vec![Allocation {
                before: Step(0),
                thread: ThreadId(0),
                site: None,
                region: Region::Heap,
                start: Addr(0x1000),
                size: 64,
            }],
            misuses: vec![Misuse {
                before: Step(0),
                thread: ThreadId(0),
                site: None,
                what: "unlocks a mutex it does not hold".to_owned(),
                object: Addr(0x9000),
            }],
            unmodelled: vec![Unmodelled { thread: ThreadId(0), site: None, what: "calls `fork`".to_owned() }],
            opened: vec![],
            peers: vec![],
            end: End::Exit { code },
            events,
        }
    }
}

fn deadlock() -> RecordedFinding {
    RecordedFinding::Deadlock { message: "three threads wait for ever".to_owned() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn traces_come_back(trace in any_trace()) {
        let file = TraceFile { program: identity(), symbols: symbols::Symbols::default(), trace, cut: None, left_out: 0 };
        prop_assert_eq!(TraceFile::from_bytes(&file.to_bytes(), &PathBuf::from("t.rpt"), Detail::Every).unwrap(), file);
    }

    #[test]
    fn a_changed_or_shortened_trace_is_refused(trace in any_trace(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let path = PathBuf::from("t.rpt");
        let bytes = TraceFile { program: identity(), symbols: symbols::Symbols::default(), trace, cut: None, left_out: 0 }.to_bytes();
        let at = at.index(bytes.len());
        let mut changed = bytes.clone();
        changed[at] ^= 1 << bit;
        prop_assert!(TraceFile::from_bytes(&changed, &path, Detail::Every).is_err());
        prop_assert!(TraceFile::from_bytes(&bytes[..at], &path, Detail::Every).is_err());
    }

    #[test]
    fn schedules_and_witnesses_come_back(trace in any_trace()) {
        let folder = tempfile::tempdir().unwrap();
        let schedule = trace.schedule_to(trace.events.next_id());

        let path = folder.path().join("s.rps");
        let file = ScheduleFile::new(&schedule, &schedule::paths(&trace.threads)).unwrap();
        file.write(&path).unwrap();
        prop_assert_eq!(&ScheduleFile::read(&path).unwrap(), &file);
        prop_assert_eq!(file.schedule(), schedule.clone());

        let path = folder.path().join("w.rpw");
        let witness = Witness::new(identity(), run_options(), deadlock(), &schedule, &trace).unwrap();
        witness.write(&path).unwrap();
        prop_assert_eq!(&Witness::read(&path).unwrap(), &witness);
        prop_assert_eq!(witness.schedule(), schedule);
        prop_assert_eq!(witness.compare(&trace), Ok(()));
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file stays behind");
    }

    #[test]
    fn replay_notices_another_event(trace in any_trace(), at in any::<prop::sample::Index>()) {
        let schedule = trace.schedule_to(trace.events.next_id());
        let witness = Witness::new(identity(), run_options(), deadlock(), &schedule, &trace).unwrap();
        let mut other = trace.clone();
        let step = Step::new(at.index(trace.events.len()));
        other.events[step].site = Some(SiteId(77));
        let difference = witness.compare(&other).unwrap_err();
        let same = matches!(&difference, Difference::Events { thread, .. }
            if *thread == trace.threads[trace.events[step].id.thread].path);
        prop_assert!(same, "{}", difference);
    }

    #[test]
    fn replay_does_not_depend_on_addresses(trace in any_trace(), shift in 1u64..1 << 40) {
        let schedule = trace.schedule_to(trace.events.next_id());
        let witness = Witness::new(identity(), run_options(), deadlock(), &schedule, &trace).unwrap();
        let mut other = trace.clone();
        for event in other.events.iter_mut() {
            match &mut event.op {
                Op::Access(access) => access.cell.start.0 += shift,
                Op::Await { cells } => cells.iter_mut().for_each(|cell| cell.start.0 += shift),
                Op::Accesses(accesses) | Op::Section { accesses, .. } => accesses.iter_mut().for_each(|a| a.cell.start.0 += shift),
                Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. } => lock.0 += shift,
                Op::WaitBegin { cond, lock } => (cond.0, lock.0) = (cond.0 + shift, lock.0 + shift),
                _ => {}
            }
        }
        prop_assert_eq!(witness.compare(&other), Ok(()));
    }
}

/// Two threads, one event each, both runnable.
fn small_trace() -> Trace {
    let main = ThreadPath::main();
    let event = |t, op| Event { id: EventId { thread: ThreadId(t), position: 0 }, site: Some(SiteId(t)), op };
    Trace {
        threads: [
            ThreadInfo { path: main.clone(), created: None },
            ThreadInfo { path: main.child(1), created: Some(Step(0)) },
        ]
        .into_iter()
        .collect(),
        events: [event(0, Op::Create { child: ThreadId(1) }), event(1, Op::Start)].into_iter().collect(),
        runnable: vec![(Step(0), ThreadSet::from_words(&[1])), (Step(1), ThreadSet::from_words(&[3]))],
        pending: vec![],
        allocations: vec![],
        misuses: vec![],
        unmodelled: vec![],
        opened: vec![],
        peers: vec![],
        end: End::Exit { code: 0 },
    }
}

fn written() -> (tempfile::TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.rpw");
    let trace = small_trace();
    let witness = Witness::new(identity(), run_options(), deadlock(), &trace.schedule_to(Step(2)), &trace).unwrap();
    witness.write(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    (folder, path, text)
}

#[test]
fn each_wrong_witness_has_its_own_error() {
    let (_folder, path, text) = written();
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Witness::read(&path).unwrap_err()
    };
    assert!(matches!(read("int main(void) {}"), Error::Foreign { .. }));
    assert!(matches!(read("[1, 2]"), Error::Foreign { .. }));
    assert!(matches!(read(&text.replace("raceproof witness", "raceproof schedule")), Error::Foreign { .. }));
    assert!(matches!(read(&text.replace("\"version\": 3", "\"version\": 9")), Error::Version { found: 9, .. }));
    assert!(matches!(read(&text[..text.len() / 2]), Error::Truncated { .. }));
    assert!(matches!(read(&text.replace("\"until\": 1", "\"until\": 2")), Error::Edited { .. }));
    assert!(matches!(read(&text.replace("\"0.1\"", "\"0.x\"")), Error::Damaged { .. }));
    assert!(matches!(read(&text.replace("\"until\": 1", "\"until\": -1")), Error::Damaged { .. }));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(Witness::read(&path), Err(Error::Io { .. })));
}

#[test]
fn every_byte_of_a_witness_counts() {
    let (_folder, path, text) = written();
    let original = Witness::read(&path).unwrap();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
        std::fs::write(&path, bytes).unwrap();
        if let Ok(read) = Witness::read(&path) {
            assert_eq!(read, original, "byte {at} was changed and another witness read");
        }
    }
}

#[test]
fn replay_notices_other_runnable_threads_and_an_early_end() {
    let trace = small_trace();
    let witness = Witness::new(identity(), run_options(), deadlock(), &trace.schedule_to(Step(2)), &trace).unwrap();
    let mut other = trace.clone();
    other.runnable[1].1 = ThreadSet::from_words(&[2]);
    let difference = witness.compare(&other).unwrap_err();
    assert_eq!(difference.to_string(), "when segment 2 began, threads 0, 0.1 could run; now it is 0.1");

    let mut other = trace.clone();
    other.events.truncate(1);
    assert_eq!(witness.compare(&other), Err(Difference::Ended { segment: 2 }));
    other.end = End::Diverged { segment: 1, message: "thread t1 waits".to_owned() };
    assert_eq!(witness.compare(&other).unwrap_err().to_string(), "segment 2 cannot be followed: thread t1 waits");
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/w.rpw");
    let trace = small_trace();
    let witness = Witness::new(identity(), run_options(), deadlock(), &trace.schedule_to(Step(2)), &trace).unwrap();
    let error = witness.write(&missing).unwrap_err();
    assert!(error.to_string().contains("no/such/folder/w.rpw"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
