//! What the engine does not follow, and how far that reaches.

use std::collections::BTreeSet;

use facts::Solved;
use facts::invocations::How;
use model::SiteId;
use program::library::{self, threads};
use program::{FunctionId, Program, Stmt, SyncOp, Unmodelled};

/// Functions after whose call another stack or thread runs that we know nothing of.
const OTHER_STACKS: [&str; 5] = ["clone", "getcontext", "makecontext", "setcontext", "swapcontext"];

/// Thread functions that touch nothing of the program's: their results are pointers of which nothing is known, or they
/// take and release a lock.
const HARMLESS: [&str; 4] = ["pthread_mutex_setprioceiling", "sem_close", "sem_open", "sem_unlink"];

/// Something that can run and is not followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// Where, if it is somewhere.
    pub site: Option<SiteId>,
    /// What, e.g. "inline assembly".
    pub what: String,
    /// Whether it keeps every pair from being absent. Otherwise it can only do what is accounted for, to what it is given,
    /// and keeps nothing but the whole program from being safe.
    pub everything: bool,
}

impl Obstacle {
    /// What and where: `a.c:12: inline assembly`.
    pub(crate) fn describe(&self, program: &Program) -> String {
        let location = self.site.and_then(|site| program.sites.get(site)?.location);
        let place = location.map(|l| format!("{}:{}: ", program.files[l.file], l.line)).unwrap_or_default();
        place + &self.what
    }
}

/// How far something reaches that the language cannot express.
fn of(entry: &Unmodelled) -> Option<bool> {
    let Some(name) = &entry.function else {
        return Some(![Unmodelled::SPECIAL_MEMORY, Unmodelled::HANDLER_JUMPS].contains(&entry.what.as_str()));
    };
    if library::is_about_signals(name) {
        // Handlers run in any thread at any time.
        return None;
    }
    match (library::lookup(name), threads::lookup(name)) {
        (Some(row), _) if OTHER_STACKS.contains(&row.name) => Some(true),
        // It can do anything to what it is given, and is listed with the functions outside of the program.
        (Some(_), _) | (None, None) => None,
        (None, Some(row)) => Some(!HARMLESS.contains(&row.name)),
    }
}

/// All that can run and is not followed, each once.
pub(crate) fn obstacles(facts: &Solved<'_>) -> Vec<Obstacle> {
    let program = facts.program;
    let runs: BTreeSet<FunctionId> = facts.order.contexts.iter().map(|c| c.function).collect();
    let mut found: Vec<Obstacle> = Vec::new();
    let mut add = |site: Option<SiteId>, what: &str, everything: bool| {
        let obstacle = Obstacle { site, what: what.to_owned(), everything };
        if !found.contains(&obstacle) {
            found.push(obstacle);
        }
    };
    for entry in program.unmodelled.iter().filter(|entry| !entry.is_about_lanes() && !entry.is_about_runs()) {
        let can_run = entry.site.is_none_or(|site| runs.contains(&program.sites[site].function));
        if let (true, Some(everything)) = (can_run, of(entry)) {
            add(entry.site, &entry.what, everything);
        }
    }
    for function in &runs {
        for (block_id, block) in program.functions[*function].blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                if let Stmt::Sync { op: SyncOp::Create { .. }, .. } = &statement.stmt {
                    // Of a pointer of which nothing is known, every function whose address is used may be meant.
                    let invoke = facts.points_to.invoke((*function, block_id, index));
                    let starts = invoke.is_some_and(|i| i.how == How::Create && (!i.callees.is_empty() || i.outside));
                    if !starts {
                        add(statement.site, "starts a thread in a function that is not known", true);
                    }
                }
            }
        }
    }
    found
}
