//! A witness tells the run it was made from apart from runs that differ in what they touch.

use std::collections::BTreeMap;

use files::{Difference, ProgramIdentity, RecordedFinding, RunOptions, Witness};
use model::{
    Access, AccessKind, Addr, Cell, End, Environment, Event, EventId, LockMode, Op, SiteId, ThreadId, ThreadInfo,
    ThreadPath, ThreadSet, Trace,
};

/// A run of one thread: it acquires a lock and writes to these addresses, one after the other.
fn run(lock: u64, addresses: &[u64]) -> Trace {
    let write = |start: &u64| {
        Op::Access(Access { kind: AccessKind::Write, atomic: None, cell: Cell { start: Addr(*start), len: 4 } })
    };
    let acquire = Op::Acquire { lock: Addr(lock), mode: LockMode::Exclusive };
    let ops = std::iter::once(acquire).chain(addresses.iter().map(write));
    let event = |(position, op)| Event { id: EventId { thread: ThreadId::MAIN, position }, site: Some(SiteId(1)), op };
    Trace {
        threads: std::iter::once(ThreadInfo { path: ThreadPath::main(), created: None }).collect(),
        events: (0..).zip(ops).map(event).collect(),
        runnable: vec![(model::Step(0), ThreadSet::from_words(&[1]))],
        ..Trace::empty(End::Exit { code: 0 })
    }
}

#[test]
fn replay_notices_an_access_to_another_object() {
    let program = ProgramIdentity {
        hash: "00".to_owned(),
        inputs: vec!["a.c".to_owned()],
        executable: None,
        folder: None,
        variables: BTreeMap::new(),
        cflags: vec![],
        assume_pure: vec![],
        args: vec![],
        stdin: None,
        stdin_hash: None,
        peers: None,
        peers_hash: None,
    };
    let options = RunOptions { environment: Environment::default(), max_steps: 1000, quantum: 50, team_size: None };
    let finding = RecordedFinding::Deadlock { message: "1 thread is blocked for ever".to_owned() };
    let trace = run(0x9000, &[0x1000, 0x2000, 0x1000]);
    let schedule = trace.schedule_to(trace.events.next_id());
    let witness = Witness::new(program, options, finding, &schedule, &trace).unwrap();
    assert_eq!(witness.compare(&run(0x9008, &[0x5000, 0x6000, 0x5000])), Ok(()), "only the addresses are others");
    for other in [
        run(0x9000, &[0x1000, 0x2000, 0x2000]),
        run(0x9000, &[0x1000, 0x1000, 0x1000]),
        run(0x1000, &[0x1000, 0x2000, 0x1000]),
    ] {
        assert!(matches!(witness.compare(&other), Err(Difference::Events { .. })), "{:?}", other.events);
    }
}
