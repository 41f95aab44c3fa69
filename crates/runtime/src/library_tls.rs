//! Thread-local storage of the libraries and objects that were not instrumented: the C library's (its locale, its error
//! texts) and whatever the program was linked with.
//!
//! All threads are coroutines of one operating-system thread, which has one such storage. So it is copied when another
//! thread goes on than the one whose it is. The storage of a library that is loaded later comes last, so what was copied
//! before lacks it: there it is as in a new thread.

use alloc::vec::Vec;

use crate::cell::Global;
use crate::objects::{self, TlsSegment};

/// The storage of one library.
#[derive(Clone, Copy)]
struct Block {
    /// Where it is.
    at: usize,
    len: usize,
    /// What it starts with in a new thread; the rest is zero.
    image: usize,
    image_len: usize,
    /// The C library prepares its own for a new thread: as it was when the process started.
    of_c_library: bool,
}

impl Block {
    /// What it starts with in a new thread, unless it is the C library's.
    fn first(&self) -> impl Iterator<Item = u8> + use<> {
        let zeros = core::iter::repeat_n(0, self.len - self.image_len);
        bytes(self.image, self.image_len).iter().copied().chain(zeros)
    }
}

/// The storage of all libraries.
struct Libraries {
    blocks: Vec<Block>,
    /// What the C library's starts with.
    first: Vec<u8>,
}

static LIBRARIES: Global<Libraries> = Global::new(Libraries { blocks: Vec::new(), first: Vec::new() });

/// Finds the storage; to be called when the process starts and when libraries were loaded.
pub fn locate() {
    LIBRARIES.with(|libraries| {
        objects::for_each_tls(&mut |TlsSegment { at, len, image, image_len, of_c_library }| {
            if libraries.blocks.iter().any(|block| block.at == at) {
                return;
            }
            let block = Block { at, len, image, image_len, of_c_library };
            if of_c_library {
                libraries.first.extend_from_slice(bytes(at, len));
            }
            libraries.blocks.push(block);
        });
    });
}

/// Memory of a library's storage or its image.
fn bytes(at: usize, len: usize) -> &'static [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the dynamic linker listed this memory, which stays mapped while the library is loaded; what was loaded when
    // the process started is never unloaded. Nothing writes to it while the slice is used: it is copied at once.
    unsafe { core::slice::from_raw_parts(at as *const u8, len) }
}

/// What a new thread finds in the storage.
pub fn of_new_thread() -> Vec<u8> {
    LIBRARIES.with(|libraries| {
        let mut storage = Vec::new();
        for block in &libraries.blocks {
            if block.of_c_library {
                storage.extend_from_slice(&libraries.first);
            } else {
                storage.extend(block.first());
            }
        }
        storage
    })
}

/// Copies the storage of the thread that ran.
pub fn save(to: &mut Vec<u8>) {
    LIBRARIES.with(|libraries| {
        to.clear();
        libraries.blocks.iter().for_each(|block| to.extend_from_slice(bytes(block.at, block.len)));
    });
}

/// Puts the storage of the thread in place that is about to run.
pub fn load(from: &[u8]) {
    LIBRARIES.with(|libraries| {
        let mut left = from;
        for block in &libraries.blocks {
            // SAFETY: the storage of a library that stays loaded, which only code of the running thread uses; that thread
            // is suspended.
            let storage = unsafe { core::slice::from_raw_parts_mut(block.at as *mut u8, block.len) };
            match left.split_at_checked(block.len) {
                Some((own, rest)) => {
                    storage.copy_from_slice(own);
                    left = rest;
                }
                None => storage.iter_mut().zip(block.first()).for_each(|(byte, first)| *byte = first),
            }
        }
    });
}
