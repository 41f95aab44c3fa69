//! C streams. The C library makes the stream, on a descriptor that this library opened.
//!
//! The C library reads and writes such a descriptor with system calls of its own, so only files are supported: a stream
//! on a pipe or socket would block inside the C library.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libc::FILE;
use wire::Tag;

use super::event::Access;
use super::library_function::LibraryFunction;
use super::open::{self, File};
use super::program_memory::In;
use super::{fail, kernel, memory_files, negative, paths, result, unmodelled};
use crate::cell::Global;

/// The flags of `open` for a mode; `None` if it is not one.
fn flags(mode: &[u8]) -> Option<c_int> {
    // What follows a comma (`ccs=`) is for the library.
    let mode = mode.split(|&c| c == b',').next()?;
    let (&first, rest) = mode.split_first()?;
    let update = rest.contains(&b'+');
    let base = match first {
        b'r' => 0,
        b'w' => libc::O_CREAT | libc::O_TRUNC,
        b'a' => libc::O_CREAT | libc::O_APPEND,
        _ => return None,
    };
    let access = match (first, update) {
        (_, true) => libc::O_RDWR,
        (b'r', false) => libc::O_RDONLY,
        (_, false) => libc::O_WRONLY,
    };
    let exclusive = if rest.contains(&b'x') { libc::O_EXCL } else { 0 };
    let cloexec = if rest.contains(&b'e') { libc::O_CLOEXEC } else { 0 };
    Some(base | access | exclusive | cloexec)
}

/// Opens a file for a stream with this mode.
///
/// # Errors
/// The error number.
fn open_for(path: In<'_, c_char>, mode: &CStr) -> Result<c_int, c_int> {
    let flags = flags(mode.to_bytes()).ok_or(libc::EINVAL)?;
    let fd = paths::open_at(libc::AT_FDCWD, &path.string()?, flags, 0o666);
    if fd < 0 { Err(-fd as c_int) } else { Ok(fd as c_int) }
}

/// What a function gives that cannot make a stream.
fn no_stream(error: c_int) -> *mut FILE {
    fail(error);
    core::ptr::null_mut()
}

/// The C library's stream on an open descriptor.
pub(super) fn stream_on(fd: c_int, mode: &CStr) -> *mut FILE {
    type Fdopen = unsafe extern "C" fn(c_int, *const c_char) -> *mut FILE;
    // SAFETY: the type is that of the C library's function.
    static FDOPEN: LibraryFunction<Fdopen> = unsafe { LibraryFunction::new(c"fdopen") };
    // SAFETY: the function takes any number, and a mode that ends with a zero byte.
    note_memory(unsafe { FDOPEN.get()(fd, mode.as_ptr()) }, Vec::new())
}

fn open_stream(path: In<'_, c_char>, mode: In<'_, c_char>) -> *mut FILE {
    let mode = mode.required_string();
    open_for(path, &mode).map_or_else(no_stream, |fd| stream_on(fd, &mode))
}

/// Memory of the program that streams read and write, as of when they were made: where it is, and whether it is written.
static IN_MEMORY: Global<BTreeMap<usize, Vec<Access>>> = Global::new(BTreeMap::new());

/// The accesses of any use of a stream to memory of the program. The C library has a buffer of its own in between, and writes
/// it out when it likes; so each use counts as one of all that memory.
pub(super) fn memory_of(stream: usize) -> Vec<Access> {
    IN_MEMORY.with(|streams| streams.get(&stream).cloned().unwrap_or_default())
}

/// Notes which memory a new stream uses.
fn note_memory(stream: *mut FILE, memory: Vec<Access>) -> *mut FILE {
    if !stream.is_null() {
        IN_MEMORY.with(|streams| streams.insert(stream as usize, memory));
    }
    stream
}

/// The C library's function that makes a stream of two results.
type OpenInto = unsafe extern "C" fn(*mut *mut c_void, *mut usize) -> *mut FILE;

/// Makes a stream whose content is a block that grows; where that is and how long is stored when it is written out.
fn open_growing(open: OpenInto, block: *mut *mut c_void, len: *mut usize) -> *mut FILE {
    let results = [block.cast(), len.cast()].map(|at| Access::plain(Tag::Write, at, size_of::<usize>()));
    // SAFETY: the program calls the function with these arguments.
    note_memory(unsafe { open(block, len) }, results.into())
}

/// Opens a stream on a file without a name.
fn open_nameless() -> *mut FILE {
    let fd = paths::open_at(libc::AT_FDCWD, c"/", libc::O_TMPFILE | libc::O_RDWR, 0o600);
    if fd < 0 { no_stream(-fd as c_int) } else { stream_on(fd as c_int, c"w+") }
}

export! {
    /// Opens a stream.
    fn fopen(path: In<'_, c_char>, mode: In<'_, c_char>) -> *mut FILE {
        open_stream(path, mode)
    }
    /// Opens a stream.
    fn fopen64(path: In<'_, c_char>, mode: In<'_, c_char>) -> *mut FILE {
        open_stream(path, mode)
    }
    /// Makes a stream of a descriptor.
    fn fdopen(fd: c_int, mode: In<'_, c_char>) -> *mut FILE {
        if let File::Pipe(_) | File::Socket(_) = open::get(fd).file {
            unmodelled("makes a stream of a pipe or socket");
            return no_stream(libc::EINVAL);
        }
        stream_on(fd, &mode.required_string())
    }
    /// Opens another file as a stream.
    fn freopen(path: In<'_, c_char>, mode: In<'_, c_char>, stream: *mut FILE) -> *mut FILE {
        type Freopen = unsafe extern "C" fn(*const c_char, *const c_char, *mut FILE) -> *mut FILE;
        // SAFETY: the type is that of the C library's function.
        static FREOPEN: LibraryFunction<Freopen> = unsafe { LibraryFunction::new(c"freopen") };
        if path.is_null() {
            // SAFETY: the program calls this function with these arguments.
            return unsafe { FREOPEN.get()(path.as_ptr(), mode.as_ptr(), stream) };
        }
        let fd = match open_for(path, &mode.required_string()) {
            Ok(fd) => fd,
            Err(error) => return no_stream(error),
        };
        // The library opens the open file once more, by its name under `/proc`.
        let name = paths::name_of_descriptor(fd);
        // SAFETY: mode and stream are the program's own arguments; the name ends with a zero byte.
        let reopened = unsafe { FREOPEN.get()(name.as_ptr(), mode.as_ptr(), stream) };
        kernel::close(fd);
        reopened
    }
    /// Opens another file as a stream.
    fn freopen64(path: In<'_, c_char>, mode: In<'_, c_char>, stream: *mut FILE) -> *mut FILE {
        // SAFETY: the same function under another name.
        unsafe { freopen(path, mode, stream) }
    }
    /// Opens a stream on a file without a name.
    fn tmpfile() -> *mut FILE {
        open_nameless()
    }
    /// Opens a stream on a file without a name.
    fn tmpfile64() -> *mut FILE {
        open_nameless()
    }
    /// Makes a stream over memory of the program, or of its own.
    fn fmemopen(at: *mut c_void, len: usize, mode: In<'_, c_char>) -> *mut FILE {
        type Fmemopen = unsafe extern "C" fn(*mut c_void, usize, *const c_char) -> *mut FILE;
        // SAFETY: the type is that of the C library's function.
        static FMEMOPEN: LibraryFunction<Fmemopen> = unsafe { LibraryFunction::new(c"fmemopen") };
        let reads = mode.required_string().to_bytes().first() == Some(&b'r');
        let is_changed = !reads || mode.required_string().to_bytes().contains(&b'+');
        let access = Access::plain(if is_changed { Tag::Write } else { Tag::Read }, at, if at.is_null() { 0 } else { len });
        // SAFETY: the program calls this function with these arguments.
        note_memory(unsafe { FMEMOPEN.get()(at, len, mode.as_ptr()) }, Vec::from([access]))
    }
    /// Makes a stream whose content is a block that grows.
    fn open_memstream(block: *mut *mut c_void, len: *mut usize) -> *mut FILE {
        // SAFETY: the type is that of the C library's function.
        static OPEN: LibraryFunction<OpenInto> = unsafe { LibraryFunction::new(c"open_memstream") };
        open_growing(OPEN.get(), block, len)
    }
    /// Makes a stream whose content is a block of wide characters that grows.
    fn open_wmemstream(block: *mut *mut c_void, len: *mut usize) -> *mut FILE {
        // SAFETY: the type is that of the C library's function.
        static OPEN: LibraryFunction<OpenInto> = unsafe { LibraryFunction::new(c"open_wmemstream") };
        open_growing(OPEN.get(), block, len)
    }
    /// A memory file of the program's own.
    fn memfd_create(name: In<'_, c_char>, flags: c_uint) -> c_int {
        let fd = name.string().map_or_else(negative, |name| kernel::memfd_create(&name, flags));
        if fd < 0 {
            return result(fd) as c_int;
        }
        result(memory_files::adopt(fd).map_or_else(negative, |file| open::opened(fd, file))) as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_c() {
        assert_eq!(flags(b"r"), Some(libc::O_RDONLY));
        assert_eq!(flags(b"rb+"), Some(libc::O_RDWR));
        assert_eq!(flags(b"w"), Some(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC));
        assert_eq!(flags(b"a+"), Some(libc::O_RDWR | libc::O_CREAT | libc::O_APPEND));
        assert_eq!(flags(b"wx"), Some(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_EXCL));
        assert_eq!(flags(b"r,ccs=x+"), Some(libc::O_RDONLY));
        assert_eq!((flags(b"q"), flags(b"")), (None, None));
    }
}
