//! Traces of any length in RAPID's text form, to measure how prediction scales.

use std::io::{self, Write};

use crate::generator::Random;

/// Sites of accesses that no lock protects, and the variables they use.
const UNPROTECTED: (usize, usize) = (40, 7);

/// Writes a trace of threads that do nothing but enter critical sections of one of many locks and use what it protects. One
/// section in eight has another nested in it. After one section in a thousand the thread writes a variable that only the order
/// of two sections protects. The trace has at least this many events, and ends with the section that reaches them.
///
/// # Errors
/// Those of the writer.
pub fn lock_heavy(events: usize, threads: usize, locks: usize, to: &mut impl Write) -> io::Result<()> {
    let mut random = Random::new((threads + locks) as u64);
    let mut written = threads.saturating_sub(1);
    for child in 1..threads {
        writeln!(to, "T0|fork(T{child})|1")?;
    }
    while written < events {
        let (thread, lock) = (random.below(threads), random.below(locks));
        let half = random.below(2);
        writeln!(to, "T{thread}|acq(L{lock})|10\nT{thread}|r(V{lock}.0)|11\nT{thread}|w(V{lock}.{half})|12")?;
        if random.one_in(8) && lock + 1 < locks {
            let inner = lock + 1;
            writeln!(to, "T{thread}|acq(L{inner})|13\nT{thread}|w(V{inner}.0)|14\nT{thread}|rel(L{inner})|15")?;
            written += 3;
        }
        writeln!(to, "T{thread}|rel(L{lock})|16")?;
        written += 4;
        if random.one_in(1000) {
            let (sites, variables) = UNPROTECTED;
            let site = random.below(sites);
            writeln!(to, "T{thread}|w(U{})|{}", site % variables, 20 + site)?;
            written += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sections of a lock do not overlap, and there are as many events as asked for.
    #[test]
    fn sections_are_well_formed() {
        for (threads, locks) in [(2, 1), (3, 5)] {
            let mut text = Vec::new();
            lock_heavy(5_000, threads, locks, &mut text).expect("writing to memory");
            let text = String::from_utf8(text).expect("it is text");
            assert!((5_000..5_010).contains(&text.lines().count()));
            let mut holders = std::collections::BTreeMap::new();
            for line in text.lines() {
                let (thread, operation) = line.split_once('|').expect("a thread");
                if let Some(rest) = operation.strip_prefix("acq(") {
                    let lock = rest.split(')').next().expect("a lock");
                    assert_eq!(holders.insert(lock.to_owned(), thread.to_owned()), None, "{line}");
                } else if let Some(rest) = operation.strip_prefix("rel(") {
                    let lock = rest.split(')').next().expect("a lock");
                    assert_eq!(holders.remove(lock).as_deref(), Some(thread), "{line}");
                }
            }
            assert!(holders.is_empty());
        }
    }
}
