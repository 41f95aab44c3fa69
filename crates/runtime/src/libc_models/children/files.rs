//! The descriptors of a child, and what becomes of what goes through them.
//!
//! What a child writes to the program's pipes, to its standard output or to one of its files goes to a file of its own first,
//! and from there to where it belongs; so results can be kept. What it reads comes from a file of its own, too, and how much it
//! read is known by its position. A child that reads a pipe other than its standard input waits for ever.

use alloc::vec::Vec;
use core::ffi::c_int;

use super::request::{Descriptor, Request, What, put_number, put_text, take_number, take_text};
use crate::libc_models::channels::{self, ChannelId, End};
use crate::libc_models::event::Access;
use crate::libc_models::kernel::{self, OwnedFd};
use crate::libc_models::{epoll, memory_files, open, paths};
use crate::sys::{self, sys};

/// The program's open files that a child has, by the numbers of their descriptions: descriptors of the runtime's own, so that
/// the program may close its own meanwhile. They are closed before the next run.
#[derive(Default, Debug)]
pub struct Held(Vec<(u32, c_int)>);

impl Held {
    /// Holds the open files that a request names.
    pub fn new(request: &Request) -> Self {
        let mut held = Vec::new();
        for file in &request.files {
            let What::Description(number) = file.what else { continue };
            if file.closes || held.iter().any(|(other, _)| *other == number) {
                continue;
            }
            held.extend(open::descriptor_of(number).and_then(memory_files::hold).map(|fd| (number, fd)));
        }
        Self(held)
    }
    fn get(&self, number: u32) -> Option<c_int> {
        self.0.iter().find(|(other, _)| *other == number).map(|(_, fd)| *fd)
    }
}

/// Where a child's descriptor comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A descriptor of the process that starts it.
    Fd(c_int),
    /// A file that is opened for it.
    Open(What),
}

/// Where it goes what a child writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Channel(End),
    File(c_int),
}

/// Where it comes from what a child reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum From {
    Channel(ChannelId),
    File(c_int),
}

/// What a child is given.
#[derive(Default)]
pub struct Files {
    /// Its descriptors.
    pub sources: Vec<(c_int, Source)>,
    outputs: Vec<(To, OwnedFd)>,
    inputs: Vec<(From, OwnedFd)>,
    /// Ends of pipes that nobody writes.
    open: Vec<OwnedFd>,
    /// What tells it apart from what other children are given.
    pub identity: Vec<u8>,
}

/// What a child has written and read.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// By output.
    written: Vec<Vec<u8>>,
    /// By input: how many bytes.
    read: Vec<u64>,
}

/// A file in memory with these bytes, at its start.
fn file_of(bytes: &[u8]) -> Option<OwnedFd> {
    let file = OwnedFd::new(memory_files::create().ok()?);
    kernel::pwrite(file.number(), bytes, 0);
    Some(file)
}

/// All bytes of a file.
fn content(fd: c_int, from: i64) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0u8; 1 << 14]);
    loop {
        let len = kernel::pread(fd, &mut buffer, from + bytes.len() as i64);
        if len <= 0 {
            return bytes;
        }
        bytes.extend(&buffer[..len as usize]);
    }
}

impl Files {
    /// What a child is given for its request.
    pub fn new(request: &Request, held: &Held) -> Self {
        let mut files = Self::default();
        for file in request.files.iter().filter(|file| !file.closes) {
            put_number(&mut files.identity, file.fd as u64);
            if let Some(source) = files.source(file, held) {
                files.sources.push((file.fd, source));
            }
        }
        files
    }

    fn source(&mut self, file: &Descriptor, held: &Held) -> Option<Source> {
        match &file.what {
            What::Channel(end) => match (end.source(), end.sink()) {
                (Some(channel), _) if file.fd == 0 && !matches!(end, End::Counter(_) | End::Datagrams(_)) => {
                    self.channel_input(channel)
                }
                (_, Some(_)) if !matches!(end, End::Counter(_) | End::Datagrams(_)) => self.output(To::Channel(*end)),
                _ => self.silent(),
            },
            What::Description(number) => self.description(file.fd, held.get(*number)?),
            What::Path { path, flags, mode } => {
                put_text(&mut self.identity, path.to_bytes());
                put_number(&mut self.identity, *flags as u64);
                put_number(&mut self.identity, (*mode).into());
                Some(Source::Open(file.what.clone()))
            }
        }
    }

    fn description(&mut self, fd: c_int, held: c_int) -> Option<Source> {
        let is_file = kernel::mode(held).is_ok_and(|mode| mode & libc::S_IFMT == libc::S_IFREG);
        let reads = kernel::status_flags(held).is_none_or(|flags| flags & libc::O_ACCMODE == libc::O_RDONLY);
        if is_file && (reads || fd == 0) {
            return self.file_input(held);
        }
        if is_file {
            return self.output(To::File(held));
        }
        put_text(&mut self.identity, paths::target_of(held).unwrap_or_default().to_bytes());
        Some(Source::Fd(held))
    }

    fn output(&mut self, to: To) -> Option<Source> {
        let same = |other: To| match (other, to) {
            (To::Channel(one), To::Channel(other)) => one.sink() == other.sink(),
            _ => other == to,
        };
        let known = self.outputs.iter().position(|(other, _)| same(*other));
        let index = known.unwrap_or(self.outputs.len());
        put_text(&mut self.identity, b"output");
        put_number(&mut self.identity, index as u64);
        if known.is_none() {
            let file = file_of(&[])?;
            sys::fcntl(file.number(), libc::F_SETFL, libc::O_APPEND);
            self.outputs.push((to, file));
        }
        Some(Source::Fd(self.outputs[index].1.number()))
    }

    fn channel_input(&mut self, channel: ChannelId) -> Option<Source> {
        let bytes = channels::content(channel);
        put_text(&mut self.identity, &bytes);
        self.inputs.push((From::Channel(channel), file_of(&bytes)?));
        self.inputs.last().map(|(_, file)| Source::Fd(file.number()))
    }

    /// A file is opened once more, at the same position.
    fn file_input(&mut self, held: c_int) -> Option<Source> {
        let position = kernel::lseek(held, 0, libc::SEEK_CUR) as i64;
        let name = paths::target_of(held).unwrap_or_default();
        put_text(&mut self.identity, name.to_bytes());
        put_number(&mut self.identity, position as u64);
        if name.to_bytes().starts_with(b"/memfd:") {
            put_text(&mut self.identity, &content(held, position));
        }
        let known = self.inputs.iter().position(|(from, _)| *from == From::File(held));
        let index = known.unwrap_or(self.inputs.len());
        if known.is_none() {
            let file = OwnedFd::open(libc::AT_FDCWD, &paths::name_of_descriptor(held), libc::O_RDONLY).ok()?;
            kernel::lseek(file.number(), position, libc::SEEK_SET);
            self.inputs.push((From::File(held), file));
        }
        Some(Source::Fd(self.inputs[index].1.number()))
    }

    /// The reading end of a pipe that stays empty.
    fn silent(&mut self) -> Option<Source> {
        put_text(&mut self.identity, b"silent");
        let mut ends = [0 as c_int; 2];
        // SAFETY: the kernel stores two descriptors in the array.
        if unsafe { sys!(SYS_pipe2, ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
            return None;
        }
        self.open.extend(ends.map(|end| OwnedFd::new(end as isize)));
        Some(Source::Fd(ends[0]))
    }

    /// How many bytes the child has written.
    pub fn written(&self) -> i64 {
        self.outputs.iter().map(|(_, file)| kernel::length(file.number()).unwrap_or(0)).sum()
    }

    /// What the child has written and read, after its end.
    pub fn traffic(&self) -> Traffic {
        let start = |from: From| match from {
            From::Channel(_) => 0,
            From::File(held) => kernel::lseek(held, 0, libc::SEEK_CUR) as i64,
        };
        let position = |file: &OwnedFd| kernel::lseek(file.number(), 0, libc::SEEK_CUR) as i64;
        let read = |(from, file): &(From, OwnedFd)| (position(file) - start(*from)).max(0) as u64;
        Traffic {
            written: self.outputs.iter().map(|(_, file)| content(file.number(), 0)).collect(),
            read: self.inputs.iter().map(read).collect(),
        }
    }

    /// The channels that the child writes to.
    pub fn channels(&self) -> Vec<ChannelId> {
        let channel = |to: &To| if let To::Channel(end) = to { end.sink() } else { None };
        self.outputs.iter().filter_map(|(to, _)| channel(to)).collect()
    }

    /// Puts what the child has written and read where it belongs. `add` gets the accesses.
    pub fn apply(&self, traffic: &Traffic, add: &mut dyn FnMut(Access)) {
        for ((to, _), bytes) in self.outputs.iter().zip(&traffic.written).filter(|(_, bytes)| !bytes.is_empty()) {
            match to {
                To::Channel(end) => deliver(*end, bytes, add),
                To::File(held) => write_all(*held, bytes),
            }
        }
        for ((from, _), len) in self.inputs.iter().zip(&traffic.read).filter(|(_, len)| **len > 0) {
            match from {
                From::Channel(channel) => {
                    add(channels::read_access(End::Read(*channel)));
                    channels::skip(*channel, *len as usize);
                }
                From::File(held) => {
                    kernel::lseek(*held, *len as i64, libc::SEEK_CUR);
                }
            }
        }
    }
}

/// Puts bytes of a child into a channel.
pub fn deliver(end: End, bytes: &[u8], add: &mut dyn FnMut(Access)) {
    let Some(channel) = end.sink() else { return };
    channels::write_accesses(end).into_iter().for_each(&mut *add);
    if channels::deliver(channel, bytes) {
        add(channels::sent_access(end));
        epoll::notify_readers(channel, epoll::ARRIVED, add);
    }
}

fn write_all(fd: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads the bytes, which live over the call.
        let done = unsafe { sys!(SYS_write, fd, bytes.as_ptr(), bytes.len()) };
        if done <= 0 {
            return;
        }
        bytes = &bytes[done as usize..];
    }
}

impl Traffic {
    /// Appends it as bytes.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, self.written.len() as u64);
        self.written.iter().for_each(|written| put_text(bytes, written));
        put_number(bytes, self.read.len() as u64);
        self.read.iter().for_each(|read| put_number(bytes, *read));
    }
    /// Takes it from the start of bytes.
    pub fn take(bytes: &mut &[u8]) -> Option<Self> {
        let outputs = take_number(bytes)?;
        let written = (0..outputs).map(|_| take_text(bytes).map(<[u8]>::to_vec)).collect::<Option<_>>()?;
        let inputs = take_number(bytes)?;
        Some(Self { written, read: (0..inputs).map(|_| take_number(bytes)).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_survives_as_bytes() {
        let traffic = Traffic { written: Vec::from([b"abc".to_vec(), Vec::new()]), read: Vec::from([0, 9]) };
        let mut bytes = Vec::new();
        traffic.put(&mut bytes);
        assert_eq!(Traffic::take(&mut &bytes[..]), Some(traffic));
        assert_eq!(Traffic::take(&mut &bytes[1..]), None);
    }
}
