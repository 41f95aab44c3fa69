//! Trace records: 16 bytes each.
//!
//! ```text
//! word 0   bits 0..48 address or number    bits 48..56 tag    bits 56..64 flags
//! word 1   bits 0..32 site                 bits 32..64 argument (a size, a thread, a count)
//! ```
//! Event records up to [`Tag::LAST_EVENT`] are one event each, of the thread named by the last `Switch`; its
//! position is one more than that of the thread's event before. With [`flag::MORE`] an access record
//! belongs to the event of the record before it. Other records add to what surrounds them.

/// Kinds of record. For `lock`, `cond` and so on the record's address is the object's.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the operations are documented in the model; the others below")]
pub enum Tag {
    Read = 1,
    Write = 2,
    ReadModifyWrite = 3,
    Free = 4,
    Fence = 5,
    Acquire = 6,
    TryAcquire = 7,
    Release = 8,
    Init = 9,
    Destroy = 10,
    /// Address: the condition variable. An `Extra` record with the mutex follows.
    WaitBegin = 11,
    /// Flags: [`wake`].
    WaitEnd = 12,
    Signal = 13,
    Broadcast = 14,
    BarrierArrive = 15,
    BarrierLeave = 16,
    SemPost = 17,
    SemWait = 18,
    SemTryWait = 19,
    SemGet = 20,
    OnceBegin = 21,
    OnceEnd = 22,
    /// Argument: the child's number.
    Create = 23,
    Start = 24,
    Exit = 25,
    /// Argument: the thread's number; so for the next four.
    Join = 26,
    TryJoin = 27,
    Detach = 28,
    Cancel = 29,
    Cancelled = 30,
    Yield = 31,
    /// Chooses a value. Two raw 16-byte units follow: smallest and largest possible value; the value and zero. With
    /// [`flag::MORE`] it belongs to the section of the event record before it.
    Choose = 32,
    /// A section that nothing interrupts; what it does follows in access and `Choose` records with [`flag::MORE`].
    Section = 33,
    /// Waits for a change of these bytes. Further `Await` records with [`flag::MORE`] have more of them.
    Await = 34,

    /// Argument: the thread whose events follow.
    Switch = 64,
    /// The set of runnable threads from here on. Argument: number of 64-bit words; they follow, two to a
    /// raw 16-byte unit, padded with zero.
    Runnable = 65,
    /// An object comes into being. Argument: size (saturating). Flags: [`flag::STACK`].
    Alloc = 66,
    /// A further address for the event before.
    Extra = 67,
    /// Misuse of the thread API. Address: the object. Argument: bytes of text, which follow in raw 16-byte
    /// units padded with zero.
    Misuse = 68,
    /// Something the model does not cover; text as for `Misuse`.
    Unmodelled = 69,
    /// The event record(s) after this one did not happen: they are what thread `argument` was about to do
    /// when the run ended. Flags: [`flag::ENABLED`].
    Pending = 70,
    /// The running thread stands before its next event. Argument: number of 64-bit words; they follow as for `Runnable`
    /// and are the return addresses on its stack, innermost first.
    Stack = 71,
    /// The program opens a file that is on disk; its name as text as for `Misuse`.
    Opened = 72,
    /// The running thread is a peer of the program; its name as text as for `Misuse`.
    Peer = 73,
    /// What memory holds where the running thread is about to execute an event, or has executed one. Argument: how many of the
    /// bytes at the address; one raw 16-byte unit follows, whose first word they are. Flags: [`flag::AFTER`].
    Value = 74,
}

impl Tag {
    /// The largest tag of an event.
    pub const LAST_EVENT: u8 = Self::Await as u8;

    /// The tag with this number.
    #[inline]
    pub const fn from_u8(n: u8) -> Option<Self> {
        BY_NUMBER[n as usize]
    }
    /// Whether this is an event.
    pub fn is_event(self) -> bool {
        self as u8 <= Self::LAST_EVENT
    }
}

const ALL: [Tag; 45] = {
    use Tag::*;
    [
        Read,
        Write,
        ReadModifyWrite,
        Free,
        Fence,
        Acquire,
        TryAcquire,
        Release,
        Init,
        Destroy,
        WaitBegin,
        WaitEnd,
        Signal,
        Broadcast,
        BarrierArrive,
        BarrierLeave,
        SemPost,
        SemWait,
        SemTryWait,
        SemGet,
        OnceBegin,
        OnceEnd,
        Create,
        Start,
        Exit,
        Join,
        TryJoin,
        Detach,
        Cancel,
        Cancelled,
        Yield,
        Choose,
        Section,
        Await,
        Switch,
        Runnable,
        Alloc,
        Extra,
        Misuse,
        Unmodelled,
        Pending,
        Stack,
        Opened,
        Peer,
        Value,
    ]
};

const BY_NUMBER: [Option<Tag>; 256] = {
    let mut table = [None; 256];
    let mut i = 0;
    while i < ALL.len() {
        table[ALL[i] as usize] = Some(ALL[i]);
        i += 1;
    }
    table
};

/// Flag bits. For accesses and fences the low three bits are an [`order`].
pub mod flag {
    /// Of accesses, choices and waits for a change: one more of the event before.
    pub const MORE: u8 = 0x80;
    /// Of lock operations: shared mode.
    pub const SHARED: u8 = 0x01;
    /// Of tries: it succeeded. Of `OnceBegin`: this thread runs the routine.
    pub const SUCCESS: u8 = 0x02;
    /// Of `Alloc`: a local variable, not a heap block.
    pub const STACK: u8 = 0x01;
    /// Of `Pending`: it could have been executed.
    pub const ENABLED: u8 = 0x01;
    /// Of `Value`: after the thread's last event, not before its next one.
    pub const AFTER: u8 = 0x01;
}

/// Memory orders in flags.
pub mod order {
    /// Not atomic.
    pub const PLAIN: u8 = 0;
    /// `memory_order_relaxed`.
    pub const RELAXED: u8 = 1;
    /// `memory_order_acquire` and `consume`.
    pub const ACQUIRE: u8 = 2;
    /// `memory_order_release`.
    pub const RELEASE: u8 = 3;
    /// `memory_order_acq_rel`.
    pub const ACQ_REL: u8 = 4;
    /// `memory_order_seq_cst`.
    pub const SEQ_CST: u8 = 5;
    /// `memory_order_relaxed` of a store in C, which continues the release sequences that its thread heads.
    pub const CONTINUING: u8 = 6;
    /// The bits of an order.
    pub const MASK: u8 = 7;
}

/// Causes in the flags of `WaitEnd`.
pub mod wake {
    /// Signal or broadcast.
    pub const SIGNALLED: u8 = 0;
    /// Time limit.
    pub const TIMED_OUT: u8 = 1;
    /// None.
    pub const SPURIOUS: u8 = 2;
    /// Cancelled while waiting.
    pub const CANCELLED: u8 = 3;
}

/// One record.
#[repr(C, align(16))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Address, tag, flags; or raw payload.
    pub w0: u64,
    /// Site, argument; or raw payload.
    pub w1: u64,
}

const ADDRESS_BITS: u32 = 48;
const ADDRESS_MASK: u64 = (1 << ADDRESS_BITS) - 1;

impl Record {
    /// Puts a record together. Bits of `address` above 48 are dropped: user-space addresses have none.
    #[inline(always)]
    pub const fn new(tag: Tag, flags: u8, address: u64, site: u32, argument: u32) -> Self {
        Self {
            w0: (address & ADDRESS_MASK) | (tag as u64) << 48 | (flags as u64) << 56,
            w1: site as u64 | (argument as u64) << 32,
        }
    }
    /// The tag, if it is one of ours.
    pub fn tag(&self) -> Option<Tag> {
        Tag::from_u8((self.w0 >> 48) as u8)
    }
    /// The flags.
    pub const fn flags(&self) -> u8 {
        (self.w0 >> 56) as u8
    }
    /// The address or number.
    pub const fn address(&self) -> u64 {
        self.w0 & ADDRESS_MASK
    }
    /// The site, or [`crate::NO_SITE`].
    pub const fn site(&self) -> u32 {
        self.w1 as u32
    }
    /// The argument.
    pub const fn argument(&self) -> u32 {
        (self.w1 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let r = Record::new(Tag::TryAcquire, flag::SHARED | flag::SUCCESS, 0x7fff_dead_beef, 42, u32::MAX);
        assert_eq!(
            (r.tag(), r.flags(), r.address(), r.site(), r.argument()),
            (Some(Tag::TryAcquire), 3, 0x7fff_dead_beef, 42, u32::MAX)
        );
        for n in 0..=u8::MAX {
            if let Some(tag) = Tag::from_u8(n) {
                assert_eq!(tag as u8, n);
            }
        }
    }
}
