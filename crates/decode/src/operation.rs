//! What the tag of a record means, whoever wrote it: the controlled runtime or the recorder.

use model::{Addr, LockMode, Op, Order};
use wire::Tag;
use wire::record::{flag, order};

/// The operation on a synchronisation object that a tag stands for; `None` for tags that say more than an object and
/// flags, or that speak of something else.
pub(crate) fn on_object(tag: Tag, flags: u8, object: Addr) -> Option<Op> {
    let success = flags & flag::SUCCESS != 0;
    let mode = if flags & flag::SHARED != 0 { LockMode::Shared } else { LockMode::Exclusive };
    Some(match tag {
        Tag::Acquire => Op::Acquire { lock: object, mode },
        Tag::TryAcquire => Op::TryAcquire { lock: object, mode, success },
        Tag::Release => Op::Release { lock: object, mode },
        Tag::Init => Op::Init(object),
        Tag::Destroy => Op::Destroy(object),
        Tag::Signal => Op::Signal { cond: object },
        Tag::Broadcast => Op::Broadcast { cond: object },
        Tag::BarrierArrive => Op::BarrierArrive { barrier: object },
        Tag::BarrierLeave => Op::BarrierLeave { barrier: object },
        Tag::SemPost => Op::SemPost { sem: object },
        Tag::SemWait => Op::SemWait { sem: object },
        Tag::SemTryWait => Op::SemTryWait { sem: object, success },
        Tag::SemGet => Op::SemGet { sem: object },
        Tag::OnceBegin => Op::OnceBegin { once: object, run: success },
        Tag::OnceEnd => Op::OnceEnd { once: object },
        _ => return None,
    })
}

/// The memory order in a record's flags; `None` for a plain access.
pub(crate) fn memory_order(flags: u8) -> Result<Option<Order>, String> {
    Ok(match flags & order::MASK {
        order::PLAIN => None,
        order::RELAXED => Some(Order::Relaxed),
        order::ACQUIRE => Some(Order::Acquire),
        order::RELEASE => Some(Order::Release),
        order::ACQ_REL => Some(Order::AcqRel),
        order::SEQ_CST => Some(Order::SeqCst),
        order::CONTINUING => Some(Order::Continuing),
        other => return Err(format!("no memory order has number {other}")),
    })
}
