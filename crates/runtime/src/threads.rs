//! What the scheduler keeps of each thread, and the set of runnable ones.

use alloc::vec::Vec;
use core::ffi::c_void;

use wire::{Record, Tag};

use crate::context::Suspended;
use crate::hooks;
use crate::lanes::Lanes;
use crate::library_tls;
use crate::retries::Retries;
use crate::rounds::Round;
use crate::slots::Slot;
use crate::sync::{Blocker, SyncObjects};

/// A thread's number in order of creation.
pub type Thread = u32;

/// A thread's start routine.
pub type StartRoutine = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Why a thread could not be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpawnError {
    /// No memory slot is left for it.
    OutOfSlots,
    /// No run is on: the process is starting.
    NoRun,
}

/// Most records of what a thread is about to do: they have to fit where a trace ends.
const MOST_PENDING: usize = 256;

/// A thread.
pub struct Entry {
    /// Where it continues.
    pub context: Suspended,
    /// Number of its next event.
    pub position: u32,
    /// It will execute nothing more: it ended or parked.
    pub over: bool,
    /// Its position after its last yield; `u32::MAX` when it has not yielded.
    pub yielded_at: u32,
    /// The last site it reached.
    pub site: u32,
    /// Its memory.
    pub slot: Slot,
    /// It is its creator's `index`-th child; 0 for the initial thread.
    pub index: u32,
    /// Number of threads it created.
    pub children: u32,
    /// Its `errno`.
    pub errno: i32,
    /// Its exceptions in flight, as the C++ library keeps them.
    pub exceptions: [usize; 2],
    /// Its thread-local storage in libraries, while another thread's is in place.
    pub library_tls: Vec<u8>,
    /// Where its last weak compare-exchange was, if that failed without a cause; else 0.
    pub failed_exchange: u64,
    /// What it runs; the initial thread runs `main`.
    pub routine: Option<(StartRoutine, *mut c_void)>,
    /// What the current round of a loop has done.
    pub round: Option<Round>,
    /// How often loops of the C++ library have tried again.
    pub retries: Retries,
    /// The `simd` loops it is in.
    pub lanes: Lanes,
    /// How often what it was about to do drew another priority.
    pub redrawn: u32,
    pending: Vec<Record>,
}

impl Entry {
    /// A thread that starts at `context`.
    pub fn new(context: Suspended, slot: Slot, index: u32, routine: Option<(StartRoutine, *mut c_void)>) -> Self {
        Self {
            context,
            position: 0,
            over: false,
            yielded_at: u32::MAX,
            site: wire::NO_SITE,
            slot,
            index,
            children: 0,
            errno: 0,
            exceptions: [0; 2],
            library_tls: library_tls::of_new_thread(),
            failed_exchange: 0,
            routine,
            round: None,
            retries: Retries::default(),
            lanes: Lanes::default(),
            redrawn: 0,
            pending: Vec::from([Self::START]),
        }
    }
    /// The first event of every thread.
    pub const START: Record = Record::new(Tag::Start, 0, 0, wire::NO_SITE, 0);

    /// Sets what it is about to do; nothing when that is not known.
    pub fn announce(&mut self, records: &[Record]) {
        self.pending.clear();
        self.pending.extend_from_slice(&records[..records.len().min(MOST_PENDING)]);
    }
    /// What it is about to do.
    pub fn pending(&self) -> &[Record] {
        &self.pending
    }
}

/// The set of runnable threads, and what the others wait for.
pub struct Runnable {
    words: Vec<u64>,
    /// Threads at a blocking operation, whether or not it blocks them now.
    waiting: Vec<(Thread, Blocker)>,
    /// The set may differ from `emitted`.
    changed: bool,
    /// The set as last written to the trace.
    emitted: Vec<u64>,
    /// Where that was written, to write over it when nothing came after.
    emitted_at: Option<(*mut Record, *mut Record)>,
}

impl Default for Runnable {
    fn default() -> Self {
        Self::new()
    }
}

impl Runnable {
    /// No threads.
    pub const fn new() -> Self {
        Self { words: Vec::new(), waiting: Vec::new(), changed: false, emitted: Vec::new(), emitted_at: None }
    }
    /// Whether the thread is in the set.
    pub fn contains(&self, thread: Thread) -> bool {
        self.words.get(thread as usize / 64).is_some_and(|word| word & 1 << (thread % 64) != 0)
    }
    /// The smallest member not below `from`.
    pub fn first_from(&self, from: Thread) -> Option<Thread> {
        let mut index = from as usize / 64;
        let mut mask = !0u64 << (from % 64);
        while let Some(word) = self.words.get(index) {
            if word & mask != 0 {
                return Some(index as u32 * 64 + (word & mask).trailing_zeros());
            }
            (index, mask) = (index + 1, !0);
        }
        None
    }
    fn set(&mut self, thread: Thread, member: bool) {
        let (index, bit) = (thread as usize / 64, 1 << (thread % 64));
        if self.words.len() <= index {
            self.words.resize(index + 1, 0);
        }
        let before = self.words[index];
        self.words[index] = if member { before | bit } else { before & !bit };
        self.changed |= self.words[index] != before;
    }
    /// A new thread, or one whose operation was executed.
    pub fn insert(&mut self, thread: Thread) {
        self.set(thread, true);
    }
    /// A thread that is over.
    pub fn remove(&mut self, thread: Thread) {
        self.go_on(thread);
        self.set(thread, false);
    }
    /// The thread's next operation can only be executed when `blocker` lets it.
    pub fn wait_for(&mut self, thread: Thread, blocker: Blocker) {
        self.waiting.push((thread, blocker));
    }
    /// The thread executes the operation it waited for.
    pub fn go_on(&mut self, thread: Thread) {
        self.waiting.retain(|(t, _)| *t != thread);
    }
    /// Whether the thread could continue, but only by a spurious wake-up.
    pub fn is_reluctant(&self, thread: Thread, objects: &SyncObjects) -> bool {
        self.waiting.iter().any(|(t, blocker)| *t == thread && objects.reluctant(thread, blocker))
    }
    /// Whether a thread waits for a signal.
    pub fn awaits_signal(&self) -> bool {
        self.waiting.iter().any(|(_, blocker)| matches!(blocker, Blocker::Signal { .. }))
    }
    /// Whether a thread waits at a descriptor, and none for a change that only another thread makes. Nor does one wait for a
    /// lock, unless that is held by a thread that waits at a descriptor and so would give it back if something came.
    pub fn awaits_outside(&self, objects: &SyncObjects) -> bool {
        let is_outside = |blocker: &Blocker| matches!(blocker, Blocker::Fd { .. });
        let waits_outside =
            |thread: Thread| self.waiting.iter().any(|(t, blocker)| *t == thread && is_outside(blocker));
        let is_inside = |blocker: &Blocker| match blocker {
            Blocker::Lock { lock, .. } => !objects.owner_of(*lock).is_some_and(waits_outside),
            Blocker::Once { .. } | Blocker::Change | Blocker::Never => true,
            _ => false,
        };
        let mut blockers = self.waiting.iter().map(|(_, blocker)| blocker);
        blockers.clone().any(is_outside) && !blockers.any(is_inside)
    }
    /// Asks the model about all waiting threads; says whether the set differs from the one last written.
    pub fn update(&mut self, objects: &SyncObjects) -> bool {
        for i in 0..self.waiting.len() {
            let (thread, blocker) = &self.waiting[i];
            let (thread, blocked) = (*thread, objects.blocked(*thread, blocker));
            self.set(thread, !blocked);
        }
        self.changed && self.words != self.emitted
    }
    /// Writes the set to the trace.
    pub fn emit(&mut self) {
        let cursor = &hooks::HOT.cursor;
        if let Some((start, end)) = self.emitted_at
            && end == cursor.get()
        {
            cursor.set(start);
        }
        hooks::make_room(1 + self.words.len().div_ceil(2));
        let start = cursor.get();
        hooks::append(Record::new(Tag::Runnable, 0, 0, wire::NO_SITE, self.words.len() as u32));
        for pair in self.words.chunks(2) {
            hooks::append(Record { w0: pair[0], w1: pair.get(1).copied().unwrap_or(0) });
        }
        self.emitted_at = Some((start, cursor.get()));
        self.emitted.clone_from(&self.words);
        self.changed = false;
    }
}
