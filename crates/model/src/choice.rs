//! Values that the program leaves open.

use serde::{Deserialize, Serialize};

use crate::EventId;

/// A value chosen from a range. Unsigned 64-bit numbers are given by their bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// The smallest possible value.
    pub lo: i64,
    /// The largest; not below `lo`.
    pub hi: i64,
    /// The value chosen.
    pub value: i64,
}

impl Choice {
    /// The default where a schedule gives no value: the possible value nearest to zero.
    pub fn default_value(lo: i64, hi: i64) -> i64 {
        0.max(lo).min(hi)
    }

    /// Number of possible values.
    pub fn count(&self) -> u128 {
        (i128::from(self.hi) - i128::from(self.lo) + 1).max(1) as u128
    }
}

/// A value that a schedule fixes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Chosen {
    /// The event that makes the choice.
    pub event: EventId,
    /// Which of the event's choices, from 0.
    pub index: u32,
    /// The value.
    pub value: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_the_value_nearest_to_zero() {
        assert_eq!(Choice::default_value(-3, 5), 0);
        assert_eq!(Choice::default_value(2, 5), 2);
        assert_eq!(Choice::default_value(-5, -2), -2);
        assert_eq!(Choice { lo: i64::MIN, hi: i64::MAX, value: 0 }.count(), 1 << 64);
    }
}
