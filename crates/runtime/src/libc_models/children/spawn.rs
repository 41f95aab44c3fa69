//! Starting programs without `fork`.
//!
//! | function | semantics |
//! |---|---|
//! | `posix_spawn`, `posix_spawnp` | one event; what the file actions say is done to a list of descriptors, not to those of the process |
//! | `posix_spawn_file_actions_…` | the actions are kept by the runtime; the object holds where |
//! | `system` | one event, and one more if the command has to wait for its input |

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_short};

use libc::{mode_t, pid_t};
use wire::Tag;

use super::request::{self, Descriptor, Request, What};
use super::table::{self, Found};
use crate::api::cancel::{self, Outcome, cancellable};
use crate::api::step::Call;
use crate::libc_models::event::{Access, operate};
use crate::libc_models::program_memory::{In, Out};
use crate::libc_models::{fail, paths};
use crate::memory;
use crate::sync::Blocker;
use crate::sync::signal::SignalSet;

/// One thing that is done to a child's descriptors.
enum Action {
    Close(c_int),
    CloseFrom(c_int),
    Duplicate(c_int, c_int),
    Open { fd: c_int, path: CString, flags: c_int, mode: mode_t },
    Folder(CString),
}

/// `posix_spawn_file_actions_t` and where the runtime keeps the list.
type Actions = [u64; 10];
const _: () = assert!(size_of::<Actions>() == size_of::<libc::posix_spawn_file_actions_t>());

/// The number of the word with the list.
const LIST: usize = 1;

/// Lends the list of an object.
fn with_actions<R>(object: *mut Actions, use_it: impl FnOnce(&mut Vec<Action>) -> R) -> Option<R> {
    let list = memory::read(object.cast::<*mut Vec<Action>>().wrapping_add(LIST));
    // SAFETY: the program initialised the object, so the word is what `Box::into_raw` gave, and has not destroyed it; nobody
    // else uses the list meanwhile.
    (!list.is_null()).then(|| use_it(unsafe { &mut *list }))
}

fn push(object: *mut Actions, action: Action) -> c_int {
    with_actions(object, |actions| actions.push(action)).map_or(libc::EINVAL, |()| 0)
}

/// Does the actions to a request.
///
/// # Errors
/// The error number of the first one that fails.
fn act(request: &mut Request, actions: &[Action]) -> Result<(), c_int> {
    let files = &mut request.files;
    for action in actions {
        match action {
            Action::Close(fd) => files.retain(|file| file.fd != *fd),
            Action::CloseFrom(first) => files.retain(|file| file.fd < *first),
            Action::Duplicate(from, to) => {
                let what = files.iter().find(|file| file.fd == *from).map(|file| file.what.clone());
                let what = what.ok_or(libc::EBADF)?;
                files.retain(|file| file.fd != *to);
                files.push(Descriptor { fd: *to, closes: false, what });
            }
            Action::Open { fd, path, flags, mode } => {
                files.retain(|file| file.fd != *fd);
                let what = What::Path { path: path.clone(), flags: *flags, mode: *mode };
                files.push(Descriptor { fd: *fd, closes: false, what });
            }
            Action::Folder(path) => request.folder = path.clone(),
        }
    }
    files.sort_unstable_by_key(|file| file.fd);
    Ok(())
}

/// `posix_spawnattr_t`, as far as it counts: flags, and two sets of signals of 128 bytes.
const DEFAULTED: usize = 8;
const BLOCKED: usize = 8 + 128;

fn adjust_signals(request: &mut Request, attributes: *const c_char) {
    if attributes.is_null() {
        return;
    }
    let flags = c_int::from(memory::read(attributes.cast::<c_short>()));
    let set = |offset: usize| memory::read(attributes.wrapping_add(offset).cast::<SignalSet>());
    if flags & c_int::from(libc::POSIX_SPAWN_SETSIGDEF as c_short) != 0 {
        request.ignored &= !set(DEFAULTED);
    }
    if flags & c_int::from(libc::POSIX_SPAWN_SETSIGMASK as c_short) != 0 {
        request.blocked = set(BLOCKED);
    }
}

type List = *const *const c_char;

/// Reads of a list of strings.
fn reads(list: List) -> Vec<Access> {
    let words = (0..).map(|i| memory::read(list.wrapping_add(i))).take_while(|text| !text.is_null());
    let texts: Vec<*const c_char> = if list.is_null() { Vec::new() } else { words.collect() };
    let len = if list.is_null() { 0 } else { (texts.len() + 1) * size_of::<*const c_char>() };
    let all = [Access::plain(Tag::Read, list.cast(), len)].into_iter();
    all.chain(texts.into_iter().map(text_access)).collect()
}

/// The read of a string.
pub fn text_access(text: *const c_char) -> Access {
    Access::plain(Tag::Read, text.cast(), memory::string_len(text, usize::MAX) + 1)
}

/// Adds that the open files of the process are looked at.
fn reads_table() -> Access {
    Access { tag: Tag::Read, ..crate::libc_models::open::table_access() }
}

fn spawn(
    pid: Out<'_, pid_t>,
    program: In<'_, c_char>,
    searches: bool,
    actions: *mut Actions,
    attributes: *const c_char,
    [arguments, environment]: [List; 2],
) -> c_int {
    let mut known = Vec::from([super::cell(Tag::ReadModifyWrite), reads_table(), text_access(program.as_ptr())]);
    known.extend(reads(arguments).into_iter().chain(reads(environment)));
    let started = operate(&known, Blocker::None, |add| {
        let (arguments, environment) = (request::strings(arguments), request::strings(environment));
        let mut request = Request::new(program.required_string(), arguments, environment);
        if !actions.is_null() {
            with_actions(actions, |actions| act(&mut request, actions)).unwrap_or(Err(libc::EINVAL))?;
        }
        adjust_signals(&mut request, attributes);
        request.program = request::find(&request.program, searches, &request.folder)?;
        if !pid.is_null() {
            add(Access::plain(Tag::Write, pid.as_ptr().cast(), size_of::<pid_t>()));
        }
        Ok(table::add(request, add))
    });
    table::after_event();
    match started {
        Some(Ok(number)) => {
            pid.write_if_given(number);
            0
        }
        Some(Err(error)) => error,
        None => libc::EINTR,
    }
}

/// Executes a command and waits for its end: its status. `None`: the thread is cancelled instead.
pub fn run_command(command: In<'_, c_char>) -> Option<c_int> {
    let known = [super::cell(Tag::ReadModifyWrite), reads_table(), super::environment(), text_access(command.as_ptr())];
    let (pid, found) = operate(&known, Blocker::None, |add| {
        let pid = table::add(Request::shell(command.required_string()), add);
        (pid, table::take(pid, false))
    })?;
    table::after_event();
    match found {
        Found::Ended(_, status) => Some(status),
        _ => wait_for(pid),
    }
}

/// Waits for the end of a child: its status, or that nobody knows it any more. `None`: the thread is cancelled instead.
pub fn wait_for(pid: pid_t) -> Option<c_int> {
    let cell = super::cell(Tag::ReadModifyWrite);
    match operate(&[cell], Blocker::Child { pid }, |_| table::take(pid, false))? {
        Found::Ended(_, status) => Some(status),
        Found::Nobody | Found::Running => Some(fail(libc::ECHILD) as c_int),
    }
}

cancellable! {
    /// Executes a command.
    unsafe fn system(command: In<'_, c_char>) {
        if command.is_null() {
            return 1.into();
        }
        let call = Call::here();
        run_command(command).map_or_else(|| cancel::point(&call), Outcome::from)
    }
}

export! {
    /// Starts a program.
    fn posix_spawn(
        pid: Out<'_, pid_t>, program: In<'_, c_char>, actions: *mut Actions, attributes: *const c_char,
        arguments: List, environment: List,
    ) -> c_int {
        spawn(pid, program, false, actions, attributes, [arguments, environment])
    }
    /// Starts a program that is looked for.
    fn posix_spawnp(
        pid: Out<'_, pid_t>, program: In<'_, c_char>, actions: *mut Actions, attributes: *const c_char,
        arguments: List, environment: List,
    ) -> c_int {
        spawn(pid, program, true, actions, attributes, [arguments, environment])
    }
    /// Makes a list of actions.
    fn posix_spawn_file_actions_init(object: *mut Actions) -> c_int {
        memory::zero(object, 1);
        let list = Box::into_raw(Box::<Vec<Action>>::default());
        memory::write(object.cast::<*mut Vec<Action>>().wrapping_add(LIST), list);
        0
    }
    /// Drops a list of actions.
    fn posix_spawn_file_actions_destroy(object: *mut Actions) -> c_int {
        with_actions(object, Vec::clear).map_or(libc::EINVAL, |()| 0)
    }
    /// The child closes a descriptor.
    fn posix_spawn_file_actions_addclose(object: *mut Actions, fd: c_int) -> c_int {
        if fd < 0 { libc::EBADF } else { push(object, Action::Close(fd)) }
    }
    /// The child closes all descriptors from a number on.
    fn posix_spawn_file_actions_addclosefrom_np(object: *mut Actions, first: c_int) -> c_int {
        if first < 0 { libc::EBADF } else { push(object, Action::CloseFrom(first)) }
    }
    /// The child duplicates a descriptor.
    fn posix_spawn_file_actions_adddup2(object: *mut Actions, from: c_int, to: c_int) -> c_int {
        if from < 0 || to < 0 { libc::EBADF } else { push(object, Action::Duplicate(from, to)) }
    }
    /// The child opens a file.
    fn posix_spawn_file_actions_addopen(
        object: *mut Actions, fd: c_int, path: In<'_, c_char>, flags: c_int, mode: mode_t,
    ) -> c_int {
        if fd < 0 { libc::EBADF } else { push(object, Action::Open { fd, path: path.required_string(), flags, mode }) }
    }
    /// The child begins in another folder.
    fn posix_spawn_file_actions_addchdir_np(object: *mut Actions, path: In<'_, c_char>) -> c_int {
        push(object, Action::Folder(path.required_string()))
    }
    /// The child begins in an open folder.
    fn posix_spawn_file_actions_addfchdir_np(object: *mut Actions, fd: c_int) -> c_int {
        paths::target_of(fd).map_or_else(|error| error, |path| push(object, Action::Folder(path)))
    }
}
