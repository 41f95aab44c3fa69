//! Accesses to memory.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An address in the run's memory.
///
/// Addresses are deterministic: address randomisation is off, and a thread's heap and stack lie at addresses derived
/// from its [`ThreadPath`](crate::ThreadPath). Only the thread that freed a block reuses it, so an address never
/// belongs to two objects that happens-before does not order, and engines may use it as identity within a run.
/// Reports show the object's name, never the address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Addr(pub u64);

impl Addr {
    /// Where addresses lie that stand for something without memory of its own: what the kernel or the library keeps.
    pub const OUTSIDE: std::ops::Range<u64> = 0x3f00_0000_0000..0x3f10_0000_0000;

    /// Whether it stands for something without memory of its own. Such accesses are atomic because whoever keeps the thing
    /// makes them so; what weak memory does to the program's own atomics is nothing to them.
    pub fn is_outside_memory(self) -> bool {
        Self::OUTSIDE.contains(&self.0)
    }
}

impl fmt::Debug for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A byte range. Two cells conflict when they overlap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// First byte.
    pub start: Addr,
    /// Number of bytes; an empty cell overlaps nothing.
    pub len: u32,
}

impl Cell {
    /// One past the last byte.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start.0.saturating_add(u64::from(self.len))
    }
    /// Whether the two share a byte.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.len > 0 && other.len > 0 && self.start.0 < other.end() && other.start.0 < self.end()
    }
}

/// C11 memory order of an atomic operation. `consume` is treated as `acquire`, as compilers do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Order {
    /// No synchronisation.
    Relaxed,
    /// As [`Relaxed`](Self::Relaxed), of a store in C: it continues the release sequences that its thread heads (C17
    /// 5.1.2.4p10). In C++20 it ends them.
    Continuing,
    /// Acquires what the release it reads from published.
    Acquire,
    /// Publishes what happened before.
    Release,
    /// Both.
    AcqRel,
    /// Both, and one total order.
    SeqCst,
}

impl Order {
    /// Whether an operation with this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }
    /// Whether an operation with this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// What an access does to its cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// Loads.
    Read,
    /// Stores.
    Write,
    /// Loads and stores in one step (a failed compare-exchange is a [`Read`](Self::Read)).
    ReadModifyWrite,
    /// Ends the object's life; counts as a write of all its bytes.
    Free,
}

impl std::fmt::Display for AccessKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadModifyWrite => "read-modify-write",
            Self::Free => "free",
        })
    }
}

impl AccessKind {
    /// Whether the cell may change.
    #[inline]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }
    /// Whether the old value is observed.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadModifyWrite)
    }
}

/// One access to one cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// The order if atomic, `None` if plain.
    pub atomic: Option<Order>,
    /// What it touches.
    pub cell: Cell,
}

impl Access {
    /// Whether the order of the two can matter: they overlap and one writes.
    #[inline]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        (self.kind.writes() || other.kind.writes()) && self.cell.overlaps(&other.cell)
    }
}
