//! Pairs, the engines that settle them, and what a claim covers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::SiteId;

/// Two sites that may touch the same object, at least one writing: the unit of work of every engine.
///
/// Unordered: [`Pair::new`] puts the smaller site first. A site can race with itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "(SiteId, SiteId)", into = "(SiteId, SiteId)")]
pub struct Pair {
    low: SiteId,
    high: SiteId,
}

impl Pair {
    /// The pair of these two sites, in whichever order they are given.
    pub fn new(one: SiteId, other: SiteId) -> Self {
        Self { low: one.min(other), high: one.max(other) }
    }
    /// Both sites, the smaller first.
    pub fn sites(self) -> [SiteId; 2] {
        [self.low, self.high]
    }
}

impl From<(SiteId, SiteId)> for Pair {
    fn from((one, other): (SiteId, SiteId)) -> Self {
        Self::new(one, other)
    }
}
impl From<Pair> for (SiteId, SiteId) {
    fn from(pair: Pair) -> Self {
        (pair.low, pair.high)
    }
}
impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.low, self.high)
    }
}

/// The engine that gave a verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Proves pairs absent for all inputs, from the program's code.
    Static,
    /// Proves pairs absent for any number of threads, by coverability.
    Verify,
    /// Reorders a recorded trace.
    Predict,
    /// Runs every schedule.
    Explore,
}

impl Engine {
    /// The name as written on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Verify => "verify",
            Self::Predict => "predict",
            Self::Explore => "explore",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which inputs a claim covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inputs {
    /// The input that was run.
    This,
    /// Every input.
    All,
}

/// Which threads a claim covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threads {
    /// The threads that the program creates.
    These,
    /// Any number of threads.
    Any,
}

/// The memory model a claim is made for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// Sequentially consistent interleavings.
    Sc,
}

/// What a claim covers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// Which inputs.
    pub inputs: Inputs,
    /// Which threads.
    pub threads: Threads,
    /// Whether a bound cut the search; then no pair is absent.
    pub bounded: bool,
    /// For which memory model.
    pub memory: Memory,
    /// How many threads teams of OpenMP had, where the program leaves that open and the claim is not for any number.
    #[serde(default, skip_serializing_if = "TeamSizes::is_empty")]
    pub team_sizes: TeamSizes,
}

/// A set of numbers of threads, each from 1 to [`TeamSizes::MOST`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub struct TeamSizes(u128);

impl TeamSizes {
    /// None.
    pub const NONE: Self = Self(0);
    /// The largest number.
    pub const MOST: u32 = u128::BITS;

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Adds a number; one that is too large is left out.
    pub fn insert(&mut self, size: u32) {
        if (1..=Self::MOST).contains(&size) {
            self.0 |= 1 << (size - 1);
        }
    }

    /// The numbers in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (1..=Self::MOST).filter(move |size| self.0 >> (size - 1) & 1 != 0)
    }
}

impl From<Vec<u32>> for TeamSizes {
    fn from(sizes: Vec<u32>) -> Self {
        let mut set = Self::NONE;
        sizes.into_iter().for_each(|size| set.insert(size));
        set
    }
}

impl From<TeamSizes> for Vec<u32> {
    fn from(sizes: TeamSizes) -> Self {
        sizes.iter().collect()
    }
}
