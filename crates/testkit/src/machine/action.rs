//! Actions: the visible operation a thread executes next, with its operands evaluated.

use model::{Access, AccessKind, Addr, Cell, Choice, LockMode, Op, Order, ThreadId, WakeCause};
use program::{FunctionId, LocalId, RmwOp, TryMode};

/// A visible operation with everything needed to execute it. `dst` is the local that gets the result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Action {
    Start,
    Exit,
    Load {
        dst: LocalId,
        address: u64,
        size: u32,
        atomic: Option<Order>,
    },
    Store {
        address: u64,
        value: i64,
        size: u32,
        atomic: Option<Order>,
    },
    Rmw {
        dst: LocalId,
        op: RmwOp,
        address: u64,
        value: i64,
        size: u32,
        order: Order,
    },
    CompareExchange(CompareExchange),
    Fence(Order),
    Copy {
        to: u64,
        from: u64,
        len: u64,
    },
    Fill {
        to: u64,
        value: u8,
        len: u64,
    },
    Free {
        address: u64,
        size: u64,
    },
    Lock {
        dst: Option<LocalId>,
        lock: u64,
        mode: LockMode,
        wait: TryMode,
    },
    Unlock {
        dst: Option<LocalId>,
        lock: u64,
    },
    Init {
        dst: Option<LocalId>,
        object: u64,
        kind: InitKind,
    },
    Destroy {
        dst: Option<LocalId>,
        object: u64,
    },
    WaitBegin {
        wait: Wait,
    },
    WaitEnd {
        wait: Wait,
        depth: u32,
    },
    /// The `Acquire` that ends a wait.
    Reacquire {
        dst: Option<LocalId>,
        lock: u64,
        depth: u32,
        cause: WakeCause,
    },
    Signal {
        dst: Option<LocalId>,
        cond: u64,
    },
    Broadcast {
        dst: Option<LocalId>,
        cond: u64,
    },
    BarrierArrive {
        dst: Option<LocalId>,
        barrier: u64,
    },
    BarrierLeave {
        dst: Option<LocalId>,
        barrier: u64,
        generation: u32,
        serial: bool,
    },
    SemPost {
        dst: Option<LocalId>,
        sem: u64,
    },
    SemWait {
        dst: Option<LocalId>,
        sem: u64,
        wait: TryMode,
    },
    SemGet {
        dst: Option<LocalId>,
        sem: u64,
    },
    OnceBegin {
        dst: Option<LocalId>,
        control: u64,
        function: FunctionId,
    },
    OnceEnd {
        dst: Option<LocalId>,
        control: u64,
    },
    Create {
        dst: Option<LocalId>,
        function: FunctionId,
        arg: i64,
    },
    Join {
        dst: Option<LocalId>,
        child: ThreadId,
        mode: TryMode,
    },
    Detach {
        dst: Option<LocalId>,
        child: ThreadId,
    },
    Cancel {
        dst: Option<LocalId>,
        target: ThreadId,
    },
    Cancelled,
    Yield {
        dst: Option<LocalId>,
    },
    Choose {
        dst: Option<LocalId>,
        lo: i64,
        hi: i64,
    },
    /// A whole section.
    Section,
    /// The end of the current section; never announced outside of one.
    SectionEnd,
    /// Another iteration, once something has changed.
    Await {
        cells: Vec<Cell>,
    },
}

/// A compare-exchange.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct CompareExchange {
    pub(super) dst: LocalId,
    pub(super) success: LocalId,
    pub(super) address: u64,
    pub(super) expected: i64,
    pub(super) new: i64,
    pub(super) size: u32,
    pub(super) order: Order,
    pub(super) failure: Order,
}

/// A condition-variable wait.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Wait {
    pub(super) dst: Option<LocalId>,
    pub(super) cond: u64,
    pub(super) lock: u64,
    pub(super) mode: TryMode,
}

/// What is initialised.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum InitKind {
    Lock { recursive: bool },
    Cond,
    Barrier { count: u32 },
    Semaphore { value: u32 },
}

/// A cell; lengths beyond the type's range are truncated, which only matters for objects of over four gigabytes.
pub(super) fn cell(address: u64, len: u64) -> Cell {
    Cell { start: Addr(address), len: u32::try_from(len).unwrap_or(u32::MAX) }
}

fn access(kind: AccessKind, atomic: Option<Order>, address: u64, len: u64) -> Op {
    Op::Access(Access { kind, atomic, cell: cell(address, len) })
}

impl Action {
    /// The operation as it will appear in the trace. Results that are not yet known are as if it succeeded. `held` is
    /// the mode in which the thread holds a lock, `child` the number of the next thread created.
    pub(super) fn op(&self, held: impl Fn(u64) -> Option<LockMode>, child: ThreadId) -> Op {
        match *self {
            Self::Start => Op::Start,
            Self::Exit => Op::Exit,
            Self::Load { address, size, atomic, .. } => access(AccessKind::Read, atomic, address, size.into()),
            Self::Store { address, size, atomic, .. } => access(AccessKind::Write, atomic, address, size.into()),
            Self::Rmw { address, size, order, .. } => {
                access(AccessKind::ReadModifyWrite, Some(order), address, size.into())
            }
            Self::CompareExchange(ref cas) => cas.op(true),
            Self::Fence(order) => Op::Fence(order),
            Self::Copy { to, from, len } => Op::Accesses(Box::new([
                Access { kind: AccessKind::Read, atomic: None, cell: cell(from, len) },
                Access { kind: AccessKind::Write, atomic: None, cell: cell(to, len) },
            ])),
            Self::Fill { to, len, .. } => access(AccessKind::Write, None, to, len),
            Self::Free { address, size } => access(AccessKind::Free, None, address, size),
            Self::Lock { lock, mode, wait: TryMode::Wait, .. } => Op::Acquire { lock: Addr(lock), mode },
            Self::Lock { lock, mode, .. } => Op::TryAcquire { lock: Addr(lock), mode, success: true },
            Self::Unlock { lock, .. } => {
                Op::Release { lock: Addr(lock), mode: held(lock).unwrap_or(LockMode::Exclusive) }
            }
            Self::Init { object, .. } => Op::Init(Addr(object)),
            Self::Destroy { object, .. } => Op::Destroy(Addr(object)),
            Self::WaitBegin { ref wait } => Op::WaitBegin { cond: Addr(wait.cond), lock: Addr(wait.lock) },
            Self::WaitEnd { ref wait, .. } => Op::WaitEnd { cond: Addr(wait.cond), cause: WakeCause::Signalled },
            Self::Reacquire { lock, .. } => Op::Acquire { lock: Addr(lock), mode: LockMode::Exclusive },
            Self::Signal { cond, .. } => Op::Signal { cond: Addr(cond) },
            Self::Broadcast { cond, .. } => Op::Broadcast { cond: Addr(cond) },
            Self::BarrierArrive { barrier, .. } => Op::BarrierArrive { barrier: Addr(barrier) },
            Self::BarrierLeave { barrier, .. } => Op::BarrierLeave { barrier: Addr(barrier) },
            Self::SemPost { sem, .. } => Op::SemPost { sem: Addr(sem) },
            Self::SemWait { sem, wait: TryMode::Wait, .. } => Op::SemWait { sem: Addr(sem) },
            Self::SemWait { sem, .. } => Op::SemTryWait { sem: Addr(sem), success: true },
            Self::SemGet { sem, .. } => Op::SemGet { sem: Addr(sem) },
            Self::OnceBegin { control, .. } => Op::OnceBegin { once: Addr(control), run: true },
            Self::OnceEnd { control, .. } => Op::OnceEnd { once: Addr(control) },
            Self::Create { .. } => Op::Create { child },
            Self::Join { child, mode: TryMode::Wait, .. } => Op::Join { child },
            Self::Join { child, .. } => Op::TryJoin { child, success: true },
            Self::Detach { child, .. } => Op::Detach { child },
            Self::Cancel { target, .. } => Op::Cancel { target },
            Self::Cancelled => Op::Cancelled,
            Self::Yield { .. } => Op::Yield,
            Self::Choose { lo, hi, .. } => Op::Choose(Choice { lo, hi, value: Choice::default_value(lo, hi) }),
            Self::Section | Self::SectionEnd => {
                Op::Section { accesses: Box::default(), sites: Box::default(), choices: Box::default() }
            }
            Self::Await { ref cells } => Op::Await { cells: cells.as_slice().into() },
        }
    }

    /// Whether a cancellation request takes effect here (waits, joins; not locks and barriers, as in POSIX).
    pub(super) fn is_cancellation_point(&self) -> bool {
        matches!(
            self,
            Self::WaitBegin { .. } | Self::WaitEnd { .. } | Self::SemWait { wait: TryMode::Wait | TryMode::Timed, .. }
        ) || matches!(self, Self::Join { mode: TryMode::Wait | TryMode::Timed, .. })
    }
}

impl CompareExchange {
    /// The operation, given whether it succeeded.
    pub(super) fn op(&self, success: bool) -> Op {
        let (kind, order) =
            if success { (AccessKind::ReadModifyWrite, self.order) } else { (AccessKind::Read, self.failure) };
        access(kind, Some(order), self.address, self.size.into())
    }
}
