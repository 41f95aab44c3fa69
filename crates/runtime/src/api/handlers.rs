//! What the program does about signals, and the signals that it sends itself.
//!
//! | function | semantics |
//! |---|---|
//! | `sigaction`, `signal` and relatives, `siginterrupt` | kept here, not by the kernel: the runtime needs some signals itself |
//! | `raise`, `kill` of the own process | the handler runs in the calling thread before the call returns, unless that blocks the signal |
//! | `pthread_kill` of another thread | see [`super::signal`] |
//!
//! A handler is called as a function, with the signals blocked that it wants blocked. Signals from outside the program do
//! not come (assumption A16).

use core::ffi::{c_int, c_void};
use core::mem::offset_of;

use libc::{pid_t, sighandler_t, siginfo_t};

use super::process::exit_at_once;
use super::refused::stay;
use super::signal::{self, Taken, UNBLOCKABLE};
use super::step::{me, set_errno, unmodelled};
use crate::cell::Global;
use crate::libc_models::children::table;
use crate::libc_models::identity::PROCESS;
use crate::libc_models::library_function::LibraryFunction;
use crate::sync::SyncObjects;
use crate::sync::signal::{SignalSet, only};
use crate::{interrupts, memory, sched};

/// What is done about a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Action {
    /// `SIG_DFL`, `SIG_IGN` or a function.
    handler: sighandler_t,
    /// Signals that are blocked while it runs.
    mask: SignalSet,
    flags: c_int,
}

impl Action {
    const DEFAULT: Self = Self { handler: libc::SIG_DFL, mask: 0, flags: 0 };
    /// Where its parts are in a `struct sigaction`; of the set, the C library keeps what counts at its start.
    const PARTS: [usize; 3] = [
        offset_of!(libc::sigaction, sa_sigaction),
        offset_of!(libc::sigaction, sa_mask),
        offset_of!(libc::sigaction, sa_flags),
    ];

    /// The program's `struct sigaction` at an address.
    fn read(at: usize) -> Self {
        let [handler, mask, flags] = Self::PARTS.map(|part| at + part);
        Self {
            handler: memory::read(handler as *const sighandler_t),
            mask: memory::read(mask as *const SignalSet) & !UNBLOCKABLE,
            flags: memory::read(flags as *const c_int),
        }
    }

    /// Fills in the program's `struct sigaction` at an address, which is zero.
    fn write(self, at: usize) {
        let [handler, mask, flags] = Self::PARTS.map(|part| at + part);
        memory::write(handler as *mut sighandler_t, self.handler);
        memory::write(mask as *mut SignalSet, self.mask);
        memory::write(flags as *mut c_int, self.flags);
    }
}

/// How many signals there are.
const SIGNALS: usize = 64;

/// What is done about each of them, from signal 1 on.
static ACTIONS: Global<[Action; SIGNALS]> = Global::new([Action::DEFAULT; SIGNALS]);

/// Faults come from the processor, and the runtime watches for them.
const FAULTS: [c_int; 7] =
    [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGSYS, libc::SIGTRAP];
/// Signals that do nothing if nobody handles them.
const HARMLESS: [c_int; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
/// Signals that stop the process if nobody handles them.
const STOPPING: [c_int; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

fn index(signal: c_int) -> Option<usize> {
    usize::try_from(signal).ok().and_then(|signal| signal.checked_sub(1)).filter(|index| *index < SIGNALS)
}

fn action_of(signal: c_int) -> Action {
    index(signal).map_or(Action::DEFAULT, |index| ACTIONS.with(|actions| actions[index]))
}

/// Changes what is done about a signal; what was done before.
///
/// # Errors
/// `EINVAL` if it is none, or nothing can be done about it.
fn change(signal: c_int, new: Option<Action>) -> Result<Action, c_int> {
    let index = index(signal).ok_or(libc::EINVAL)?;
    let Some(new) = new else { return Ok(action_of(signal)) };
    if [libc::SIGKILL, libc::SIGSTOP].contains(&signal) {
        return Err(libc::EINVAL);
    }
    note_handled(signal, new.handler);
    Ok(ACTIONS.with(|actions| core::mem::replace(&mut actions[index], new)))
}

/// Keeps the set of signals that interrupt threads.
fn note_handled(signal: c_int, handler: sighandler_t) {
    let is_handled = interrupts::may_be() && ![libc::SIG_DFL, libc::SIG_IGN].contains(&handler);
    sched::with_objects(|objects| {
        let others = objects.handled_signals & !only(signal);
        objects.handled_signals = if is_handled { others | only(signal) } else { others };
    });
    if sched::running() {
        interrupts::note_left();
    }
}

/// `signal` with these flags.
fn set_handler(signal: c_int, handler: sighandler_t, flags: c_int) -> sighandler_t {
    match change(signal, Some(Action { handler, mask: 0, flags })) {
        Ok(old) => old.handler,
        Err(error) => {
            set_errno(error);
            libc::SIG_ERR
        }
    }
}

/// What becomes of a signal that the running thread gets.
pub fn deliver(signal: c_int) {
    deliver_taken(Taken::sent(signal));
}

fn deliver_taken(taken: Taken) {
    if !sched::running() {
        return;
    }
    let action = action_of(taken.signal);
    match action.handler {
        libc::SIG_IGN => {}
        libc::SIG_DFL => act_by_default(taken.signal),
        _ => run(taken, action),
    }
}

fn act_by_default(signal: c_int) {
    type Raise = unsafe extern "C" fn(c_int) -> c_int;
    // SAFETY: the type is that of the C library's function.
    static RAISE: LibraryFunction<Raise> = unsafe { LibraryFunction::new(c"raise") };
    if FAULTS.contains(&signal) {
        // SAFETY: takes a number; the runtime handles the signal.
        unsafe { RAISE.get()(signal) };
    } else if STOPPING.contains(&signal) {
        unmodelled("stops itself by a signal");
    } else if !HARMLESS.contains(&signal) {
        exit_at_once(128 + signal);
    }
}

/// Notes where the running thread's innermost handler began; where the one before did.
fn set_innermost(frame: u64) -> u64 {
    sched::with_objects(|objects| core::mem::replace(&mut objects.threads.get_mut(me()).handler, frame))
}

/// A handler that was left by a jump or an exception: whether its signals are still blocked is not known, so a thread that
/// asks about signals after that stays where it is.
pub fn refuse_if_left() {
    let here = 0u8;
    let handler = sched::with_objects(|objects| objects.threads.get(me()).handler);
    if sched::running() && handler != 0 && &raw const here as u64 > handler {
        unmodelled("leaves the handler of a signal by a jump");
        stay();
    }
}

/// Runs a handler in the running thread.
fn run(taken: Taken, action: Action) {
    let signal = taken.signal;
    let own = if action.flags & libc::SA_NODEFER == 0 { only(signal) } else { 0 };
    let block = |objects: &mut SyncObjects| {
        let blocked = &mut objects.threads.get_mut(me()).blocked_signals;
        core::mem::replace(blocked, *blocked | action.mask | own)
    };
    let before = sched::with_objects(block);
    let frame = 0u8;
    let outer = set_innermost(&raw const frame as u64);
    if action.flags & libc::SA_RESETHAND != 0
        && let Some(index) = index(signal)
    {
        ACTIONS.with(|actions| actions[index] = Action::DEFAULT);
        note_handled(signal, libc::SIG_DFL);
    }
    let mut info = taken.information();
    // SAFETY: the program said that this function is to be called with the signal, and with the two pointers if it asked for
    // them. What the third points to, the interrupted state of the machine, is not there; few look at it.
    unsafe {
        if action.flags & libc::SA_SIGINFO != 0 {
            type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            let handler = core::mem::transmute::<sighandler_t, Handler>(action.handler);
            handler(signal, &raw mut info, core::ptr::null_mut());
        } else {
            let handler = core::mem::transmute::<sighandler_t, unsafe extern "C" fn(c_int)>(action.handler);
            handler(signal);
        }
    }
    set_innermost(outer);
    sched::with_objects(|objects| objects.threads.get_mut(me()).blocked_signals = before);
    deliver_pending();
}

/// Handles a signal that interrupts the running thread; says whether a call that it interrupts is to go on.
pub fn interrupt(taken: Taken) -> bool {
    let goes_on = action_of(taken.signal).flags & libc::SA_RESTART != 0;
    deliver_taken(taken);
    goes_on
}

/// Delivers the signals that the running thread has pending and does not block.
pub fn deliver_pending() {
    interrupts::handle_all();
    let due = |objects: &mut SyncObjects| {
        let allowed = !objects.threads.get(me()).blocked_signals;
        objects.take_signal(me(), allowed)
    };
    while let Some(signal) = sched::with_objects(due) {
        deliver(signal);
    }
}

/// Sends the running thread a signal.
pub fn send_to_me(signal: c_int) {
    refuse_if_left();
    if !signal::keep_if_blocked(me(), signal) {
        deliver(signal);
    }
}

/// Whether a signal that a thread gets changes nothing but that thread's course: it is ignored, or ends everything.
pub fn acts_without_handler(signal: c_int) -> bool {
    [libc::SIG_DFL, libc::SIG_IGN].contains(&action_of(signal).handler)
}

/// Whether nothing was said about a signal.
pub fn has_default(signal: c_int) -> bool {
    action_of(signal).handler == libc::SIG_DFL
}

/// Whether one of these signals ends the process, which is what it does if nobody said anything about it.
pub fn ends_process(signals: SignalSet) -> Option<c_int> {
    let ends = |signal: &c_int| has_default(*signal) && !HARMLESS.contains(signal) && !STOPPING.contains(signal);
    (1..=SIGNALS as c_int).filter(|signal| signals & only(*signal) != 0).find(ends)
}

/// The signals that a program executed now would ignore, and those it would block.
pub fn passed_on() -> (SignalSet, SignalSet) {
    let ignored = (1..=SIGNALS as c_int).filter(|signal| action_of(*signal).handler == libc::SIG_IGN);
    let blocked = sched::with_objects(|objects| objects.threads.get(me()).blocked_signals);
    (ignored.fold(0, |set, signal| set | only(signal)), blocked)
}

/// Whether nobody waits for child processes that end.
pub fn ignores_children() -> bool {
    let action = action_of(libc::SIGCHLD);
    action.handler == libc::SIG_IGN || action.flags & libc::SA_NOCLDWAIT != 0
}

/// Whether the running thread handles the signal of child processes that end, or blocks it.
pub fn tells_of_children() -> bool {
    let blocked = sched::with_objects(|objects| objects.threads.get(me()).blocked_signals);
    !acts_without_handler(libc::SIGCHLD) || blocked & only(libc::SIGCHLD) != 0
}

/// Sends the process a signal: the running thread gets it, or it waits until somebody takes it.
pub fn send_to_process(signal: c_int) {
    refuse_if_left();
    let blocks = |objects: &mut SyncObjects| objects.threads.get(me()).blocked_signals & only(signal) != 0;
    if !sched::with_objects(blocks) {
        return deliver(signal);
    }
    if sched::with_objects(|objects| objects.threads.is_blocked_by_all(signal)) {
        return signal::keep_for_all(signal);
    }
    if acts_without_handler(signal) {
        return deliver(signal);
    }
    if interrupts::is_on() {
        // One that does not block it takes it.
        return signal::keep_for_all(signal);
    }
    unmodelled("sends the process a signal that another thread handles");
    // What comes next may depend on that handler.
    stay();
}

export! {
    /// Changes what is done about a signal.
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
        match change(signal, (!new.is_null()).then(|| Action::read(new as usize))) {
            Ok(before) => {
                if !old.is_null() {
                    memory::zero(old, 1);
                    before.write(old as usize);
                }
                0
            }
            Err(error) => {
                set_errno(error);
                -1
            }
        }
    }
    /// Changes what is done about a signal.
    fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
        set_handler(signal, handler, libc::SA_RESTART)
    }
    /// Changes what is done about a signal.
    fn bsd_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
        set_handler(signal, handler, libc::SA_RESTART)
    }
    /// Changes what is done about a signal, once.
    fn sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
        set_handler(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER)
    }
    /// Changes what is done about a signal, once.
    fn __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
        sysv_signal(signal, handler)
    }
    /// Lets calls go on after a signal, or not.
    fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int {
        let before = action_of(signal);
        let restarts = if interrupts == 0 { libc::SA_RESTART } else { 0 };
        match change(signal, Some(Action { flags: before.flags & !libc::SA_RESTART | restarts, ..before })) {
            Ok(_) => 0,
            Err(error) => {
                set_errno(error);
                -1
            }
        }
    }
    /// Sends a signal to the calling thread.
    fn raise(signal: c_int) -> c_int {
        if index(signal).is_none() && signal != 0 {
            set_errno(libc::EINVAL);
            return -1;
        }
        if signal != 0 {
            send_to_me(signal);
        }
        0
    }
    /// Sends a signal to a process; to others none is sent.
    fn kill(process: pid_t, signal: c_int) -> c_int {
        if table::exists(process) && (signal == 0 || !table::runs(process)) {
            // It has ended; only its status is left.
            return 0;
        }
        if process != PROCESS && process != 0 {
            unmodelled("sends another process a signal");
            set_errno(libc::EPERM);
            return -1;
        }
        if index(signal).is_none() && signal != 0 {
            set_errno(libc::EINVAL);
            return -1;
        }
        if signal != 0 {
            send_to_process(signal);
        }
        0
    }
}
