//! Mutexes that may be taken again by the thread that holds them.

use facts::Solved;
use program::{FunctionId, Operand, Stmt, SyncOp};

use crate::lock::{Lock, may_be_same};

/// Whether everything that may initialised the lock says that it counts how often it was taken.
pub(crate) fn is_recursive(facts: &Solved<'_>, function: FunctionId, lock: &Lock) -> bool {
    let mut found = false;
    for (id, body) in facts.program.functions.iter_enumerated() {
        for statement in body.blocks.iter().flat_map(|b| &b.statements) {
            let Stmt::Sync { op: SyncOp::LockInit { lock: set_up, recursive }, .. } = &statement.stmt else { continue };
            let address = facts.points_to.addresses.of(id, set_up);
            let spots = facts.points_to.spots(id, &address);
            let means =
                spots.is_empty() || spots.iter().any(|s| may_be_same(facts, function, None, &Lock::At(*s), lock));
            if means && !recursive {
                return false;
            }
            found |= means;
        }
    }
    found
}

/// Whether mutexes of the kind that refuses to be taken twice may occur.
pub(crate) fn uses_error_checking(facts: &Solved<'_>) -> bool {
    let statements = facts.program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
    statements.into_iter().any(|s| match &s.stmt {
        Stmt::Library { function, args, .. } => {
            function == "pthread_mutexattr_settype" && !matches!(args.get(1), Some(Operand::Const(0 | 1)))
        }
        _ => false,
    })
}
