//! The host's end of the shared memory.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use decode::Garbled;
use memmap2::MmapMut;
use model::Schedule;
use wire::layout::{
    CHOICES_OFFSET, MESSAGE_OFFSET, PEERS_CAPACITY, PEERS_OFFSET, SEGMENTS_OFFSET, TRACE_OFFSET, isolation,
};
use wire::{
    CHOICE_CAPACITY, Chosen, Header, MESSAGE_CAPACITY, Patience, Record, Reply, Request, SEGMENT_CAPACITY, Segment,
};

use crate::config::{Config, Isolation};
use crate::error::Error;

/// The shared memory of one process.
pub(crate) struct Shared {
    memory: MmapMut,
    capacity: usize,
    patience: Patience,
}

impl Shared {
    /// Lays the memory out in an empty file.
    pub(crate) fn create(file: &File, config: &Config, once: bool) -> io::Result<Self> {
        let capacity = config.trace_capacity.max(1 << 12);
        file.set_len((TRACE_OFFSET + capacity * size_of::<Record>()) as u64)?;
        // SAFETY: the file keeps its length, so the mapping stays valid. The program under test may write to it at any time:
        // what it holds is numbers, for which every bit pattern is valid, read as atomics or volatile.
        let memory = unsafe { MmapMut::map_mut(file)? };
        let shared = Self { memory, capacity, patience: Patience::new() };
        let header = shared.header();
        header.magic.store(wire::MAGIC, Ordering::Relaxed);
        header.version.store(wire::VERSION, Ordering::Relaxed);
        let kind = match config.isolation {
            _ if once => isolation::ONCE,
            Isolation::Auto | Isolation::Restore | Isolation::Fresh => isolation::RESTORE,
            Isolation::Fork => isolation::FORK,
        };
        header.isolation.store(kind, Ordering::Relaxed);
        header.crowded.store(config.processor.is_some().into(), Ordering::Relaxed);
        header.fallback.store((config.isolation == Isolation::Auto).into(), Ordering::Relaxed);
        if config.peers.len() > PEERS_CAPACITY {
            return Err(io::Error::other(format!("the peers' script has more than {PEERS_CAPACITY} bytes")));
        }
        // SAFETY: the length was compared with the capacity of the area, which lies in the mapping; no process uses it yet.
        unsafe { shared.at::<u8>(PEERS_OFFSET).copy_from_nonoverlapping(config.peers.as_ptr(), config.peers.len()) };
        header.peers_len.store(config.peers.len() as u32, Ordering::Relaxed);
        header.trace_capacity.store(capacity as u64, Ordering::Release);
        Ok(shared)
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the mapping starts at a page, so it is aligned, and is longer than a header. A header consists of atomics
        // and cells of plain numbers, for which every bit pattern is valid. The mapping lives as long as `self`.
        unsafe { &*self.memory.as_ptr().cast::<Header>() }
    }

    fn at<T>(&self, offset: usize) -> *mut T {
        self.memory.as_ptr().cast_mut().wrapping_add(offset).cast()
    }

    /// Writes a request and rings.
    pub(crate) fn ask(&mut self, request: Request, schedule: &Schedule) -> Result<(), Error> {
        if schedule.segments.len() > SEGMENT_CAPACITY {
            return Err(Error::ScheduleTooLong { segments: schedule.segments.len(), most: SEGMENT_CAPACITY });
        }
        let segments = self.at::<Segment>(SEGMENTS_OFFSET);
        for (i, segment) in schedule.segments.iter().enumerate() {
            let segment = Segment { thread: segment.thread.0, until: segment.until };
            // SAFETY: the number of segments was checked against the capacity of their area, which lies in the mapping.
            // The runtime reads it after `requested` changes, below.
            unsafe { segments.add(i).write_volatile(segment) };
        }
        if schedule.choices.len() > CHOICE_CAPACITY {
            return Err(Error::TooManyChoices { choices: schedule.choices.len(), most: CHOICE_CAPACITY });
        }
        let choices = self.at::<Chosen>(CHOICES_OFFSET);
        for (i, model::Chosen { event, index, value }) in schedule.choices.iter().enumerate() {
            let (thread, position) = (event.thread.0, event.position);
            let chosen = Chosen { thread, position, index: *index, reserved: 0, value: *value };
            // SAFETY: as for segments: checked against the capacity, read by the runtime after `requested` changes.
            unsafe { choices.add(i).write_volatile(chosen) };
        }
        let (segments, choices) = (schedule.segments.len() as u32, schedule.choices.len() as u32);
        let request = Request { segments, choices, ..request };
        let header = self.header();
        // SAFETY: the cell lies in the header; the runtime reads it after `requested` changes.
        unsafe { header.request.get().write_volatile(request) };
        header.requested.fetch_add(1, Ordering::SeqCst);
        if header.runtime_sleeps.load(Ordering::SeqCst) != 0 {
            futex(&header.requested, libc::FUTEX_WAKE, 1, None);
        }
        Ok(())
    }

    /// Waits for the answer, at most about `timeout`; says whether it came.
    pub(crate) fn wait(&mut self, timeout: Duration) -> bool {
        let crowded = self.header().crowded.load(Ordering::Relaxed) != 0;
        for _ in 0..if crowded { 1 } else { self.patience.looks() } {
            if self.is_answered() {
                self.patience.caught();
                return true;
            }
            std::hint::spin_loop();
        }
        self.patience.missed();
        let header = self.header();
        let wanted = header.requested.load(Ordering::Relaxed);
        header.host_sleeps.store(1, Ordering::SeqCst);
        let seen = header.answered.load(Ordering::SeqCst);
        if seen != wanted {
            futex(&header.answered, libc::FUTEX_WAIT, seen, Some(timeout));
        }
        header.host_sleeps.store(0, Ordering::Relaxed);
        self.is_answered()
    }

    fn is_answered(&self) -> bool {
        self.header().answered.load(Ordering::Acquire) == self.header().requested.load(Ordering::Relaxed)
    }

    /// The reply, after the answer.
    pub(crate) fn reply(&self) -> Reply {
        // SAFETY: the cell lies in the header and holds numbers, for which every bit pattern is valid. The runtime does not
        // write it between its answer and the next request; a program that does so changes the numbers only.
        unsafe { self.header().reply.get().read_volatile() }
    }

    /// The reply's text.
    pub(crate) fn message(&self, reply: &Reply) -> String {
        let mut bytes = vec![0; (reply.message_len as usize).min(MESSAGE_CAPACITY)];
        // SAFETY: the length is at most the capacity of the message area, which lies in the mapping; the vector is as long.
        unsafe { std::ptr::copy_nonoverlapping(self.at::<u8>(MESSAGE_OFFSET), bytes.as_mut_ptr(), bytes.len()) };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Copies the reply's records to `out`. How many of them at the start were there already.
    pub(crate) fn records(&self, reply: &Reply, out: &mut Vec<Record>) -> Result<usize, Error> {
        let count = reply.records as usize;
        if count > self.capacity {
            let what = format!("{count} records in an area of {}", self.capacity);
            return Err(Garbled { record: 0, what }.into());
        }
        let records = self.at::<Record>(TRACE_OFFSET).cast_const();
        // SAFETY: callers stay below `count`, which is at most the capacity of the trace area. A record is two numbers.
        let record = |at: usize| unsafe { records.add(at).read_volatile() };
        let same = out.iter().zip(0..count).take_while(|(old, at)| **old == record(*at)).count();
        out.truncate(same);
        out.extend((same..count).map(record));
        Ok(same)
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32, timeout: Option<Duration>) {
    let timeout = timeout
        .map(|t| libc::timespec { tv_sec: t.as_secs() as libc::time_t, tv_nsec: t.subsec_nanos() as libc::c_long });
    let limit = timeout.as_ref().map_or(std::ptr::null(), |t| t as *const libc::timespec);
    // SAFETY: the word and the time limit outlive the call, which reads them; the kernel checks the operation.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, limit) };
}
