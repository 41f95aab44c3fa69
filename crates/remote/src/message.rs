//! What host and target say to each other, as bytes.
//!
//! A connection begins with [`MAGIC`] and [`VERSION`] from both ends, the host first. Then come frames:
//!
//! ```text
//! u32   length of the message
//! u64   length of the bytes after it
//!       the message: a [`Demand`] to the target, an [`Answer`] to the host
//!       bytes: a program, a library, records and output of a run
//! ```
//!
//! All numbers are little-endian. Every demand has one answer. Both ends regard what they read as untrusted: lengths are
//! bounded, and memory is taken as bytes come.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::Duration;

use exec::{Config, RunSummary};
use model::{Environment, Schedule};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wire::{Policy, Record, Reply};

/// First bytes of a connection, from both ends.
const MAGIC: [u8; 16] = *b"raceproof target";
/// Changes with the messages; that of the records is part of it.
pub(crate) const VERSION: u32 = 2 << 16 | wire::VERSION;
/// Longest message: a schedule of as many segments and choices as there can be is shorter.
const LONGEST: u64 = 1 << 26;
/// Most bytes after a message.
const MOST: u64 = 1 << 32;

/// What the host asks for.
#[derive(Serialize, Deserialize)]
pub(crate) enum Demand {
    /// The target's runtime.
    Runtime,
    /// To run a program that is known by its hash from now on.
    Program { hash: String, config: Config },
    /// The same; its bytes come with the message.
    Upload { hash: String, config: Config },
    /// To run it once.
    Run(RunDemand),
}

/// One run.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunDemand {
    /// Counts the runs of the search.
    pub(crate) number: u64,
    pub(crate) schedule: Schedule,
    #[serde(with = "PolicyFields")]
    pub(crate) policy: Policy,
    pub(crate) stacks: bool,
    pub(crate) fresh: bool,
    pub(crate) max_steps: u64,
    pub(crate) time_limit: Duration,
    pub(crate) quantum: u32,
    pub(crate) environment: Environment,
}

/// What the target answers.
#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Without being asked, at the start.
    Hello(Hello),
    /// The bytes after the message are the runtime.
    Runtime,
    /// The program is not known: its bytes are wanted.
    Wanted,
    /// The program can be run.
    Ready,
    /// It ran.
    Ran(RunAnswer),
    /// What was asked for cannot be done.
    Failed { message: String },
}

/// What a target is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Its architecture, as Rust calls it.
    pub(crate) architecture: String,
    /// SHA-256 of its runtime.
    pub(crate) runtime: String,
}

/// How a run went. After the message come the records that are not those of the run before, standard output, and standard
/// error.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunAnswer {
    /// That of the demand.
    pub(crate) number: u64,
    /// `None` when all that is known is that it took too long.
    pub(crate) ran: Option<SummaryFields>,
    /// How many records at the start are those of the last run on this connection.
    pub(crate) same: u64,
    /// Bytes of the other records.
    pub(crate) records: u64,
    /// Bytes of standard output.
    pub(crate) stdout: u64,
}

/// [`exec::RunSummary`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SummaryFields {
    #[serde(with = "ReplyFields")]
    pub(crate) reply: Reply,
    pub(crate) message: String,
    pub(crate) load_base: u64,
    pub(crate) forks: bool,
}

impl From<RunSummary> for SummaryFields {
    fn from(RunSummary { reply, message, load_base, forks }: RunSummary) -> Self {
        Self { reply, message, load_base, forks }
    }
}

impl From<SummaryFields> for RunSummary {
    fn from(SummaryFields { reply, message, load_base, forks }: SummaryFields) -> Self {
        Self { reply, message, load_base, forks }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Policy")]
struct PolicyFields {
    kind: u32,
    depth: u32,
    seed: u64,
    length: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Reply")]
struct ReplyFields {
    kind: u32,
    code: i32,
    thread: u32,
    site: u32,
    message_len: u32,
    spoiled: u32,
    records: u64,
    checkpoint_records: u64,
    counter: u64,
}

/// Records as bytes.
pub(crate) fn bytes_of(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| [record.w0, record.w1]).flat_map(u64::to_le_bytes).collect()
}

/// Bytes as records; what is less than one at the end is left out.
pub(crate) fn records_of(bytes: &[u8]) -> impl Iterator<Item = Record> + '_ {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    bytes.chunks_exact(16).map(move |record| Record { w0: number(&record[..8]), w1: number(&record[8..]) })
}

/// One end of a connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

fn garbled(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        keep_alive(&stream);
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Waits at most so long for bytes from now on.
    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.get_ref().set_read_timeout(timeout)
    }

    /// Says which version this end is of.
    pub(crate) fn greet(&self) -> io::Result<()> {
        let mut greeting = MAGIC.to_vec();
        greeting.extend(VERSION.to_le_bytes());
        self.stream.get_ref().write_all(&greeting)
    }

    /// The version of the other end; `None` if that is something else.
    pub(crate) fn greeting(&mut self) -> io::Result<Option<u32>> {
        let mut magic = [0; MAGIC.len()];
        self.stream.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Ok(None);
        }
        let mut version = [0; 4];
        self.stream.read_exact(&mut version)?;
        Ok(Some(u32::from_le_bytes(version)))
    }

    /// Sends a message and bytes.
    pub(crate) fn send(&self, message: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
        /// Bytes up to here are sent together with the message.
        const SMALL: usize = 1 << 16;
        let message = postcard::to_stdvec(message).map_err(|e| garbled(e.to_string()))?;
        let mut frame = Vec::with_capacity(12 + message.len() + bytes.len().min(SMALL));
        frame.extend((message.len() as u32).to_le_bytes());
        frame.extend((bytes.len() as u64).to_le_bytes());
        frame.extend(message);
        let (with, after) = if bytes.len() <= SMALL { (bytes, &[][..]) } else { (&[][..], bytes) };
        frame.extend(with);
        let mut stream = self.stream.get_ref();
        stream.write_all(&frame)?;
        stream.write_all(after)
    }

    /// Receives a message and bytes; `None` when the other end is done.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Vec<u8>)>> {
        let mut head = [0; 12];
        if self.stream.read(&mut head[..1])? == 0 {
            return Ok(None);
        }
        self.stream.read_exact(&mut head[1..])?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let (message, bytes) = (number(&head[..4]), number(&head[4..]));
        if message > LONGEST || bytes > MOST {
            return Err(garbled(format!("a message of {message} and {bytes} bytes is too long")));
        }
        let message = self.exactly(message)?;
        let message = postcard::from_bytes(&message).map_err(|e| garbled(format!("a message makes no sense: {e}")))?;
        Ok(Some((message, self.exactly(bytes)?)))
    }

    fn exactly(&mut self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.stream.by_ref().take(len).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}

/// Lets the kernel find out that the other machine is gone. Without it, that is found out later.
fn keep_alive(stream: &TcpStream) {
    let options = [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 30),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 10),
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 3),
    ];
    for (level, option, value) in options {
        let value: libc::c_int = value;
        let len = size_of_val(&value) as libc::socklen_t;
        // SAFETY: the value is an int, as all these options are, and its size is given; the descriptor is open.
        unsafe { libc::setsockopt(stream.as_raw_fd(), level, option, (&raw const value).cast(), len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_travel_as_bytes() {
        let records = [Record { w0: 1, w1: u64::MAX }, Record { w0: 0x0123_4567_89ab_cdef, w1: 0 }];
        let bytes = bytes_of(&records);
        assert_eq!(bytes.len(), 32);
        assert_eq!(bytes[16], 0xef);
        assert_eq!(records_of(&bytes).collect::<Vec<_>>(), records);
    }
}
