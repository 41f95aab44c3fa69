//! Open files and streams; buffers of streams, where the program brought them (`setvbuf`).

use core::ffi::c_void;

use crate::Sink;
use crate::memory::read_at;

/// Flag of a stream whose buffer the library did not allocate.
const USER_BUFFER: u32 = 1;
/// Where the pointers to the start and the end of the buffer are in a stream of the GNU C library, in words.
const BUFFER_START: u64 = 7;
/// Bytes of a stream; one without a buffer uses a byte in itself.
const STREAM: u64 = 216;

/// The buffer that the program gave to a stream.
pub fn buffer_of<S: Sink>(file: *const c_void) {
    let file = file as u64;
    if file == 0 || read_at::<u32>(file, 0) & USER_BUFFER == 0 {
        return;
    }
    let (start, end): (u64, u64) = (read_at(file, BUFFER_START), read_at(file, BUFFER_START + 1));
    if start != 0 && !(file..file + STREAM).contains(&start) {
        S::buffer(start, end.saturating_sub(start));
    }
}

/// The buffer that the program gave to standard output.
pub fn standard_output<S: Sink>() {
    unsafe extern "C" {
        static stdout: *const c_void;
    }
    // SAFETY: the C library defines the variable and sets it before `main`.
    buffer_of::<S>(unsafe { stdout });
}

/// An open file, by its descriptor.
pub fn file<S: Sink>(fd: i64, used: u32) {
    if let Ok(fd @ 0..) = i32::try_from(fd) {
        S::file(fd, used);
    }
}

/// A stream that is about to be closed.
pub fn closed<S: Sink>(stream: u64) {
    if stream != 0 {
        S::closed(stream as *const c_void);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{R, Seen, W, seen};

    #[test]
    fn the_layout_is_that_of_the_library() {
        let mut room = [0u8; 64];
        // SAFETY: a stream on memory that lives longer; the buffer does, too.
        unsafe {
            let file = libc::tmpfile();
            assert!(!file.is_null());
            buffer_of::<Seen>(file.cast());
            assert_eq!(seen(), [], "the library's own buffer");
            libc::setvbuf(file, room.as_mut_ptr().cast(), libc::_IOFBF, room.len());
            buffer_of::<Seen>(file.cast());
            let at = room.as_ptr() as u64;
            assert_eq!(seen(), [(R, at, 64), (W, at, 64)]);
            libc::setvbuf(file, core::ptr::null_mut(), libc::_IONBF, 0);
            buffer_of::<Seen>(file.cast());
            assert_eq!(seen(), [], "a byte in the stream");
            libc::fclose(file);
        }
    }
}
