//! Descriptors that tell of signals (`signalfd`).
//!
//! Such a descriptor is the reading end of a channel. A signal that all threads block and that one of these descriptors is for
//! becomes a message in the channel where it would become pending, unless the same signal is in there already. So who reads
//! it comes after who sent it, as with a pipe (assumption A15). Whoever looks for the signal elsewhere would miss it: that is
//! not modelled, and said where it happens.

use alloc::collections::BTreeMap;
use core::ffi::c_int;
use core::mem::offset_of;

use libc::{signalfd_siginfo, sigset_t};
use wire::Tag;

use super::channels::{self, ChannelId, End};
use super::event::Access;
use super::open::{self, File};
use super::program_memory::{Buffer, In, Out};
use super::{epoll, fail, identity, kernel, unmodelled};
use crate::api::refused::stay;
use crate::api::signal::{UNBLOCKABLE, at_once};
use crate::cell::Global;
use crate::sync::signal::{SignalSet, only};
use crate::{memory, sched};

/// The bytes of a message.
const MESSAGE: usize = size_of::<signalfd_siginfo>();

/// The channels of such descriptors, and the signals that they are for.
static SIGNALS: Global<BTreeMap<ChannelId, SignalSet>> = Global::new(BTreeMap::new());

/// The channel of a descriptor that tells of signals.
fn channel_of(fd: c_int) -> Option<ChannelId> {
    match open::get(fd).file {
        File::Pipe(End::Read(id)) if SIGNALS.with(|signals| signals.contains_key(&id)) => Some(id),
        _ => None,
    }
}

/// The signals that descriptors are for that are open.
pub fn all() -> SignalSet {
    let is_open = |id: &ChannelId| channels::has_readers(*id);
    SIGNALS.with(|signals| signals.iter().filter(|(id, _)| is_open(id)).fold(0, |all, (_, set)| all | set))
}

/// The signals that are told of and not read yet.
pub fn unread() -> SignalSet {
    SIGNALS.with(|signals| signals.keys().fold(0, |all, id| all | unread_in(*id)))
}

fn unread_in(id: ChannelId) -> SignalSet {
    let number = |message: &[u8]| i32::from_ne_bytes([message[0], message[1], message[2], message[3]]);
    channels::content(id).chunks_exact(MESSAGE).fold(0, |all, message| all | only(number(message)))
}

/// Tells of a signal that all threads block, in the event that sends it; whether a descriptor is for it.
pub fn tell(signal: c_int, add: &mut dyn FnMut(Access)) -> bool {
    let is_for =
        |(id, set): (&ChannelId, &SignalSet)| (set & only(signal) != 0 && channels::has_readers(*id)).then_some(*id);
    let (first, is_only) = SIGNALS.with(|signals| {
        let mut channels = signals.iter().filter_map(is_for);
        (channels.next(), channels.next().is_none())
    });
    let Some(id) = first else { return false };
    if !is_only {
        unmodelled("several descriptors tell of one signal");
    }
    put(id, signal);
    add(channels::sent_access(End::Read(id)));
    epoll::notify_readers(id, epoll::ARRIVED, add);
    true
}

/// Puts a message about a signal into a channel, unless one is there.
fn put(id: ChannelId, signal: c_int) {
    if unread_in(id) & only(signal) != 0 {
        return;
    }
    // Of what a message has, these are not zero.
    let known = [
        (offset_of!(signalfd_siginfo, ssi_signo), signal),
        (offset_of!(signalfd_siginfo, ssi_code), libc::SI_USER),
        (offset_of!(signalfd_siginfo, ssi_pid), identity::PROCESS),
        (offset_of!(signalfd_siginfo, ssi_uid), kernel::user() as i32),
    ];
    let mut message = [0u8; MESSAGE];
    for (offset, number) in known {
        message[offset..offset + size_of::<i32>()].copy_from_slice(&number.to_ne_bytes());
    }
    channels::deliver(id, &message);
}

/// What a read of a descriptor may fill: whole messages. `Err` if there is no room for one; as it is for other descriptors.
pub fn whole_messages<'call>(fd: c_int, parts: &[Buffer<'call>]) -> Result<Option<Buffer<'call>>, c_int> {
    if channel_of(fd).is_none() {
        return Ok(None);
    }
    match parts {
        [part] if part.len() >= MESSAGE => Ok(Some(Out::new(part.start()).buffer(part.len() / MESSAGE * MESSAGE))),
        [_] => Err(libc::EINVAL),
        _ => {
            unmodelled("reads signals in several parts");
            Err(libc::EINVAL)
        }
    }
}

/// The running thread uses signals otherwise that descriptors are for: it stays where it is, because what it would see is not
/// known.
pub fn refuse(signals: SignalSet, what: &str) {
    if signals & all() != 0 {
        unmodelled(what);
        stay();
    }
}

/// Gives a descriptor other signals, or makes one. What is pending goes there.
fn open_or_change(fd: c_int, set: SignalSet, flags: c_int) -> Result<c_int, c_int> {
    let (fd, id) = if fd < 0 {
        let made = kernel::eventfd2(0, flags);
        if made < 0 {
            return Err(-made as c_int);
        }
        let id = channels::new();
        (open::opened(made, File::Pipe(End::Read(id))) as c_int, id)
    } else {
        let is_open = kernel::is_open(fd);
        (fd, channel_of(fd).ok_or(if is_open { libc::EINVAL } else { libc::EBADF })?)
    };
    SIGNALS.with(|signals| signals.insert(id, set));
    at_once(Tag::ReadModifyWrite, |objects, thread| {
        while let Some(signal) = objects.take_signal(thread, set) {
            put(id, signal);
        }
    });
    refuse(sched::with_objects(|objects| objects.timers.signals()), TIMER);
    Ok(fd)
}

/// What is not modelled of timers.
pub const TIMER: &str = "arms a timer whose signal a descriptor tells of";

export! {
    /// Makes a descriptor that tells of signals, or changes which.
    fn signalfd(fd: c_int, set: In<'_, sigset_t>, flags: c_int) -> c_int {
        if set.is_null() || flags & !(libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) != 0 {
            return fail(libc::EINVAL) as c_int;
        }
        // What the C library keeps of a set at its start.
        let signals = memory::read(set.as_ptr().cast::<SignalSet>()) & !UNBLOCKABLE;
        open_or_change(fd, signals, flags).unwrap_or_else(|error| fail(error) as c_int)
    }
}
