//! Threads: created, joined, detached.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use libc::{clockid_t, pthread_t, timespec};
use wire::Tag;
use wire::record::flag::SUCCESS;

use crate::log::{append, here, number, site};
use crate::real;
use crate::thread::{self, ThreadState};

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

unsafe extern "C" {
    /// Defined in the instrumented module: calls [`__rp_thread_begin`], then becomes the thread's own function, so that
    /// no frame of the recorder is in the way when the thread is unwound.
    fn __rp_thread_main(state: *mut c_void) -> *mut c_void;
}

/// Handles of living threads with their numbers plus one; a handle that is used again gets a new number.
struct Handles([(AtomicU64, AtomicU32); ROOM]);
const ROOM: usize = 4096;

static HANDLES: Handles = Handles([const { (AtomicU64::new(0), AtomicU32::new(0)) }; ROOM]);

impl Handles {
    fn places(handle: u64) -> impl Iterator<Item = usize> {
        let first = (handle >> 12).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        (0..ROOM).map(move |i| (first as usize + i) % ROOM)
    }
    fn number(&self, handle: u64) -> Option<&AtomicU32> {
        for at in Self::places(handle) {
            let (place, number) = &self.0[at];
            let known = place.compare_exchange(0, handle, Ordering::AcqRel, Ordering::Acquire);
            if known.is_ok() || known == Err(handle) {
                return Some(number);
            }
        }
        None
    }
    /// The thread of the handle, which runs, says its number.
    fn set(&self, handle: u64, thread: u32) {
        self.number(handle).into_iter().for_each(|number| number.store(thread + 1, Ordering::Release));
    }
    /// The creator says the number: it may join a thread that has not begun. By now the handle may be a later thread's,
    /// whose number is greater.
    fn set_by_creator(&self, handle: u64, thread: u32) {
        if let Some(number) = self.number(handle) {
            number.fetch_max(thread + 1, Ordering::AcqRel);
        }
    }
    fn get(&self, handle: u64) -> Option<u32> {
        for at in Self::places(handle) {
            let (place, number) = &self.0[at];
            match place.load(Ordering::Acquire) {
                0 => return None,
                known if known == handle => return number.load(Ordering::Acquire).checked_sub(1),
                _ => {}
            }
        }
        None
    }
}

/// The calling thread is the one of `state`; returns its function and argument.
///
/// # Safety
/// `state` is what [`create`] handed to the thread, which has just started.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __rp_thread_begin(state: *mut c_void) -> *mut c_void {
    // SAFETY: by the caller; the creator does not use the state after the thread has begun, and nobody gives it back.
    let state: &'static ThreadState = unsafe { &*state.cast() };
    // SAFETY: only asks for the calling thread's handle.
    HANDLES.set(unsafe { libc::pthread_self() }, state.number.get());
    thread::begin(state);
    state.start.as_ptr().cast_mut().cast()
}

fn create(handle: *mut pthread_t, attributes: *const c_void, start: *mut c_void, arg: *mut c_void) -> c_int {
    let state = thread::new([start, arg]);
    let child = state.number.get();
    here(Tag::Create, 0, core::ptr::null(), child);
    let handed_over = core::ptr::from_ref(state).cast_mut().cast();
    // SAFETY: the program vouches for handle and attributes; the state is handed over to the new thread.
    let result = unsafe { real::pthread_create(handle, attributes, __rp_thread_main, handed_over) };
    if result != 0 {
        append(wire::log::tag::CREATE_FAILED, 0, 0, site(), child, [number(), 0]);
        // SAFETY: there is no thread that would use it, and this function does not any more.
        unsafe { thread::drop(state) };
    } else {
        // SAFETY: the thread exists, so its handle was stored there.
        HANDLES.set_by_creator(unsafe { *handle }, child);
    }
    result
}

/// After a join: the thread's number was looked up before, as its handle may be used again.
fn joined(child: Option<u32>, tag: Tag, flags: u8) {
    if let Some(child) = child {
        here(tag, flags, core::ptr::null(), child);
    }
}

fn tried(child: Option<u32>, result: c_int) -> c_int {
    match result {
        0 => joined(child, Tag::TryJoin, SUCCESS),
        libc::EBUSY | libc::ETIMEDOUT => joined(child, Tag::TryJoin, 0),
        _ => {}
    }
    result
}

/// Results of C11 threads.
const THRD_SUCCESS: c_int = 0;
const THRD_ERROR: c_int = 2;

export! {
    fn pthread_create(handle: *mut pthread_t, attributes: *const c_void, start: Start, arg: *mut c_void) -> c_int {
        create(handle, attributes, start as *mut c_void, arg)
    }
    fn pthread_join(handle: pthread_t, result: *mut *mut c_void) -> c_int {
        let child = HANDLES.get(handle);
        let done = real::pthread_join(handle, result);
        if done == 0 {
            joined(child, Tag::Join, 0);
        }
        done
    }
    fn pthread_tryjoin_np(handle: pthread_t, result: *mut *mut c_void) -> c_int {
        let child = HANDLES.get(handle);
        tried(child, real::pthread_tryjoin_np(handle, result))
    }
    fn pthread_timedjoin_np(handle: pthread_t, result: *mut *mut c_void, time: *const timespec) -> c_int {
        let child = HANDLES.get(handle);
        tried(child, real::pthread_timedjoin_np(handle, result, time))
    }
    fn pthread_clockjoin_np(
        handle: pthread_t, result: *mut *mut c_void, clock: clockid_t, time: *const timespec,
    ) -> c_int {
        let child = HANDLES.get(handle);
        tried(child, real::pthread_clockjoin_np(handle, result, clock, time))
    }
    fn pthread_detach(handle: pthread_t) -> c_int {
        joined(HANDLES.get(handle), Tag::Detach, 0);
        real::pthread_detach(handle)
    }

    // C11 threads are POSIX threads here; their functions return numbers, which come back in the pointer's low bits.
    fn thrd_create(handle: *mut pthread_t, start: Start, arg: *mut c_void) -> c_int {
        let result = create(handle, core::ptr::null(), start as *mut c_void, arg);
        if result == 0 { THRD_SUCCESS } else { THRD_ERROR }
    }
    fn thrd_join(handle: pthread_t, result: *mut c_int) -> c_int {
        let mut value = core::ptr::null_mut();
        if pthread_join(handle, &mut value) != 0 {
            return THRD_ERROR;
        }
        if !result.is_null() {
            *result = value as usize as c_int;
        }
        THRD_SUCCESS
    }
    fn thrd_detach(handle: pthread_t) -> c_int {
        if pthread_detach(handle) == 0 { THRD_SUCCESS } else { THRD_ERROR }
    }
}
