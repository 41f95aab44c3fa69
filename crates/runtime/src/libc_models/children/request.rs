//! What a child executes, as bytes that go from one process to another and that tell two children apart.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};

use super::forked;
use crate::api::handlers;
use crate::descriptors;
use crate::libc_models::channels::End;
use crate::libc_models::kernel::{self, OwnedFd};
use crate::libc_models::open::{self, File};
use crate::libc_models::paths;
use crate::libc_models::program_memory::In;
use crate::sync::signal::SignalSet;
use crate::sys;
use crate::{memory, sched};

/// What is behind a descriptor of a child.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// An end of a channel of the program.
    Channel(End),
    /// An open file that the program had when the child was made, by the number of its description.
    Description(u32),
    /// A file that the child opens.
    Path {
        /// Its name.
        path: CString,
        /// Flags of `open`.
        flags: c_int,
        /// Permissions, if it is made.
        mode: libc::mode_t,
    },
}

/// A descriptor of a child.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Its number.
    pub fd: c_int,
    /// Whether it is closed when the program is executed.
    pub closes: bool,
    /// What is behind it.
    pub what: What,
}

/// What a child executes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The program's file.
    pub program: CString,
    /// Its arguments, the name it is called by first.
    pub arguments: Vec<CString>,
    /// Its environment.
    pub environment: Vec<CString>,
    /// Where it begins.
    pub folder: CString,
    /// The mask of permissions that new files do not get.
    pub mask: libc::mode_t,
    /// Signals that it ignores.
    pub ignored: SignalSet,
    /// Signals that it blocks.
    pub blocked: SignalSet,
    /// Its descriptors.
    pub files: Vec<Descriptor>,
}

/// The descriptors that the process has open, but for the runtime's own.
pub fn open_files() -> Vec<Descriptor> {
    let mut files = Vec::new();
    descriptors::for_each_number(|fd| {
        if !descriptors::is_own(fd) {
            let closes = sys::fcntl(fd, libc::F_GETFD, 0) == libc::FD_CLOEXEC as isize;
            let open = open::get(fd);
            let what = match open.file {
                File::Pipe(end) => What::Channel(end),
                File::Later(number) => forked::path_of(number),
                _ => What::Description(open.description().number()),
            };
            files.push(Descriptor { fd, closes, what });
        }
    });
    files
}

/// The working folder.
pub fn folder() -> CString {
    let mut buffer = [0u8; libc::PATH_MAX as usize];
    let len = kernel::readlink(c"/proc/self/cwd", &mut buffer).max(0);
    CString::new(&buffer[..len as usize]).unwrap_or_default()
}

/// The strings of a list that ends with null.
pub fn strings(list: *const *const c_char) -> Vec<CString> {
    if list.is_null() {
        return Vec::new();
    }
    let entries = (0..).map(|i| memory::read(list.wrapping_add(i))).take_while(|string| !string.is_null());
    let texts: Vec<CString> = entries.map(|at| In::new(at).required_string()).collect();
    forked::note_read(list.cast(), (texts.len() + 1) * size_of::<*const c_char>());
    for (index, text) in texts.iter().enumerate() {
        forked::note_read(memory::read(list.wrapping_add(index)), text.as_bytes_with_nul().len());
    }
    texts
}

/// The environment of the process. Its strings do not change; the list is a cell of its own.
pub fn environment() -> Vec<CString> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the C library defines the variable; one operating-system thread uses it.
    let list = unsafe { environ };
    if forked::is_child() {
        let cell = super::environment();
        forked::note_access(cell.tag, cell.at, cell.len, sched::site());
    }
    if list.is_null() {
        return Vec::new();
    }
    let entries = (0..).map(|i| memory::read(list.wrapping_add(i))).take_while(|string| !string.is_null());
    entries.map(|at| In::new(at).required_string()).collect()
}

impl Request {
    /// A program with these arguments, in the process's surroundings.
    pub fn new(program: CString, arguments: Vec<CString>, environment: Vec<CString>) -> Self {
        let (ignored, blocked) = handlers::passed_on();
        let (folder, mask, files) = (folder(), paths::umask(), open_files());
        Self { program, arguments, environment, folder, mask, ignored, blocked, files }
    }

    /// A command for the shell.
    pub fn shell(command: CString) -> Self {
        let arguments = [c"sh".into(), c"-c".into(), command].into();
        Self::new(c"/bin/sh".into(), arguments, environment())
    }

    /// As bytes, with its descriptors.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.surroundings();
        put_number(&mut bytes, self.files.len() as u64);
        for file in &self.files {
            let kind = match &file.what {
                What::Description(number) => [0, u64::from(*number), 0],
                What::Channel(End::Read(id)) => [1, u64::from(*id), 0],
                What::Channel(End::Write(id)) => [2, u64::from(*id), 0],
                What::Channel(End::Socket { incoming, outgoing }) => [3, u64::from(*incoming), u64::from(*outgoing)],
                What::Channel(End::Counter(id)) => [4, u64::from(*id), 0],
                What::Channel(End::Datagrams(id)) => [6, u64::from(*id), 0],
                What::Path { flags, mode, .. } => [5, *flags as u64, u64::from(*mode)],
            };
            [file.fd as u64, file.closes.into()].into_iter().chain(kind).for_each(|n| put_number(&mut bytes, n));
            if let What::Path { path, .. } = &file.what {
                put_text(&mut bytes, path.to_bytes());
            }
        }
        bytes
    }

    /// Everything but its descriptors, as bytes.
    pub fn surroundings(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_text(&mut bytes, self.program.to_bytes());
        put_text(&mut bytes, self.folder.to_bytes());
        for list in [&self.arguments, &self.environment] {
            put_number(&mut bytes, list.len() as u64);
            list.iter().for_each(|text| put_text(&mut bytes, text.to_bytes()));
        }
        [self.mask.into(), self.ignored, self.blocked].into_iter().for_each(|n| put_number(&mut bytes, n));
        bytes
    }

    /// What [`to_bytes`](Self::to_bytes) gave.
    pub fn from_bytes(bytes: &mut &[u8]) -> Option<Self> {
        let text = |bytes: &mut &[u8]| CString::new(take_text(bytes)?).ok();
        let (program, folder) = (text(bytes)?, text(bytes)?);
        let list = |bytes: &mut &[u8]| (0..take_number(bytes)?).map(|_| text(bytes)).collect::<Option<Vec<_>>>();
        let (arguments, environment) = (list(bytes)?, list(bytes)?);
        let [mask, ignored, blocked, count] = take_numbers(bytes)?;
        let mut files = Vec::new();
        for _ in 0..count {
            let [fd, closes, kind, one, other] = take_numbers(bytes)?;
            let (id, second) = (one as u32, other as u32);
            let what = match kind {
                0 => What::Description(id),
                1 => What::Channel(End::Read(id)),
                2 => What::Channel(End::Write(id)),
                3 => What::Channel(End::Socket { incoming: id, outgoing: second }),
                4 => What::Channel(End::Counter(id)),
                6 => What::Channel(End::Datagrams(id)),
                _ => What::Path { path: text(bytes)?, flags: one as c_int, mode: second },
            };
            files.push(Descriptor { fd: fd as c_int, closes: closes != 0, what });
        }
        Some(Self { program, arguments, environment, folder, mask: mask as u32, ignored, blocked, files })
    }
}

/// Appends a number.
pub fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend(number.to_le_bytes());
}

/// Appends bytes with their number.
pub fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put_number(bytes, text.len() as u64);
    bytes.extend(text);
}

/// Takes a number from the start.
pub fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

fn take_numbers<const N: usize>(bytes: &mut &[u8]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = take_number(bytes)?;
    }
    Some(numbers)
}

/// Takes bytes with their number from the start.
pub fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_number(bytes)?;
    let (text, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(text)
}

/// Whether a file can be executed, by its name below a folder.
fn check(folder: c_int, program: &CStr) -> Result<(), c_int> {
    let file = OwnedFd::open(folder, program, libc::O_PATH)?;
    let is_file = kernel::mode(file.number())? & libc::S_IFMT == libc::S_IFREG;
    match kernel::faccessat(folder, program, libc::X_OK) {
        0 if is_file => Ok(()),
        0 => Err(libc::EACCES),
        error => Err(-error as c_int),
    }
}

/// The file of a program that begins in a folder, looked for where `PATH` says if it has no slash and `searches`.
///
/// # Errors
/// The error number of `exec`.
pub fn find(program: &CStr, searches: bool, folder: &CStr) -> Result<CString, c_int> {
    let start = OwnedFd::open(libc::AT_FDCWD, folder, libc::O_PATH | libc::O_DIRECTORY)?;
    if program.is_empty() {
        return Err(libc::ENOENT);
    }
    if !searches || program.to_bytes().contains(&b'/') {
        return check(start.number(), program).map(|()| program.into());
    }
    let path = environment().into_iter().find_map(|text| text.to_bytes().strip_prefix(b"PATH=").map(<[u8]>::to_vec));
    let mut error = libc::ENOENT;
    for place in path.as_deref().unwrap_or(b"/bin:/usr/bin").split(|&c| c == b':') {
        let place = if place.is_empty() { b"." } else { place };
        let Ok(candidate) = CString::new([place, b"/", program.to_bytes()].concat()) else { continue };
        match check(start.number(), &candidate) {
            Ok(()) => return Ok(candidate),
            Err(libc::EACCES) => error = libc::EACCES,
            Err(_) => {}
        }
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_as_bytes() {
        let files = Vec::from([
            Descriptor { fd: 0, closes: false, what: What::Description(7) },
            Descriptor { fd: 1, closes: false, what: What::Channel(End::Write(3)) },
            Descriptor { fd: 4, closes: true, what: What::Channel(End::Socket { incoming: 1, outgoing: 2 }) },
            Descriptor { fd: 5, closes: false, what: What::Path { path: c"out".into(), flags: 0o101, mode: 0o644 } },
        ]);
        let request = Request {
            program: c"/bin/sh".into(),
            arguments: [c"sh".into(), c"-c".into(), c"".into()].into(),
            environment: [c"A=b".into()].into(),
            folder: c"/".into(),
            mask: 0o22,
            ignored: 1 << 12,
            blocked: u64::MAX,
            files,
        };
        let bytes = request.to_bytes();
        assert_eq!(Request::from_bytes(&mut &bytes[..]), Some(request));
        assert_eq!(Request::from_bytes(&mut &bytes[..bytes.len() - 1]), None, "cut off");
    }

    #[test]
    fn programs_are_found_as_exec_does() {
        assert_eq!(find(c"/bin/sh", false, c"/"), Ok(c"/bin/sh".into()));
        assert_eq!(find(c"bin/sh", true, c"/"), Ok(c"bin/sh".into()), "below its folder");
        assert!(find(c"sh", true, c"/").is_ok_and(|found| found.to_bytes().ends_with(b"/sh")));
        assert_eq!(find(c"sh", false, c"/"), Err(libc::ENOENT));
        assert_eq!(find(c"/etc", false, c"/"), Err(libc::EACCES), "a folder");
        assert_eq!(find(c"/etc/passwd", false, c"/"), Err(libc::EACCES));
        assert_eq!(find(c"no-such-program", true, c"/"), Err(libc::ENOENT));
    }
}
