//! The scheduler's side that threads call: they arrive at operations, commit events, create threads and end.
//!
//! Between two runs of its code a thread is always at an arrival, so what it will do next is known. Only the loop in
//! [`crate::run`] decides who goes on; it runs on the process's own stack.

use alloc::vec::Vec;
use core::ffi::c_void;

use wire::layout::environment;
use wire::{Record, ReplyKind, Tag};

use crate::hooks::{self, HOT};
use crate::libc_models::children::forked;
use crate::link;
use crate::run::{Parked, RUN, Reason};
use crate::slots::Slot;
use crate::sync::{Blocker, SyncObjects};
use crate::threads::Entry;
use crate::{cell, interrupts, rounds, run, section, serial, stack, sys, unwritten, values};

pub use crate::threads::{SpawnError, StartRoutine, Thread};

/// The running thread.
#[inline]
pub fn current() -> Thread {
    RUN.current.get()
}

/// Lends what is kept of a thread, if it exists.
fn with_entry<R>(thread: Thread, use_it: impl FnOnce(&mut Entry) -> R) -> Option<R> {
    RUN.threads.with(|threads| threads.get_mut(thread as usize).map(use_it))
}

/// The running thread's slot; the initial thread's while the process starts.
pub fn current_slot() -> Slot {
    with_entry(current(), |thread| thread.slot).unwrap_or(Slot::MAIN)
}

/// The last site the running thread reached.
pub fn site() -> u32 {
    hooks::SITE.get()
}

/// Whether a run is on and program code is running (not the start of the process, not the scheduler's own work).
#[inline]
pub fn running() -> bool {
    RUN.in_thread.get()
}

/// Lends the model of the program's synchronisation objects. `use_it` must not arrive at an operation, commit one or ask
/// for the model again; it may report misuse.
pub fn with_objects<R>(use_it: impl FnOnce(&mut SyncObjects) -> R) -> R {
    RUN.objects.with(use_it)
}

/// Scheduling point: announces `op` as the thread's next event. Returns when it is this thread's turn and `blocker`
/// does not block it; one that could only wake without a cause leaves the turn to others. Emits nothing.
pub fn arrive(op: Record, extra: Option<u64>, blocker: Blocker) {
    let extra = extra.map(|address| extra_record(address, op.site()));
    let pending = [op, extra.unwrap_or_default()];
    arrive_with(&pending[..1 + usize::from(extra.is_some())], blocker);
}

/// The same for an event of these records. Handlers that interrupt the wait let it go on.
pub fn arrive_with(pending: &[Record], blocker: Blocker) {
    while arrive_once(pending, blocker).is_some() {}
}

/// The same for a call that handlers interrupt unless they say otherwise (`SA_RESTART`), or always. Says whether it is the
/// thread's turn; if not, a handler has run instead.
pub fn arrive_unless_interrupted(pending: &[Record], blocker: Blocker) -> bool {
    loop {
        match arrive_once(pending, blocker) {
            None => return true,
            Some(goes_on) if goes_on && blocker.goes_on_after_signals() => {}
            Some(_) => return false,
        }
    }
}

/// Waits for the thread's turn. `None`: it has it. Else a handler has run that interrupted the wait, and says whether it is
/// to go on.
fn arrive_once(pending: &[Record], blocker: Blocker) -> Option<bool> {
    if !running() {
        return None;
    }
    if section::is_open() {
        section::interrupt();
    }
    if rounds::any() {
        rounds::before_event();
    }
    interrupts::before(pending);
    let waits =
        |objects: &mut SyncObjects| objects.blocked(current(), &blocker) || objects.reluctant(current(), &blocker);
    if HOT.at_stop() || (!matches!(blocker, Blocker::None) && with_objects(waits)) {
        wait_for_turn(pending, blocker);
    }
    if matches!(blocker, Blocker::None) { None } else { interrupts::after_wait(pending, &blocker) }
}

/// As [`arrive`] for events that never block; `pending` are the event's records as far as they are known. Says whether
/// the event is to be made: a run is on, and the current section did not take it in.
#[cold]
pub fn take_turn(pending: &[Record]) -> bool {
    let goes_on = wait_turn(pending);
    if goes_on {
        match pending {
            _ if interrupts::is_looking() => {}
            [record] => rounds::access(record),
            _ => rounds::effect(),
        }
        serial::made(pending);
        watch();
    }
    goes_on
}

/// The same for an event that has no effect on a round of a loop.
#[cold]
pub fn take_quiet_turn(pending: &[Record]) -> bool {
    let goes_on = wait_turn(pending);
    if goes_on {
        watch();
    }
    goes_on
}

fn wait_turn(pending: &[Record]) -> bool {
    if !running() {
        if forked::is_child() {
            let accesses = pending.iter().filter_map(|record| Some((record.tag()?, record)));
            accesses.for_each(|(tag, r)| forked::note_access(tag, r.address(), r.argument().into(), r.site()));
        }
        return false;
    }
    if section::is_open() {
        pending.iter().for_each(|record| section::access(*record, true));
        return false;
    }
    if rounds::any() {
        rounds::before_event();
    }
    interrupts::before(pending);
    if HOT.at_stop() {
        wait_for_turn(pending, Blocker::None);
    }
    if let ([record], true) = (pending, unwritten::any()) {
        unwritten::access(record);
    }
    true
}

/// Whether every event is looked at.
fn is_watched() -> bool {
    rounds::any() || unwritten::any() || serial::is_quiet() || interrupts::is_watching()
}

/// The event after the next one is looked at too, where events are.
fn watch() {
    look_from(HOT.position.get() + 1);
}

/// What is looked at has changed: the next event may have to be.
pub fn look_again() {
    look_from(HOT.position.get());
}

/// The running thread's events from this one on are looked at, if events are. Else it goes on to where something begins.
fn look_from(next: u32) {
    HOT.limit.set(if is_watched() { next } else { HOT.stop.get().min(serial::quiet_from()) });
}

/// What a thread that waits for its turn is about to do includes these records, too, made for its site.
pub fn announce_also(thread: Thread, records: impl FnOnce(u32) -> Vec<Record>) {
    let mut pending = RUN.with_thread(thread, |entry| entry.pending().to_vec());
    let Some(first) = pending.first() else { return };
    let more: Vec<Record> = records(first.site()).into_iter().filter(|record| !pending.contains(record)).collect();
    pending.extend(more);
    RUN.with_thread(thread, |entry| entry.announce(&pending));
}

fn wait_for_turn(pending: &[Record], blocker: Blocker) {
    let thread = current();
    RUN.with_thread(thread, |entry| entry.announce(pending));
    let notes = RUN.request.get().stacks != 0;
    if notes {
        values::after();
        stack::write();
    }
    let may_block = !matches!(blocker, Blocker::None);
    if may_block {
        RUN.runnable.with(|runnable| runnable.wait_for(thread, blocker));
        reconsider();
    }
    suspend(Reason::Arrived);
    RUN.with_thread(thread, |entry| entry.announce(&[]));
    if may_block {
        RUN.runnable.with(|runnable| runnable.go_on(thread));
    }
    if notes {
        values::before(pending);
    }
    if RUN.trap.take() {
        trap();
    }
}

/// Stops for a debugger.
fn trap() {
    // SAFETY: a breakpoint changes no register and no memory; it raises a signal that the debugger takes.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("int3");
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("brk #0");
    }
}

/// Appends the event executed and moves to the thread's next position; then updates the set of runnable threads.
pub fn commit(op: Record, extra: Option<u64>) {
    if !running() {
        return;
    }
    match extra {
        None => commit_with(&[op]),
        Some(address) => commit_with(&[op, extra_record(address, op.site())]),
    }
}

/// The same for an event of these records.
pub fn commit_with(records: &[Record]) {
    let Some(op) = records.first().copied().filter(|_| running()) else { return };
    hooks::append_all(records);
    HOT.advance();
    if rounds::any() {
        rounds::executed(&op);
    }
    if unwritten::any() {
        let writes = |record: &&Record| matches!(record.tag(), Some(Tag::Write | Tag::ReadModifyWrite));
        records.iter().filter(writes).for_each(unwritten::access);
    }
    if is_watched() {
        HOT.watch_next();
    }
    if op.tag() == Some(Tag::Yield) {
        let position = HOT.position.get();
        with_entry(current(), |thread| thread.yielded_at = position);
        // The next arrival asks the scheduler.
        HOT.limit.set(position);
        HOT.stop.set(position);
    }
    reconsider();
}

fn extra_record(address: u64, site: u32) -> Record {
    Record::new(Tag::Extra, 0, address, site, 0)
}

/// Updates the set of runnable threads, after something outside the model (a descriptor) changed.
pub fn reconsider() {
    RUN.runnable.with(|runnable| {
        if with_objects(|objects| runnable.update(objects)) {
            runnable.emit();
        }
    });
}

/// Makes a thread whose first event `Start` is pending. The caller has arrived at `Create` and commits it after. The
/// checkpoint is taken in the first call, before anything of the creation is visible.
pub fn spawn(start: StartRoutine, arg: *mut c_void) -> Result<Thread, SpawnError> {
    if !running() {
        return Err(SpawnError::NoRun);
    }
    serial::end();
    if !RUN.checkpointed.get() && !link::runs_once() {
        suspend(Reason::Checkpoint);
    }
    let (thread, moved) = RUN.create(start, arg)?;
    if moved {
        unmodelled("two deeply nested threads share a memory slot: addresses depend on creation order");
    }
    Ok(thread)
}

/// Ends the running thread, whose `Exit` has been committed.
pub fn exit_thread() -> ! {
    end_with(Reason::Finished)
}

/// The running thread ends the process, which is postponed until no other thread can run.
pub fn park(kind: ReplyKind, code: i32, message: &str) -> ! {
    if forked::is_child() {
        forked::exit(if kind == ReplyKind::Exit { code << 8 } else { libc::SIGABRT });
    }
    if !running() {
        sys::complain("raceproof: the process ends before the program runs\n");
        sys::leave(if kind == ReplyKind::Exit { code } else { 2 });
    }
    let parked = Parked { kind, code, thread: current(), site: site(), counter: 0, message: message.into() };
    RUN.parked.with(|all| all.push(parked));
    end_with(Reason::Finished)
}

/// The trace area is full: the run ends.
#[cold]
pub fn trace_full() -> *mut Record {
    if forked::is_child() {
        // Nobody reads what it writes there.
        return link::trace().start;
    }
    if !running() {
        run::fail("the trace area has no room for the scheduler's own records");
    }
    end_with(Reason::TraceFull)
}

fn end_with(reason: Reason) -> ! {
    if forked::is_child() {
        forked::exit(0);
    }
    // The trace may turn out to be full inside a borrow. Its holder never continues.
    cell::abandon_borrows();
    suspend(reason);
    // The scheduler does not come back to a thread that is over.
    sys::leave(2)
}

/// Goes to the scheduler; returns when the thread is resumed.
fn suspend(reason: Reason) {
    hooks::close_call();
    section::close();
    rounds::notice_changes();
    RUN.leave_thread(reason);
}

/// Records a wrong use of the thread API.
pub fn misuse(object: u64, text: &str) {
    sentence(Tag::Misuse, object, text);
}

/// Records something the model does not cover.
pub fn unmodelled(text: &str) {
    sentence(Tag::Unmodelled, 0, text);
}

/// Records something the model does not cover, where the run ends.
pub fn unmodelled_at_end(text: &str) {
    text_record(Tag::Unmodelled, 0, text.as_bytes());
}

/// Records that the program opens a file on disk, or finds that there is none, by its canonical name.
pub fn opened(name: &[u8]) {
    if running() {
        text_record(Tag::Opened, 0, name);
    }
}

/// Records that the running thread plays a peer of this name.
pub fn peer(name: &str) {
    if running() {
        text_record(Tag::Peer, 0, name.as_bytes());
    }
}

/// A remark, once where a loop repeats it.
fn sentence(tag: Tag, object: u64, text: &str) {
    let remark = Some((tag, current(), site(), object));
    if running() && RUN.remark.replace(remark) != remark {
        text_record(tag, object, text.as_bytes());
    }
}

/// A record that text follows.
fn text_record(tag: Tag, object: u64, bytes: &[u8]) {
    hooks::make_room(1 + bytes.len().div_ceil(16));
    hooks::append(Record::new(tag, 0, object, site(), bytes.len() as u32));
    for unit in bytes.chunks(16) {
        let mut raw = [0; 16];
        raw[..unit.len()].copy_from_slice(unit);
        let raw = u128::from_le_bytes(raw);
        hooks::append(Record { w0: raw as u64, w1: (raw >> 64) as u64 });
    }
}

/// The program opened, closed or moved descriptors: they are put back before the next run.
pub fn note_io() {
    RUN.did_io.set(true);
}

/// The program changed something that outlives the run, also for a process that was forked before (an open file
/// description, shared memory), and that is not put back: the next run needs a new process.
pub fn spoil() {
    if RUN.checkpointed.get() {
        RUN.spoiled.set(true);
    }
}

/// The program changed an attribute of the process that is not put back. A run that is a forked process takes it along.
pub fn spoil_process() {
    forked::note_change();
    if !crate::link::forks() {
        spoil();
    }
}

/// Whether the environment may do this, of [`environment`].
pub fn may(surprise: u32) -> bool {
    RUN.request.get().environment & surprise != 0
}

/// Whether the running thread's wait on `cond` may end without a cause.
pub fn may_be_spurious(cond: u64) -> bool {
    let asks = |objects: &mut SyncObjects| objects.waits.may_be_spurious(current(), cond);
    running() && may(environment::SPURIOUS) && with_objects(asks)
}

/// Lends the address of the running thread's last weak compare-exchange, if that failed without a cause; else 0.
pub fn with_failed_exchange<R>(use_it: impl FnOnce(&mut u64) -> R) -> R {
    RUN.with_thread(current(), |entry| use_it(&mut entry.failed_exchange))
}

/// `k` of the thread's spawn path: it is its creator's k-th child; 0 for the initial thread.
pub fn path_index(thread: Thread) -> u32 {
    with_entry(thread, |thread| thread.index).unwrap_or(0)
}

/// Where the thread's memory slot starts: different for all threads of a run, the same for a spawn path in every run.
pub fn slot_address(thread: Thread) -> usize {
    with_entry(thread, |thread| thread.slot.range().start).unwrap_or(0)
}
