//! Recording a program on real threads.
//!
//! The program writes packed words to the trace file whenever a thread's buffer is full. The buffers are memory that this
//! process shares, so when the program is gone, however it went, what is left in them is added, then how the run ended.
//! The file gets its name when it is complete.

#![warn(clippy::undocumented_unsafe_blocks)]

mod error;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use files::ProgramIdentity;
use files::trace::{Head, SiteTable, Tail, block_of, sealed, start, whole_blocks};
use launch::memory_file;
use memmap2::MmapMut;
use model::{End, ThreadId};
use symbols::Symbols;
use wire::log::{ARENA, BUFFER, BUFFERS_OFFSET, Board, FDS_VARIABLE, IS_RECORD, Packer, SLOTS, block};

use error::system;

pub use error::Error;

/// How to record.
#[derive(Clone, Debug)]
pub struct RecordConfig {
    /// The program and its input, for the file.
    pub program: ProgramIdentity,
    /// What the words of its sites stand for.
    pub sites: SiteTable,
    /// Most bytes of the file, about.
    pub max_trace: u64,
    /// Most time of the run.
    pub time: Option<Duration>,
    /// The program's standard input; nothing if `None`.
    pub stdin: Option<Vec<u8>>,
    /// The program's arguments, without its name.
    pub args: Vec<OsString>,
    /// The program's name as it sees it.
    pub name: OsString,
    /// Whether what it prints is shown.
    pub show_output: bool,
}

/// What a recording has, counted while it was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Figures {
    /// Operations and accesses; accesses that share a word count once.
    pub events: u64,
    /// Threads.
    pub threads: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// How the run ended.
    pub end: End,
    /// Why the end of the run is not in the recording, if it is not.
    pub cut: Option<String>,
}

/// Polling interval while the program runs against a time limit.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long a program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// Runs an executable that is linked with the recorder, and writes the trace file.
///
/// # Errors
/// When the program cannot be started or the file cannot be written.
pub fn record(executable: &Path, config: &RecordConfig, output: &Path) -> Result<Figures, Error> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unwritable = |source| Error::Unwritable { path: output.to_owned(), source };
    let mut file = tempfile::Builder::new()
        .prefix(".raceproof-")
        .permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666))
        .append(true)
        .tempfile_in(folder)
        .map_err(unwritable)?;
    let head = Head { program: config.program.clone(), sites: config.sites.clone() };
    let head = [start(), block_of(block::HEAD, &head)].concat();
    file.write_all(&head).map_err(unwritable)?;
    let head = head.len() as u64;

    let (memory, arena) = arena().map_err(system("set up shared memory"))?;
    let board = board(&arena);
    board.most.store(config.max_trace, Ordering::Relaxed);
    let mut child = start_program(executable, config, &memory, file.as_file())?;
    let (status, in_time) = wait(&mut child, config.time)?;

    let base = board.load_base.load(Ordering::Relaxed);
    if base == 0 {
        return Err(Error::Died { status: status.to_string() });
    }
    let expected = head + board.written.load(Ordering::Relaxed);
    cut_half_block(file.as_file_mut(), expected).map_err(unwritable)?;
    let plain = leftovers(&arena, |thread, bytes| file.write_all(&sealed(block::WORDS, thread, bytes)));
    let plain = plain.map_err(unwritable)? + board.plain.load(Ordering::Relaxed);
    let last = board.cut.load(Ordering::Relaxed);
    let tail = Tail {
        symbols: Symbols::load(executable, base)?.globals(),
        end: if in_time { ending(status) } else { End::TimeLimit },
        cut: cut(config, last, in_time, board.unrecorded.load(Ordering::Relaxed)),
        last,
    };
    file.write_all(&block_of(block::END, &tail)).map_err(unwritable)?;
    let bytes = file.as_file().metadata().map_err(unwritable)?.len();
    file.persist(output).map_err(|error| unwritable(error.error))?;
    Ok(Figures {
        events: plain + board.sequence.load(Ordering::Relaxed),
        threads: board.threads.load(Ordering::Relaxed) as usize,
        bytes,
        end: tail.end,
        cut: tail.cut,
    })
}

/// The memory that is shared with the program, and its file.
fn arena() -> io::Result<(File, MmapMut)> {
    let memory = memory_file(c"raceproof")?;
    memory.set_len(ARENA as u64)?;
    // SAFETY: the file keeps its length, so the mapping stays valid. The program under test may write to it at any time:
    // its content is read as bytes and atomic numbers, for which every pattern is valid, and only once each.
    let arena = unsafe { MmapMut::map_mut(&memory)? };
    Ok((memory, arena))
}

/// The start of the arena.
fn board(arena: &MmapMut) -> &Board {
    // SAFETY: the mapping is longer than a board and starts at a page, so it is aligned. A board consists of atomic
    // numbers, for which every bit pattern is valid. The mapping outlives the borrow.
    unsafe { &*arena.as_ptr().cast::<Board>() }
}

/// Why the end of the run is not recorded.
fn cut(config: &RecordConfig, last: u64, in_time: bool, unrecorded: u32) -> Option<String> {
    if last != 0 {
        return Some(format!(
            "recording stopped when the trace had {} bytes; the rest of the run is missing",
            config.max_trace
        ));
    }
    if !in_time {
        return Some("the recorded run was ended at its limit of time".to_owned());
    }
    (unrecorded > 0).then(|| format!("{unrecorded} threads are missing: more than {SLOTS} were alive at once"))
}

fn start_program(executable: &Path, config: &RecordConfig, memory: &File, trace: &File) -> Result<Child, Error> {
    let cannot = |source| Error::Launch { program: executable.to_owned(), source };
    let path = std::path::absolute(executable).map_err(cannot)?;
    let stdin = launch::stdin_of(config.stdin.as_deref()).map_err(system("fill the program's input"))?;
    let mut command = Command::new(path);
    command
        .arg0(&config.name)
        .args(&config.args)
        .env(FDS_VARIABLE, format!("{},{}", memory.as_raw_fd(), trace.as_raw_fd()))
        .stdin(stdin)
        .stdout(if config.show_output { Stdio::inherit() } else { Stdio::null() })
        .stderr(if config.show_output { Stdio::inherit() } else { Stdio::null() });
    launch::set_variables(&mut command, &config.program.variables);
    if let Some(folder) = &config.program.folder {
        command.current_dir(folder);
    }
    launch::prepare(&mut command, [memory, trace]).map_err(cannot)?;
    let take_interrupts = || {
        // SAFETY: the default handling of a signal involves no code of ours.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes one system call; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(take_interrupts) };
    command.spawn().map_err(cannot)
}

/// While this lives, an interrupt from the keyboard ends the program but not this process, which keeps the recording.
struct InterruptsIgnored(libc::sighandler_t);

impl InterruptsIgnored {
    fn new() -> Self {
        // SAFETY: ignoring a signal involves no code of ours.
        Self(unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) })
    }
}

impl Drop for InterruptsIgnored {
    fn drop(&mut self) {
        // SAFETY: the handler is the one that was set before, which the kernel returned to us.
        unsafe { libc::signal(libc::SIGINT, self.0) };
    }
}

/// Waits for the end; says whether it came in time.
fn wait(child: &mut Child, time: Option<Duration>) -> Result<(ExitStatus, bool), Error> {
    let _ignored = InterruptsIgnored::new();
    let failed = system("wait for the program's process");
    let Some(time) = time else { return Ok((child.wait().map_err(failed)?, true)) };
    let start = Instant::now();
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait().map_err(&failed)? {
            return Ok((status, !asked));
        }
        if start.elapsed() > time + GRACE {
            // Already gone is as good.
            let _ = child.kill();
        } else if start.elapsed() > time && !asked {
            asked = true;
            // SAFETY: the call takes numbers only. The child was not waited for, so its number is still its own.
            unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn ending(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit { code },
        (None, signal) => {
            let message = match signal {
                Some(libc::SIGSEGV) => "segmentation fault".to_owned(),
                Some(libc::SIGABRT) => "abort".to_owned(),
                Some(libc::SIGINT) => "interrupt".to_owned(),
                Some(signal) => format!("signal {signal}"),
                None => "an unknown end".to_owned(),
            };
            End::Crash { thread: ThreadId::MAIN, site: None, message }
        }
    }
}

/// Takes away what a thread was about to write when the process was ended. A file of the `expected` length is whole: so
/// much was to be written.
fn cut_half_block(file: &mut File, expected: u64) -> io::Result<()> {
    if file.seek(SeekFrom::End(0))? == expected {
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let whole = whole_blocks(&bytes);
    if whole < bytes.len() {
        file.set_len(whole as u64)?;
    }
    file.seek(SeekFrom::End(0)).map(|_| ())
}

/// Packs what is left in the buffers; says how many plain accesses that is.
fn leftovers(arena: &MmapMut, mut write: impl FnMut(u32, &[u8]) -> io::Result<()>) -> io::Result<u64> {
    let mut plain = 0;
    let mut packed = vec![0; Packer::room(BUFFER / 8)];
    let mut packer = Box::new(Packer::new());
    for (slot, number) in board(arena).slots.iter().enumerate() {
        let Some(thread) = number.load(Ordering::Acquire).checked_sub(1) else { continue };
        let bytes = &arena[BUFFERS_OFFSET + slot * BUFFER..][..BUFFER];
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("raceproof bug: eight bytes")))
            .collect();
        plain += plain_words(&words);
        let len = packer.pack(&words, &mut packed);
        write(thread, &packed[..len])?;
    }
    Ok(plain)
}

/// How many words of a buffer are plain accesses.
fn plain_words(words: &[u64]) -> u64 {
    let (mut at, mut plain) = (0, 0);
    while let Some(word) = words.get(at).filter(|word| **word != 0) {
        if word & IS_RECORD == 0 {
            plain += 1;
            at += 1;
        } else {
            at += wire::log::words((word >> 48) as u8, (word >> 56) as u8 & 0x7f).0;
        }
    }
    plain
}
