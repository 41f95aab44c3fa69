//! The recorder's state of each thread, and how threads come and go.

use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

use wire::log::{BUFFER, BUFFERS_OFFSET, BlockHead, MARGIN, Packer, SLOTS, block};

use crate::entry::{arena, board};

/// The variables of a thread that inlined code uses; defined in the instrumented module.
#[repr(C)]
pub struct Local {
    /// Where the next word goes. Its low bits say how full the buffer is.
    pub cursor: Cell<usize>,
    /// The state, once there is one.
    state: Cell<*const ThreadState>,
    /// The last site reached before a call.
    pub site: Cell<u32>,
    /// What the thread has logged already: its own table, or `__rp_nothing_seen`.
    pub seen: Cell<*const u64>,
    /// The number of that table's last entry.
    pub last_seen: Cell<usize>,
}

/// The calling thread's variables.
#[inline(always)]
pub fn local() -> &'static Local {
    #[allow(improper_ctypes, reason = "the state is the recorder's alone; others see a pointer")]
    unsafe extern "C" {
        fn __rp_local() -> *const Local;
    }
    // SAFETY: the instrumented module gives the address of variables of the calling thread, with this layout. They live as
    // long as the thread, and the recorder never passes the reference to another thread. Code of the program and handlers
    // of signals change the variables only between two accesses through the cells.
    unsafe { &*__rp_local() }
}

/// Most reader-writer locks a thread is seen to hold.
const HELD: usize = 64;

/// What the recorder keeps for a thread, in memory of its own, which is never given back once the thread has begun.
///
/// The creating thread fills it in; from then on only its own thread uses it. Everything is in cells because a handler of a
/// signal may interrupt any function of the recorder and use the same state.
pub struct ThreadState {
    /// The thread's number.
    pub number: Cell<u32>,
    /// The buffer's number; `SLOTS` when none was free.
    pub slot: Cell<usize>,
    /// The function and argument it was created with.
    pub start: [Cell<*mut c_void>; 2],
    /// Whether the thread is past the number at which recording stopped.
    pub past_cut: Cell<bool>,
    /// Words of records in the buffer: the others are plain accesses.
    pub record_words: Cell<usize>,
    /// Rounds of destructors that have been waited for.
    rounds: Cell<u32>,
    /// The current once-control and its routine.
    pub once: Cell<OnceUnderWay>,
    /// The current atomic operation.
    pub atomic: Cell<crate::atomics::Pending>,
    /// Whether accesses added now belong to the event before, and of which site.
    pub call: Cell<crate::hooks::Call>,
    /// What handlers of signals log.
    pub aside: crate::signals::Aside,
    /// Reader-writer locks held, with the flags of how.
    held: [Cell<(u64, u8)>; HELD],
    /// What the thread has logged already.
    pub seen: crate::seen::ThreadTable,
    packing: UnsafeCell<Packing>,
}

/// A once-control and its routine.
pub type OnceUnderWay = (*mut c_void, Option<unsafe extern "C" fn()>);

/// What packing a buffer needs.
struct Packing {
    packer: Packer,
    /// A head of a block and its bytes.
    block: [u8; BLOCK],
}

const BLOCK: usize = BlockHead::SIZE + Packer::room(BUFFER / 8);

impl ThreadState {
    /// The address of the buffer.
    pub fn buffer(&self) -> usize {
        arena() as usize + BUFFERS_OFFSET + self.slot.get() * BUFFER
    }

    /// The first words of the buffer.
    pub fn words(&self, count: usize) -> &[Cell<u64>] {
        debug_assert!(self.slot.get() < SLOTS && count <= BUFFER / 8);
        // SAFETY: a buffer whose slot the thread has taken is its own, in memory that is mapped as long as the process lives;
        // the host reads it only when the process is gone, or has stopped. Callers ask for no more words than it has.
        unsafe { core::slice::from_raw_parts(self.buffer() as *const Cell<u64>, count) }
    }

    /// Packs the first words of the buffer, empties them, and hands the block to `write`.
    pub fn pack(&self, count: usize, write: impl FnOnce(&[u8])) {
        // SAFETY: only the state's own thread comes here, and only from `log::flush`, which does not call itself: neither
        // packing nor `write` logs anything, and a handler of a signal that interrupts them has a buffer aside, which is
        // never packed.
        let packing = unsafe { &mut *self.packing.get() };
        let (head, bytes) = packing.block.split_at_mut(BlockHead::SIZE);
        let words = self.words(count);
        // SAFETY: the same words, which nobody writes while they are packed.
        let read = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u64>(), count) };
        let len = packing.packer.pack(read, bytes);
        words.iter().for_each(|word| word.set(0));
        head.copy_from_slice(&BlockHead::new(block::WORDS, self.number.get(), &bytes[..len]).to_bytes());
        write(&packing.block[..BlockHead::SIZE + len]);
    }

    /// Notes that a reader-writer lock is held.
    pub fn hold(&self, lock: u64, flags: u8) {
        if let Some(free) = self.held.iter().find(|held| held.get().0 == 0) {
            free.set((lock, flags));
        }
    }

    /// Forgets one hold of a lock and says how it was held.
    pub fn let_go(&self, lock: u64) -> u8 {
        self.held.iter().rev().find(|held| held.get().0 == lock).map_or(0, |held| held.take().1)
    }
}

/// Memory of the recorder's own, all zero.
pub(crate) fn map(size: usize, flags: c_int) -> *mut c_void {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    // SAFETY: maps new memory where there is none.
    let memory = unsafe { crate::real::mmap(null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        crate::entry::refuse("cannot get memory for a thread");
    }
    memory
}

/// A new state for a thread to be created.
pub fn new(start: [*mut c_void; 2]) -> &'static ThreadState {
    let number = board().threads.fetch_add(1, Ordering::Relaxed);
    // SAFETY: fresh memory, page-aligned and of that size; all zero is a state: integers, null pointers, no functions, an
    // empty packer.
    let state = unsafe { &*map(size_of::<ThreadState>(), 0).cast::<ThreadState>() };
    state.number.set(number);
    state.slot.set(SLOTS);
    state.start[0].set(start[0]);
    state.start[1].set(start[1]);
    state
}

/// Gives the state of a thread that was never started back.
///
/// # Safety
/// Nobody uses it any more.
pub unsafe fn drop(state: &'static ThreadState) {
    let memory = core::ptr::from_ref(state).cast_mut().cast();
    // SAFETY: `new` mapped that much; by the caller nothing refers to it.
    unsafe { libc::munmap(memory, size_of::<ThreadState>()) };
}

/// Makes the calling thread, which has no state, the one of this new state: finds a buffer for it.
pub fn begin(state: &'static ThreadState) {
    let taken = |slot: &usize| {
        let word = &board().slots[*slot];
        word.load(Ordering::Relaxed) == 0
            && word.compare_exchange(0, state.number.get() + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    local().state.set(state);
    match (0..SLOTS).find(taken) {
        Some(slot) => {
            state.slot.set(slot);
            local().cursor.set(state.buffer());
        }
        None => {
            // Its words go nowhere: a buffer that is thrown away when it is full.
            board().unrecorded.fetch_add(1, Ordering::Relaxed);
            local().cursor.set(nowhere());
        }
    }
    keep_for_end(core::ptr::from_ref(state).cast());
    crate::log::stack_range();
    crate::log::event(wire::Tag::Start, 0, 0, wire::NO_SITE, 0);
}

/// A buffer of the calling thread's own that the host does not read.
pub(crate) fn nowhere() -> usize {
    (map(2 * BUFFER, libc::MAP_NORESERVE) as usize).next_multiple_of(BUFFER)
}

/// The calling thread's state, made now for a thread that nobody saw being created.
#[inline(always)]
pub fn state() -> &'static ThreadState {
    if !has_state() {
        begin(new([null_mut(); 2]));
    }
    // SAFETY: only `begin` sets it, to a state that lives as long as the process.
    unsafe { &*local().state.get() }
}

/// Whether the calling thread has a state.
pub fn has_state() -> bool {
    !local().state.get().is_null()
}

/// The key whose destructor is called when a thread ends.
static KEY: AtomicU32 = AtomicU32::new(0);

/// To be called once, before there are threads.
pub fn prepare() {
    let mut key = 0;
    // SAFETY: the key is writable, and the destructor has the right type.
    unsafe { libc::pthread_key_create(&mut key, Some(end)) };
    KEY.store(key, Ordering::Relaxed);
}

/// Lets [`end`] be called with this value when the calling thread ends.
fn keep_for_end(value: *const c_void) {
    // SAFETY: the key was made by `prepare`; the value is only kept.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
}

/// Called when a thread ends; the last of the destructors, as it waits for the others' rounds.
extern "C" fn end(value: *mut c_void) {
    const ROUNDS: u32 = 3;
    let state = state();
    if state.rounds.get() < ROUNDS {
        state.rounds.set(state.rounds.get() + 1);
        keep_for_end(value);
        return;
    }
    if state.aside.depth.take() > 0 {
        // It ends in a handler of a signal.
        local().cursor.set(state.aside.cursor.get());
    }
    crate::api::lock::thread_ends();
    crate::log::event(wire::Tag::Exit, 0, 0, wire::NO_SITE, 0);
    crate::log::flush();
    state.seen.give_back();
    if let Some(word) = board().slots.get(state.slot.get()) {
        word.store(0, Ordering::Release);
    }
    // What the thread still does goes nowhere.
    local().cursor.set(nowhere());
    state.slot.set(SLOTS);
}

/// Where no plain access is put any more.
pub const FULL: usize = BUFFER - MARGIN;
