//! Threads: their numbers within a run, their schedule-independent paths, and sets of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

crate::index::index_type! {
    /// A thread of one run, numbered in order of creation; the initial thread is 0.
    ///
    /// Two runs that share a schedule prefix give the same number to every thread created in it.
    /// Across unrelated runs only [`ThreadPath`] identifies a thread.
    pub struct ThreadId("t");
}

impl ThreadId {
    /// The thread that runs `main`.
    pub const MAIN: Self = Self(0);
}

/// A thread's path, the same under every schedule: the initial thread is `0`, and the k-th thread (from 1) that thread
/// `p` creates is `p.k`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ThreadPath(SmallVec<[u32; 4]>);

impl ThreadPath {
    /// The initial thread's path, `0`.
    pub fn main() -> Self {
        Self(SmallVec::new())
    }
    /// The path of this thread's `k`-th child, counting from 1.
    pub fn child(&self, k: u32) -> Self {
        let mut path = self.0.clone();
        path.push(k);
        Self(path)
    }
    /// The creator's path; `None` for the initial thread.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.into()))
    }
}

impl fmt::Display for ThreadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0")?;
        self.0.iter().try_for_each(|k| write!(f, ".{k}"))
    }
}
impl fmt::Debug for ThreadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl From<ThreadPath> for String {
    fn from(path: ThreadPath) -> Self {
        path.to_string()
    }
}
impl TryFrom<String> for ThreadPath {
    type Error = ParseThreadPathError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// The text is not a thread path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a thread path: expected `0` or `0.1.2`")]
pub struct ParseThreadPathError(String);

impl FromStr for ThreadPath {
    type Err = ParseThreadPathError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseThreadPathError(text.to_owned());
        let mut parts = text.split('.');
        if parts.next() != Some("0") {
            return Err(error());
        }
        parts
            .map(|part| match part.parse::<u32>() {
                Ok(k) if k > 0 && part == k.to_string() => Ok(k),
                _ => Err(error()),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A set of threads of one run. Small and copied often, so it is a bit set of 64-bit words with the
/// first 64 threads kept inline.
#[allow(clippy::derived_hash_with_manual_eq, reason = "equal as derived, without a call for the usual empty rest")]
#[derive(Clone, Eq, Hash, Default, Serialize, Deserialize)]
pub struct ThreadSet {
    low: u64,
    /// Words for threads 64 and up, without trailing zero words (so equality is structural).
    high: Vec<u64>,
}

impl PartialEq for ThreadSet {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.low == other.low
            && self.high.len() == other.high.len()
            && (self.high.is_empty() || self.high == other.high)
    }
}

impl ThreadSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self { low: 0, high: Vec::new() }
    }
    /// The set with these bits; word `i` holds threads `64 i` to `64 i + 63`.
    #[inline]
    pub fn from_words(words: &[u64]) -> Self {
        let (&low, high) = words.split_first().unwrap_or((&0, &[]));
        let mut set = Self { low, high: high.to_vec() };
        set.trim();
        set
    }
    fn trim(&mut self) {
        while self.high.last() == Some(&0) {
            self.high.pop();
        }
    }
    /// Adds a thread; returns whether it was new.
    pub fn insert(&mut self, thread: ThreadId) -> bool {
        let (word, bit) = (thread.0 as usize / 64, 1u64 << (thread.0 % 64));
        let slot = if word == 0 {
            &mut self.low
        } else {
            if self.high.len() < word {
                self.high.resize(word, 0);
            }
            &mut self.high[word - 1]
        };
        let new = *slot & bit == 0;
        *slot |= bit;
        new
    }
    /// Removes a thread; returns whether it was there.
    pub fn remove(&mut self, thread: ThreadId) -> bool {
        let (word, bit) = (thread.0 as usize / 64, 1u64 << (thread.0 % 64));
        let slot = match word {
            0 => &mut self.low,
            _ => match self.high.get_mut(word - 1) {
                Some(slot) => slot,
                None => return false,
            },
        };
        let had = *slot & bit != 0;
        *slot &= !bit;
        self.trim();
        had
    }
    /// Whether the thread is in the set.
    #[inline]
    pub fn contains(&self, thread: ThreadId) -> bool {
        let (word, bit) = (thread.0 as usize / 64, 1u64 << (thread.0 % 64));
        let word = if word == 0 { self.low } else { self.high.get(word - 1).copied().unwrap_or(0) };
        word & bit != 0
    }
    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }
    /// Number of threads in the set.
    pub fn len(&self) -> usize {
        (self.low.count_ones() + self.high.iter().map(|w| w.count_ones()).sum::<u32>()) as usize
    }
    /// The threads in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        std::iter::once(self.low).chain(self.high.iter().copied()).enumerate().flat_map(|(i, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    ThreadId(i as u32 * 64 + bit)
                })
            })
        })
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<T: IntoIterator<Item = ThreadId>>(iter: T) -> Self {
        let mut set = Self::new();
        iter.into_iter().for_each(|t| {
            set.insert(t);
        });
        set
    }
}
impl fmt::Debug for ThreadSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_and_parse() {
        for text in ["0", "0.1", "0.12.3"] {
            assert_eq!(text.parse::<ThreadPath>().unwrap().to_string(), text);
        }
        for text in ["", "1", "0.", "0.0", "0.01", "0.x", "0.-1"] {
            assert!(text.parse::<ThreadPath>().is_err(), "{text:?} must be refused");
        }
        assert_eq!(ThreadPath::main().child(2).parent(), Some(ThreadPath::main()));
    }

    #[test]
    fn sets_past_64_threads() {
        let mut set: ThreadSet = [3, 64, 200].into_iter().map(ThreadId).collect();
        assert_eq!(set.iter().map(|t| t.0).collect::<Vec<_>>(), [3, 64, 200]);
        assert!(set.contains(ThreadId(200)) && !set.contains(ThreadId(199)) && !set.contains(ThreadId(900)));
        assert!(set.remove(ThreadId(200)) && !set.remove(ThreadId(200)));
        assert_eq!(set, ThreadSet::from_words(&[1 << 3, 1, 0, 0]));
        assert_eq!(set.len(), 2);
    }
}
