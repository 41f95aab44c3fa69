//! What the program's text lets a search leave out ([`model::shortcuts`]).

mod sections;

use std::collections::BTreeSet;

use model::index::IndexVec;
use model::{Shortcuts, SiteId};
use program::{Function, LocalId, Operand, Program, Stmt, SyncOp};

/// The program's shortcuts.
pub fn shortcuts(program: &Program) -> Shortcuts {
    Shortcuts { sections: sections::sections(program), meetings: meetings(program) }
}

/// The sites that wait at a barrier and do not use the result.
fn meetings(program: &Program) -> BTreeSet<SiteId> {
    let mut found = BTreeSet::new();
    for function in &program.functions {
        let statements = || function.blocks.iter().flat_map(|block| &block.statements);
        let waits = |stmt: &Stmt| matches!(stmt, Stmt::Sync { op: SyncOp::BarrierWait { .. }, .. });
        if !statements().any(|statement| waits(&statement.stmt)) {
            continue;
        }
        let uses = uses(function);
        let is_ignored = |stmt: &Stmt| waits(stmt) && stmt.assigns().iter().all(|local| uses[*local] == 0);
        let ignored = statements().filter(|statement| is_ignored(&statement.stmt));
        found.extend(ignored.filter_map(|statement| statement.site));
    }
    found
}

/// How often each local of a function is used.
fn uses(function: &Function) -> IndexVec<LocalId, u32> {
    let mut uses = IndexVec::filled(function.locals.len(), 0);
    let mut count = |operand: Operand| {
        if let Operand::Local(local) = operand {
            uses[local] += 1;
        }
    };
    for block in &function.blocks {
        block.statements.iter().flat_map(|statement| statement.stmt.operands()).for_each(&mut count);
        block.terminator.operands().into_iter().for_each(&mut count);
    }
    uses
}
