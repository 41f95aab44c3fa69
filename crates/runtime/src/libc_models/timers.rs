//! Timers behind descriptors (`timerfd`). A timer is an event counter that counts by itself: when is decided by the schedule,
//! in calls that ask for it.
//!
//! | call | an armed timer |
//! |---|---|
//! | a read that waits | has expired once |
//! | a read that does not wait | has expired once, or has not, which it says once |
//! | `poll`, `select`, `epoll_wait` | has expired; or has not if something else is ready, or a time limit ends the wait first |
//!
//! So an expiry comes at any time after the timer was armed. The clock of the thread that notices it shows at least the time
//! at which it was due ([`super::clock`]). A timer that repeats expires again after it was read.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::c_int;

use libc::{clockid_t, itimerspec, timespec};
use wire::Tag;

use super::channels::{self, ChannelId, End};
use super::event::{Access, operate};
use super::open::{self, File, Open};
use super::program_memory::{In, Out};
use super::{clock, epoll, fail, kernel, result};
use crate::cell::{Global, OneThread};
use crate::choice;
use crate::sched;
use crate::sync::Blocker;

/// What a timer does.
#[derive(Clone, Copy, Default, Debug)]
struct Timer {
    clock: clockid_t,
    /// When it expires next, on the clock of the thread that armed it; `None` while it is not armed.
    due: Option<u64>,
    /// How long after that it expires again; 0 if it does not.
    interval: u64,
    /// Somebody was told that it has not expired.
    was_early: bool,
}

static TIMERS: Global<BTreeMap<ChannelId, Timer>> = Global::new(BTreeMap::new());

/// While somebody waits for other things: timers that are armed seem not to have expired.
static HELD: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));

fn with<R>(id: ChannelId, use_it: impl FnOnce(&mut Timer) -> R) -> Option<R> {
    TIMERS.with(|timers| timers.get_mut(&id).map(use_it))
}

/// Whether a channel is a timer.
pub fn is_timer(id: ChannelId) -> bool {
    with(id, |_| ()).is_some()
}

fn is_armed(id: ChannelId) -> bool {
    with(id, |timer| timer.due.is_some()).unwrap_or(false)
}

/// Whether a timer may expire now.
pub fn is_due(id: ChannelId) -> bool {
    !HELD.get() && is_armed(id)
}

/// Lets an armed timer expire, unless it has.
pub fn expire(id: ChannelId) {
    let expired = with(id, |timer| {
        let due = timer.due?;
        timer.due = (timer.interval > 0).then(|| due.saturating_add(timer.interval));
        timer.was_early = false;
        Some(due)
    });
    if let Some(due) = expired.flatten() {
        clock::reach_elapsed(due);
        channels::set_counter(id, 1);
    }
}

/// A timer that repeats was read: it may expire again.
pub fn note_read(id: ChannelId, add: &mut dyn FnMut(Access)) {
    if is_armed(id) {
        epoll::notify_readers(id, epoll::ARRIVED, add);
    }
}

/// An event in which something is asked of timers, or changed.
fn event<R>(tag: Tag, timers: &[ChannelId], act: impl FnOnce() -> R) -> Option<R> {
    let accesses: Vec<Access> =
        timers.iter().map(|id| Access { tag, ..channels::read_access(End::Counter(*id)) }).collect();
    operate(&accesses, Blocker::None, |_| act())
}

/// Whether a read that does not wait finds that a timer has not expired. Whether that may be is asked in an event, and
/// answered by the schedule.
pub fn is_early(id: ChannelId) -> bool {
    if !is_timer(id) || !sched::running() {
        return false;
    }
    let is_open = |timer: &mut Timer| timer.due.is_some() && !timer.was_early;
    let may = event(Tag::Read, &[id], || channels::counter(id) == 0 && with(id, is_open) == Some(true));
    let is_early = may == Some(true) && choice::choose(0, 1) == 1;
    if is_early {
        event(Tag::ReadModifyWrite, &[id], || with(id, |timer| timer.was_early = true));
    }
    is_early
}

/// The timers among open files.
fn among(files: impl Iterator<Item = File>) -> Vec<ChannelId> {
    let timer = |file| if let File::Pipe(End::Counter(id)) = file { Some(id) } else { None };
    files.filter_map(timer).filter(|id| is_timer(*id)).collect()
}

/// Whether a timer is armed and has not expired.
fn is_running(id: &ChannelId) -> bool {
    is_armed(*id) && channels::counter(*id) == 0
}

/// Asks about files, armed timers among them: `ask` gives how many are ready. The schedule decides whether timers expire while
/// something else may be ready; if nothing is and the wait has no limit, they do. `add` gets the accesses of that.
pub fn ask(
    (held, has_limit): (bool, bool),
    files: impl Iterator<Item = File>,
    add: &mut dyn FnMut(Access),
    mut ask: impl FnMut() -> usize,
) -> usize {
    let timers: Vec<ChannelId> = among(files).into_iter().filter(is_running).collect();
    if held {
        HELD.set(true);
        let others = ask();
        HELD.set(false);
        // They are asked about again.
        timers.iter().for_each(|id| epoll::notify_readers(*id, epoll::ARRIVED, &mut |_| {}));
        if others > 0 || has_limit {
            return others;
        }
    }
    for id in timers {
        add(channels::read_access(End::Counter(id)));
        expire(id);
    }
    ask()
}

/// Whether armed timers among these files have not expired when something else is; a choice if there are any.
pub fn hold(files: impl Iterator<Item = File>) -> bool {
    let timers = among(files);
    if timers.is_empty() || !sched::running() {
        return false;
    }
    event(Tag::Read, &timers, || timers.iter().any(is_running)) == Some(true) && choice::choose(0, 1) == 1
}

/// Nanoseconds.
fn length(time: timespec) -> u64 {
    (time.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.max(0) as u64)
}

fn time(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 }
}

/// How long a timer still runs, and its interval.
fn setting(id: ChannelId) -> itimerspec {
    let now = clock::elapsed();
    let (left, interval) =
        with(id, |timer| (timer.due.map_or(0, |due| due.saturating_sub(now).max(1)), timer.interval))
            .unwrap_or_default();
    itimerspec { it_interval: time(interval), it_value: time(left) }
}

fn is_valid(value: &itimerspec) -> bool {
    [value.it_value, value.it_interval]
        .iter()
        .all(|time| (0..1_000_000_000).contains(&time.tv_nsec) && time.tv_sec >= 0)
}

fn arm(id: ChannelId, value: &itimerspec, is_absolute: bool, add: &mut dyn FnMut(Access)) {
    let (first, interval) = (length(value.it_value), length(value.it_interval));
    let now = clock::elapsed();
    let due = |clock| if is_absolute { clock::since_start(clock, first) } else { now.saturating_add(first) };
    with(id, |timer| {
        timer.due = (first > 0).then(|| due(timer.clock));
        (timer.interval, timer.was_early) = (interval, false);
    });
    channels::set_counter(id, 0);
    if first > 0 {
        epoll::notify_readers(id, epoll::ARRIVED, add);
    }
}

/// The event of a call on a timer; `EINVAL` for anything else.
fn on_timer<R>(
    fd: c_int,
    memory: &[Access],
    mut act: impl FnMut(ChannelId, &mut dyn FnMut(Access)) -> R,
) -> Result<R, c_int> {
    let timer = |open: Open| match open.file {
        File::Pipe(End::Counter(id)) if is_timer(id) => Some(id),
        _ => None,
    };
    let known = |open: Open| {
        let cells = timer(open).map(|id| channels::read_access(End::Counter(id)));
        cells.into_iter().chain(memory.iter().copied()).collect()
    };
    let done = open::operate_on(
        fd,
        known,
        |_| Blocker::None,
        |open, add| {
            if !kernel::is_open(fd) {
                return Err(libc::EBADF);
            }
            timer(open).map(|id| act(id, add)).ok_or(libc::EINVAL)
        },
    );
    done.unwrap_or(Err(libc::EINTR))
}

export! {
    /// Makes a timer behind a descriptor.
    fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int {
        let made = kernel::timerfd_create(clock, flags);
        if made >= 0 {
            let id = channels::new_counter(0, false);
            TIMERS.with(|timers| timers.insert(id, Timer { clock, ..Timer::default() }));
            open::opened(made, File::Pipe(End::Counter(id)));
        }
        result(made) as c_int
    }
    /// Arms or disarms a timer.
    fn timerfd_settime(fd: c_int, flags: c_int, new: In<'_, itimerspec>, old: Out<'_, itimerspec>) -> c_int {
        let memory = [
            Access::plain(Tag::Read, new.as_ptr().cast(), size_of::<itimerspec>()),
            Access::plain(Tag::Write, old.as_ptr().cast(), if old.is_null() { 0 } else { size_of::<itimerspec>() }),
        ];
        let set = on_timer(fd, &memory, |id, add| {
            let value = new.read();
            if !is_valid(&value) {
                return Err(libc::EINVAL);
            }
            old.write_if_given(setting(id));
            arm(id, &value, flags & libc::TFD_TIMER_ABSTIME != 0, add);
            Ok(())
        });
        set.and_then(|set| set).map_or_else(|error| fail(error) as c_int, |()| 0)
    }
    /// How long a timer still runs.
    fn timerfd_gettime(fd: c_int, to: Out<'_, itimerspec>) -> c_int {
        let memory = [Access::plain(Tag::Write, to.as_ptr().cast(), size_of::<itimerspec>())];
        let asked = on_timer(fd, &memory, |id, _| to.write(setting(id)));
        asked.map_or_else(|error| fail(error) as c_int, |()| 0)
    }
}
