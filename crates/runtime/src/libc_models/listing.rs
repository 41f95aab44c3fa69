//! Listing folders. While the program has changed no file, the C library does it; from then on its changes count.
//!
//! A stream made here is a block of the program's heap, as the C library's are: the entries of the folder at the time it
//! was opened, by name. It is told from those of the C library by its first bytes.

use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use core::mem::offset_of;

use libc::{DIR, dirent64};

use super::library_function::LibraryFunction;
use super::program_memory::In;
use super::{fail, memory_files, names, open, unmodelled};
use crate::text::text;
use crate::{heap, memory};

/// The first bytes of a stream made here.
const MARK: u64 = 0x6c69_7374_696e_6721;

/// A stream of entries; they follow it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Listing {
    mark: u64,
    /// Its descriptor, or -1 while it has none.
    fd: c_int,
    count: c_int,
    /// The number of the entry that is read next.
    at: c_long,
}

// SAFETY: all its bytes belong to numbers, of which every value is one.
unsafe impl memory::Plain for Listing {}

const ENTRY: usize = size_of::<dirent64>();
const HEAD: usize = size_of::<Listing>().next_multiple_of(16);

/// A stream that was made here, if this is one.
fn own(stream: *mut DIR) -> Option<(*mut Listing, Listing)> {
    let at = stream.cast::<Listing>();
    let listing = (!stream.is_null()).then(|| memory::read(at))?;
    (listing.mark == MARK).then_some((at, listing))
}

/// An entry as the C library gives it.
fn entry(number: usize, name: &[u8], kind: u8) -> dirent64 {
    // SAFETY: a structure of numbers, for which zero is a value.
    let mut entry: dirent64 = unsafe { core::mem::zeroed() };
    entry.d_ino = number as u64 + 1;
    entry.d_off = number as i64 + 1;
    entry.d_reclen = ENTRY as u16;
    entry.d_type = kind;
    // The last byte stays zero.
    let room = entry.d_name.len() - 1;
    entry.d_name.iter_mut().zip(name.iter().take(room)).for_each(|(to, from)| *to = *from as c_char);
    entry
}

/// Opens a stream of what is in a folder.
fn list(path: In<'_, c_char>) -> Result<*mut DIR, c_int> {
    let inside = names::list(path)?;
    let names = inside.iter().map(|(name, kind)| (name.to_bytes(), *kind));
    let all: Vec<(&[u8], u8)> = [(&b"."[..], libc::DT_DIR), (b"..", libc::DT_DIR)].into_iter().chain(names).collect();
    let start = heap::block(HEAD + ENTRY * all.len()).ok_or(libc::ENOMEM)?;
    memory::write(start as *mut Listing, Listing { mark: MARK, fd: -1, count: all.len() as c_int, at: 0 });
    for (number, (name, kind)) in all.into_iter().enumerate() {
        memory::write((start as usize + HEAD + ENTRY * number) as *mut dirent64, entry(number, name, kind));
    }
    Ok(start as *mut DIR)
}

/// The next entry; null at the end.
fn next(at: *mut Listing, listing: Listing) -> *mut dirent64 {
    if listing.at >= listing.count.into() {
        return core::ptr::null_mut();
    }
    memory::write(at, Listing { at: listing.at + 1, ..listing });
    (at as usize + HEAD + ENTRY * listing.at as usize) as *mut dirent64
}

/// Defines functions on streams: what those made here do, and else the C library's.
macro_rules! on_streams {
    ($($(#[$meta:meta])* fn $name:ident($stream:ident $(, $arg:ident: $type:ty)*) -> $result:ty = $own:expr;)*) => {
        export! {$(
            $(#[$meta])*
            fn $name($stream: *mut DIR $(, $arg: $type)*) -> $result {
                type Function = unsafe extern "C" fn(*mut DIR $(, $type)*) -> $result;
                // SAFETY: the type is that of the C library's function.
                static FUNCTION: LibraryFunction<Function> = unsafe {
                    LibraryFunction::new(match core::ffi::CStr::from_bytes_with_nul(
                        concat!(stringify!($name), "\0").as_bytes(),
                    ) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    })
                };
                match own($stream) {
                    Some((at, listing)) => $own(at, listing $(, $arg)*),
                    // SAFETY: the program calls this function with these arguments.
                    None => unsafe { FUNCTION.get()($stream $(, $arg)*) },
                }
            }
        )*}
    };
}

on_streams! {
    /// The next entry.
    fn readdir(stream) -> *mut dirent64 = next;
    /// The next entry.
    fn readdir64(stream) -> *mut dirent64 = next;
    /// Where the stream is.
    fn telldir(stream) -> c_long = |_, listing: Listing| listing.at;
    /// Goes to where the stream was.
    fn seekdir(stream, to: c_long) -> () = |at, listing: Listing, to: c_long| {
        memory::write(at, Listing { at: to.clamp(0, listing.count.into()), ..listing });
    };
    /// Goes back to the start. What has changed since it was opened is not seen.
    fn rewinddir(stream) -> () = |at, listing: Listing| {
        if listing.at > 0 {
            unmodelled("reads a folder again in which files may have changed");
        }
        memory::write(at, Listing { at: 0, ..listing });
    };
    /// The descriptor.
    fn dirfd(stream) -> c_int = |at, listing: Listing| {
        if listing.fd >= 0 {
            return listing.fd;
        }
        let fd = memory_files::create().map_or(-1, |fd| open::opened(fd, open::File::Folder) as c_int);
        memory::write(at, Listing { fd, ..listing });
        fd
    };
    /// Closes the stream.
    fn closedir(stream) -> c_int = |at: *mut Listing, listing: Listing| {
        if listing.fd >= 0 {
            // SAFETY: closes a number that only this stream has.
            unsafe { super::numbers::close(listing.fd) };
        }
        memory::write(at.cast::<u64>(), 0);
        heap::free_block(at as usize);
        0
    };
}

/// The C library would look at the disk, where what the program has changed is not.
fn note_changes(what: &str) {
    if memory_files::any() {
        unmodelled(text!("{what} after it changed files").as_str());
    }
}

noting! {
    /// Lists a folder.
    scandir(path: *const c_char, to: *mut c_void, chosen: *const c_void, order: *const c_void) -> c_int =
        note_changes("lists a folder with `scandir`");
    /// Lists a folder.
    scandir64(path: *const c_char, to: *mut c_void, chosen: *const c_void, order: *const c_void) -> c_int =
        note_changes("lists a folder with `scandir`");
    /// Walks through folders.
    ftw(path: *const c_char, visit: *const c_void, depth: c_int) -> c_int = note_changes("calls `ftw`");
    /// Walks through folders.
    nftw(path: *const c_char, visit: *const c_void, depth: c_int, flags: c_int) -> c_int =
        note_changes("calls `nftw`");
    /// Finds names.
    glob(pattern: *const c_char, flags: c_int, failed: *const c_void, to: *mut c_void) -> c_int =
        note_changes("finds names with `glob`");
    /// Makes a name canonical.
    realpath(path: *const c_char, to: *mut c_char) -> *mut c_char = note_changes("calls `realpath`");
    /// Asks about a file.
    statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, to: *mut c_void) -> c_int =
        note_changes("calls `statx`");
}

export! {
    /// Lists a folder.
    fn opendir(path: In<'_, c_char>) -> *mut DIR {
        type Opendir = unsafe extern "C" fn(*const c_char) -> *mut DIR;
        // SAFETY: the type is that of the C library's function.
        static OPENDIR: LibraryFunction<Opendir> = unsafe { LibraryFunction::new(c"opendir") };
        if !memory_files::any() {
            // SAFETY: the program calls this function with these arguments.
            return unsafe { OPENDIR.get()(path.as_ptr()) };
        }
        list(path).unwrap_or_else(|error| {
            fail(error);
            core::ptr::null_mut()
        })
    }
    /// Lists the folder behind a descriptor: as it is on disk.
    fn fdopendir(fd: c_int) -> *mut DIR {
        type Fdopendir = unsafe extern "C" fn(c_int) -> *mut DIR;
        // SAFETY: the type is that of the C library's function.
        static FDOPENDIR: LibraryFunction<Fdopendir> = unsafe { LibraryFunction::new(c"fdopendir") };
        note_changes("lists a folder by its descriptor");
        // SAFETY: the program calls this function with these arguments.
        unsafe { FDOPENDIR.get()(fd) }
    }
}

const _: () = assert!(offset_of!(Listing, mark) == 0 && HEAD.is_multiple_of(align_of::<dirent64>()));
