//! Measures time and memory of prediction for long traces, which are built first and count in the peak.
//!
//! `cargo bench -p raceproof-predict -- 10` measures the filters and the linear pass on a trace of 10 million events of
//! sixteen threads. With `locks` as a second argument, and the numbers of threads and locks after it, all passes on a trace
//! in which every other event acquires or releases one of that many locks, as `bench --only prediction` does with the
//! command.
#![allow(missing_docs, clippy::print_stdout, reason = "prints its figures")]

use std::time::Instant;

use model::{
    Access, AccessKind, Addr, Cell, End, Event, EventId, LockMode, Op, Order, SiteId, ThreadId, ThreadInfo, ThreadPath,
    Trace,
};
use predict::{Options, predict};
use testkit::generator::Random;

const THREADS: u32 = 16;

fn access(kind: AccessKind, atomic: Option<Order>, start: u64) -> Op {
    Op::Access(Access { kind, atomic, cell: Cell { start: Addr(start), len: 8 } })
}

/// Threads use private memory, tables under one of 64 locks, a read-only table and an atomic counter. Now and then one
/// hands a value to another in a critical section whose lock orders the two, in one case only by chance.
fn synthetic(events: usize) -> Trace {
    let path = |t: u32| if t == 0 { ThreadPath::main() } else { ThreadPath::main().child(t) };
    let threads = (0..THREADS).map(|t| ThreadInfo { path: path(t), created: (t > 0).then_some(model::Step(t)) });
    let mut trace = Trace { threads: threads.collect(), ..Trace::empty(End::Exit { code: 0 }) };
    let mut positions = [0u32; THREADS as usize];
    let mut push = |trace: &mut Trace, thread: u32, site: u32, op: Op| {
        let position = &mut positions[thread as usize];
        let id = EventId { thread: ThreadId(thread), position: *position };
        *position += 1;
        trace.events.push(Event { id, site: Some(SiteId(site)), op });
    };
    push(&mut trace, 0, 0, Op::Start);
    for child in 1..THREADS {
        push(&mut trace, 0, 1, Op::Create { child: ThreadId(child) });
    }
    for child in 1..THREADS {
        push(&mut trace, child, 0, Op::Start);
    }
    let mut random = Random::new(1);
    let (read, write) = (AccessKind::Read, AccessKind::Write);
    while trace.events.len() < events {
        let thread = random.below(THREADS as usize) as u32;
        let own = |random: &mut Random| 0x1_0000_0000 * (u64::from(thread) + 1) + 8 * random.below(20_000) as u64;
        for _ in 0..random.below(24) {
            let (kind, site) = if random.below(3) == 0 { (write, 2) } else { (read, 3) };
            let op = access(kind, None, own(&mut random));
            push(&mut trace, thread, site + 10 * (random.below(20) as u32), op);
        }
        match random.below(8) {
            0..=3 => {
                let table = random.below(64) as u64;
                let (lock, mode) = (Addr(0x1000 + 64 * table), LockMode::Exclusive);
                push(&mut trace, thread, 400, Op::Acquire { lock, mode });
                for _ in 0..1 + random.below(4) {
                    let cell = 0x10_0000 + 0x1000 * table + 8 * random.below(100) as u64;
                    push(&mut trace, thread, 401, access(read, None, cell));
                    push(&mut trace, thread, 402, access(write, None, cell));
                }
                push(&mut trace, thread, 403, Op::Release { lock, mode });
            }
            4 if random.below(100) == 0 => {
                let (lock, mode) = (Addr(0x800), LockMode::Exclusive);
                let next = (thread + 1) % THREADS;
                let (value, by_chance) = (0x100_0000 + 8 * trace.events.len() as u64, random.below(2) as u32);
                let flag = access(write, None, 0x600 + 0x400 * u64::from(by_chance));
                push(&mut trace, thread, 500 + by_chance, access(write, None, value));
                push(&mut trace, thread, 403, Op::Acquire { lock, mode });
                push(&mut trace, thread, 510, flag.clone());
                push(&mut trace, thread, 403, Op::Release { lock, mode });
                push(&mut trace, next, 403, Op::Acquire { lock, mode });
                let seen = if by_chance == 1 { flag } else { access(read, None, 0x600) };
                push(&mut trace, next, 511, seen);
                push(&mut trace, next, 403, Op::Release { lock, mode });
                push(&mut trace, next, 502 + by_chance, access(read, None, value));
            }
            4..=6 => push(&mut trace, thread, 404, access(read, None, 0x80_0000 + 8 * random.below(10_000) as u64)),
            _ => push(&mut trace, thread, 405, access(AccessKind::ReadModifyWrite, Some(Order::AcqRel), 0x9000)),
        }
    }
    trace
}

/// Peak memory of the process, in megabytes.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse::<u64>().ok());
    kilobytes.map_or_else(|| "unknown".to_owned(), |n| format!("{} MB", n / 1024))
}

/// Processor time of the process in seconds, which excludes other work on the machine.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn lock_heavy(events: usize, threads: usize, locks: usize) -> Trace {
    let mut text = Vec::new();
    testkit::traces::lock_heavy(events, threads, locks, &mut text).expect("writing to memory");
    predict::rapid::read(&String::from_utf8_lossy(&text)).expect("the text is a trace").trace
}

fn main() {
    let numbers: Vec<f64> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let events = (numbers.first().unwrap_or(&10.0) * 1e6) as usize;
    let is_lock_heavy = std::env::args().any(|arg| arg == "locks");
    let number = |at: usize, default: usize| numbers.get(at).map_or(default, |n| *n as usize);
    let trace = if is_lock_heavy { lock_heavy(events, number(1, 8), number(2, 100)) } else { synthetic(events) };
    let options = if is_lock_heavy { Options::default() } else { Options { budget: 0, ..Options::default() } };
    println!("{} events, peak {} with the trace alone", trace.events.len(), peak());
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let prediction = predict(&trace, &options);
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let per_second = |seconds: f64| trace.events.len() as f64 / seconds / 1e6;
    println!(
        "{:.2} million events/s of processor time ({cpu:.2} s; {:.2} by the clock), peak {}: {} races, {} open, {} rejected",
        per_second(cpu),
        per_second(seconds),
        peak(),
        prediction.races.len(),
        prediction.open.len(),
        prediction.rejected.len()
    );
}
