//! The shared objects of the process.

use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_void};
use core::ops::Range;

use crate::cell::Global;

/// Where the C library and the dynamic linker are loaded.
static C_LIBRARY: Global<[Range<usize>; 2]> = Global::new([0..0, 0..0]);

/// Whether an address is inside the C library or the dynamic linker.
pub fn in_c_library(address: usize) -> bool {
    C_LIBRARY.with(|ranges| ranges.iter().any(|range| range.contains(&address)))
}

/// One object, as the dynamic linker lists it.
struct Found {
    /// What is added to addresses in its file.
    base: usize,
    range: Range<usize>,
    /// Its thread-local storage in the calling thread, if it has any: where, how long, and the image it starts with.
    tls: Option<(usize, usize, Range<usize>)>,
    /// The number under which the dynamic linker knows that storage.
    module: usize,
}

/// The thread-local storage of one object in the calling thread.
pub struct TlsSegment {
    /// Where it is.
    pub at: usize,
    /// How long it is.
    pub len: usize,
    /// What it starts with in a new thread.
    pub image: usize,
    /// How much of it is not zero there.
    pub image_len: usize,
    /// Whether it is the C library's.
    pub of_c_library: bool,
}

struct Search<'a> {
    /// Called with each object.
    visit: &'a mut dyn FnMut(Found),
}

/// Passes one entry of the dynamic linker's list on to the search.
///
/// # Safety
/// Called by `dl_iterate_phdr`, with a `Search` as data.
unsafe extern "C" fn visit_entry(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker hands in an entry whose headers are as many as it says, and as `data` what `for_each`
    // passed: its search, which lives until the call returns.
    unsafe {
        let headers = core::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let base = (*info).dlpi_addr as usize;
        let loaded = headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
        let start = loaded.clone().map(|h| base + h.p_vaddr as usize).min().unwrap_or(base);
        let end = loaded.map(|h| base + (h.p_vaddr + h.p_memsz) as usize).max().unwrap_or(base);
        let storage = (*info).dlpi_tls_data as usize;
        let tls = headers.iter().find(|h| h.p_type == libc::PT_TLS && storage != 0).map(|h| {
            let image = base + h.p_vaddr as usize;
            (storage, h.p_memsz as usize, image..image + h.p_filesz as usize)
        });
        let module = if headers.iter().any(|h| h.p_type == libc::PT_TLS) { (*info).dlpi_tls_modid } else { 0 };
        ((*data.cast::<Search<'_>>()).visit)(Found { base, range: start..end, tls, module });
    }
    0
}

fn for_each(visit: &mut dyn FnMut(Found)) {
    let mut search = Search { visit };
    // SAFETY: `visit_entry` takes the search that is passed as data, and does not keep it.
    unsafe { libc::dl_iterate_phdr(Some(visit_entry), (&raw mut search).cast()) };
}

/// Calls `visit` with the thread-local storage of every object that has any; to be called after [`locate`].
pub fn for_each_tls(visit: &mut dyn FnMut(TlsSegment)) {
    for_each(&mut |found| {
        if let Some((at, len, image)) = found.tls {
            let of_c_library = in_c_library(found.range.start);
            visit(TlsSegment { at, len, image: image.start, image_len: image.len().min(len), of_c_library });
        }
    });
}

/// What a function of the dynamic linker wants to know about a thread-local variable.
#[repr(C)]
struct TlsIndex {
    module: usize,
    offset: usize,
}

unsafe extern "C" {
    fn __tls_get_addr(index: *const TlsIndex) -> *mut c_void;
}

/// Has the dynamic linker make the thread-local storage of objects that were loaded late, which it else makes when it is
/// first used. `keep` gets the name of each.
pub fn make_tls(mut keep: impl FnMut(*const c_char)) {
    let mut late = Vec::new();
    for_each(&mut |found| {
        if found.module != 0 && found.tls.is_none() {
            late.push((found.module, found.range.start));
        }
    });
    for (module, start) in late {
        // SAFETY: the dynamic linker has just listed an object with this number. The name that it gives for an address in it
        // is a text that lives as long as the object.
        unsafe {
            __tls_get_addr(&TlsIndex { module, offset: 0 });
            let mut info: libc::Dl_info = core::mem::zeroed();
            if libc::dladdr(start as *const c_void, &raw mut info) != 0 {
                keep(info.dli_fname);
            }
        }
    }
}

/// Finds the objects; returns where the executable is loaded.
pub fn locate() -> usize {
    // SAFETY: only reads the auxiliary vector.
    let linker = unsafe { libc::getauxval(libc::AT_BASE) } as usize;
    // A function that nobody interposes.
    let library = libc::gnu_get_libc_version as *const () as usize;
    let executable = locate as *const () as usize;
    let mut load_base = 0;
    for_each(&mut |found| {
        C_LIBRARY.with(|known| {
            if found.range.contains(&library) {
                known[0] = found.range.clone();
            }
            if found.range.contains(&linker) {
                known[1] = found.range.clone();
            }
        });
        if found.range.contains(&executable) {
            load_base = found.base;
        }
    });
    load_base
}
