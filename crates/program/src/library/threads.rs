//! Thread functions: how each maps to a [`SyncOp`](crate::SyncOp), for POSIX threads and semaphores, C11 threads and
//! what compiled C++ calls in libstdc++; values left open, assumptions and sections of checkers. Atomic library calls are in [`atomics`](super::atomics).

use model::LockMode::{self, Exclusive, Shared};

use super::CType;
use super::Effect::{self, Read, Write, WriteAfter};
use super::Size::{IfZero, Of};
use crate::ir::TryMode::{self, Timed, Try, Wait};

/// How a call names the object of a thread operation: a lock, a condition variable, a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectArg {
    /// The argument itself.
    Arg(u8),
    /// The pointer-sized value stored where this argument points.
    Deref(u8),
}

/// Whether a lock may be taken again by its holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recursion {
    /// Never.
    No,
    /// If the attributes in this argument say so (`pthread_mutexattr_settype`); not when null.
    Attributes(u8),
    /// If the flags in this argument contain `mtx_recursive` (1).
    Flags(u8),
}

/// What a thread function does. Numbers are argument positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "fields of variants are explained by the variant")]
pub enum ThreadOp {
    /// Starts `function(arg)` and stores the new thread's handle where argument `handle` points.
    Create { handle: u8, function: u8, arg: u8 },
    /// Starts the virtual `_M_run` of the `std::thread::_State` that `state` (a `unique_ptr`) owns, and stores the
    /// handle where argument `handle` (a `std::thread`) points.
    CxxStart { handle: u8, state: u8 },
    /// Waits for a thread's end; its exit value is stored through argument `result`.
    Join { handle: ObjectArg, result: Option<u8>, wait: TryMode },
    /// Detaches a thread.
    Detach { handle: ObjectArg },
    /// Ends the calling thread.
    ExitThread,
    /// Asks a thread to cancel itself.
    Cancel { handle: ObjectArg },
    /// The calling thread's handle.
    Current,
    /// Compares two handles.
    Equal { left: u8, right: u8 },
    /// Acts on a pending cancellation request.
    TestCancel,
    /// Initialises a lock.
    LockInit { lock: ObjectArg, recursive: Recursion },
    /// Destroys a lock.
    LockDestroy { lock: ObjectArg },
    /// Takes a lock.
    Lock { lock: ObjectArg, mode: LockMode, wait: TryMode },
    /// Gives a lock back.
    Unlock { lock: ObjectArg },
    /// Initialises a condition variable.
    CondInit { cond: ObjectArg },
    /// Destroys a condition variable.
    CondDestroy { cond: ObjectArg },
    /// Releases `lock`, waits on `cond`, takes `lock` again.
    CondWait { cond: ObjectArg, lock: ObjectArg, wait: TryMode },
    /// Wakes one waiter.
    Signal { cond: ObjectArg },
    /// Wakes all waiters.
    Broadcast { cond: ObjectArg },
    /// Initialises a barrier for `count` threads.
    BarrierInit { barrier: ObjectArg, count: u8 },
    /// Destroys a barrier.
    BarrierDestroy { barrier: ObjectArg },
    /// Waits until all have arrived.
    BarrierWait { barrier: ObjectArg },
    /// Initialises a semaphore.
    SemInit { sem: ObjectArg, value: u8 },
    /// Destroys a semaphore.
    SemDestroy { sem: ObjectArg },
    /// Adds one.
    SemPost { sem: ObjectArg },
    /// Takes one.
    SemWait { sem: ObjectArg, wait: TryMode },
    /// Stores the value (an `int`) through argument `value`.
    SemGet { sem: ObjectArg, value: u8 },
    /// Runs `function` if no thread has yet; waits while another does.
    Once { control: ObjectArg, function: u8 },
    /// Enters a once-control; the result is 1 if the caller has to do the work and then leave it, else 0.
    GuardEnter { control: ObjectArg },
    /// Leaves a once-control, done or (`done: false`) to be tried again.
    GuardLeave { control: ObjectArg, done: bool },
    /// Makes a key of thread-specific values, stored through `key`; `destructor` is called with non-null values when
    /// a thread ends.
    KeyCreate { key: u8, destructor: u8 },
    /// Deletes a key.
    KeyDelete { key: u8 },
    /// The calling thread's value of a key.
    KeyGet { key: u8 },
    /// Sets the calling thread's value of a key.
    KeySet { key: u8, value: u8 },
    /// Waits while the 32-bit number at `address` has the value of argument `value` (a futex).
    AddressWait { address: ObjectArg, value: u8, wait: TryMode },
    /// Wakes all that wait at `address`.
    AddressWake { address: ObjectArg },
    /// Lets others run: `sched_yield`, sleeps.
    Yield,
    /// Any value: of the range between two arguments, or of its type.
    Choose,
    /// Goes on only if the argument is not 0.
    Assume,
    /// Begins a section that no other thread interrupts.
    SectionBegin,
    /// Ends it.
    SectionEnd,
    /// Changes or asks for an attribute of a thread or lock that no other thread can notice.
    Attribute,
    /// Not modelled; the runtime reports a call.
    Unmodelled,
}

/// What the result of a thread function says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// Nothing.
    Nothing,
    /// 0, or an error number.
    Error,
    /// 0, or -1 with `errno` set.
    MinusOne,
    /// `thrd_success` 0, `thrd_busy` 1, `thrd_error` 2, `thrd_nomem` 3, `thrd_timedout` 4.
    Thrd,
    /// A value of the operation itself: a handle, a key's value, a truth value.
    Value,
}

/// A thread function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadFunction {
    /// The linker's name.
    pub name: &'static str,
    /// Number of parameters in its prototype.
    pub params: u8,
    /// What it does.
    pub op: ThreadOp,
    /// What its result says.
    pub returns: Returns,
    /// Ordinary memory it touches besides: reads before the operation, an event of their own; writes after it.
    pub effects: &'static [Effect],
}

/// The thread function with this linker name.
pub fn lookup(name: &str) -> Option<&'static ThreadFunction> {
    ROWS.binary_search_by_key(&name, |f| f.name).ok().map(|i| &ROWS[i])
}

/// All rows, sorted by name.
pub fn functions() -> &'static [ThreadFunction] {
    ROWS
}

const fn row(name: &'static str, params: u8, returns: Returns, op: ThreadOp) -> ThreadFunction {
    ThreadFunction { name, params, op, returns, effects: &[] }
}

impl ThreadFunction {
    const fn touches(mut self, effects: &'static [Effect]) -> Self {
        self.effects = effects;
        self
    }
}

use ObjectArg::{Arg, Deref};
use Returns::{Error, MinusOne, Nothing, Thrd, Value};
use ThreadOp::*;

/// A `struct timespec` in this argument.
const TIME_1: &[Effect] = &[Read(1, Of(CType::Timespec))];
const TIME_2: &[Effect] = &[Read(2, Of(CType::Timespec))];
const TIME_3: &[Effect] = &[Read(3, Of(CType::Timespec))];

static ROWS: &[ThreadFunction] = &[
    row("_ZNSt18condition_variable10notify_allEv", 1, Nothing, Broadcast { cond: Arg(0) }),
    row("_ZNSt18condition_variable10notify_oneEv", 1, Nothing, Signal { cond: Arg(0) }),
    row(
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
        2,
        Nothing,
        CondWait { cond: Arg(0), lock: Deref(1), wait: Wait },
    )
    .touches(&[Read(1, Of(CType::Pointer))]),
    row("_ZNSt18condition_variableC1Ev", 1, Nothing, CondInit { cond: Arg(0) }),
    row("_ZNSt18condition_variableC2Ev", 1, Nothing, CondInit { cond: Arg(0) }),
    row("_ZNSt18condition_variableD1Ev", 1, Nothing, CondDestroy { cond: Arg(0) }),
    row("_ZNSt18condition_variableD2Ev", 1, Nothing, CondDestroy { cond: Arg(0) }),
    row("_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj", 2, Nothing, AddressWake { address: Arg(1) }),
    row(
        "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
        6,
        Value,
        AddressWait { address: Arg(1), value: 2, wait: Timed },
    ),
    row(
        "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
        6,
        Value,
        AddressWait { address: Arg(1), value: 2, wait: Timed },
    ),
    row(
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
        3,
        Nothing,
        CxxStart { handle: 0, state: 1 },
    )
    .touches(&[WriteAfter(0, Of(CType::CxxThread))]),
    row("_ZNSt6thread4joinEv", 1, Nothing, Join { handle: Deref(0), result: None, wait: Wait })
        .touches(&[Read(0, Of(CType::CxxThread)), WriteAfter(0, Of(CType::CxxThread))]),
    row("_ZNSt6thread6detachEv", 1, Nothing, Detach { handle: Deref(0) })
        .touches(&[Read(0, Of(CType::CxxThread)), WriteAfter(0, Of(CType::CxxThread))]),
    row("__VERIFIER_assume", 1, Nothing, Assume),
    row("__VERIFIER_atomic_begin", 0, Nothing, SectionBegin),
    row("__VERIFIER_atomic_end", 0, Nothing, SectionEnd),
    row("__VERIFIER_nondet__Bool", 0, Value, Choose),
    row("__VERIFIER_nondet_bool", 0, Value, Choose),
    row("__VERIFIER_nondet_char", 0, Value, Choose),
    row("__VERIFIER_nondet_charp", 0, Value, Choose),
    row("__VERIFIER_nondet_double", 0, Value, Choose),
    row("__VERIFIER_nondet_float", 0, Value, Choose),
    row("__VERIFIER_nondet_int", 0, Value, Choose),
    row("__VERIFIER_nondet_loff_t", 0, Value, Choose),
    row("__VERIFIER_nondet_long", 0, Value, Choose),
    row("__VERIFIER_nondet_longlong", 0, Value, Choose),
    row("__VERIFIER_nondet_pchar", 0, Value, Choose),
    row("__VERIFIER_nondet_pointer", 0, Value, Choose),
    row("__VERIFIER_nondet_s16", 0, Value, Choose),
    row("__VERIFIER_nondet_s32", 0, Value, Choose),
    row("__VERIFIER_nondet_s64", 0, Value, Choose),
    row("__VERIFIER_nondet_s8", 0, Value, Choose),
    row("__VERIFIER_nondet_schar", 0, Value, Choose),
    row("__VERIFIER_nondet_sector_t", 0, Value, Choose),
    row("__VERIFIER_nondet_short", 0, Value, Choose),
    row("__VERIFIER_nondet_size_t", 0, Value, Choose),
    row("__VERIFIER_nondet_u16", 0, Value, Choose),
    row("__VERIFIER_nondet_u32", 0, Value, Choose),
    row("__VERIFIER_nondet_u64", 0, Value, Choose),
    row("__VERIFIER_nondet_u8", 0, Value, Choose),
    row("__VERIFIER_nondet_uchar", 0, Value, Choose),
    row("__VERIFIER_nondet_uint", 0, Value, Choose),
    row("__VERIFIER_nondet_ulong", 0, Value, Choose),
    row("__VERIFIER_nondet_ulonglong", 0, Value, Choose),
    row("__VERIFIER_nondet_unsigned", 0, Value, Choose),
    row("__VERIFIER_nondet_unsigned_char", 0, Value, Choose),
    row("__VERIFIER_nondet_unsigned_int", 0, Value, Choose),
    row("__VERIFIER_nondet_ushort", 0, Value, Choose),
    row("__cxa_guard_abort", 1, Nothing, GuardLeave { control: Arg(0), done: false }),
    row("__cxa_guard_acquire", 1, Value, GuardEnter { control: Arg(0) }),
    row("__cxa_guard_release", 1, Nothing, GuardLeave { control: Arg(0), done: true }),
    row("__pthread_key_create", 2, Error, KeyCreate { key: 0, destructor: 1 })
        .touches(&[WriteAfter(0, Of(CType::PthreadKey))]),
    row("__pthread_once", 2, Error, Once { control: Arg(0), function: 1 }),
    row("call_once", 2, Nothing, Once { control: Arg(0), function: 1 }),
    row("clock_nanosleep", 4, Error, Yield).touches(&[Read(2, Of(CType::Timespec)), Write(3, Of(CType::Timespec))]),
    row("cnd_broadcast", 1, Thrd, Broadcast { cond: Arg(0) }),
    row("cnd_destroy", 1, Nothing, CondDestroy { cond: Arg(0) }),
    row("cnd_init", 1, Thrd, CondInit { cond: Arg(0) }),
    row("cnd_signal", 1, Thrd, Signal { cond: Arg(0) }),
    row("cnd_timedwait", 3, Thrd, CondWait { cond: Arg(0), lock: Arg(1), wait: Timed }).touches(TIME_2),
    row("cnd_wait", 2, Thrd, CondWait { cond: Arg(0), lock: Arg(1), wait: Wait }),
    row("mtx_destroy", 1, Nothing, LockDestroy { lock: Arg(0) }),
    row("mtx_init", 2, Thrd, LockInit { lock: Arg(0), recursive: Recursion::Flags(1) }),
    row("mtx_lock", 1, Thrd, Lock { lock: Arg(0), mode: Exclusive, wait: Wait }),
    row("mtx_timedlock", 2, Thrd, Lock { lock: Arg(0), mode: Exclusive, wait: Timed }).touches(TIME_1),
    row("mtx_trylock", 1, Thrd, Lock { lock: Arg(0), mode: Exclusive, wait: Try }),
    row("mtx_unlock", 1, Thrd, Unlock { lock: Arg(0) }),
    row("nanosleep", 2, MinusOne, Yield).touches(&[Read(0, Of(CType::Timespec)), Write(1, Of(CType::Timespec))]),
    row("pthread_atfork", 3, Error, Attribute),
    row("pthread_barrier_destroy", 1, Error, BarrierDestroy { barrier: Arg(0) }),
    row("pthread_barrier_init", 3, Error, BarrierInit { barrier: Arg(0), count: 2 })
        .touches(&[Read(1, Of(CType::BarrierAttr))]),
    row("pthread_barrier_wait", 1, Error, BarrierWait { barrier: Arg(0) }),
    row("pthread_cancel", 1, Error, Cancel { handle: Arg(0) }),
    row("pthread_clockjoin_np", 4, Error, Join { handle: Arg(0), result: Some(1), wait: Timed })
        .touches(&[Read(3, Of(CType::Timespec)), WriteAfter(1, IfZero(CType::Pointer))]),
    row("pthread_cond_broadcast", 1, Error, Broadcast { cond: Arg(0) }),
    row("pthread_cond_clockwait", 4, Error, CondWait { cond: Arg(0), lock: Arg(1), wait: Timed }).touches(TIME_3),
    row("pthread_cond_destroy", 1, Error, CondDestroy { cond: Arg(0) }),
    row("pthread_cond_init", 2, Error, CondInit { cond: Arg(0) }).touches(&[Read(1, Of(CType::CondAttr))]),
    row("pthread_cond_signal", 1, Error, Signal { cond: Arg(0) }),
    row("pthread_cond_timedwait", 3, Error, CondWait { cond: Arg(0), lock: Arg(1), wait: Timed }).touches(TIME_2),
    row("pthread_cond_wait", 2, Error, CondWait { cond: Arg(0), lock: Arg(1), wait: Wait }),
    row("pthread_create", 4, Error, Create { handle: 0, function: 2, arg: 3 })
        .touches(&[WriteAfter(0, Of(CType::Pthread))]),
    row("pthread_detach", 1, Error, Detach { handle: Arg(0) }),
    row("pthread_equal", 2, Value, Equal { left: 0, right: 1 }),
    row("pthread_exit", 1, Nothing, ExitThread),
    row("pthread_getaffinity_np", 3, Error, Attribute).touches(&[Write(2, super::Size::Arg(1))]),
    row("pthread_getattr_np", 2, Error, Attribute).touches(&[Write(1, Of(CType::PthreadAttr))]),
    row("pthread_getconcurrency", 0, Value, Attribute),
    row("pthread_getcpuclockid", 2, Error, Attribute).touches(&[Write(1, Of(CType::ClockId))]),
    row("pthread_getschedparam", 3, Error, Attribute)
        .touches(&[Write(1, Of(CType::Int)), Write(2, Of(CType::SchedParam))]),
    row("pthread_getspecific", 1, Value, KeyGet { key: 0 }),
    row("pthread_join", 2, Error, Join { handle: Arg(0), result: Some(1), wait: Wait })
        .touches(&[WriteAfter(1, Of(CType::Pointer))]),
    row("pthread_key_create", 2, Error, KeyCreate { key: 0, destructor: 1 })
        .touches(&[WriteAfter(0, Of(CType::PthreadKey))]),
    row("pthread_key_delete", 1, Error, KeyDelete { key: 0 }),
    row("pthread_kill", 2, Error, Attribute),
    row("pthread_mutex_clocklock", 3, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Timed }).touches(TIME_2),
    row("pthread_mutex_consistent", 1, Error, Attribute),
    row("pthread_mutex_destroy", 1, Error, LockDestroy { lock: Arg(0) }),
    row("pthread_mutex_getprioceiling", 2, Error, Attribute).touches(&[Write(1, Of(CType::Int))]),
    row("pthread_mutex_init", 2, Error, LockInit { lock: Arg(0), recursive: Recursion::Attributes(1) })
        .touches(&[Read(1, Of(CType::MutexAttr))]),
    row("pthread_mutex_lock", 1, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Wait }),
    row("pthread_mutex_setprioceiling", 3, Error, Unmodelled),
    row("pthread_mutex_timedlock", 2, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Timed }).touches(TIME_1),
    row("pthread_mutex_trylock", 1, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Try }),
    row("pthread_mutex_unlock", 1, Error, Unlock { lock: Arg(0) }),
    row("pthread_once", 2, Error, Once { control: Arg(0), function: 1 }),
    row("pthread_rwlock_clockrdlock", 3, Error, Lock { lock: Arg(0), mode: Shared, wait: Timed }).touches(TIME_2),
    row("pthread_rwlock_clockwrlock", 3, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Timed }).touches(TIME_2),
    row("pthread_rwlock_destroy", 1, Error, LockDestroy { lock: Arg(0) }),
    row("pthread_rwlock_init", 2, Error, LockInit { lock: Arg(0), recursive: Recursion::No })
        .touches(&[Read(1, Of(CType::RwlockAttr))]),
    row("pthread_rwlock_rdlock", 1, Error, Lock { lock: Arg(0), mode: Shared, wait: Wait }),
    row("pthread_rwlock_timedrdlock", 2, Error, Lock { lock: Arg(0), mode: Shared, wait: Timed }).touches(TIME_1),
    row("pthread_rwlock_timedwrlock", 2, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Timed }).touches(TIME_1),
    row("pthread_rwlock_tryrdlock", 1, Error, Lock { lock: Arg(0), mode: Shared, wait: Try }),
    row("pthread_rwlock_trywrlock", 1, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Try }),
    row("pthread_rwlock_unlock", 1, Error, Unlock { lock: Arg(0) }),
    row("pthread_rwlock_wrlock", 1, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Wait }),
    row("pthread_self", 0, Value, Current),
    row("pthread_setaffinity_np", 3, Error, Attribute).touches(&[Read(2, super::Size::Arg(1))]),
    row("pthread_setcancelstate", 2, Error, Attribute).touches(&[Write(1, Of(CType::Int))]),
    row("pthread_setcanceltype", 2, Error, Attribute).touches(&[Write(1, Of(CType::Int))]),
    row("pthread_setconcurrency", 1, Error, Attribute),
    row("pthread_setschedparam", 3, Error, Attribute).touches(&[Read(2, Of(CType::SchedParam))]),
    row("pthread_setschedprio", 2, Error, Attribute),
    row("pthread_setspecific", 2, Error, KeySet { key: 0, value: 1 }),
    row("pthread_sigqueue", 3, Error, Unmodelled),
    row("pthread_spin_destroy", 1, Error, LockDestroy { lock: Arg(0) }),
    row("pthread_spin_init", 2, Error, LockInit { lock: Arg(0), recursive: Recursion::No }),
    row("pthread_spin_lock", 1, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Wait }),
    row("pthread_spin_trylock", 1, Error, Lock { lock: Arg(0), mode: Exclusive, wait: Try }),
    row("pthread_spin_unlock", 1, Error, Unlock { lock: Arg(0) }),
    row("pthread_testcancel", 0, Nothing, TestCancel),
    row("pthread_timedjoin_np", 3, Error, Join { handle: Arg(0), result: Some(1), wait: Timed })
        .touches(&[Read(2, Of(CType::Timespec)), WriteAfter(1, IfZero(CType::Pointer))]),
    row("pthread_tryjoin_np", 2, Error, Join { handle: Arg(0), result: Some(1), wait: Try })
        .touches(&[WriteAfter(1, IfZero(CType::Pointer))]),
    row("pthread_yield", 0, Error, Yield),
    row("raceproof_choose", 2, Value, Choose),
    row("sched_yield", 0, MinusOne, Yield),
    row("sem_clockwait", 3, MinusOne, SemWait { sem: Arg(0), wait: Timed }).touches(TIME_2),
    row("sem_close", 1, MinusOne, Unmodelled),
    row("sem_destroy", 1, MinusOne, SemDestroy { sem: Arg(0) }),
    row("sem_getvalue", 2, MinusOne, SemGet { sem: Arg(0), value: 1 }).touches(&[WriteAfter(1, Of(CType::Int))]),
    row("sem_init", 3, MinusOne, SemInit { sem: Arg(0), value: 2 }),
    row("sem_open", 2, Value, Unmodelled),
    row("sem_post", 1, MinusOne, SemPost { sem: Arg(0) }),
    row("sem_timedwait", 2, MinusOne, SemWait { sem: Arg(0), wait: Timed }).touches(TIME_1),
    row("sem_trywait", 1, MinusOne, SemWait { sem: Arg(0), wait: Try }),
    row("sem_unlink", 1, MinusOne, Unmodelled),
    row("sem_wait", 1, MinusOne, SemWait { sem: Arg(0), wait: Wait }),
    row("sleep", 1, Value, Yield),
    row("thrd_create", 3, Thrd, Create { handle: 0, function: 1, arg: 2 }).touches(&[WriteAfter(0, Of(CType::Thrd))]),
    row("thrd_current", 0, Value, Current),
    row("thrd_detach", 1, Thrd, Detach { handle: Arg(0) }),
    row("thrd_equal", 2, Value, Equal { left: 0, right: 1 }),
    row("thrd_exit", 1, Nothing, ExitThread),
    row("thrd_join", 2, Thrd, Join { handle: Arg(0), result: Some(1), wait: Wait })
        .touches(&[WriteAfter(1, Of(CType::Int))]),
    row("thrd_sleep", 2, Value, Yield).touches(&[Read(0, Of(CType::Timespec)), Write(1, Of(CType::Timespec))]),
    row("thrd_yield", 0, Nothing, Yield),
    row("tss_create", 2, Thrd, KeyCreate { key: 0, destructor: 1 }).touches(&[WriteAfter(0, Of(CType::TssKey))]),
    row("tss_delete", 1, Nothing, KeyDelete { key: 0 }),
    row("tss_get", 1, Value, KeyGet { key: 0 }),
    row("tss_set", 2, Thrd, KeySet { key: 0, value: 1 }),
    row("usleep", 1, MinusOne, Yield),
];
