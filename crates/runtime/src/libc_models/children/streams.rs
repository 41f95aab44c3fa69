//! `popen` and `pclose`. The stream is on a file in memory, as the streams of the C library can only be on files here: for
//! reading, with everything that the command has written; for writing, one that the command reads after it was closed.

use alloc::collections::BTreeMap;
use core::ffi::{c_char, c_int};

use libc::{FILE, pid_t};
use wire::Tag;
use wire::record::order;

use super::request::{Descriptor, Request, What};
use super::spawn::{text_access, wait_for};
use super::table::{self, Found};
use crate::cell::Global;
use crate::libc_models::event::{Access, operate};
use crate::libc_models::library_function::LibraryFunction;
use crate::libc_models::open;
use crate::libc_models::program_memory::In;
use crate::libc_models::streams::stream_on;
use crate::libc_models::{fail, kernel, memory_files};
use crate::sched;
use crate::sync::Blocker;
use crate::text::text;

/// Bytes of a stream.
const STREAM: usize = 216;

/// What a stream belongs to.
enum Command {
    /// A child that has been started.
    Runs(pid_t),
    /// A child that reads the file behind the runtime's own descriptor.
    Starts { request: Request, file: c_int },
}

static COMMANDS: Global<BTreeMap<usize, Command>> = Global::new(BTreeMap::new());

/// A file in memory that the program has open: its number, and the runtime's own descriptor of it.
fn new_file() -> Result<(c_int, c_int), c_int> {
    let made = memory_files::create()?;
    let fd = open::opened(made, memory_files::adopt(made)?);
    if fd < 0 {
        return Err(-fd as c_int);
    }
    let own = memory_files::hold(fd as c_int).ok_or(libc::EMFILE)?;
    Ok((fd as c_int, own))
}

/// Lets one of a child's descriptors be an open file of the process.
fn replace(request: &mut Request, fd: c_int, by: c_int) {
    request.files.retain(|file| file.fd != fd);
    let what = What::Description(open::get(by).description().number());
    request.files.push(Descriptor { fd, closes: false, what });
    request.files.sort_unstable_by_key(|file| file.fd);
}

fn open_command(command: In<'_, c_char>, mode: In<'_, c_char>, reads: bool) -> Result<*mut FILE, c_int> {
    let known = [
        super::cell(Tag::ReadModifyWrite),
        open::table_access(),
        super::environment(),
        text_access(command.as_ptr()),
        text_access(mode.as_ptr()),
    ];
    let opened = operate(&known, Blocker::None, |add| {
        let mut request = Request::shell(command.required_string());
        let (fd, own) = new_file()?;
        if !reads {
            return Ok((fd, Command::Starts { request, file: own }));
        }
        replace(&mut request, 1, fd);
        let pid = table::add(request, add);
        if table::runs(pid) {
            table::give_up(text!("reads from a command that waits for its own input"));
        }
        kernel::lseek(fd, 0, libc::SEEK_SET);
        Ok((fd, Command::Runs(pid)))
    });
    table::after_event();
    let (fd, command) = opened.unwrap_or(Err(libc::EINTR))?;
    let stream = stream_on(fd, if reads { c"r" } else { c"w" });
    COMMANDS.with(|commands| commands.insert(stream as usize, command));
    Ok(stream)
}

/// The status of the command behind a stream, which is closed.
fn close_command(stream: *mut FILE) -> c_int {
    type Fclose = unsafe extern "C" fn(*mut FILE) -> c_int;
    // SAFETY: the type is that of the C library's function.
    static FCLOSE: LibraryFunction<Fclose> = unsafe { LibraryFunction::new(c"fclose") };
    let Some(command) = COMMANDS.with(|commands| commands.remove(&(stream as usize))) else {
        return fail(libc::ECHILD) as c_int;
    };
    // SAFETY: the program gives a stream that it opened, and does not use it after this call.
    let fd = unsafe { libc::fileno(stream) };
    let known = [
        super::cell(Tag::ReadModifyWrite),
        open::table_access(),
        open::number_access(fd, Tag::ReadModifyWrite),
        Access { tag: Tag::ReadModifyWrite, order: order::RELAXED, at: stream as u64, len: 1 },
        Access::plain(Tag::Write, stream.cast(), STREAM),
    ];
    let closed = operate(&known, Blocker::None, |add| {
        sched::note_io();
        let pid = match command {
            Command::Runs(pid) => pid,
            Command::Starts { mut request, file } => {
                // SAFETY: as above.
                unsafe { libc::fflush(stream) };
                kernel::lseek(file, 0, libc::SEEK_SET);
                replace(&mut request, 0, fd);
                table::add(request, add)
            }
        };
        // SAFETY: as above.
        unsafe { FCLOSE.get()(stream) };
        open::forget(fd);
        (pid, table::take(pid, false))
    });
    table::after_event();
    match closed {
        Some((_, Found::Ended(_, status))) => status,
        Some((pid, _)) => wait_for(pid).unwrap_or_else(|| fail(libc::EINTR) as c_int),
        None => fail(libc::EINTR) as c_int,
    }
}

export! {
    /// Executes a command at the other end of a stream.
    fn popen(command: In<'_, c_char>, mode: In<'_, c_char>) -> *mut FILE {
        let first = mode.required_string().to_bytes().first().copied();
        let reads = first == Some(b'r');
        if !reads && first != Some(b'w') {
            fail(libc::EINVAL);
            return core::ptr::null_mut();
        }
        match open_command(command, mode, reads) {
            Ok(stream) => stream,
            Err(error) => {
                fail(error);
                core::ptr::null_mut()
            }
        }
    }
    /// Ends the command at the other end of a stream: its status.
    fn pclose(stream: *mut FILE) -> c_int {
        close_command(stream)
    }
}
