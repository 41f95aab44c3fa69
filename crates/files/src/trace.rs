//! Traces as files: blocks, because a program writes them while it runs.
//!
//! ```text
//! 8 bytes   magic     "rptrace\0"
//! 4 bytes   version   little-endian
//! blocks    kind, thread, length, CRC-32 (4 bytes each), then the bytes; see `wire::log`
//! ```
//! The first block names the program; the last one says how the run ended. Between them is either one block with the
//! whole trace, of a run under the controlled scheduler, or the packed words of each thread, of a run on real threads, and
//! what the program got from outside (see [`crate::input`]).

use std::path::Path;

use decode::Detail;
use decode::merge::{Blocks, Refused, merge};
use model::index::Idx;
use model::{End, Trace};
use serde::{Deserialize, Serialize};
use symbols::Symbols;
use wire::log::{BlockHead, FILE_MAGIC, FILE_VERSION, block};

use crate::{Error, ProgramIdentity};

pub use decode::merge::SiteTable;

const KIND: &str = "raceproof trace";
/// Bytes before the first block.
const START: usize = 12;

/// A trace with the program it is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceFile {
    /// The program; site ids mean nothing without it.
    pub program: ProgramIdentity,
    /// Where its globals were.
    pub symbols: Symbols,
    /// The run.
    pub trace: Trace,
    /// Why the end of the run is not in the recording, if it is not.
    pub cut: Option<String>,
    /// Accesses of the recording that were not put into the trace.
    pub left_out: u64,
}

/// The first block.
#[derive(Serialize, Deserialize)]
pub struct Head {
    /// The program and its input.
    pub program: ProgramIdentity,
    /// What the words of its sites stand for; empty for a run under the controlled scheduler.
    pub sites: SiteTable,
}

/// The last block.
#[derive(Serialize, Deserialize)]
pub struct Tail {
    /// Where the program's globals were.
    pub symbols: Symbols,
    /// How the run ended.
    pub end: End,
    /// Why the end of the run is not in the recording, if it is not.
    pub cut: Option<String>,
    /// Events with larger numbers are not complete; 0 if all are.
    pub last: u64,
}

/// What precedes the blocks.
pub fn start() -> Vec<u8> {
    [&FILE_MAGIC[..], &FILE_VERSION.to_le_bytes()].concat()
}

/// A block with its head.
pub fn sealed(kind: u32, thread: u32, bytes: &[u8]) -> Vec<u8> {
    [&BlockHead::new(kind, thread, bytes).to_bytes()[..], bytes].concat()
}

/// A block of a value.
pub fn block_of<T: Serialize>(kind: u32, value: &T) -> Vec<u8> {
    sealed(kind, 0, &postcard::to_stdvec(value).expect("raceproof bug: a trace that cannot be serialised"))
}

impl TraceFile {
    /// Whether a file that begins with these bytes is a trace.
    pub fn is_one(head: &[u8]) -> bool {
        head.starts_with(FILE_MAGIC)
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        crate::write_bytes(path, &self.to_bytes())
    }

    /// Reads the file.
    pub fn read(path: &Path, detail: Detail) -> Result<Self, Error> {
        Self::from_bytes(&crate::read_bytes(path)?, path, detail)
    }

    /// The file's bytes, with the whole trace in one block.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = Head { program: self.program.clone(), sites: SiteTable::default() };
        let (symbols, end, cut) = (self.symbols.clone(), self.trace.end.clone(), self.cut.clone());
        let tail = Tail { symbols, end, cut, last: 0 };
        let blocks = [block_of(block::HEAD, &head), block_of(block::TRACE, &self.trace), block_of(block::END, &tail)];
        [start(), blocks.concat()].concat()
    }

    /// The content of a file's bytes; `path` is for messages.
    pub fn from_bytes(bytes: &[u8], path: &Path, detail: Detail) -> Result<Self, Error> {
        let reader = Reader { bytes, path };
        let mut blocks = reader.blocks()?;
        blocks.retain(|(_, head, _)| head.kind != block::INPUT);
        let [(head_at, head, head_bytes), between @ .., (tail_at, tail, tail_bytes)] = blocks.as_slice() else {
            return Err(reader.truncated(bytes.len(), "before the run's end"));
        };
        if head.kind != block::HEAD {
            return Err(reader.damaged(*head_at, "the first block does not name the program"));
        }
        if tail.kind != block::END {
            return Err(reader.truncated(bytes.len(), "the block with the run's end is missing"));
        }
        let head: Head = reader.value(*head_at, head_bytes)?;
        let tail: Tail = reader.value(*tail_at, tail_bytes)?;
        let (trace, left_out) = match between {
            [(at, only, bytes)] if only.kind == block::TRACE => (reader.value(*at, bytes)?, 0),
            found => {
                let mut blocks = Blocks::default();
                for (at, block, bytes) in found {
                    if block.kind != block::WORDS {
                        let what = format!("a block of kind {} has no place here", block.kind);
                        return Err(reader.damaged(at + BlockHead::SIZE, &what));
                    }
                    blocks.push(block.thread, at + BlockHead::SIZE, bytes);
                }
                let refused = |refused: Refused| reader.damaged(refused.at.unwrap_or(START), &refused.what);
                merge(&blocks, &head.sites, tail.last, tail.end, detail).map_err(refused)?
            }
        };
        check(&trace).map_err(|what| reader.damaged(START, &what))?;
        Ok(Self { program: head.program, symbols: tail.symbols, trace, cut: tail.cut, left_out })
    }
}

/// A block's place in the file, its head and its bytes.
pub(crate) type Found<'a> = (usize, BlockHead, &'a [u8]);

/// All blocks of a file's bytes, whole and unchanged; `path` is for messages.
pub(crate) fn blocks_of<'a>(bytes: &'a [u8], path: &'a Path) -> Result<Vec<Found<'a>>, Error> {
    Reader { bytes, path }.blocks()
}

struct Reader<'a> {
    bytes: &'a [u8],
    path: &'a Path,
}

impl<'a> Reader<'a> {
    fn truncated(&self, at: usize, what: &str) -> Error {
        Error::Truncated { path: self.path.to_owned(), place: format!("it ends at byte {at}, {what}") }
    }

    fn damaged(&self, at: usize, what: &str) -> Error {
        Error::Damaged { path: self.path.to_owned(), place: format!("byte {at}"), problem: what.to_owned() }
    }

    fn value<T: for<'d> Deserialize<'d>>(&self, at: usize, bytes: &[u8]) -> Result<T, Error> {
        match postcard::take_from_bytes(bytes) {
            Ok((value, [])) => Ok(value),
            Ok((_, rest)) => Err(self.damaged(at, &format!("{} bytes too many", rest.len()))),
            Err(error) => Err(self.damaged(at + BlockHead::SIZE, &error.to_string())),
        }
    }

    /// All blocks, whole and unchanged.
    fn blocks(&self) -> Result<Vec<Found<'a>>, Error> {
        let bytes = self.bytes;
        if !bytes.starts_with(FILE_MAGIC) {
            if !bytes.is_empty() && FILE_MAGIC.starts_with(bytes) {
                return Err(self.truncated(bytes.len(), "in its first bytes"));
            }
            let found = "its first bytes are not `rptrace`".to_owned();
            return Err(Error::Foreign { path: self.path.to_owned(), expected: KIND, found });
        }
        let Some(version) = bytes.get(8..START).and_then(|v| v.try_into().ok()).map(u32::from_le_bytes) else {
            return Err(self.truncated(bytes.len(), "in its first bytes"));
        };
        if version != FILE_VERSION {
            let (found, supported) = (u64::from(version), FILE_VERSION);
            return Err(Error::Version { path: self.path.to_owned(), kind: KIND, found, supported });
        }
        let (mut blocks, mut at) = (Vec::new(), START);
        while at < bytes.len() {
            let Some(head) = bytes[at..].first_chunk().map(BlockHead::from_bytes) else {
                return Err(self.truncated(bytes.len(), &format!("in the head of the block at byte {at}")));
            };
            let content = at + BlockHead::SIZE..at + BlockHead::SIZE + head.len as usize;
            let Some(content) = bytes.get(content) else {
                return Err(self.truncated(bytes.len(), &format!("in the block at byte {at}")));
            };
            let found = head.checksum(content);
            if found != head.crc {
                let what = format!("the block's checksum is {:08x}, its content gives {found:08x}", head.crc);
                return Err(self.damaged(at, &what));
            }
            blocks.push((at, head, content));
            at += BlockHead::SIZE + content.len();
        }
        Ok(blocks)
    }
}

/// The bytes up to the last whole block; what a process that was killed wrote after it is half a block.
pub fn whole_blocks(bytes: &[u8]) -> usize {
    let mut at = START;
    while let Some(head) = bytes.get(at..).and_then(|rest| rest.first_chunk().map(BlockHead::from_bytes)) {
        let content = bytes.get(at + BlockHead::SIZE..at + BlockHead::SIZE + head.len as usize);
        if content.is_none_or(|content| head.checksum(content) != head.crc) {
            break;
        }
        at += BlockHead::SIZE + head.len as usize;
    }
    at.min(bytes.len())
}

/// Whether the invariants that readers of a [`Trace`] rely on hold.
fn check(trace: &Trace) -> Result<(), String> {
    if trace.runnable.first().is_none_or(|(step, _)| step.0 != 0) {
        return Err("the runnable threads of the first state are missing".to_owned());
    }
    if !trace.runnable.is_sorted_by_key(|(step, _)| *step) {
        return Err("the runnable threads are not in order".to_owned());
    }
    let known = trace.threads.len();
    let threads = trace.events.iter().chain(trace.pending.iter().map(|p| &p.event)).map(|e| e.id.thread);
    match threads.into_iter().find(|t| t.index() >= known) {
        Some(thread) => Err(format!("an event of thread {thread}, but there are only {known} threads")),
        None => Ok(()),
    }
}
