//! `fork` and `exec`.
//!
//! | function | semantics |
//! |---|---|
//! | `fork`, `vfork`, `_Fork` | one event: the copy runs until it executes a program or ends ([`super::forked`]), and then that program does |
//! | `execv`, `execve`, `execvp`, `execvpe`, `execl`, `execle`, `execlp`, `fexecve` | in such a copy; in the process itself not modelled |

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::arch::naked_asm;
use core::ffi::{c_char, c_int};

use libc::pid_t;
use wire::Tag;
use wire::record::order;

use super::forked::{self, End, Report};
use super::request::{self, Request};
use super::{files, table};
use crate::api::refused::stay;
use crate::descriptors;
use crate::hooks;
use crate::libc_models::channels;
use crate::libc_models::event::{Access, operate_as_section};
use crate::libc_models::program_memory::In;
use crate::libc_models::{fail, kernel, paths, unmodelled};
use crate::memory;
use crate::sys::sys;
use crate::text::text;

/// Makes a copy of the process and waits until it has reported. Its number; 0 in the copy.
///
/// # Errors
/// The error number.
fn make_copy(shares_memory: bool, add: &mut dyn FnMut(Access)) -> Result<pid_t, c_int> {
    if forked::is_child() {
        // A copy of a copy.
        forked::wait_for_ever();
    }
    let mut ends = [0 as c_int; 2];
    // SAFETY: the kernel stores two descriptors in the array.
    let made = unsafe { sys!(SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) };
    if made < 0 {
        return Err(-made as c_int);
    }
    let reads = descriptors::hide(ends[0] as isize);
    let writes = descriptors::hide(ends[1] as isize);
    let (reads, writes) = (reads?, writes?);
    // SAFETY: takes no memory. Without flags and with no stack `clone` is `fork`: the process has one operating-system
    // thread, so nothing in the copy is half done.
    let (own, pid) = unsafe { (sys!(SYS_getpid), sys!(SYS_clone, libc::SIGCHLD, 0, 0, 0, 0)) };
    if pid == 0 {
        kernel::close(reads);
        forked::begin(writes, own);
        return Ok(0);
    }
    kernel::close(writes);
    let bytes = read_to_end(reads);
    kernel::close(reads);
    if pid < 0 {
        return Err(-pid as c_int);
    }
    let mut status = 0 as c_int;
    // SAFETY: the kernel writes the status, which lives over the call.
    unsafe { sys!(SYS_wait4, pid, &raw mut status, 0, 0) };
    Ok(register(forked::parse(&bytes), status, shares_memory, add))
}

fn read_to_end(fd: c_int) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0u8; 4096]);
    loop {
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let len = unsafe { sys!(SYS_read, fd, buffer.as_mut_ptr(), buffer.len()) };
        if len <= 0 {
            return bytes;
        }
        bytes.extend(&buffer[..len as usize]);
    }
}

/// Takes a copy that has reported, or ended with this status, into the table of children.
fn register(report: Option<Report>, status: c_int, shares_memory: bool, add: &mut dyn FnMut(Access)) -> pid_t {
    let not_followed = || table::remark(text!("forks without `exec`: what the child process does is not followed"));
    let Some(Report { end, written, reads, goes_too_far }) = report else {
        not_followed();
        return table::add_ended(status);
    };
    reads.iter().for_each(|(at, len, site)| hooks::append_access(Tag::Read, order::RELAXED, *at, *len, *site));
    if goes_too_far {
        table::remark(text!("forks a process that uses locks, or much memory, before it executes a program"));
    }
    for (channel, bytes) in written {
        files::deliver(channels::End::Write(channel), &bytes, add);
    }
    match end {
        End::Executes { request, has_changed } => {
            if has_changed {
                table::remark(text!("changes files or attributes of a child process before `exec`"));
            }
            table::add(request, add)
        }
        End::Exited { status, has_tried } => {
            if !has_tried || shares_memory {
                not_followed();
            }
            table::add_ended(status)
        }
        End::Waits => {
            table::give_up(text!("forks a process that waits for something before it executes a program"));
            table::add_ended(0)
        }
    }
}

fn make(shares_memory: bool) -> pid_t {
    let made = operate_as_section(&[super::cell(Tag::ReadModifyWrite)], |add| make_copy(shares_memory, add));
    if made == Ok(0) {
        return 0;
    }
    table::after_event();
    made.unwrap_or_else(|error| fail(error) as pid_t)
}

/// Executes a program in place of this process.
fn execute(program: Result<CString, c_int>, searches: bool, arguments: Vec<CString>, variables: Vec<CString>) -> c_int {
    if !forked::is_child() {
        unmodelled("executes another program in its own place");
        stay();
    }
    let folder = request::folder();
    match program.and_then(|program| request::find(&program, searches, &folder)) {
        Ok(found) => forked::execute(&Request::new(found, arguments, variables)),
        Err(error) => {
            forked::note_failure();
            fail(error) as c_int
        }
    }
}

/// The name that a call is given.
fn named(program: In<'_, c_char>) -> Result<CString, c_int> {
    let name = program.string()?;
    forked::note_read(program.as_ptr(), name.as_bytes_with_nul().len());
    Ok(name)
}

type List = *const *const c_char;

export! {
    /// Makes a copy of the process.
    fn fork() -> pid_t {
        make(false)
    }
    /// Makes a copy of the process.
    #[allow(non_snake_case, reason = "the name is the C library's")]
    fn _Fork() -> pid_t {
        make(false)
    }
    /// Makes a copy of the process. Here that does not share its memory.
    fn vfork() -> pid_t {
        make(true)
    }
    /// Executes a program.
    fn execv(program: In<'_, c_char>, arguments: List) -> c_int {
        execute(named(program), false, request::strings(arguments), request::environment())
    }
    /// Executes a program with an environment.
    fn execve(program: In<'_, c_char>, arguments: List, environment: List) -> c_int {
        execute(named(program), false, request::strings(arguments), request::strings(environment))
    }
    /// Executes a program that is looked for.
    fn execvp(program: In<'_, c_char>, arguments: List) -> c_int {
        execute(named(program), true, request::strings(arguments), request::environment())
    }
    /// Executes a program that is looked for, with an environment.
    fn execvpe(program: In<'_, c_char>, arguments: List, environment: List) -> c_int {
        execute(named(program), true, request::strings(arguments), request::strings(environment))
    }
    /// Executes a program that is open.
    fn fexecve(fd: c_int, arguments: List, environment: List) -> c_int {
        execute(paths::target_of(fd), false, request::strings(arguments), request::strings(environment))
    }
}

/// How many arguments after the first come in registers.
#[cfg(target_arch = "x86_64")]
const IN_REGISTERS: usize = 5;
/// How many arguments after the first come in registers.
#[cfg(target_arch = "aarch64")]
const IN_REGISTERS: usize = 7;

/// A function with any number of arguments, all of them pointers: calls the body with the first one, where those are stored
/// that came in registers, and where the others are.
#[cfg(target_arch = "x86_64")]
macro_rules! variadic {
    ($body:path) => {
        naked_asm!(
            ".cfi_startproc",
            "push r9",
            "push r8",
            "push rcx",
            "push rdx",
            "push rsi",
            ".cfi_adjust_cfa_offset 40",
            "mov rsi, rsp",
            "lea rdx, [rsp + 48]",
            "call {body}",
            "add rsp, 40",
            ".cfi_adjust_cfa_offset -40",
            "ret",
            ".cfi_endproc",
            body = sym $body,
        )
    };
}
/// A function with any number of arguments, all of them pointers: calls the body with the first one, where those are stored
/// that came in registers, and where the others are.
#[cfg(target_arch = "aarch64")]
macro_rules! variadic {
    ($body:path) => {
        naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, #-80]!",
            ".cfi_adjust_cfa_offset 80",
            ".cfi_rel_offset x29, 0",
            ".cfi_rel_offset x30, 8",
            "stp x1, x2, [sp, #16]",
            "stp x3, x4, [sp, #32]",
            "stp x5, x6, [sp, #48]",
            "str x7, [sp, #64]",
            "add x1, sp, #16",
            "add x2, sp, #80",
            "bl {body}",
            "ldp x29, x30, [sp], #80",
            ".cfi_adjust_cfa_offset -80",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "ret",
            ".cfi_endproc",
            body = sym $body,
        )
    };
}

/// The arguments up to the null, and the one after that if it is wanted.
fn listed(registers: List, stack: List, wants_next: bool) -> (Vec<CString>, List) {
    let at = |i: usize| -> *const c_char {
        let place = if i < IN_REGISTERS { registers.wrapping_add(i) } else { stack.wrapping_add(i - IN_REGISTERS) };
        memory::read(place)
    };
    let arguments: Vec<CString> =
        (0..).map(at).take_while(|text| !text.is_null()).map(|text| In::new(text).required_string()).collect();
    let next = if wants_next { at(arguments.len() + 1).cast() } else { core::ptr::null() };
    (arguments, next)
}

extern "C" fn execute_listed(program: In<'_, c_char>, registers: List, stack: List) -> c_int {
    execute(named(program), false, listed(registers, stack, false).0, request::environment())
}

extern "C" fn search_listed(program: In<'_, c_char>, registers: List, stack: List) -> c_int {
    execute(named(program), true, listed(registers, stack, false).0, request::environment())
}

extern "C" fn execute_listed_with(program: In<'_, c_char>, registers: List, stack: List) -> c_int {
    let (arguments, environment) = listed(registers, stack, true);
    execute(named(program), false, arguments, request::strings(environment))
}

/// Executes a program with these arguments.
///
/// # Safety
/// As for the C function.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn execl() {
    variadic!(execute_listed)
}

/// Executes a program that is looked for, with these arguments.
///
/// # Safety
/// As for the C function.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn execlp() {
    variadic!(search_listed)
}

/// Executes a program with these arguments and an environment.
///
/// # Safety
/// As for the C function.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn execle() {
    variadic!(execute_listed_with)
}
