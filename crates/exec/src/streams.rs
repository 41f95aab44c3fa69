//! What the program writes to its standard streams, captured in memory, but never more than its ends.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use launch::memory_file;

use crate::error::Error;

/// Bytes that are kept of the start of a stream, and of its end.
const KEPT: u64 = 1 << 20;

/// Files in memory that the program writes to.
pub(crate) struct Streams {
    stdout: File,
    stderr: File,
}

/// What the program wrote in a run. Of long streams both ends, with a line that says how much is missing between them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// To standard output.
    pub stdout: Vec<u8>,
    /// To standard error.
    pub stderr: Vec<u8>,
}

impl Streams {
    pub(crate) fn new() -> Result<Self, Error> {
        let file = |name| memory_file(name).map_err(Error::system("create a file in memory"));
        Ok(Self { stdout: file(c"stdout")?, stderr: file(c"stderr")? })
    }

    pub(crate) fn stdout(&self) -> &File {
        &self.stdout
    }

    pub(crate) fn stderr(&self) -> &File {
        &self.stderr
    }

    pub(crate) fn output(&self) -> Result<Output, Error> {
        let read = |file| ends(file).map_err(Error::system("read the program's output"));
        Ok(Output { stdout: read(&self.stdout)?, stderr: read(&self.stderr)? })
    }

    /// Gives back the memory between the ends of long streams. The program may go on writing; offsets and lengths stay.
    pub(crate) fn trim(&self) {
        for file in [&self.stdout, &self.stderr] {
            let Ok(length) = file.metadata().map(|metadata| metadata.len()) else { continue };
            // The end grows on: what is near it may be wanted.
            let Some(middle) = length.checked_sub(4 * KEPT) else { continue };
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: the call takes numbers only and frees pages of a file of ours. Where it fails, memory stays in use.
            unsafe { libc::fallocate(file.as_raw_fd(), mode, KEPT as libc::off_t, middle as libc::off_t) };
        }
    }
}

/// The ends of a stream, or all of a short one, without moving its offset.
fn ends(file: &File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let read = |from: u64, to: u64| {
        let mut bytes = vec![0; (to - from) as usize];
        file.read_exact_at(&mut bytes, from).map(|()| bytes)
    };
    let missing = length.saturating_sub(2 * KEPT);
    if missing == 0 {
        return read(0, length);
    }
    let mut bytes = read(0, KEPT)?;
    bytes.extend(format!("\n[{missing} bytes left out]\n").into_bytes());
    bytes.extend(read(length - KEPT, length)?);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn long_streams_keep_their_ends() {
        let streams = Streams::new().unwrap();
        let mut file = streams.stdout();
        let block = [b'm'; 1 << 16];
        file.write_all(b"first").unwrap();
        for _ in 0..1_000 {
            file.write_all(&block).unwrap();
            streams.trim();
        }
        file.write_all(b"last").unwrap();
        let (missing, output) = (9 + 1_000 * (1 << 16) - 2 * KEPT, streams.output().unwrap().stdout);
        assert!(output.starts_with(b"first") && output.ends_with(b"mlast"));
        assert_eq!(output.len() as u64, 2 * KEPT + format!("\n[{missing} bytes left out]\n").len() as u64);
        assert!(!output.contains(&0), "what is kept was not given back");
        assert!(file.metadata().unwrap().blocks() * 512 < 8 * KEPT);
    }
}
