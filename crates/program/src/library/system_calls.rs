//! System calls by number that are thread functions: waiting for a word and waking (futexes), giving way.

use super::threads::ObjectArg::Arg;
use super::threads::{Returns, ThreadFunction, ThreadOp};
use crate::Architecture;
use crate::ir::TryMode;

const fn row(params: u8, op: ThreadOp) -> ThreadFunction {
    ThreadFunction { name: "syscall", params, op, returns: Returns::Value, effects: &[] }
}

static WAIT: ThreadFunction = row(5, ThreadOp::AddressWait { address: Arg(1), value: 3, wait: TryMode::Timed });
static WAKE: ThreadFunction = row(4, ThreadOp::AddressWake { address: Arg(1) });
static YIELD: ThreadFunction = row(1, ThreadOp::Yield);
static ASK: ThreadFunction = row(1, ThreadOp::Attribute);

/// What `syscall` does with this number and, for a futex, this operation; `None` if it is no thread function.
pub fn lookup(architecture: Architecture, number: i64, operation: Option<i64>) -> Option<&'static ThreadFunction> {
    /// The bits of an operation that say what it is.
    const COMMAND: i64 = 0x7f;
    let [futex, sched_yield, getpid, gettid] = match architecture {
        Architecture::X86_64 => [202, 24, 39, 186],
        Architecture::Aarch64 => [98, 124, 172, 178],
        Architecture::Other | Architecture::Other32 | Architecture::Other16 => return None,
    };
    if number == futex {
        return match operation? & COMMAND {
            // FUTEX_WAIT, FUTEX_WAIT_BITSET
            0 | 9 => Some(&WAIT),
            // FUTEX_WAKE, FUTEX_WAKE_BITSET
            1 | 10 => Some(&WAKE),
            _ => None,
        };
    }
    if number == sched_yield {
        return Some(&YIELD);
    }
    [getpid, gettid].contains(&number).then_some(&ASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn futexes() {
        const PRIVATE: i64 = 128;
        let of = |operation| lookup(Architecture::X86_64, 202, Some(operation)).map(|function| function.op);
        assert_eq!(of(PRIVATE), Some(WAIT.op));
        assert_eq!(of(PRIVATE | 10), Some(WAKE.op));
        assert_eq!(of(3), None, "FUTEX_REQUEUE");
        assert_eq!(lookup(Architecture::X86_64, 202, None), None);
        assert_eq!(lookup(Architecture::Aarch64, 124, None), Some(&YIELD));
        assert_eq!(lookup(Architecture::Aarch64, 202, Some(0)), None);
    }
}
