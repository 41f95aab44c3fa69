//! Atomic library calls: `__atomic_*` (sized and of any size) and `__sync_*`, recognised by their names.
//!
//! Compilers call these where they do not emit atomic instructions. Every sized name is `__atomic_<op>_<bytes>` or
//! `__sync_<op>_<bytes>`.

use model::Order;

use crate::ir::RmwOp;

/// An operand's size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicSize {
    /// In bytes.
    Bytes(u8),
    /// In this argument.
    Arg(u8),
}

/// An operation's memory order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicOrder {
    /// Fixed.
    Fixed(Order),
    /// In this argument, as a C memory order (0 relaxed, 1 consume, 2 acquire, 3 release, 4 acq_rel, 5 seq_cst).
    Arg(u8),
}

/// Where a value is found or put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicValue {
    /// In this argument.
    Arg(u8),
    /// In plain memory this argument points to; accessing it is part of the call.
    Memory(u8),
    /// In the result of the call.
    Result,
    /// Zero.
    Zero,
}

/// What an atomic call does to the object that argument `address` points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "fields of variants are explained by the variant")]
pub enum AtomicOp {
    /// Loads into `to`.
    Load { to: AtomicValue },
    /// Stores `value`.
    Store { value: AtomicValue },
    /// Replaces the value by `op` of it and `value`; `old` gets the old value, or the new one if `returns_new`.
    Rmw { op: RmwOp, value: AtomicValue, old: AtomicValue, returns_new: bool },
    /// Stores `new` if the value is `expected`. If `expected` is memory, a failure writes the old value there.
    /// The result is 1 or 0, or the old value if `returns_old`.
    CompareExchange { expected: AtomicValue, new: AtomicValue, failure: AtomicOrder, returns_old: bool },
    /// A fence, without an object.
    Fence,
}

/// An atomic library call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicCall {
    /// The object.
    pub address: u8,
    /// Its size.
    pub size: AtomicSize,
    /// The memory order.
    pub order: AtomicOrder,
    /// What happens.
    pub op: AtomicOp,
}

use AtomicValue::{Arg, Memory, Result, Zero};

const SEQ_CST: AtomicOrder = AtomicOrder::Fixed(Order::SeqCst);

/// The atomic call with this linker name.
pub fn lookup(name: &str) -> Option<AtomicCall> {
    if let Some(rest) = name.strip_prefix("__sync_") {
        return sync(rest);
    }
    let rest = name.strip_prefix("__atomic_")?;
    any_size(rest).or_else(|| sized(rest))
}

fn sized_name(name: &str) -> Option<(&str, AtomicSize)> {
    let (op, bytes) = name.rsplit_once('_')?;
    let bytes = bytes.parse().ok().filter(|b| matches!(b, 1 | 2 | 4 | 8 | 16))?;
    Some((op, AtomicSize::Bytes(bytes)))
}

/// `__atomic_load(size, object, to, order)` and so on.
fn any_size(name: &str) -> Option<AtomicCall> {
    let (op, order) = match name {
        "load" => (AtomicOp::Load { to: Memory(2) }, 3),
        "store" => (AtomicOp::Store { value: Memory(2) }, 3),
        "exchange" => {
            let op = AtomicOp::Rmw { op: RmwOp::Exchange, value: Memory(2), old: Memory(3), returns_new: false };
            (op, 4)
        }
        "compare_exchange" => {
            let failure = AtomicOrder::Arg(5);
            (AtomicOp::CompareExchange { expected: Memory(2), new: Memory(3), failure, returns_old: false }, 4)
        }
        _ => return None,
    };
    Some(AtomicCall { address: 1, size: AtomicSize::Arg(0), order: AtomicOrder::Arg(order), op })
}

/// `__atomic_fetch_add_4(object, value, order)` and so on.
fn sized(name: &str) -> Option<AtomicCall> {
    let (operation, size) = sized_name(name)?;
    let (op, order) = match operation {
        "load" => (AtomicOp::Load { to: Result }, 1),
        "store" => (AtomicOp::Store { value: Arg(1) }, 2),
        "exchange" => (AtomicOp::Rmw { op: RmwOp::Exchange, value: Arg(1), old: Result, returns_new: false }, 2),
        "compare_exchange" => {
            let failure = AtomicOrder::Arg(4);
            (AtomicOp::CompareExchange { expected: Memory(1), new: Arg(2), failure, returns_old: false }, 3)
        }
        _ => {
            let (op, returns_new) = fetch(operation)?;
            (AtomicOp::Rmw { op, value: Arg(1), old: Result, returns_new }, 2)
        }
    };
    Some(AtomicCall { address: 0, size, order: AtomicOrder::Arg(order), op })
}

/// `fetch_add` or `add_fetch`: the operation and whether the new value is returned.
fn fetch(name: &str) -> Option<(RmwOp, bool)> {
    let (op, returns_new) = match (name.strip_prefix("fetch_"), name.strip_suffix("_fetch")) {
        (Some(op), _) => (op, false),
        (None, Some(op)) => (op, true),
        (None, None) => return None,
    };
    let op = match op {
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "nand" => RmwOp::Other,
        _ => return None,
    };
    Some((op, returns_new))
}

/// `__sync_fetch_and_add_4(object, value)` and so on; sequentially consistent but for the two lock operations.
fn sync(name: &str) -> Option<AtomicCall> {
    if name == "synchronize" {
        let size = AtomicSize::Bytes(0);
        return Some(AtomicCall { address: 0, size, order: SEQ_CST, op: AtomicOp::Fence });
    }
    let (operation, size) = sized_name(name)?;
    let compare =
        |returns_old| AtomicOp::CompareExchange { expected: Arg(1), new: Arg(2), failure: SEQ_CST, returns_old };
    let (op, order) = match operation {
        "bool_compare_and_swap" => (compare(false), SEQ_CST),
        "val_compare_and_swap" => (compare(true), SEQ_CST),
        "lock_test_and_set" => {
            let op = AtomicOp::Rmw { op: RmwOp::Exchange, value: Arg(1), old: Result, returns_new: false };
            (op, AtomicOrder::Fixed(Order::Acquire))
        }
        "lock_release" => (AtomicOp::Store { value: Zero }, AtomicOrder::Fixed(Order::Release)),
        _ => {
            let (op, returns_new) = fetch(&operation.replace("_and_", "_"))?;
            (AtomicOp::Rmw { op, value: Arg(1), old: Result, returns_new }, SEQ_CST)
        }
    };
    Some(AtomicCall { address: 0, size, order, op })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let rmw = |name| match lookup(name).unwrap().op {
            AtomicOp::Rmw { op, returns_new, .. } => (op, returns_new),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(rmw("__atomic_fetch_add_4"), (RmwOp::Add, false));
        assert_eq!(rmw("__atomic_xor_fetch_8"), (RmwOp::Xor, true));
        assert_eq!(rmw("__sync_fetch_and_sub_2"), (RmwOp::Sub, false));
        assert_eq!(rmw("__sync_nand_and_fetch_1"), (RmwOp::Other, true));
        assert_eq!(rmw("__sync_lock_test_and_set_4"), (RmwOp::Exchange, false));
        assert_eq!(lookup("__sync_lock_test_and_set_4").unwrap().order, AtomicOrder::Fixed(Order::Acquire));
        assert_eq!(lookup("__atomic_load_16").unwrap().size, AtomicSize::Bytes(16));
        assert_eq!(lookup("__atomic_compare_exchange").unwrap().size, AtomicSize::Arg(0));
        for name in ["__atomic_load_3", "__atomic_is_lock_free", "__sync_fetch_and_frob_4", "atomic_load"] {
            assert_eq!(lookup(name), None, "{name}");
        }
    }
}
