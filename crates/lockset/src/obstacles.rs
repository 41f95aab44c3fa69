//! What keeps the engine from claiming that anything is absent.

use std::collections::BTreeSet;

use facts::Solved;
use facts::formats::may_store_pointer;
use facts::invocations::How;
use model::SiteId;
use program::library::{self, Effect, LibraryFunction, Role, threads};
use program::{FunctionId, Operand, Program, Stmt, SyncOp};

/// Functions after whose call another stack or thread runs that we know nothing of.
const OTHER_STACKS: [&str; 5] = ["clone", "getcontext", "makecontext", "setcontext", "swapcontext"];

/// Whether what is not modelled about a function is accounted for: it can do anything to what it is given, and call
/// handlers of signals at any time.
fn is_followed(name: &str) -> bool {
    let known = library::lookup(name);
    let of_threads = known.is_none() && threads::lookup(name).is_some();
    library::is_about_signals(name) || !of_threads && !known.is_some_and(|row| OTHER_STACKS.contains(&row.name))
}

/// Whether a call may store a pointer that nothing is known of.
fn stores_pointer(program: &Program, row: &LibraryFunction, args: &[Operand]) -> bool {
    row.effects.iter().any(|effect| match effect {
        Effect::Format(format) => {
            let text = args.get(usize::from(format.format)).copied().unwrap_or(Operand::Any);
            may_store_pointer(program, format, &text)
        }
        _ => false,
    })
}

/// Something that can run and whose effect on threads, locks or memory is not known at all.
pub(crate) fn obstacles(facts: &Solved<'_>) -> Vec<String> {
    let program = facts.program;
    let runs: BTreeSet<FunctionId> = facts.order.contexts.iter().map(|c| c.function).collect();
    let line = |site: Option<SiteId>| {
        let location = site.and_then(|site| program.sites.get(site)?.location);
        location.map(|l| format!("{}:{}: ", program.files[l.file], l.line)).unwrap_or_default()
    };
    let mut found = Vec::new();
    for entry in program.unmodelled.iter().filter(|entry| !entry.is_about_lanes()) {
        let can_run = entry.site.is_none_or(|site| runs.contains(&program.sites[site].function));
        let followed = entry.function.as_ref().is_some_and(|name| is_followed(name));
        if can_run && !followed {
            found.push(format!("{}{}", line(entry.site), entry.what));
        }
    }
    for function in &runs {
        for (block_id, block) in program.functions[*function].blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let invoke = facts.points_to.invoke((*function, block_id, index));
                let what = match &statement.stmt {
                    Stmt::Sync { op: SyncOp::Cancel { .. }, .. } => "cancels a thread",
                    Stmt::Sync { op: SyncOp::Create { .. }, .. } => {
                        let known = invoke.is_some_and(|i| i.how == How::Create && !i.callees.is_empty() && !i.outside);
                        if known {
                            continue;
                        }
                        "starts a thread in a function that is not known"
                    }
                    Stmt::Library { function, args, .. } => match library::lookup(function) {
                        Some(row) if row.role == Role::LongJump => "jumps out of a function",
                        Some(row) if stores_pointer(program, row, args) => {
                            "makes a pointer of text or into a new block"
                        }
                        _ => continue,
                    },
                    _ => continue,
                };
                found.push(format!("{}{what}", line(statement.site)));
            }
        }
    }
    found
}
