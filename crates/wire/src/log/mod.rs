//! What a program recorded on real threads leaves behind: words in per-thread buffers, and blocks of a file.
//!
//! The host shares one memory file with the program, the *arena*: a [`Board`] and one buffer per living thread. A thread
//! appends words to its buffer. When it is full the thread packs it (`pack`) and appends a block to the trace file.
//! What is still in the buffers when the process is gone, for whatever reason, is taken out by the host. Words that were
//! not written are zero, so the end of a buffer needs no care.
//!
//! ```text
//! plain access   bits 0..47 address   bits 47..63 site   bit 63 = 0       kind and size are the site's;
//!                other accesses to the address may share the word
//! record         bits 0..48 address   48..56 tag   56..63 flags   bit 63 = 1
//!                then a word with site and argument (as in `Record`), then, where `words` says so, the sequence number,
//!                then the mutex of a `WaitBegin`
//! ```
//! Sequence numbers order all synchronisation of all threads: taken after an acquisition succeeded, before a release
//! happens, and for an atomic access while its cell is locked. Plain accesses have none; they come after their thread's
//! last numbered event.

mod pack;

use core::sync::atomic::{AtomicU32, AtomicU64};

pub use pack::{Packer, Unpacked, unpack};

use crate::record::{Tag, flag, order};

/// First eight bytes of a trace file.
pub const FILE_MAGIC: &[u8; 8] = b"rptrace\0";
/// Changes whenever words, blocks or their packing change.
pub const FILE_VERSION: u32 = 8;
/// Environment variable with the descriptors of arena and trace file: `ARENA,FILE`.
pub const FDS_VARIABLE: &str = "RACEPROOF_RECORD_FDS";

/// Bytes of a thread's buffer, and their alignment.
pub const BUFFER: usize = 1 << 16;
/// Most threads alive at once that are recorded.
pub const SLOTS: usize = 1024;
/// Bytes at the end of a buffer that no plain access is put into, so that a record always fits.
pub const MARGIN: usize = 64;
/// Where the buffers start in the arena.
pub const BUFFERS_OFFSET: usize = BUFFER;
/// Bytes of the arena.
pub const ARENA: usize = BUFFERS_OFFSET + SLOTS * BUFFER;
/// Plain accesses of sites from here on are records.
pub const SITES: u32 = 1 << 16;
/// Bits of an address in the word of a plain access.
pub const ADDRESS_BITS: u32 = 47;
/// Most entries of a thread's table of what it has logged already.
pub const SEEN: usize = 1 << 20;
/// Of an entry of that table: how far the address of its eight bytes is moved, past the masks of bytes read and written.
pub const SEEN_SHIFT: u32 = 16;
/// Of a word: it starts a record.
pub const IS_RECORD: u64 = 1 << 63;
/// Of flags: another access of the event before. (The highest bit of a flag is taken.)
pub const MORE: u8 = 0x40;

/// The start of the arena.
#[repr(C)]
#[derive(Debug)]
pub struct Board {
    /// The last sequence number given out.
    pub sequence: AtomicU64,
    /// Bytes written to the file.
    pub written: AtomicU64,
    /// Most bytes to write.
    pub most: AtomicU64,
    /// Sequence number from which on nothing is recorded, because the file is full; 0 if it is not.
    pub cut: AtomicU64,
    /// Plain accesses in what was written.
    pub plain: AtomicU64,
    /// Where the executable is loaded.
    pub load_base: AtomicU64,
    /// Number of threads so far.
    pub threads: AtomicU32,
    /// Threads that found no buffer.
    pub unrecorded: AtomicU32,
    /// Of each buffer: 0 if it is free, else the number of the thread that fills it plus one.
    pub slots: [AtomicU32; SLOTS],
}

/// Tags beyond those of [`Tag`].
pub mod tag {
    /// Memory that is another object from now on, the thread's stack or a mapping: address and, as a further word, its size.
    pub const RANGE: u8 = 80;
    /// The creation before this one failed. Argument: the thread's number.
    pub const CREATE_FAILED: u8 = 81;
}

/// Number of words of a record with this tag and these flags, and whether the third is a sequence number.
pub fn words(tag: u8, flags: u8) -> (usize, bool) {
    match Tag::from_u8(tag) {
        Some(Tag::Read | Tag::Write | Tag::ReadModifyWrite) => {
            let atomic = flags & order::MASK != order::PLAIN && flags & MORE == 0;
            (2 + usize::from(atomic), atomic)
        }
        Some(Tag::Alloc) if flags & flag::STACK != 0 => (2, false),
        Some(Tag::Alloc) => (3, true),
        Some(Tag::WaitBegin) => (4, true),
        Some(tag) if tag.is_event() => (3, true),
        Some(_) => (2, false),
        None if tag == tag::RANGE => (4, true),
        None => (3, true),
    }
}

/// The word of a plain access.
pub const fn plain(site: u32, address: u64) -> u64 {
    address & ((1 << ADDRESS_BITS) - 1) | (site as u64) << ADDRESS_BITS
}

/// The first word of a record.
pub const fn head(tag: u8, flags: u8, address: u64) -> u64 {
    IS_RECORD | address & ((1 << 48) - 1) | (tag as u64) << 48 | (flags as u64 & 0x7f) << 56
}

/// Kinds of blocks.
pub mod block {
    /// The program and its sites: the host's.
    pub const HEAD: u32 = 1;
    /// Words of one thread, packed.
    pub const WORDS: u32 = 2;
    /// A whole trace: the host's.
    pub const TRACE: u32 = 3;
    /// How the run ended: the host's, and always the last.
    pub const END: u32 = 4;
    /// What came over a connection with somebody outside, or what went there; see [`crate::input`].
    pub const INPUT: u32 = 5;
}

/// What precedes the bytes of a block.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockHead {
    /// One of [`block`].
    pub kind: u32,
    /// Of `WORDS`: whose.
    pub thread: u32,
    /// Number of bytes that follow.
    pub len: u32,
    /// CRC-32 of kind, thread, length and bytes.
    pub crc: u32,
}

impl BlockHead {
    /// Bytes of a head.
    pub const SIZE: usize = 16;

    /// The head of a block with these bytes.
    pub fn new(kind: u32, thread: u32, bytes: &[u8]) -> Self {
        let mut head = Self { kind, thread, len: bytes.len() as u32, crc: 0 };
        head.crc = head.checksum(bytes);
        head
    }

    /// What `crc` has to be.
    pub fn checksum(&self, bytes: &[u8]) -> u32 {
        let mut crc = crc32fast::Hasher::new();
        [self.kind, self.thread, self.len].iter().for_each(|word| crc.update(&word.to_le_bytes()));
        crc.update(bytes);
        crc.finalize()
    }

    /// As in the file.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (to, word) in bytes.chunks_exact_mut(4).zip([self.kind, self.thread, self.len, self.crc]) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// From the file.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Self { kind: word(0), thread: word(4), len: word(8), crc: word(12) }
    }
}
