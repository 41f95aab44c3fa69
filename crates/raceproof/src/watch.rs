//! A command that is carried out again whenever something changes that its answer rests on.
//!
//! Each time it is a process of its own, which says what its answer rests on. If that changes while the process is at work, it is
//! ended and the next one begins.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure::Failure;
use crate::{guard, interrupt, output};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(150);

/// Clears a terminal and goes to its upper left corner.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// A file's number, size and time of change; none if it is not there.
type State = Option<(u64, u64, i64, i64)>;

/// Watches with the arguments of this process, until it is interrupted.
pub(crate) fn run() -> Result<(), Failure> {
    let interrupted = interrupt::flag();
    let folder = tempfile::tempdir().map_err(|error| {
        Failure::new(format!("cannot make a temporary folder: {error}"), "set TMPDIR to a folder with room")
    })?;
    let list = folder.path().join("rests-on");
    let arguments = arguments(&list);
    // Until the first answer, what the command line names.
    let mut files: BTreeSet<PathBuf> = arguments.iter().map(PathBuf::from).filter(|path| path.is_file()).collect();
    let mut status = 0;
    while !interrupted.load(Ordering::Acquire) {
        if std::io::stdout().is_terminal() {
            let _ = std::io::stdout().lock().write_all(CLEAR.as_bytes());
        }
        let before = look(&files);
        let ended = carry_out(&arguments, &files, &before, &interrupted)?;
        let Some(ended) = ended else { continue };
        status = ended.code().unwrap_or(2);
        let named = std::fs::read_to_string(&list).unwrap_or_default();
        let known: BTreeSet<PathBuf> = named.lines().map(PathBuf::from).collect();
        // A source with a mistake has no answer; what the last one rested on still counts.
        let before = if known.is_empty() || known == files { before } else { look(&known) };
        files = if known.is_empty() { files } else { known };
        if files.is_empty() {
            let help = "give sources, or an executable of `raceproof cc`; the cache's folder must be writable";
            return Err(Failure::new("it is not known which files the answer rests on", help));
        }
        output::note(&format!("watching {} files; Ctrl-C ends\n", files.len()));
        while !interrupted.load(Ordering::Acquire) && look(&files) == before {
            std::thread::sleep(INTERVAL);
        }
    }
    drop(folder);
    guard::end(status)
}

/// This process's arguments without `--watch`, and with a file for what the answer rests on.
fn arguments(list: &std::path::Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let own = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let programs = arguments.split_off(own);
    arguments.retain(|argument| argument != "--watch");
    arguments.extend(["--rests-on".into(), list.into()]);
    arguments.extend(programs);
    arguments
}

/// Carries the command out once. `None` if it was ended because a file changed.
fn carry_out(
    arguments: &[OsString],
    files: &BTreeSet<PathBuf>,
    before: &BTreeMap<PathBuf, State>,
    interrupted: &Arc<AtomicBool>,
) -> Result<Option<ExitStatus>, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(format!("cannot start raceproof again: {error}"), "try it without `--watch`")
    };
    let mut child = Command::new("/proc/self/exe").args(arguments).spawn().map_err(cannot)?;
    loop {
        if let Some(status) = child.try_wait().map_err(cannot)? {
            return Ok(Some(status));
        }
        // An interrupt of the terminal reaches the child as well, which reports what it knows.
        if !interrupted.load(Ordering::Acquire) && look(files) != *before {
            end(&mut child);
            return Ok(None);
        }
        std::thread::sleep(INTERVAL / 3);
    }
}

/// Ends a command and all that it has started, which end with it.
fn end(child: &mut Child) {
    // It may just have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

fn look(files: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, State> {
    let state = |path: &PathBuf| {
        let about = std::fs::metadata(path).ok()?;
        Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
    };
    files.iter().map(|path| (path.clone(), state(path))).collect()
}
