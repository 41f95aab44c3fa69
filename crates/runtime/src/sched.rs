//! The scheduler: who runs, and what each thread is about to do.

use core::ffi::c_void;

use wire::{Record, ReplyKind};

use crate::sync::Blocker;

/// A thread's number in order of creation.
pub type Thread = u32;

/// A thread's start routine.
pub type StartRoutine = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Why a thread could not be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpawnError {
    /// No memory slot is left for it.
    OutOfSlots,
}

/// The running thread.
pub fn current() -> Thread {
    unimplemented!()
}
/// The last site the running thread reached.
pub fn site() -> u32 {
    unimplemented!()
}
/// Scheduling point: announces `op` as the thread's next event. Returns when it is this thread's turn and `blocker`
/// does not block it. Emits nothing.
pub fn arrive(_op: Record, _extra: Option<u64>, _blocker: Blocker) {
    unimplemented!()
}
/// Appends the event executed and moves to the thread's next position; then finds out anew who is runnable.
pub fn commit(_op: Record, _extra: Option<u64>) {
    unimplemented!()
}
/// Finds out anew who is runnable, after something outside the model (a descriptor) changed.
pub fn reconsider() {
    unimplemented!()
}
/// The model of the program's synchronisation objects.
pub fn state() -> &'static mut crate::sync::State {
    unimplemented!()
}
/// Makes a thread whose first event `Start` is pending. The caller has arrived at `Create` and commits it after. The
/// checkpoint is taken in the first call, before anything of the creation is visible.
pub fn spawn(_start: StartRoutine, _arg: *mut c_void) -> Result<Thread, SpawnError> {
    unimplemented!()
}
/// Ends the running thread, whose `Exit` has been committed.
pub fn exit_thread() -> ! {
    unimplemented!()
}
/// The running thread ends the process, which is postponed until no other thread can run.
pub fn park(_kind: ReplyKind, _code: i32, _message: &str) -> ! {
    unimplemented!()
}
/// Records a wrong use of the thread API.
pub fn misuse(_object: u64, _text: &str) {
    unimplemented!()
}
/// Records something the model does not cover.
pub fn unmodelled(_text: &str) {
    unimplemented!()
}
/// The program opened, closed or moved descriptors: they are put back before the next run.
pub fn note_io() {
    unimplemented!()
}
/// Whether condition-variable waits may end without a cause.
pub fn spurious() -> bool {
    unimplemented!()
}
/// `k` of the thread's spawn path: it is its creator's k-th child; 0 for the initial thread.
pub fn path_index(_thread: Thread) -> u32 {
    unimplemented!()
}
/// Where the thread's memory slot starts: different for all threads of a run, the same for a spawn path in every run.
pub fn slot_address(_thread: Thread) -> usize {
    unimplemented!()
}
/// Whether a run is on and program code is running (not the start of the process, not the runtime's own work).
pub fn running() -> bool {
    unimplemented!()
}
