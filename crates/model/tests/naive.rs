//! The detector compared with a literal reading of the definition: a graph of events, reachability, and every pair of
//! accesses.

use std::collections::BTreeSet;

use model::race::{Analyser, News, SitePair, analyse, could_race, is_race};
use model::{
    Access, AccessKind, Addr, Cell, End, Event, EventId, IndexVec, LockMode, Op, Order, SiteId, Step, ThreadId,
    ThreadInfo, ThreadPath, ThreadSet, Trace, locks_held,
};
use testkit::generator::Random;

/// A number below `end`.
fn below(random: &mut Random, end: u32) -> u32 {
    random.below(end as usize) as u32
}

const MEMORY: [(u64, u32); 7] = [(0x100, 4), (0x104, 4), (0x100, 8), (0x103, 2), (0x107, 3), (0x108, 8), (0x0, 4096)];
const ATOMICS: [(u64, u32); 4] = [(0x200, 4), (0x204, 4), (0x200, 8), (0x100, 4)];
const LOCK: Addr = Addr(0x300);
const SEM: Addr = Addr(0x308);
const ONCE: Addr = Addr(0x310);
const BARRIER: Addr = Addr(0x318);
const COND: Addr = Addr(0x320);
/// Arrivals that complete a generation.
const GENERATION: usize = 2;

fn random_access(random: &mut Random) -> Access {
    if random.below(3) == 0 {
        let (start, len) = random.pick(&ATOMICS);
        let kind = random.pick(&[AccessKind::Read, AccessKind::Write, AccessKind::ReadModifyWrite]);
        let order = random.pick(&[
            Order::Relaxed,
            Order::Continuing,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
            Order::SeqCst,
        ]);
        Access { kind, atomic: Some(order), cell: Cell { start: Addr(start), len } }
    } else {
        let (start, len) = random.pick(&MEMORY);
        let kind = random.pick(&[AccessKind::Read, AccessKind::Read, AccessKind::Write, AccessKind::Free]);
        Access { kind, atomic: None, cell: Cell { start: Addr(start), len } }
    }
}

/// Three accesses, at most one of them atomic, as library functions make them.
fn random_accesses(random: &mut Random) -> Box<[Access]> {
    let mut accesses: Vec<Access> = (0..3).map(|_| random_access(random)).collect();
    accesses.sort_by_key(|a| a.atomic.is_some());
    accesses[..2].iter_mut().filter(|a| a.atomic.is_some()).for_each(|a| a.kind = AccessKind::Write);
    accesses[..2].iter_mut().for_each(|a| a.atomic = None);
    accesses.into()
}

fn random_op(random: &mut Random, threads: u32, thread: u32) -> Op {
    let lock = LOCK;
    let mode = random.pick(&[LockMode::Shared, LockMode::Exclusive]);
    let success = random.below(2) == 0;
    let child = ThreadId((thread + 1 + below(random, threads - 1)) % threads);
    match random.below(26) {
        0..=9 => Op::Access(random_access(random)),
        10 => Op::Accesses(random_accesses(random)),
        11 => Op::Fence(random.pick(&[Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst])),
        12 | 13 => Op::Acquire { lock, mode },
        14 => Op::TryAcquire { lock, mode, success },
        15 | 16 => Op::Release { lock, mode },
        17 => Op::WaitBegin { cond: COND, lock },
        18 => random.pick(&[Op::Signal { cond: COND }, Op::Broadcast { cond: COND }, Op::Yield, Op::Init(lock)]),
        19 => Op::SemPost { sem: SEM },
        20 => random.pick(&[Op::SemWait { sem: SEM }, Op::SemTryWait { sem: SEM, success }, Op::SemGet { sem: SEM }]),
        21 => random.pick(&[Op::OnceBegin { once: ONCE, run: success }, Op::OnceEnd { once: ONCE }]),
        22 => random.pick(&[Op::Join { child }, Op::TryJoin { child, success }, Op::Create { child }]),
        _ => Op::BarrierArrive { barrier: BARRIER },
    }
}

/// A sequence of events, not one that a program could produce: the detector must not rely on more than the edges.
/// Only barriers behave, because the definition speaks of generations.
fn random_trace(random: &mut Random, length: usize) -> Trace {
    branching_trace(random, length, None)
}

/// Like [`random_trace`], but from the event `at` on with the numbers of another seed.
fn branching_trace(random: &mut Random, length: usize, other: Option<(u32, u64)>) -> Trace {
    let threads = 2 + below(random, 3);
    let mut counts = vec![0; threads as usize];
    let mut waiting: Vec<u32> = Vec::new();
    let mut leaving: Vec<u32> = Vec::new();
    let mut events = IndexVec::new();
    let mut runnable = vec![];
    for step in 0..=length as u32 {
        if let Some((_, seed)) = other.filter(|(at, _)| *at == step) {
            *random = Random::new(seed);
        }
        let set: ThreadSet = (0..threads).filter(|t| !waiting.contains(t)).map(ThreadId).collect();
        runnable.push((Step(step), set.clone()));
        let Some(thread) = (!set.is_empty()).then(|| random.pick(&set.iter().collect::<Vec<_>>())) else { break };
        let op = if let Some(at) = leaving.iter().position(|t| *t == thread.0) {
            leaving.remove(at);
            Op::BarrierLeave { barrier: BARRIER }
        } else {
            random_op(random, threads, thread.0)
        };
        if matches!(op, Op::BarrierArrive { .. }) {
            waiting.push(thread.0);
            if waiting.len() == GENERATION {
                leaving.append(&mut waiting);
            }
        }
        let position = counts[thread.0 as usize];
        counts[thread.0 as usize] += 1;
        events.push(Event { id: EventId { thread, position }, site: Some(SiteId(below(random, 6))), op });
    }
    let info = |_| ThreadInfo { path: ThreadPath::main(), created: None };
    Trace {
        threads: (0..threads).map(info).collect(),
        events,
        runnable,
        pending: vec![],
        allocations: vec![],
        misuses: vec![],
        unmodelled: vec![],
        opened: vec![],
        peers: vec![],
        end: End::Exit { code: 0 },
    }
}

/// Whether there is an edge from the earlier event to the later one, other than those of atomics and barriers.
fn simple_edge(from: &Event, to: &Event) -> bool {
    let acquired = match to.op {
        Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => Some((lock, mode)),
        _ => None,
    };
    let released = match from.op {
        Op::Release { lock, mode } => Some((lock, mode)),
        Op::WaitBegin { lock, .. } => Some((lock, LockMode::Exclusive)),
        _ => None,
    };
    let by_lock = matches!((released, acquired), (Some((a, how)), Some((b, mode)))
        if a == b && (how == LockMode::Exclusive || mode == LockMode::Exclusive));
    let by_semaphore = matches!((&from.op, &to.op), (Op::SemPost { sem: a },
        Op::SemWait { sem: b } | Op::SemTryWait { sem: b, success: true }) if a == b);
    let by_once = matches!((&from.op, &to.op), (Op::OnceEnd { once: a }, Op::OnceBegin { once: b, .. }) if a == b);
    let by_create = matches!(from.op, Op::Create { child } if child == to.id.thread);
    let by_join = matches!(to.op, Op::Join { child } | Op::TryJoin { child, success: true } if child == from.id.thread);
    // A thread that is created and joined lives in between, even if it has no event there.
    let by_life = matches!((&from.op, &to.op), (Op::Create { child: a },
        Op::Join { child: b } | Op::TryJoin { child: b, success: true }) if a == b);
    from.id.thread == to.id.thread || by_lock || by_semaphore || by_once || by_create || by_join || by_life
}

/// Synchronisation of atomics for one byte: the events whose releases the event `to` acquires by reading that byte.
fn synchronises(events: &[Event], to: usize, byte: u64, edges: &mut BTreeSet<(usize, usize)>) {
    let touches = |a: &Access| a.cell.start.0 <= byte && byte < a.cell.end();
    let part =
        |i: usize, f: &dyn Fn(&Access) -> bool| events[i].op.accesses().iter().rfind(|a| touches(a) && f(a)).copied();
    // The write it reads from, and back along the release sequence.
    let mut at = to;
    let mut sources = vec![];
    // The thread whose releases alone count further back: a store in C continues the sequences of its thread only.
    let mut only = None;
    while let Some(write) = (0..at).rev().find(|i| part(*i, &|a| a.kind.writes()).is_some()) {
        let access = part(write, &|a| a.kind.writes()).unwrap();
        let Some(order) = access.atomic else { break };
        let thread = events[write].id.thread;
        if only.is_some_and(|only| only != thread) {
            // Another thread's store ends the sequence; its read-modify-write neither ends nor heads one that counts.
        } else if order.releases() {
            sources.push(write);
        } else {
            let fence = (0..write).rev().find(|i| {
                events[*i].id.thread == thread && matches!(events[*i].op, Op::Fence(order) if order.releases())
            });
            sources.extend(fence);
        }
        // A plain write of the same event comes before its atomic access, which reads from that.
        let own = |a: &Access| a.kind.writes() && a.atomic.is_none();
        if part(write, &own).is_some() {
            break;
        }
        if !access.kind.reads() {
            let continues = order == Order::Continuing && only.is_none_or(|only| only == thread);
            // A store between two of the thread's own: one that continues nothing ends the sequence before it.
            if !continues {
                break;
            }
            only = Some(thread);
        }
        at = write;
    }
    for read in events[to].op.accesses().iter().filter(|a| touches(a) && a.kind.reads()) {
        let Some(order) = read.atomic else { continue };
        let sinks: Vec<usize> = if order.acquires() {
            vec![to]
        } else {
            let fence = |i: &usize| {
                events[*i].id.thread == events[to].id.thread
                    && matches!(events[*i].op, Op::Fence(order) if order.acquires())
            };
            (to + 1..events.len()).filter(fence).take(1).collect()
        };
        edges.extend(sources.iter().flat_map(|from| sinks.iter().map(move |sink| (*from, *sink))));
    }
}

/// `reach[i]` has the events ordered before event `i`, and itself.
fn reachability(trace: &Trace) -> Vec<BTreeSet<usize>> {
    let events = trace.events.as_slice();
    let mut edges = BTreeSet::new();
    for to in 0..events.len() {
        edges.extend((0..to).filter(|from| simple_edge(&events[*from], &events[to])).map(|from| (from, to)));
        for access in events[to].op.accesses().iter().filter(|a| a.atomic.is_some() && a.kind.reads()) {
            (access.cell.start.0..access.cell.end()).for_each(|byte| synchronises(events, to, byte, &mut edges));
        }
    }
    let arrivals: Vec<usize> =
        (0..events.len()).filter(|i| matches!(events[*i].op, Op::BarrierArrive { .. })).collect();
    for generation in arrivals.chunks(GENERATION) {
        for member in generation {
            let next = |i: &usize| events[*i].id.thread == events[*member].id.thread;
            if let Some(leave) = (member + 1..events.len()).find(next) {
                edges.extend(generation.iter().map(|arrive| (*arrive, leave)));
            }
        }
    }
    let mut reach: Vec<BTreeSet<usize>> = Vec::new();
    for to in 0..events.len() {
        let mut before: BTreeSet<usize> = [to].into();
        for (from, _) in edges.iter().filter(|(_, t)| *t == to) {
            before.extend(&reach[*from]);
        }
        reach.push(before);
    }
    reach
}

fn naive_races(trace: &Trace) -> Vec<(usize, usize)> {
    let events = trace.events.as_slice();
    let reach = reachability(trace);
    let mut races = vec![];
    for second in 0..events.len() {
        for first in 0..second {
            let meet = events[first]
                .op
                .accesses()
                .iter()
                .any(|a| events[second].op.accesses().iter().any(|b| could_race(a, b)));
            if meet && events[first].id.thread != events[second].id.thread && !reach[second].contains(&first) {
                races.push((first, second));
            }
        }
    }
    races
}

fn sites(trace: &Trace, first: usize, second: usize) -> SitePair {
    let (a, b) = (trace.events.as_slice()[first].site, trace.events.as_slice()[second].site);
    (a.min(b), a.max(b))
}

#[test]
fn the_detector_finds_every_racing_pair_of_sites_and_no_other() {
    let (mut racy, mut pairs, traces) = (0, 0, testkit::programs(4_000));
    for seed in 0..traces {
        let mut random = Random::new(seed);
        let length = 5 + random.below(40);
        let trace = random_trace(&mut random, length);
        let naive = naive_races(&trace);
        let expected: BTreeSet<SitePair> = naive.iter().map(|(a, b)| sites(&trace, *a, *b)).collect();
        let analysis = analyse(&trace);
        let found: BTreeSet<SitePair> =
            analysis.races.iter().map(|r| sites(&trace, r.first.0 as usize, r.second.0 as usize)).collect();
        assert_eq!(found, expected, "seed {seed}: {trace:#?}");
        assert_eq!(found.len(), analysis.races.len(), "seed {seed}: one race for each pair of sites");
        for race in &analysis.races {
            let (first, second) = (&trace.events[race.first], &trace.events[race.second]);
            assert!(naive.contains(&(race.first.0 as usize, race.second.0 as usize)), "seed {seed}: {race:?}");
            assert!(
                could_race(&first.op.accesses()[race.first_access], &second.op.accesses()[race.second_access]),
                "seed {seed}: {race:?}"
            );
            assert!(is_race(&trace, race.first, race.second) && is_race(&trace, race.second, race.first));
        }
        assert!(found.is_subset(&analysis.conflicts.iter().copied().collect()));
        racy += u64::from(!found.is_empty());
        pairs += found.len();
    }
    assert!(racy > traces / 2 && racy < traces, "{racy} of {traces} traces have races");
    assert!(pairs > 10_000, "{pairs} racing pairs");
}

/// Traces with common prefixes, analysed in sequence: each adds what it alone would show, minus what its prefix showed.
#[test]
fn shared_prefixes_are_not_analysed_again() {
    let mut news = 0;
    for seed in 0..testkit::programs(300) {
        let (mut analyser, mut choose) = (Analyser::new(), Random::new(seed + 1_000));
        let mut from = 0;
        for branch in 0..8 {
            let other = (from > 0).then_some((from, seed * 100 + branch + 5_000));
            let length = 10 + choose.below(60);
            let trace = branching_trace(&mut Random::new(seed), length, other);
            let from_step = Step(from.min(trace.events.len() as u32));
            let News { races, conflicts } = analyser.analyse(&trace, from_step);
            let (races, conflicts) = (races.to_vec(), conflicts.to_vec());
            let whole = analyse(&trace);
            let mut beginning = trace.clone();
            beginning.events.truncate(from_step.0 as usize);
            let before = analyse(&beginning);
            assert_eq!([&before.races[..], &races].concat(), whole.races, "seed {seed}, branch {branch}");
            assert_eq!([&before.conflicts[..], &conflicts].concat(), whole.conflicts, "seed {seed}, branch {branch}");
            news += races.len();
            // The next trace diverges from the first one's events, which all share, where this one did or earlier.
            let shared = trace.events.len().saturating_sub(1) as u32;
            from = below(&mut choose, if branch == 0 { shared } else { from.min(shared) } + 1);
        }
    }
    assert!(news > 1_000, "{news} races");
}

#[test]
fn conflicts_are_those_of_every_two_accesses() {
    let mut conflicts = 0;
    for seed in 0..testkit::programs(300) {
        let trace = random_trace(&mut Random::new(seed), 30);
        let events = trace.events.as_slice();
        let mut expected = BTreeSet::new();
        for second in 0..events.len() {
            for first in (0..second).filter(|first| events[*first].id.thread != events[second].id.thread) {
                let (ones, others) = (events[first].op.accesses(), events[second].op.accesses());
                if ones.iter().any(|a| others.iter().any(|b| could_race(a, b))) {
                    expected.insert(sites(&trace, first, second));
                }
            }
        }
        assert_eq!(analyse(&trace).conflicts.into_iter().collect::<BTreeSet<_>>(), expected, "seed {seed}");
        conflicts += expected.len();
    }
    assert!(conflicts > 1_000, "{conflicts} conflicts");
}

/// A hundred thousand events, half of them under a lock, on a thousand words: well under a tenth of a second in an
/// optimised build. The bound leaves room for slow and busy machines; quadratic time would take minutes.
#[test]
fn long_traces_take_linear_time() {
    let mut random = Random::new(1);
    let length = 100_000;
    let mut trace = random_trace(&mut random, 0);
    trace.threads = (0..4).map(|_| ThreadInfo { path: ThreadPath::main(), created: None }).collect();
    trace.events.clear();
    let mut counts = [0; 4];
    while trace.events.len() < length {
        let thread = below(&mut random, 4);
        let mut push = |op| {
            let id = EventId { thread: ThreadId(thread), position: counts[thread as usize] };
            counts[thread as usize] += 1;
            trace.events.push(Event { id, site: Some(SiteId(id.position % 50)), op });
        };
        push(Op::Acquire { lock: LOCK, mode: LockMode::Exclusive });
        for _ in 0..2 {
            let cell = Cell { start: Addr(0x1000 + random.below(1000) as u64 * 4), len: 4 };
            let kind = random.pick(&[AccessKind::Read, AccessKind::Write]);
            push(Op::Access(Access { kind, atomic: None, cell }));
        }
        push(Op::Release { lock: LOCK, mode: LockMode::Exclusive });
    }
    let start = std::time::Instant::now();
    assert_eq!(analyse(&trace).races, []);
    let took = start.elapsed();
    assert!(took.as_secs() < 5, "{took:?} for {length} events");
}

#[test]
fn locks_held_counts_levels() {
    let ops = [
        Op::Acquire { lock: LOCK, mode: LockMode::Exclusive },
        Op::Acquire { lock: LOCK, mode: LockMode::Exclusive },
        Op::TryAcquire { lock: SEM, mode: LockMode::Shared, success: true },
        Op::TryAcquire { lock: ONCE, mode: LockMode::Shared, success: false },
        Op::Release { lock: LOCK, mode: LockMode::Exclusive },
        Op::Release { lock: LOCK, mode: LockMode::Exclusive },
        Op::Acquire { lock: LOCK, mode: LockMode::Exclusive },
        Op::Acquire { lock: LOCK, mode: LockMode::Exclusive },
        Op::WaitBegin { cond: COND, lock: LOCK },
        Op::Acquire { lock: LOCK, mode: LockMode::Exclusive },
        Op::Release { lock: LOCK, mode: LockMode::Exclusive },
        Op::Yield,
    ];
    let mut trace = random_trace(&mut Random::new(1), 0);
    trace.events = (0..)
        .zip(ops)
        .map(|(position, op)| Event { id: EventId { thread: ThreadId(0), position }, site: None, op })
        .collect();
    let held = |step| locks_held(&trace, Step(step));
    assert_eq!(held(0), []);
    assert_eq!(held(2), [(LOCK, LockMode::Exclusive)]);
    assert_eq!(held(5), [(LOCK, LockMode::Exclusive), (SEM, LockMode::Shared)]);
    assert_eq!(held(6), [(SEM, LockMode::Shared)]);
    assert_eq!(held(9), [(SEM, LockMode::Shared)]);
    assert_eq!(held(11), [(LOCK, LockMode::Exclusive), (SEM, LockMode::Shared)]);
}
