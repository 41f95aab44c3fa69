//! The clocks of one thread's events, each time they grow, in little memory.
//!
//! With many threads a clock takes hundreds of bytes, and a trace that communicates at every fourth event has millions of
//! them. What an entry adds to the one before is little: a bit for each thread that advanced, and by how much, a byte or
//! two each. Every [`GROUP`] entries a whole clock is kept, so that reading one decodes few.

use model::{Clock, ThreadId};

/// Entries from one whole clock to the next.
const GROUP: usize = 16;

/// Clocks by ascending keys. The newest ones are at hand; the others are packed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockLog {
    /// The newest entry.
    newest: Option<(u32, Clock)>,
    /// The newest packed clock.
    packed: Clock,
    /// Keys of the packed entries.
    keys: Vec<u32>,
    /// For every group: the clock before its first entry, and where its entries start.
    groups: Vec<(Clock, usize)>,
    bytes: Vec<u8>,
}

impl ClockLog {
    /// The clock of the newest entry.
    pub(crate) fn newest(&self) -> Option<&Clock> {
        self.newest.as_ref().map(|(_, clock)| clock)
    }

    /// Adds everything in `more` from this key on. Keys never descend.
    pub(crate) fn join(&mut self, key: u32, more: &Clock) {
        match &mut self.newest {
            Some((at, clock)) if *at == key => clock.join(more),
            Some((at, clock)) => {
                let (before, now) = (std::mem::replace(at, key), clock.clone());
                clock.join(more);
                self.pack(before, &now);
            }
            None => self.newest = Some((key, more.clone())),
        }
    }

    fn pack(&mut self, key: u32, clock: &Clock) {
        if self.keys.len().is_multiple_of(GROUP) {
            self.groups.push((self.packed.clone(), self.bytes.len()));
        }
        self.keys.push(key);
        let threads = clock.threads();
        number(&mut self.bytes, threads);
        for first in (0..threads).step_by(8) {
            let grown = |thread: u32| clock.count(ThreadId(thread)) - self.packed.count(ThreadId(thread));
            let eight = first..threads.min(first + 8);
            let bits = eight.clone().filter(|thread| grown(*thread) > 0).fold(0, |bits, t| bits | 1 << (t - first));
            self.bytes.push(bits);
            for thread in eight {
                if bits & 1 << (thread - first) != 0 {
                    number(&mut self.bytes, grown(thread));
                }
            }
        }
        self.packed.clone_from(clock);
    }

    /// Whether there is an entry whose key is above `from` and at most `to`.
    pub(crate) fn grows(&self, from: u32, to: u32) -> bool {
        self.newest.as_ref().is_some_and(|(key, _)| (from + 1..=to).contains(key))
            || self.keys.get(self.keys.partition_point(|key| *key <= from)).is_some_and(|key| *key <= to)
    }

    /// The clock of the last entry whose key is at most `key`.
    pub(crate) fn at(&self, key: u32) -> Clock {
        match &self.newest {
            Some((at, clock)) if *at <= key => return clock.clone(),
            _ => {}
        }
        let Some(entry) = self.keys.partition_point(|k| *k <= key).checked_sub(1) else { return Clock::new() };
        if entry + 1 == self.keys.len() {
            return self.packed.clone();
        }
        let (clock, start) = &self.groups[entry / GROUP];
        let (mut clock, mut rest) = (clock.clone(), &self.bytes[*start..]);
        for _ in 0..=entry % GROUP {
            let threads = read(&mut rest);
            for first in (0..threads).step_by(8) {
                let bits = rest[0];
                rest = &rest[1..];
                for thread in (first..threads.min(first + 8)).filter(|thread| bits & 1 << (thread - first) != 0) {
                    let count = clock.count(ThreadId(thread)) + read(&mut rest);
                    clock.learn(model::EventId { thread: ThreadId(thread), position: count - 1 });
                }
            }
        }
        clock
    }
}

/// Appends a number, seven bits to a byte.
fn number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventId;
    use testkit::generator::Random;

    /// What is read is what was joined, whatever the number of threads.
    #[test]
    fn packed_clocks_are_read_as_they_were() {
        for threads in [1, 2, 9, 64] {
            let mut random = Random::new(threads as u64);
            let (mut log, mut naive, mut now) = (ClockLog::default(), Vec::<(u32, Clock)>::new(), Clock::new());
            let mut key = 0;
            for _ in 0..500 {
                key += random.below(3) as u32;
                let mut more = Clock::new();
                for _ in 0..1 + random.below(threads) {
                    let thread = ThreadId(random.below(threads) as u32);
                    more.learn(EventId { thread, position: now.count(thread) + random.below(300) as u32 });
                }
                log.join(key, &more);
                now.join(&more);
                naive.retain(|(k, _)| *k != key);
                naive.push((key, now.clone()));
                for (from, to) in [(0, key), (key / 2, key / 2 + 1), (key, key + 3)] {
                    let grows = naive.iter().any(|(k, _)| from < *k && *k <= to);
                    assert_eq!(log.grows(from, to), grows, "{threads} threads, {from} to {to} of {key}");
                }
                for asked in [0, key / 2, key.saturating_sub(1), key, key + 9] {
                    let expected = naive.iter().rev().find(|(k, _)| *k <= asked).map(|(_, clock)| clock.clone());
                    assert_eq!(log.at(asked), expected.unwrap_or_default(), "{threads} threads, {asked} of {key}");
                }
            }
        }
    }
}
