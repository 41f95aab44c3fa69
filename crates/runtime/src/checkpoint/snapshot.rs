//! A copy of the process's memory, and putting it back.
//!
//! All writable private mappings are covered, the runtime's own included, except the process's own stack (the
//! scheduler's) and kept memory. Pages written once are likely to be written in every run: they stay unprotected and
//! are copied back every time, as a list of pieces. The other pages are protected. While no run writes one of those,
//! which the number of page faults tells, the list is all there is to do, however large the program is.
//!
//! *Invariant*: when a run starts, every tracked page has its content of the checkpoint, and is protected, not touched
//! yet, or in the list.

use core::ops::Range;

use super::written::{self, Look};
use crate::cell::{self, Keep};
use crate::kept::{self, Table};
use crate::link;
use crate::sys::{self, PAGE, sys};

/// Memory in the checkpoint.
#[derive(Clone, Copy)]
struct Extent {
    start: usize,
    end: usize,
    /// Where its copy is.
    copy: usize,
}

/// Memory that is put back after every run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    at: usize,
    len: usize,
    /// Where its copy is; 0 for memory that was zero.
    copy: usize,
}

/// The copy of the process's memory, and which pages have to be put back.
struct Snapshot {
    /// What is covered, ascending. Tracked pages outside were untouched and are zero.
    extents: Table<Extent>,
    /// Where the next copy goes.
    free: usize,
    /// The pages that are not protected.
    pieces: Table<Piece>,
    /// Number of page faults when memory was last put back and protected; none for "look".
    faults: Option<u64>,
    /// Runs since all pages were protected.
    runs: u32,
    /// After so many runs, all pages are protected again, to find out which are still written.
    interval: u32,
    /// Pages in the list.
    written: usize,
    /// Pages written by the first run after all were protected.
    usual: usize,
    /// Pages in the list before all were protected.
    before: usize,
}

#[used]
#[unsafe(link_section = "rp_keep")]
static SNAPSHOT: Keep<Snapshot> = Keep::new(Snapshot {
    extents: Table::new(kept::EXTENTS),
    free: kept::COPIES.start,
    pieces: Table::new(kept::PIECES),
    faults: None,
    runs: 0,
    interval: LEAST_INTERVAL,
    written: 0,
    usual: 0,
    before: 0,
});

/// All that is tracked lies in here.
const EVERYWHERE: Range<usize> = PAGE..0x7fff_ffff_f000;
/// Bounds of the number of runs between looks at which pages are written: it doubles while looking does not pay.
const LEAST_INTERVAL: u32 = 64;
const MOST_INTERVAL: u32 = 4096;

/// A mapping, as `/proc/self/maps` lists it.
struct Mapping {
    range: Range<usize>,
    from_file: bool,
}

/// Copies memory to the checkpoint.
fn keep(snapshot: &mut Snapshot, range: Range<usize>) -> Result<(), &'static str> {
    if kept::COPIES.end - snapshot.free < range.len() {
        return Err("the program's memory is too large for a checkpoint");
    }
    // SAFETY: the range is part of a readable mapping, and the copy goes to kept memory that is free so far.
    unsafe { core::ptr::copy_nonoverlapping(range.start as *const u8, snapshot.free as *mut u8, range.len()) };
    if !snapshot.extents.push(Extent { start: range.start, end: range.end, copy: snapshot.free }) {
        return Err("the program's memory is too scattered for a checkpoint");
    }
    snapshot.free += range.len();
    Ok(())
}

/// Takes the checkpoint.
///
/// # Errors
/// Why it cannot be.
pub fn take() -> Result<(), &'static str> {
    let kept_statics = cell::kept();
    if !kept_statics.start.is_multiple_of(PAGE) || !kept_statics.end.is_multiple_of(PAGE) {
        return Err("raceproof bug: what is kept from run to run does not fill its pages");
    }
    written::open()?;
    if kept::map_checkpoint().is_err() {
        return Err("cannot reserve memory for a checkpoint: the limit on address space (ulimit -v) is too low");
    }
    for_each_mapping(|mapping| {
        written::track(&mapping.range)?;
        if mapping.from_file {
            return SNAPSHOT.with(|snapshot| keep(snapshot, mapping.range));
        }
        let mut result = Ok(());
        written::scan(&mapping.range, Look::Present, |region| {
            if result.is_ok() {
                result = SNAPSHOT.with(|snapshot| keep(snapshot, region.range()));
            }
        })?;
        result
    })?;
    written::scan(&EVERYWHERE, Look::Protect, |_| {})
}

/// Puts all memory back.
///
/// # Errors
/// That the kernel refused.
pub fn restore() -> Result<(), &'static str> {
    SNAPSHOT.with(restore_from)
}

fn restore_from(snapshot: &mut Snapshot) -> Result<(), &'static str> {
    let looks = snapshot.faults != Some(written::faults());
    if looks {
        list_written(snapshot)?;
    }
    // SAFETY: tracked memory is writable, since the program's changes of protection are not carried out; copies are as long
    // as what they copy. The scheduler's stack, which this code runs on, is not tracked.
    snapshot.pieces.items().iter().for_each(|piece| unsafe { piece.put_back() });
    snapshot.runs += 1;
    if snapshot.runs == 1 {
        // Looking paid if a good part of the pages was no longer written.
        let pays = snapshot.written < snapshot.before - snapshot.before / 4;
        snapshot.interval = if pays { LEAST_INTERVAL } else { (snapshot.interval * 2).min(MOST_INTERVAL) };
        snapshot.usual = snapshot.written;
    }
    if snapshot.runs >= snapshot.interval || snapshot.written > 2 * snapshot.usual + 16 {
        written::scan(&EVERYWHERE, Look::Protect, |_| {})?;
        snapshot.pieces.clear();
        (snapshot.runs, snapshot.before, snapshot.faults) = (0, snapshot.written, None);
    } else if looks {
        snapshot.faults = Some(written::faults());
    }
    Ok(())
}

/// Lists the pages that are not protected.
fn list_written(snapshot: &mut Snapshot) -> Result<(), &'static str> {
    let Snapshot { extents, pieces, written, .. } = snapshot;
    let mut fits = true;
    pieces.clear();
    *written = 0;
    written::scan(&EVERYWHERE, Look::Written, |region| {
        *written += region.range().len() / PAGE;
        cut(extents.items(), region.range(), |piece| fits &= pieces.push(piece));
    })?;
    if fits { Ok(()) } else { Err("a run writes to memory that is too scattered") }
}

impl Piece {
    /// Puts it back.
    ///
    /// # Safety
    /// The memory is writable, and its copy readable.
    unsafe fn put_back(&self) {
        let to = self.at as *mut u8;
        // SAFETY: by the caller.
        unsafe {
            match self.copy {
                0 => to.write_bytes(0, self.len),
                copy => core::ptr::copy_nonoverlapping(copy as *const u8, to, self.len),
            }
        }
    }
}

/// Cuts a range to pieces with one copy each.
fn cut(extents: &[Extent], range: Range<usize>, mut take: impl FnMut(Piece)) {
    let mut at = range.start;
    while at < range.end {
        let next = extents.partition_point(|extent| extent.end <= at);
        let (end, copy) = match extents.get(next) {
            Some(extent) if extent.start <= at => (extent.end, extent.copy + (at - extent.start)),
            Some(extent) => (extent.start, 0),
            None => (range.end, 0),
        };
        let len = end.min(range.end) - at;
        take(Piece { at, len, copy });
        at += len;
    }
}

/// Calls `visit` with every mapping that belongs to the checkpoint, without the kept parts.
fn for_each_mapping(mut visit: impl FnMut(Mapping) -> Result<(), &'static str>) -> Result<(), &'static str> {
    let text = read_maps()?;
    let kept_statics = cell::kept();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Some(mapping) = parse_line(line) else { continue };
        // What kept statics leave of it: the part before and the part after.
        let Mapping { range, from_file } = mapping;
        let before = range.start..range.end.min(kept_statics.start.max(range.start));
        let after = range.start.max(kept_statics.end.min(range.end))..range.end;
        if before == range || after == range {
            visit(Mapping { range, from_file })?;
            continue;
        }
        for range in [before, after] {
            if !range.is_empty() {
                visit(Mapping { range, from_file })?;
            }
        }
    }
    Ok(())
}

/// Whether the program has memory that it may write and that is shared, other than the runtime's own. If that cannot be
/// known, it has.
pub fn is_memory_shared() -> bool {
    let Ok(text) = read_maps() else { return true };
    text.split(|byte| *byte == b'\n').any(|line| shared_range(line).is_some_and(|start| start != link::BASE))
}

/// Where the mapping of a line starts, if it is shared and can be written.
fn shared_range(line: &[u8]) -> Option<usize> {
    let mut fields = core::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (start, permissions) = (fields.next()?.split_once('-')?.0, fields.next()?.as_bytes());
    let shared = permissions.get(1) == Some(&b'w') && permissions.get(3) == Some(&b's');
    usize::from_str_radix(start, 16).ok().filter(|_| shared)
}

/// Reads `/proc/self/maps` whole.
fn read_maps() -> Result<&'static [u8], &'static str> {
    let room = kept::TEXT;
    let mut len = 0;
    let fd = sys::open(c"/proc/self/maps", libc::O_RDONLY);
    if fd < 0 {
        return Err("/proc/self/maps cannot be opened");
    }
    loop {
        // SAFETY: the kernel writes at most as many bytes as are left of the room, which is mapped and used for this alone.
        let got = unsafe { sys!(SYS_read, fd, room.start + len, room.len() - len) };
        if got <= 0 {
            break;
        }
        len += got as usize;
    }
    sys::close(fd as i32);
    // SAFETY: the kernel wrote `len` bytes there. What is returned is used before this is called again, while
    // the checkpoint is taken, and never after.
    Ok(unsafe { core::slice::from_raw_parts(room.start as *const u8, len) })
}

/// The mapping of a line `start-end rw-p offset device inode name`, if the checkpoint covers it.
fn parse_line(line: &[u8]) -> Option<Mapping> {
    let line = core::str::from_utf8(line).ok()?;
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let hexadecimal = |digits| usize::from_str_radix(digits, 16).ok();
    let range = hexadecimal(start)?..hexadecimal(end)?;
    let permissions = fields.next()?.as_bytes();
    let inode = fields.nth(2)?;
    let name = fields.next().unwrap_or("");
    let writable = permissions.get(1) == Some(&b'w') && permissions.get(3) == Some(&b'p');
    let excluded = name == "[stack]" || (kept::ALL.start <= range.start && range.end <= kept::ALL.end);
    (writable && !excluded).then_some(Mapping { range, from_file: inode != "0" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let covered = |line: &str| parse_line(line.as_bytes()).map(|m| (m.range, m.from_file));
        assert_eq!(covered("7f00-8000 rw-p 00001000 fe:00 42   /lib/x.so"), Some((0x7f00..0x8000, true)));
        assert_eq!(covered("7f00-8000 rw-p 00000000 00:00 0 "), Some((0x7f00..0x8000, false)));
        assert_eq!(covered("7f00-8000 r--p 00000000 00:00 0 "), None);
        assert_eq!(covered("7f00-8000 rw-s 00000000 00:01 7 /memfd:x (deleted)"), None);
        assert_eq!(covered("7f00-8000 rw-p 00000000 00:00 0 [stack]"), None);
        assert_eq!(covered(""), None);
        assert_eq!(shared_range(b"7f00-8000 rw-s 00000000 00:01 7 /SYSV00000000 (deleted)"), Some(0x7f00));
        assert_eq!(shared_range(b"7f00-8000 r--s 00000000 00:01 7 /memfd:x (deleted)"), None);
        assert_eq!(shared_range(b"7f00-8000 rw-p 00000000 00:00 0"), None);
    }

    #[test]
    fn written_ranges_are_put_back_from_copies_or_zero() {
        let snapshot = [7u8; 20];
        let mut memory = vec![1u8; 60];
        let base = memory.as_mut_ptr() as usize;
        let copy = snapshot.as_ptr() as usize;
        let extents =
            [Extent { start: base + 10, end: base + 20, copy }, Extent { start: base + 30, end: base + 40, copy }];
        for range in [base + 5..base + 12, base + 15..base + 50] {
            // SAFETY: both lie in `memory`, and the copies are long enough.
            cut(&extents, range, |piece| unsafe { piece.put_back() });
        }
        let runs: Vec<(u8, usize)> = memory.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
        assert_eq!(runs, [(1, 5), (0, 5), (7, 2), (1, 3), (7, 5), (0, 10), (7, 10), (0, 10), (1, 10)]);
    }
}
