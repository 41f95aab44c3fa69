//! Which numbered assumptions (`docs/assumptions.md`) a verdict rests on.

use std::collections::BTreeSet;
use std::fmt;

use explore::Outcome;
use facts::Facts;
use facts::teams::Assumed;
use model::{Environment, Order, Surprise};
use program::openmp;
use program::{Program, Stmt, SyncOp, TryMode, library};

use crate::{Built, outside};

/// An assumption, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Assumption {
    /// Interleavings only: atomics weaker than sequentially consistent allow more.
    WeakAtomics = 1,
    /// Library functions behave as their table rows say.
    Library = 2,
    /// Some external functions were declared to touch no shared memory.
    AssumedPure = 3,
    /// Threads can be created and memory allocated.
    Resources = 4,
    /// A thread's clock says nothing about other threads.
    Time = 5,
    /// Nothing wakes or fails without a cause.
    NothingSpurious = 6,
    /// Stream objects of C++ are not looked into.
    Streams = 8,
    /// The network is the program's own.
    Network = 9,
    /// Synchronisation objects and memory are used as the standards allow.
    UsedAsAllowed = 10,
    /// Functions without a body touch only what they are given.
    GivenOnly = 11,
    /// Functions for checkers follow the competition's rules.
    Checkers = 12,
    /// A `simd` loop with `safelen` and `simdlen` runs `simdlen` iterations together.
    Lanes = 13,
    /// Memory that was never written has one value.
    FreshMemory = 14,
    /// What is handed over through the kernel orders memory.
    KernelHandover = 15,
    /// Signals come from the program itself.
    OutsideSignals = 16,
    /// Child processes act at once and once.
    Children = 17,
    /// Waits end by their time limits a few times in a row.
    FewTimeouts = 18,
    /// Signals that interrupt threads are handled soon.
    SoonHandled = 19,
    /// Loops of the C++ library try again a few times.
    FewRetries = 20,
    /// Computations of indices in regions of OpenMP do not wrap.
    NoWrapping = 21,
    /// All threads of a team of OpenMP pass the same barriers.
    SameBarriers = 22,
    /// Timers that repeat send their signals twice.
    FewExpiries = 23,
    /// Memory is not used as two types at once.
    OneType = 24,
}

use Assumption::*;

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A{}", *self as u8)
    }
}

/// The assumptions of the static engine; `outside` if functions without a body are called.
pub(crate) fn of_static(facts: &Facts, declared: bool, outside: bool) -> BTreeSet<Assumption> {
    let mut held = of_proofs(facts, declared);
    held.extend(outside.then_some(GivenOnly));
    held
}

/// The assumptions of proofs for any number of threads; `declared` if the user declared effects of functions.
pub(crate) fn of_proofs(facts: &Facts, declared: bool) -> BTreeSet<Assumption> {
    let program = facts.program();
    let weak = statements(program).any(is_weak);
    chosen([
        (weak, WeakAtomics),
        (uses_library(program), Library),
        (declared, AssumedPure),
        (statements(program).any(|stmt| creates(stmt) || allocates(stmt)), Resources),
        (true, UsedAsAllowed),
        (facts.rest_on_types(), OneType),
    ])
}

/// The assumptions of proofs by the regions of OpenMP.
pub(crate) fn of_teams(Assumed { indices, barriers }: Assumed) -> BTreeSet<Assumption> {
    chosen([(indices, NoWrapping), (barriers, SameBarriers)])
}

/// The assumptions of what is predicted from a recorded run: what it predicts is about that run.
pub(crate) fn of_recording(program: &Program, assume_pure: bool, environment: Environment) -> BTreeSet<Assumption> {
    chosen([
        (statements(program).any(is_weak), WeakAtomics),
        (uses_library(program), Library),
        (assume_pure, AssumedPure),
        (relies_on_handover(program, environment), KernelHandover),
        (handles_signals(program), OutsideSignals),
    ])
}

/// Whether a library function starts another program, by its symbol.
fn starts_programs(symbol: &str) -> bool {
    ["_Fork", "fork", "popen", "posix_spawn", "posix_spawnp", "system", "vfork"].contains(&symbol)
}

/// Whether a library function arms a timer that may repeat, by its symbol.
fn repeats(symbol: &str) -> bool {
    ["setitimer", "timer_settime", "ualarm"].contains(&symbol)
}

/// Whether the program says what is done about signals.
fn handles_signals(program: &Program) -> bool {
    const WAYS: [&str; 5] = ["__sysv_signal", "bsd_signal", "sigaction", "signal", "sysv_signal"];
    statements(program).filter_map(|stmt| called(program, stmt)).any(|symbol| WAYS.contains(&symbol))
}

/// Whether handlers may interrupt other threads than the one that sends the signal.
pub(crate) fn may_interrupt(program: &Program) -> bool {
    let declares = |name: &str| program.functions.iter().any(|f| f.blocks.is_empty() && f.symbol == name);
    library::may_interrupt(declares)
}

/// Whether threads may hand something over through the kernel, and that orders memory.
fn relies_on_handover(program: &Program, environment: Environment) -> bool {
    const WAYS: [&str; 15] = [
        "accept",
        "accept4",
        "connect",
        "epoll_create",
        "epoll_create1",
        "eventfd",
        "flock",
        "pipe",
        "pipe2",
        "pthread_kill",
        "recvfrom",
        "recvmsg",
        "sigwait",
        "sigwaitinfo",
        "socketpair",
    ];
    let mut called = statements(program).filter_map(|stmt| called(program, stmt));
    !environment.has(Surprise::Unordered) && called.any(|symbol| WAYS.contains(&symbol))
}

/// The assumptions of a search's verdict; `asked` are the facts by which it asked what can still happen.
pub(crate) fn of_search(
    built: &Built,
    outcome: &Outcome,
    environment: Environment,
    asked: Option<&Facts>,
) -> BTreeSet<Assumption> {
    let regions = asked.is_some() && built.program.functions.iter().any(|f| f.symbol.ends_with(openmp::ADAPTER));
    let program = &built.program;
    let any = |holds: fn(&Stmt) -> bool| statements(program).any(holds);
    let calls = |wanted: fn(&str) -> bool| statements(program).any(|stmt| called(program, stmt).is_some_and(wanted));
    let declares = |prefix: &str| program.functions.iter().any(|f| f.blocks.is_empty() && f.symbol.starts_with(prefix));
    let may = |part| environment.has(part);
    let resources = (any(creates) && !may(Surprise::Creation)) || (any(allocates) && !may(Surprise::Allocation));
    let spurious = (any(waits) || built.features.weak_exchange) && !may(Surprise::Spurious);
    chosen([
        (outcome.weak_atomics, WeakAtomics),
        (program.functions.iter().any(|f| f.blocks.is_empty()), Library),
        (!built.identity.assume_pure.is_empty(), AssumedPure),
        (resources, Resources),
        (any(is_timed) || calls(tells_time), Time),
        (spurious, NothingSpurious),
        (calls(is_stream_class), Streams),
        (calls(reaches_network), Network),
        (declares("__VERIFIER_"), Checkers),
        (built.features.limited_lanes, Lanes),
        ((any(leaves_unwritten) || built.features.unwritten) && !may(Surprise::Uninitialised), FreshMemory),
        (relies_on_handover(program, environment), KernelHandover),
        (handles_signals(program), OutsideSignals),
        (calls(starts_programs), Children),
        (any(waits_with_limit) || calls(may_wait_with_limit), FewTimeouts),
        (may_interrupt(program), SoonHandled),
        (built.features.retries, FewRetries),
        (regions, NoWrapping),
        (regions, SameBarriers),
        (calls(repeats), FewExpiries),
        (asked.is_some_and(Facts::rest_on_types), OneType),
    ])
}

fn chosen<const N: usize>(held: [(bool, Assumption); N]) -> BTreeSet<Assumption> {
    held.into_iter().filter_map(|(holds, assumption)| holds.then_some(assumption)).collect()
}

fn statements(program: &Program) -> impl Iterator<Item = &Stmt> {
    program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements).map(|statement| &statement.stmt)
}

/// The symbol of the function without a body that a statement calls.
fn called<'a>(program: &'a Program, stmt: &'a Stmt) -> Option<&'a str> {
    outside::called(program, stmt).map(|(symbol, _)| symbol)
}

fn uses_library(program: &Program) -> bool {
    program.functions.iter().any(|f| f.blocks.is_empty())
        || statements(program).any(|stmt| matches!(stmt, Stmt::Library { .. }))
}

/// Whether the program's text creates threads.
pub(crate) fn creates_threads(program: &Program) -> bool {
    statements(program).any(creates)
}

fn creates(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Sync { op: SyncOp::Create { .. }, .. })
}

fn allocates(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Alloc { .. })
}

fn leaves_unwritten(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Alloc { zeroed: false, .. })
}

fn waits(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Sync { op: SyncOp::CondWait { .. }, .. })
}

/// Whether a statement has a time limit.
fn is_timed(stmt: &Stmt) -> bool {
    let Stmt::Sync { op, .. } = stmt else { return false };
    match op {
        SyncOp::Join { mode: wait, .. }
        | SyncOp::Lock { wait, .. }
        | SyncOp::CondWait { wait, .. }
        | SyncOp::SemWait { wait, .. } => *wait == TryMode::Timed,
        _ => false,
    }
}

/// Whether a statement waits for a condition variable or semaphore with a time limit.
fn waits_with_limit(stmt: &Stmt) -> bool {
    is_timed(stmt) && matches!(stmt, Stmt::Sync { op: SyncOp::CondWait { .. } | SyncOp::SemWait { .. }, .. })
}

/// Whether a library function waits at descriptors or futexes and may have a time limit, by its symbol.
fn may_wait_with_limit(symbol: &str) -> bool {
    // What waits for futures.
    if symbol.starts_with("_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_until") {
        return true;
    }
    const WAITS: [&str; 10] = [
        "__poll_chk",
        "epoll_pwait",
        "epoll_pwait2",
        "epoll_wait",
        "poll",
        "ppoll",
        "__ppoll_chk",
        "pselect",
        "select",
        "syscall",
    ];
    WAITS.contains(&symbol)
}

/// Whether a library function tells the time, by its symbol.
fn tells_time(symbol: &str) -> bool {
    const CLOCKS: [&str; 9] =
        ["clock", "clock_gettime", "ftime", "gettimeofday", "time", "timerfd_create", "times", "timespec_get", "alarm"];
    CLOCKS.contains(&symbol) || (symbol.starts_with("_ZNSt6chrono") && symbol.ends_with("3nowEv"))
}

/// Whether a library function connects the program to others, by its symbol.
fn reaches_network(symbol: &str) -> bool {
    ["accept", "accept4", "bind", "connect", "listen", "socket"].contains(&symbol)
}

/// Whether a library function is one of C++'s stream classes, by its symbol.
fn is_stream_class(symbol: &str) -> bool {
    ["_ZNSo", "_ZNSi", "_ZStls", "_ZStrs", "_ZNSt14basic_of", "_ZNSt14basic_if", "_ZNSt13basic_f", "_ZNSt8ios_base"]
        .iter()
        .any(|prefix| symbol.starts_with(prefix))
}

/// Whether a statement is an atomic operation weaker than sequentially consistent.
fn is_weak(stmt: &Stmt) -> bool {
    let order = match stmt {
        Stmt::Load { atomic, .. } | Stmt::Store { atomic, .. } => *atomic,
        Stmt::Rmw { order, .. } | Stmt::CompareExchange { order, .. } | Stmt::Fence(order) => Some(*order),
        _ => None,
    };
    order.is_some_and(|order| order != Order::SeqCst)
}
