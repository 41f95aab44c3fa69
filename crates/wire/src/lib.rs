//! What runtime and host say to each other: the shared memory between them and the records in it.
//!
//! Host and runtime share one memory file. The host writes a [`Request`] with a schedule prefix and rings;
//! the runtime runs the program, appends [`Record`]s to the trace area, fills in the [`Reply`] and rings
//! back. One exchange is one execution. All numbers are little-endian; nothing here is a pointer, so the
//! same bytes can travel over a socket.
//!
//! This crate knows neither of its ends.
#![no_std]
#![warn(clippy::undocumented_unsafe_blocks)]

#[cfg(feature = "peers")]
extern crate alloc;

pub mod bell;
pub mod input;
pub mod layout;
pub mod log;
#[cfg(feature = "peers")]
pub mod peers;
pub mod policy;
pub mod record;

pub use bell::Patience;
pub use layout::{
    CHOICE_CAPACITY, Chosen, Header, MESSAGE_CAPACITY, Reply, ReplyKind, Request, SEGMENT_CAPACITY, Segment,
};
pub use policy::Policy;
pub use record::{Record, Tag};

/// First eight bytes of the shared memory.
pub const MAGIC: u64 = u64::from_le_bytes(*b"raceprf\0");
/// Changes whenever a record or the layout changes; both ends refuse another's.
pub const VERSION: u32 = 11;
/// Environment variable with the number of the shared memory's file descriptor.
pub const FD_VARIABLE: &str = "RACEPROOF_WIRE_FD";
/// "No site" in a record.
pub const NO_SITE: u32 = u32::MAX;
/// As [`FD_VARIABLE`], with the name of the file; for a process started by a debugger.
pub const FILE_VARIABLE: &str = "RACEPROOF_WIRE_FILE";
/// Environment variable with the number of the file descriptor where results of child processes are kept.
pub const CHILDREN_VARIABLE: &str = "RACEPROOF_CHILDREN_FD";
/// Address of the pseudo cell of library state 0; each is eight bytes.
pub const LIBRARY_STATE: u64 = 0x3f00_0000_0000;
/// The library state that is the table of open files.
pub const DESCRIPTORS: u32 = 2;
/// The library state that is the keys of thread-specific data in use.
pub const KEYS: u32 = 43;
/// The library state that is standard output and standard error without their locks.
pub const UNLOCKED_OUTPUT: u32 = 3;
/// The library state that is the environment.
pub const ENVIRONMENT: u32 = 5;
/// The library state that is the child processes.
pub const CHILDREN: u32 = 45;
/// Address of the pseudo cell of the content of file 0 of a run; each is eight bytes.
pub const FILE_CONTENT: u64 = 0x3f01_0000_0000;
/// Address of the pseudo cell of the position in open file 0 of a run; each is eight bytes.
pub const FILE_POSITION: u64 = 0x3f02_0000_0000;
/// What is reported of a load of memory that was never written.
pub const UNWRITTEN: &str = "reads memory that was never written";
/// What is reported of a call that runs do not follow.
pub const UNFOLLOWED: &str = "reaches a call that is not followed";
/// Address of the pseudo cell that all inline assembly updates whose effect is not known.
pub const ASSEMBLY: u64 = 0x3f05_0000_0000;
/// Address of the pseudo cell of the names of semaphores.
pub const SEMAPHORE_NAMES: u64 = 0x3f04_0000_0000;
/// Address of the pseudo cell of what is open under descriptor 0; each is eight bytes.
pub const DESCRIPTOR_NUMBER: u64 = 0x3f06_0000_0000;
/// Address of the pseudo cell of the signals that were sent to threads.
pub const PENDING_SIGNALS: u64 = 0x3f03_0000_0000;
/// Address of the pseudo cell of the signals that were sent to the process, behind those of its threads.
pub const PROCESS_SIGNALS: u64 = PENDING_SIGNALS + 0x8000_0000;
/// What is reported of a handler that touches what the thread that it interrupted was using; the number of a site follows.
pub const INTERRUPTED: &str = "a handler interrupts an access to the same memory at site ";
/// Address of the pseudo cell of calls that no handler may make in the middle of another one.
pub const UNSAFE_CALLS: u64 = 0x3f07_0000_0000;
/// What is reported of a handler that makes such a call where it may interrupt one; the number of a site follows.
pub const UNSAFE_CALL: &str = "a handler calls what must not interrupt the call at site ";
/// What is reported of an iteration of a `simd` loop that touches what another one touches; the number of a site follows.
pub const LANES: &str = "two iterations of a `simd` loop touch the same memory, the other one at site ";
