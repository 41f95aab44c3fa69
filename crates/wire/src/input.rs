//! What a program on real threads got from outside, as blocks of the trace file ([`crate::log::block::INPUT`]).
//!
//! A block is about one connection. Where other blocks have the number of a thread, it has the connection's number and what
//! happened there; its bytes say the rest. The order of the blocks in the file is the order in which it happened, as far as
//! one connection is concerned.

/// What happened on a connection.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The program accepted it. Bytes: the two addresses, each with its length before it in a byte: the program's, then the
    /// other end's.
    Accepted = 0,
    /// The program made it; bytes as of [`Accepted`](Self::Accepted).
    Made = 1,
    /// The program received these bytes.
    Received = 2,
    /// The program sent so many bytes (four bytes, little-endian).
    Sent = 3,
    /// The program closed it.
    Closed = 4,
}

/// Connections that can be told apart.
pub const CONNECTIONS: u32 = 1 << 28;

impl Happened {
    /// The block's word for this on a connection below [`CONNECTIONS`].
    pub const fn on(self, connection: u32) -> u32 {
        (self as u32) << 28 | connection
    }

    /// What a block's word says.
    pub fn of(word: u32) -> Option<(Self, u32)> {
        let all = [Self::Accepted, Self::Made, Self::Received, Self::Sent, Self::Closed];
        Some((all.into_iter().find(|happened| *happened as u32 == word >> 28)?, word % CONNECTIONS))
    }
}
