//! A schedule that brings two racing accesses side by side.

use model::{EventId, Schedule};

/// A schedule that shows a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// Ends right after the second access.
    pub schedule: Schedule,
    /// The access that comes first.
    pub first: EventId,
    /// The other one.
    pub second: EventId,
    /// Whether both threads stand before their accesses at once, so that the two come one right after the other.
    /// If not, what leads to the second depends on the first by something that is no synchronisation.
    pub adjacent: bool,
}
