//! Locks of open files: `flock`, and `fcntl` with `F_OFD_SETLK`. Locks of the process (`F_SETLK`, `lockf`) keep other processes
//! away, of which there are none here: it gets every one that it asks for.
//!
//! A lock belongs to the open file, so threads with descriptors of their own exclude each other. What one did before it gave the
//! lock back comes before what the next one does (assumption A15).

use alloc::vec::Vec;
use core::ffi::c_int;

use wire::Tag;
use wire::record::order;

use super::event::{Access, handed_over, operate};
use super::open::{self, Description, File, content_access};
use super::poll::{self, Limit, Waiting};
use super::program_memory::Out;
use super::{fail, kernel, negative, result, unmodelled};
use crate::cell::Global;
use crate::sync::Blocker;

/// A lock that an open file has or wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileLock {
    /// The number of the file's content.
    content: u32,
    /// The number of the open file.
    owner: u32,
    /// It is one of `flock`, which those of `fcntl` do not exclude.
    is_whole: bool,
    is_exclusive: bool,
    /// The bytes that it is about: from the first to before the second.
    range: (i64, i64),
}

impl FileLock {
    fn overlaps(&self, other: &Self) -> bool {
        self.content == other.content
            && self.is_whole == other.is_whole
            && self.range.0 < other.range.1
            && other.range.0 < self.range.1
    }
    fn excludes(&self, other: &Self) -> bool {
        self.overlaps(other) && self.owner != other.owner && (self.is_exclusive || other.is_exclusive)
    }
    fn access(&self, tag: Tag, order: u8) -> Access {
        Access { order, ..content_access(self.content, tag) }
    }
}

static HELD: Global<Vec<FileLock>> = Global::new(Vec::new());

/// The lock that keeps an open file from getting this one.
fn obstacle(wanted: &FileLock) -> Option<FileLock> {
    HELD.with(|held| held.iter().find(|lock| lock.excludes(wanted)).copied())
}

/// Whether an open file would get a lock at once.
pub fn is_free(wanted: &FileLock) -> bool {
    obstacle(wanted).is_none()
}

/// Takes out what an open file has of the range of a lock.
fn cut(range: &FileLock) {
    let split = |lock: FileLock| {
        let is_own = lock.owner == range.owner && lock.overlaps(range);
        let before = FileLock { range: (lock.range.0, range.range.0.min(lock.range.1)), ..lock };
        let after = FileLock { range: (range.range.1.max(lock.range.0), lock.range.1), ..lock };
        let left = if is_own { [Some(before), Some(after)] } else { [Some(lock), None] };
        left.into_iter().flatten().filter(|lock| lock.range.0 < lock.range.1)
    };
    HELD.with(|held| *held = held.drain(..).flat_map(split).collect());
}

/// Gives back what an open file has of a range.
fn release(fd: c_int, range: &FileLock) -> isize {
    let known = [range.access(Tag::ReadModifyWrite, handed_over(order::RELEASE)), open::lookup_access(fd)];
    operate(&known, Blocker::None, |_| cut(range));
    0
}

/// Takes a lock, if need be when it is free. `None`: a signal came instead. That it may wait shows in that the event has several
/// accesses.
fn acquire(fd: c_int, wanted: FileLock, limit: Limit) -> Option<isize> {
    let known = [wanted.access(Tag::ReadModifyWrite, order::RELAXED), open::lookup_access(fd)];
    let mut is_taken = false;
    poll::wait_until(Waiting::Lock(wanted), &known, limit, |add| {
        is_taken = is_free(&wanted);
        if is_taken {
            cut(&wanted);
            HELD.with(|held| held.push(wanted));
            add(wanted.access(Tag::Read, handed_over(order::ACQUIRE)));
        }
        1
    })?;
    Some(if is_taken { 0 } else { negative(libc::EAGAIN) })
}

/// The last descriptor of an open file is closed: its locks end.
pub fn close(file: Description, add: &mut dyn FnMut(Access)) {
    let ended: Vec<FileLock> =
        HELD.with(|held| held.iter().filter(|lock| lock.owner == file.number()).copied().collect());
    for lock in ended {
        add(lock.access(Tag::ReadModifyWrite, handed_over(order::RELEASE)));
        cut(&lock);
    }
}

/// A lock on all of the file behind a descriptor; the error number if there is none.
fn on(fd: c_int, is_whole: bool, is_exclusive: bool, range: (i64, i64)) -> Result<FileLock, c_int> {
    let open = open::get(fd);
    match open.file {
        File::Memory(content) | File::Disk(content) => {
            Ok(FileLock { content, owner: open.description().number(), is_whole, is_exclusive, range })
        }
        _ if !kernel::is_open(fd) => Err(libc::EBADF),
        _ => {
            unmodelled("locks what is no file of its own");
            Err(libc::EINVAL)
        }
    }
}

fn lock_whole(fd: c_int, operation: c_int) -> Option<isize> {
    const ALL: (i64, i64) = (0, i64::MAX);
    let kind = operation & !libc::LOCK_NB;
    let lock = match on(fd, true, kind == libc::LOCK_EX, ALL) {
        Ok(lock) => lock,
        Err(error) => return Some(negative(error)),
    };
    let limit = if operation & libc::LOCK_NB != 0 { Limit::At(0) } else { Limit::Forever };
    match kind {
        libc::LOCK_UN => Some(release(fd, &lock)),
        libc::LOCK_EX | libc::LOCK_SH => {
            if HELD.with(|held| held.iter().any(|other| other.owner == lock.owner && other.overlaps(&lock))) {
                // Another kind of lock: it is given back before.
                release(fd, &lock);
            }
            acquire(fd, lock, limit)
        }
        _ => Some(negative(libc::EINVAL)),
    }
}

/// The bytes that a `struct flock` is about.
fn range(fd: c_int, asked: &libc::flock) -> Result<(i64, i64), c_int> {
    let base = match c_int::from(asked.l_whence) {
        libc::SEEK_SET => 0,
        libc::SEEK_CUR => kernel::lseek(fd, 0, libc::SEEK_CUR) as i64,
        libc::SEEK_END => kernel::length(fd)?,
        _ => return Err(libc::EINVAL),
    };
    let start = base.saturating_add(asked.l_start);
    let (from, to) = match asked.l_len {
        0 => (start, i64::MAX),
        len @ 1.. => (start, start.saturating_add(len)),
        len => (start.saturating_add(len), start),
    };
    if from < 0 { Err(libc::EINVAL) } else { Ok((from, to)) }
}

/// `fcntl` with a command about locks of open files.
pub(super) fn control(fd: c_int, command: c_int, argument: usize) -> c_int {
    let at = Out::<'_, libc::flock>::new(argument as *mut libc::flock);
    if at.is_null() {
        return fail(libc::EFAULT) as c_int;
    }
    let asked = at.as_in().read();
    let is_exclusive = c_int::from(asked.l_type) == libc::F_WRLCK;
    let lock = match range(fd, &asked).and_then(|range| on(fd, false, is_exclusive, range)) {
        Ok(lock) if asked.l_pid == 0 => lock,
        Ok(_) => return fail(libc::EINVAL) as c_int,
        Err(error) => return fail(error) as c_int,
    };
    if command == libc::F_OFD_GETLK {
        let known = [lock.access(Tag::Read, order::RELAXED)];
        let found = operate(&known, Blocker::None, |_| obstacle(&lock)).flatten();
        at.update(|stored| match found {
            None => stored.l_type = libc::F_UNLCK as _,
            Some(FileLock { is_exclusive, range: (from, to), .. }) => {
                stored.l_type = if is_exclusive { libc::F_WRLCK } else { libc::F_RDLCK } as _;
                let len = if to == i64::MAX { 0 } else { to - from };
                (stored.l_whence, stored.l_start, stored.l_len, stored.l_pid) = (libc::SEEK_SET as _, from, len, -1);
            }
        });
        return 0;
    }
    if c_int::from(asked.l_type) == libc::F_UNLCK {
        return release(fd, &lock) as c_int;
    }
    if command == libc::F_OFD_SETLKW && !is_free(&lock) {
        // Which calls of `fcntl` wait is not known to the engines that look ahead.
        unmodelled("waits for a lock of an open file with `fcntl`");
    }
    let limit = if command == libc::F_OFD_SETLKW { Limit::Forever } else { Limit::At(0) };
    acquire(fd, lock, limit).map_or_else(|| fail(libc::EINTR), result) as c_int
}

export! {
    /// Locks a file for an open file, or gives the lock back.
    fn flock(fd: c_int, operation: c_int) -> c_int {
        lock_whole(fd, operation).map_or_else(|| fail(libc::EINTR), result) as c_int
    }
    /// Locks a part of a file for the process.
    fn lockf(fd: c_int, _command: c_int, _len: i64) -> c_int {
        if kernel::is_open(fd) { 0 } else { fail(libc::EBADF) as c_int }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(owner: u32, is_exclusive: bool, range: (i64, i64)) -> FileLock {
        FileLock { content: 1, owner, is_whole: false, is_exclusive, range }
    }

    #[test]
    fn open_files_exclude_each_other() {
        let _alone = crate::libc_models::tests::alone();
        HELD.with(|held| *held = Vec::from([lock(1, true, (0, 10)), lock(2, false, (20, 30))]));
        assert!(is_free(&lock(1, true, (0, 20))) && is_free(&lock(2, true, (10, 30))));
        assert!(!is_free(&lock(2, false, (5, 6))) && !is_free(&lock(1, true, (0, 21))));
        assert!(is_free(&lock(1, false, (0, 30))), "two that share");
        assert!(is_free(&FileLock { is_whole: true, ..lock(2, true, (0, 10)) }), "of another kind");
        cut(&lock(1, true, (3, 5)));
        assert_eq!(HELD.with(|held| held.clone())[..2], [lock(1, true, (0, 3)), lock(1, true, (5, 10))]);
        HELD.with(Vec::clear);
    }
}
