//! Recording a program on real threads.
//!
//! The program writes packed words to the trace file whenever a thread's buffer is full. The buffers are memory that this
//! process shares, so when the program is gone, however it went, what is left in them is added, then how the run ended.
//! The file gets its name when it is complete.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use memmap2::MmapMut;
use model::{End, SiteId, ThreadId};
use wire::log::{ARENA, BUFFER, BUFFERS_OFFSET, Board, FDS_VARIABLE, Packer, SLOTS, block};

use crate::error::Error;
use crate::format::ProgramIdentity;
use crate::format::trace::{Head, Tail, block_of, sealed, start, whole_blocks};
use crate::process::{memory_file, system};
use crate::symbols::Symbols;

/// How to record.
#[derive(Clone, Debug)]
pub struct RecordConfig {
    /// The program and its input, for the file.
    pub program: ProgramIdentity,
    /// Sites whose plain accesses are logged without a record: whether they write, and how many bytes.
    pub accesses: BTreeMap<SiteId, (bool, u32)>,
    /// For sites with a word of their own: the sites whose accesses to the same address come right after it and have none.
    pub together: BTreeMap<SiteId, Vec<SiteId>>,
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

/// How often the host looks whether the time is over.
const LOOK: Duration = Duration::from_millis(10);
/// How long a program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// Runs an executable that is linked with the recorder, and writes the trace file.
///
/// # Errors
/// When the program cannot be started or the file cannot be written.
pub fn record(executable: &Path, config: &RecordConfig, output: &Path) -> Result<(), Error> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unwritable = |source| Error::Unwritable { path: output.to_owned(), source };
    let mut file = tempfile::Builder::new()
        .prefix(".raceproof-")
        .permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666))
        .append(true)
        .tempfile_in(folder)
        .map_err(unwritable)?;
    let (accesses, together) = (config.accesses.clone(), config.together.clone());
    let head = [start(), block_of(block::HEAD, &Head { program: config.program.clone(), accesses, together })].concat();
    file.write_all(&head).map_err(unwritable)?;
    let head = head.len() as u64;

    let memory = memory_file(c"raceproof")?;
    memory.set_len(ARENA as u64).map_err(system("set up shared memory"))?;
    // Safety: shared with the program under test; whatever it writes is looked at as untrusted bytes.
    let arena = unsafe { MmapMut::map_mut(&memory) }.map_err(system("set up shared memory"))?;
    let board = board(&arena);
    board.most.store(config.max_trace, Ordering::Relaxed);
    let mut child = launch(executable, config, &memory, file.as_file())?;
    let (status, in_time) = wait(&mut child, config.time)?;

    let base = board.load_base.load(Ordering::Relaxed);
    if base == 0 {
        return Err(Error::Died { status: status.to_string(), stderr: String::new() });
    }
    let expected = head + board.written.load(Ordering::Relaxed);
    cut_half_block(file.as_file_mut(), expected).map_err(unwritable)?;
    leftovers(&arena, |thread, bytes| file.write_all(&sealed(block::WORDS, thread, bytes))).map_err(unwritable)?;
    let last = board.cut.load(Ordering::Relaxed);
    let tail = Tail {
        symbols: Symbols::load(executable, base)?.globals(),
        end: if in_time { ending(status) } else { End::TimeLimit },
        cut: cut(config, last, in_time, board.unrecorded.load(Ordering::Relaxed)),
        last,
    };
    file.write_all(&block_of(block::END, &tail)).map_err(unwritable)?;
    file.persist(output).map_err(|error| unwritable(error.error))?;
    Ok(())
}

/// The start of the arena.
fn board(arena: &MmapMut) -> &Board {
    // Safety: the mapping is longer than a board, which has no invalid bit patterns.
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

fn launch(executable: &Path, config: &RecordConfig, memory: &File, trace: &File) -> Result<Child, Error> {
    let path: PathBuf =
        std::path::absolute(executable).map_err(|source| Error::Launch { program: executable.to_owned(), source })?;
    let fds = [memory.as_raw_fd(), trace.as_raw_fd()];
    let stdin = match &config.stdin {
        None => Stdio::null(),
        Some(bytes) => {
            let mut file = memory_file(c"stdin")?;
            file.write_all(bytes).and_then(|()| file.rewind()).map_err(system("fill the program's input"))?;
            file.into()
        }
    };
    let mut command = Command::new(path);
    command
        .arg0(&config.name)
        .args(&config.args)
        .env(FDS_VARIABLE, format!("{},{}", fds[0], fds[1]))
        .stdin(stdin)
        .stdout(if config.show_output { Stdio::inherit() } else { Stdio::null() })
        .stderr(if config.show_output { Stdio::inherit() } else { Stdio::null() });
    // Safety: only system calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0
                || fds.iter().any(|fd| libc::fcntl(*fd, libc::F_SETFD, 0) < 0)
            {
                return Err(io::Error::last_os_error());
            }
            // This process lets an interrupt end the program only.
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    command.spawn().map_err(|source| Error::Launch { program: executable.to_owned(), source })
}

/// Keeps an interrupt from the keyboard from ending this process: it ends the program, whose recording is then kept.
struct Undisturbed(libc::sighandler_t);

impl Undisturbed {
    fn new() -> Self {
        // Safety: changes how this process takes a signal.
        Self(unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) })
    }
}

impl Drop for Undisturbed {
    fn drop(&mut self) {
        // Safety: as it was.
        unsafe { libc::signal(libc::SIGINT, self.0) };
    }
}

/// Waits for the end; says whether it came in time.
fn wait(child: &mut Child, time: Option<Duration>) -> Result<(ExitStatus, bool), Error> {
    let _undisturbed = Undisturbed::new();
    let failed = system("look after the program's process");
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
            // Safety: sends a signal to our child.
            unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
        }
        std::thread::sleep(LOOK);
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

/// Packs what is left in the buffers.
fn leftovers(arena: &MmapMut, mut write: impl FnMut(u32, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut packed = vec![0; Packer::room(BUFFER / 8)];
    let mut packer = Box::new(Packer::new());
    for (slot, number) in board(arena).slots.iter().enumerate() {
        let Some(thread) = number.load(Ordering::Acquire).checked_sub(1) else { continue };
        let bytes = &arena[BUFFERS_OFFSET + slot * BUFFER..][..BUFFER];
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("raceproof bug: eight bytes")))
            .collect();
        let len = packer.pack(&words, &mut packed);
        write(thread, &packed[..len])?;
    }
    Ok(())
}
