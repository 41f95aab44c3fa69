//! What ThreadSanitizer prints, as pairs of lines.

use std::collections::BTreeSet;

/// The name of a file and a line of it.
pub(super) type Place = (String, u64);
/// Two places, the smaller first.
pub(super) type LinePair = (Place, Place);

pub(super) fn sorted(one: Place, other: Place) -> LinePair {
    if one <= other { (one, other) } else { (other, one) }
}

/// The pairs of lines of all reports of data races. An access made by a function of the C library is that of its caller.
pub(super) fn pairs(text: &str) -> BTreeSet<LinePair> {
    text.split("WARNING: ThreadSanitizer: data race").skip(1).filter_map(pair).collect()
}

fn pair(report: &str) -> Option<LinePair> {
    let report = report.split("SUMMARY").next()?;
    let is_access = |line: &&str| line.contains(" of size ") && line.contains(" by ");
    let mut lines = report.lines();
    let mut place = || {
        lines.by_ref().find(is_access)?;
        lines.by_ref().take_while(|line| line.trim_start().starts_with('#')).find_map(frame)
    };
    let one = place()?;
    Some(sorted(one, place()?))
}

/// The place of a frame that is the program's own; line 0 where the optimiser left none.
fn frame(line: &str) -> Option<Place> {
    let place = line.split_whitespace().find(|word| word.contains('/') && !word.starts_with('('))?;
    let is_library = ["compiler-rt", "sysdeps", "/usr/"].iter().any(|part| place.contains(part));
    let mut parts = place.split(':');
    let (path, line) = (parts.next()?, parts.next().and_then(|line| line.parse().ok()).unwrap_or(0));
    (!is_library).then(|| (path.rsplit('/').next().unwrap_or(path).to_owned(), line))
}

/// Whether a reported pair is among these. A line that is missing stands for any.
pub(super) fn is_among((one, other): &LinePair, found: &BTreeSet<LinePair>) -> bool {
    let same = |reported: &Place, place: &Place| reported.0 == place.0 && (reported.1 == 0 || reported.1 == place.1);
    let pair = |(a, b): &LinePair| (same(one, a) && same(other, b)) || (same(one, b) && same(other, a));
    found.iter().any(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_pairs_of_the_programs_lines() {
        let text = "\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x7b5000000000 by thread T2:
    #0 memset <null> (prog+0x4f)
    #1 clear /home/u/src/b.c:12:3 (prog+0xd1)
    #2 worker /home/u/src/a.c:40:5 (prog+0xd2)

  Previous read of size 4 at 0x7b5000000000 by main thread (mutexes: write M0):
    #0 main /home/u/src/a.c:7:9 (prog+0xd3)

  Location is heap block of size 8 allocated by main thread:
    #0 malloc <null> (prog+0x50)
    #1 main /home/u/src/a.c:3:1 (prog+0xd4)

SUMMARY: ThreadSanitizer: data race /home/u/src/b.c:12:3 in clear
==================
WARNING: ThreadSanitizer: signal-unsafe call inside of a signal (pid=7)
";
        let expected = (("a.c".to_owned(), 7), ("b.c".to_owned(), 12));
        assert_eq!(pairs(text), BTreeSet::from([expected]));
    }

    #[test]
    fn a_missing_line_stands_for_any() {
        let place = |file: &str, line| (file.to_owned(), line);
        let missing = frame("    #0 tick /home/u/src/b.c (prog+0xf4) (BuildId: d7)").expect("a place");
        assert_eq!(missing, place("b.c", 0));
        let ours = BTreeSet::from([sorted(place("b.c", 9), place("a.c", 3))]);
        assert!(is_among(&sorted(missing.clone(), place("a.c", 3)), &ours));
        assert!(!is_among(&sorted(missing, place("a.c", 4)), &ours));
        assert_eq!(frame("    #2 start csu/../sysdeps/nptl/start.h:58:16 (libc.so.6+0x27)"), None);
    }
}
