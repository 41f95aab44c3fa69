//! What starting a program under test takes, whichever library is linked into it: files in memory, descriptors that it
//! inherits, and addresses that are the same in every process.

#![warn(clippy::undocumented_unsafe_blocks)]

pub mod memory;
mod scratch;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

pub use scratch::Scratch;

/// Creates an empty file that lives in memory and is closed in programs that this process starts.
///
/// # Errors
/// When the operating system refuses.
pub fn memory_file(name: &'static CStr) -> io::Result<File> {
    // SAFETY: the name is a terminated string; the call touches nothing else of ours.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened above and nothing else owns it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Standard input with these bytes, at its start; empty without any.
///
/// # Errors
/// When the operating system refuses.
pub fn stdin_of(bytes: Option<&[u8]>) -> io::Result<Stdio> {
    let Some(bytes) = bytes else { return Ok(Stdio::null()) };
    let mut file = memory_file(c"stdin")?;
    file.write_all(bytes)?;
    // The program's descriptor shares this offset.
    file.rewind()?;
    Ok(file.into())
}

/// Sets variables in the environment of a program, or removes those without a value.
pub fn set_variables(command: &mut Command, variables: &BTreeMap<String, Option<String>>) {
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Asks a program to end when the thread that starts it does.
pub fn end_with_host(command: &mut Command) {
    let prepare = || {
        // SAFETY: the call takes numbers only and changes the new process alone.
        match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec the closure makes one system call; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(prepare) };
}

/// Asks a program to end, which it may do in its own time.
pub fn ask_to_end(child: &Child) {
    // SAFETY: the call takes numbers only, and the child was not waited for, so the number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
}

/// Lets a program inherit these files, under the numbers that they have here, turns address randomisation off for it, and
/// lets it end with the thread that starts it, however that ends. The files must be open when the command is started.
///
/// # Errors
/// Where address randomisation cannot be turned off, as in containers with the usual filter of system calls.
pub fn prepare<const N: usize>(command: &mut Command, inherited: [&File; N]) -> io::Result<()> {
    if !addresses_can_be_fixed() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, RANDOM_ADDRESSES));
    }
    let fds = inherited.map(AsRawFd::as_raw_fd);
    let host = std::process::id();
    let prepare = move || {
        // SAFETY: these calls with these arguments take numbers only and change the new process alone.
        let refused = unsafe {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0
                || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0
                || fds.iter().any(|fd| libc::fcntl(*fd, libc::F_SETFD, 0) < 0)
        };
        if refused {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: takes nothing and changes nothing.
        if unsafe { libc::getppid() } as u32 != host {
            // The host ended before the kernel knew that this process ends with it.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(prepare) };
    Ok(())
}

const RANDOM_ADDRESSES: &str = "address randomisation cannot be turned off here; a container has to allow it: \
                                `--security-opt seccomp=unconfined` of podman and docker";

/// Whether address randomisation can be turned off, which is tried once in a thread of its own.
fn addresses_can_be_fixed() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    // SAFETY: the call takes a number only and changes the thread alone.
    let fix = || unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) } >= 0;
    // What cannot be tried is found out when a program is started.
    *CAN.get_or_init(|| std::thread::Builder::new().spawn(fix).map_or(true, |thread| thread.join().unwrap_or(true)))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn output(command: &mut Command) -> String {
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn standard_input_is_read_from_its_start() {
        assert_eq!(output(Command::new("cat").stdin(stdin_of(Some(b"three\nlines\n.")).unwrap())), "three\nlines\n.");
        assert_eq!(output(Command::new("cat").stdin(stdin_of(None).unwrap())), "");
    }

    #[test]
    fn a_program_writes_to_a_file_it_inherits() {
        let mut file = memory_file(c"test").unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("echo written >&{}", file.as_raw_fd()));
        prepare(&mut command, [&file]).unwrap();
        output(&mut command);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "written\n");
    }

    #[test]
    fn addresses_are_the_same_in_every_process() {
        let maps = || {
            let mut command = Command::new("cat");
            command.arg("/proc/self/maps");
            prepare(&mut command, []).unwrap();
            output(&mut command)
        };
        let stack = |maps: &str| maps.lines().find(|line| line.ends_with("[stack]")).map(str::to_owned);
        let [one, other] = [maps(), maps()].map(|maps| stack(&maps));
        assert!(one.is_some());
        assert_eq!(one, other);
    }
}
