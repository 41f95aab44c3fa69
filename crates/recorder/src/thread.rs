//! The recorder's state of each thread, and how threads come and go.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use wire::log::{BUFFER, BUFFERS_OFFSET, MARGIN, Packer, SLOTS};

use crate::entry::{arena, board};
use crate::seen::Seen;

/// The variables of a thread that inlined code uses; defined in the instrumented module.
#[repr(C)]
pub struct Local {
    /// Where the next word goes. Its low bits say how full the buffer is.
    pub cursor: usize,
    /// The state, once there is one.
    pub state: *mut State,
    /// The last site reached before a call.
    pub site: u32,
    /// What the thread has logged already: its own table, or `__rp_nothing_seen`.
    pub seen: *const Seen,
}

#[allow(improper_ctypes, reason = "the state is the recorder's alone; others see a pointer")]
unsafe extern "C" {
    /// The calling thread's variables.
    pub fn __rp_local() -> *mut Local;
}

/// Most reader-writer locks a thread is seen to hold.
const HELD: usize = 64;

/// What the recorder keeps for a thread, in memory of its own.
pub struct State {
    /// The thread's number.
    pub number: u32,
    /// The buffer's number; `SLOTS` when none was free.
    pub slot: usize,
    /// The function and argument it was created with.
    pub start: [*mut c_void; 2],
    /// Whether the thread is past the number at which recording stopped.
    pub past_cut: bool,
    /// Rounds of destructors that have been waited for.
    pub rounds: u32,
    /// The once-control under way and its routine.
    pub once: (*mut c_void, Option<unsafe extern "C" fn()>),
    /// The atomic operation under way.
    pub atomic: crate::atomics::Pending,
    /// Whether accesses added now belong to the event before, and of which site.
    pub call: crate::hooks::Call,
    /// What handlers of signals log.
    pub aside: crate::signals::Aside,
    /// Reader-writer locks held, with the flags of how.
    pub held: [(u64, u8); HELD],
    /// The thread's table of what it has logged already, and whether it has had a record since its buffer was empty.
    pub seen: (Seen, bool),
    packer: Packer,
    /// A head of a block and its bytes.
    pub packed: [u8; PACKED],
}

const PACKED: usize = wire::log::BlockHead::SIZE + Packer::room(BUFFER / 8);

impl State {
    /// The words of the buffer.
    pub fn buffer(&self) -> *mut u64 {
        (arena() as usize + BUFFERS_OFFSET + self.slot * BUFFER) as *mut u64
    }

    /// Packs the first words of the buffer and empties it; returns the number of bytes after the head.
    ///
    /// # Safety
    /// The state's own thread calls it.
    pub unsafe fn pack(&mut self, words: usize) -> usize {
        // Safety: the buffer is the thread's own.
        let used = unsafe { core::slice::from_raw_parts_mut(self.buffer(), words) };
        let len = self.packer.pack(used, &mut self.packed[wire::log::BlockHead::SIZE..]);
        used.fill(0);
        len
    }

    /// Notes that a reader-writer lock is held.
    pub fn hold(&mut self, lock: u64, flags: u8) {
        if let Some(free) = self.held.iter_mut().find(|(held, _)| *held == 0) {
            *free = (lock, flags);
        }
    }

    /// Forgets one hold of a lock and says how it was held.
    pub fn let_go(&mut self, lock: u64) -> u8 {
        match self.held.iter_mut().rev().find(|(held, _)| *held == lock) {
            Some(entry) => core::mem::take(entry).1,
            None => 0,
        }
    }
}

/// A new state for a thread to be created.
pub fn new(start: [*mut c_void; 2]) -> *mut State {
    let number = board().threads.fetch_add(1, Ordering::Relaxed);
    // Safety: fresh memory; all-zero is a state but for what is set.
    unsafe {
        let size = size_of::<State>();
        let memory = libc::mmap(
            null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if memory == libc::MAP_FAILED {
            crate::entry::refuse("cannot get memory for a thread");
        }
        let state = memory.cast::<State>();
        (*state).number = number;
        (*state).slot = SLOTS;
        (*state).start = start;
        state
    }
}

/// Gives the state of a thread that was never started back.
///
/// # Safety
/// Nobody uses it.
pub unsafe fn drop(state: *mut State) {
    // Safety: the caller's.
    unsafe { libc::munmap(state.cast(), size_of::<State>()) };
}

/// Makes the calling thread the one of this state: finds a buffer for it.
///
/// # Safety
/// The state is new and the calling thread has none.
pub unsafe fn begin(state: *mut State) {
    // Safety: the caller's; variables of the calling thread.
    unsafe {
        let local = __rp_local();
        let taken = |slot: &usize| {
            let word = &board().slots[*slot];
            word.load(Ordering::Relaxed) == 0
                && word.compare_exchange(0, (*state).number + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        (*local).state = state;
        match (0..SLOTS).find(taken) {
            Some(slot) => {
                (*state).slot = slot;
                (*local).cursor = (*state).buffer() as usize;
            }
            None => {
                // Its words go nowhere: a buffer that is thrown away when it is full.
                board().unrecorded.fetch_add(1, Ordering::Relaxed);
                (*local).cursor = nowhere();
            }
        }
        let key = *KEY.get();
        libc::pthread_setspecific(key, state.cast());
        crate::log::stack_range();
        crate::log::event(wire::Tag::Start, 0, 0, wire::NO_SITE, 0);
    }
}

/// A buffer of the calling thread's own that the host does not read.
pub(crate) unsafe fn nowhere() -> usize {
    // Safety: fresh memory.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let memory = libc::mmap(null_mut(), 2 * BUFFER, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if memory == libc::MAP_FAILED {
            crate::entry::refuse("cannot get memory for a thread");
        }
        (memory as usize).next_multiple_of(BUFFER)
    }
}

/// The calling thread's state, made now for a thread that nobody saw being created.
pub fn state() -> &'static mut State {
    // Safety: the thread's own; no other reference is alive, as hooks do not call each other with one.
    unsafe {
        let local = __rp_local();
        if (*local).state.is_null() {
            begin(new([null_mut(); 2]));
        }
        &mut *(*local).state
    }
}

/// Whether the calling thread has a state.
pub fn has_state() -> bool {
    // Safety: the thread's own variables.
    unsafe { !(*__rp_local()).state.is_null() }
}

static KEY: crate::cell::Global<libc::pthread_key_t> = crate::cell::Global::new(0);

/// To be called once, before there are threads.
pub fn prepare() {
    // Safety: nobody else uses the key yet.
    unsafe { libc::pthread_key_create(KEY.get(), Some(end)) };
}

/// Called when a thread ends; the last of the destructors, as it waits for the others' rounds.
unsafe extern "C" fn end(state: *mut c_void) {
    const ROUNDS: u32 = 3;
    // Safety: the value of the thread's key.
    unsafe {
        let state = state.cast::<State>();
        if (*state).rounds < ROUNDS {
            (*state).rounds += 1;
            libc::pthread_setspecific(*KEY.get(), state.cast());
            return;
        }
        let local = __rp_local();
        if core::mem::take(&mut (*state).aside.depth) > 0 {
            // It ends in a handler of a signal.
            (*local).cursor = (*state).aside.cursor;
        }
        crate::log::event(wire::Tag::Exit, 0, 0, wire::NO_SITE, 0);
        crate::log::flush();
        if let Some(word) = board().slots.get((*state).slot) {
            word.store(0, Ordering::Release);
        }
        // What the thread still does goes nowhere.
        (*local).cursor = nowhere();
        (*state).slot = SLOTS;
    }
}

/// Where no plain access is put any more.
pub const FULL: usize = BUFFER - MARGIN;
