//! Message queues of the kernel, and semaphores of System V: what a thread did before it put something there happens before what
//! a thread does that has taken something out.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{mqd_t, sembuf, size_t, ssize_t, timespec};

use super::handover::{START, acquire_cell, cell, file_of, mix, release_cell};
use crate::real::{self, errno, set_errno};
use crate::thread::has_state;

/// The cell of a queue that is a descriptor.
fn queue(queue: mqd_t) -> Option<u64> {
    let error = errno();
    let found = file_of(queue).filter(|_| has_state());
    set_errno(error);
    found.map(|(_, key)| cell(mix(key, b"queue")))
}

/// The cell of an object of System V: its kind and number.
fn object(kind: &[u8], number: c_int) -> Option<u64> {
    has_state().then(|| cell(mix(mix(START, kind), &number.to_ne_bytes())))
}

/// Before something is put in.
fn put(cell: Option<u64>) {
    cell.into_iter().for_each(release_cell);
}

/// After something was taken out.
fn taken(cell: Option<u64>, result: ssize_t) -> ssize_t {
    cell.filter(|_| result >= 0).into_iter().for_each(acquire_cell);
    result
}

/// Before and after operations on semaphores: some add, some wait.
///
/// # Safety
/// There are so many operations.
unsafe fn operated(number: c_int, operations: *const sembuf, count: size_t, call: impl FnOnce() -> c_int) -> c_int {
    let (mut adds, mut waits) = (false, false);
    for at in 0..count {
        // SAFETY: by the caller.
        let change = unsafe { (*operations.add(at)).sem_op };
        adds |= change > 0;
        waits |= change <= 0;
    }
    let cell = object(b"semaphores", number);
    put(cell.filter(|_| adds));
    taken(cell.filter(|_| waits), call() as ssize_t) as c_int
}

export! {
    fn mq_send(to: mqd_t, from: *const c_char, len: size_t, priority: c_uint) -> c_int {
        put(queue(to));
        real::mq_send(to, from, len, priority)
    }
    fn mq_timedsend(to: mqd_t, from: *const c_char, len: size_t, priority: c_uint, limit: *const timespec) -> c_int {
        put(queue(to));
        real::mq_timedsend(to, from, len, priority, limit)
    }
    fn mq_receive(of: mqd_t, to: *mut c_char, len: size_t, priority: *mut c_uint) -> ssize_t {
        taken(queue(of), real::mq_receive(of, to, len, priority))
    }
    fn mq_timedreceive(
        of: mqd_t, to: *mut c_char, len: size_t, priority: *mut c_uint, limit: *const timespec
    ) -> ssize_t {
        taken(queue(of), real::mq_timedreceive(of, to, len, priority, limit))
    }
    fn msgsnd(to: c_int, from: *const c_void, len: size_t, flags: c_int) -> c_int {
        put(object(b"messages", to));
        real::msgsnd(to, from, len, flags)
    }
    fn msgrcv(of: c_int, to: *mut c_void, len: size_t, kind: c_long, flags: c_int) -> ssize_t {
        taken(object(b"messages", of), real::msgrcv(of, to, len, kind, flags))
    }
    fn semop(of: c_int, operations: *mut sembuf, count: size_t) -> c_int {
        operated(of, operations, count, || real::semop(of, operations, count))
    }
    fn semtimedop(of: c_int, operations: *mut sembuf, count: size_t, limit: *const timespec) -> c_int {
        operated(of, operations, count, || real::semtimedop(of, operations, count, limit))
    }
}
