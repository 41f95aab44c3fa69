//! Which memory a statement touches, and which sites may touch the same.

use std::collections::{BTreeMap, BTreeSet};

use model::{AccessKind, Budget, Pair, SiteId, Spent};
use program::{FunctionId, LocalId, Program, Stmt};

use crate::Rounds;
use crate::accesses::{Access, Designator, accesses};
use crate::invocations::Invocations;
use crate::objects;
use crate::values::{Root, Roots, Values};

/// One piece of memory touched by a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Touch {
    /// The object.
    pub root: Root,
    /// First byte and number of bytes; `None` for the whole object.
    pub bytes: Option<(i64, u64)>,
    /// What is done there.
    pub kind: AccessKind,
    /// Whether atomically.
    pub atomic: bool,
}

/// Whether a statement touches memory at all.
pub fn touches_memory(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Rmw { .. }
            | Stmt::CompareExchange { .. }
            | Stmt::Copy { .. }
            | Stmt::Fill { .. }
            | Stmt::Free { .. }
            | Stmt::Library { .. }
    )
}

/// Two sites that may touch the same memory, with an example of how they meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// The sites.
    pub pair: Pair,
    /// What a person calls the memory.
    pub variable: String,
    /// What each does there, in the order of the pair's sites.
    pub accesses: [MeetingAccess; 2],
}

/// One side of a meeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeetingAccess {
    /// What it does.
    pub kind: AccessKind,
    /// Whether atomically.
    pub atomic: bool,
}

/// Every pair of sites that may touch the same memory from different threads, at least one writing and one plain, in
/// order. Only code that can run is looked at, or `everything` where something is not modelled. Never misses a pair that
/// can race, if pointer arithmetic stays inside objects.
pub(crate) fn meetings(
    program: &Program,
    values: Values<'_>,
    invocations: &Invocations,
    everything: bool,
    budget: &Budget,
) -> Result<Vec<Meeting>, Spent> {
    let mut by_root: BTreeMap<Root, BTreeSet<(SiteId, Touch)>> = BTreeMap::new();
    let mut rounds = Rounds::new(budget, 64);
    let functions = program.functions.ids().filter(|f| everything || invocations.is_reachable(*f));
    for function in functions {
        for block in &program.functions[function].blocks {
            for statement in &block.statements {
                let Some(site) = statement.site else { continue };
                for touch in touches(program, &values, function, &statement.stmt) {
                    by_root.entry(touch.root).or_default().insert((site, touch));
                }
            }
        }
        rounds.begin()?;
    }
    let nothing = BTreeSet::new();
    let unknown = by_root.get(&Root::Unknown).unwrap_or(&nothing);
    let mut meetings: BTreeMap<Pair, Meeting> = BTreeMap::new();
    for (root, touched) in by_root.iter().filter(|(root, _)| values.is_shared(**root)) {
        let escaped = values.is_escaped(*root);
        for one in touched {
            rounds.begin()?;
            let others = touched.iter().chain(unknown.iter().filter(|_| escaped));
            for other in others.filter(|other| meet(&one.1, &other.1)) {
                let pair = Pair::new(one.0, other.0);
                meetings.entry(pair).or_insert_with(|| meeting(program, pair, one, other));
            }
        }
    }
    Ok(meetings.into_values().collect())
}

fn meeting(program: &Program, pair: Pair, one: &(SiteId, Touch), other: &(SiteId, Touch)) -> Meeting {
    let (low, high) = if one.0 <= other.0 { (&one.1, &other.1) } else { (&other.1, &one.1) };
    let access = |touch: &Touch| MeetingAccess { kind: touch.kind, atomic: touch.atomic };
    // The first one's object is known unless both are not.
    Meeting { pair, variable: name(program, one.0, &one.1), accesses: [access(low), access(high)] }
}

/// What a person calls the memory that a site touches.
fn name(program: &Program, site: SiteId, touch: &Touch) -> String {
    let expression = || program.sites.get(site).and_then(|site| site.expression.clone());
    let (offset, len) = touch.bytes.unwrap_or((0, 0));
    let named = || objects::name(program, (touch.root, offset), len);
    match touch.root {
        Root::Global(_) if touch.bytes.is_some() => named(),
        Root::Global(global) => expression().unwrap_or_else(|| program.globals[global].name.clone()),
        Root::Library(_) => named(),
        _ => expression().unwrap_or_else(named),
    }
}

/// The site of the local variable whose address a local holds.
pub(crate) fn site_of_alloca(program: &Program, function: FunctionId, local: LocalId) -> Option<SiteId> {
    let mut statements = program.functions[function].blocks.iter().flat_map(|b| &b.statements);
    let makes = |stmt: &Stmt| matches!(stmt, Stmt::Alloca { dst, .. } if *dst == local);
    statements.find(|s| makes(&s.stmt)).and_then(|s| s.site)
}

fn meet(one: &Touch, other: &Touch) -> bool {
    let overlap = match (one.bytes, other.bytes) {
        (Some((a, len_a)), Some((b, len_b))) if one.root == other.root => {
            let end = |start: i64, len: u64| i128::from(start) + i128::from(len);
            i128::from(a) < end(b, len_b) && i128::from(b) < end(a, len_a)
        }
        _ => true,
    };
    (one.kind.writes() || other.kind.writes()) && !(one.atomic && other.atomic) && overlap
}

/// What a statement of a function may touch.
pub fn touches(program: &Program, values: &Values<'_>, function: FunctionId, stmt: &Stmt) -> Vec<Touch> {
    let mut found = Vec::new();
    for Access { designator, len, kind, atomic, perhaps, .. } in accesses(program, function, stmt) {
        let roots = match designator {
            Designator::Library(state) => Roots::from([(Root::Library(state), None)]),
            Designator::BehindLibrary(state) => values.roots(&values.points_to.behind_library(state)),
            Designator::Linked(node, links) => values.roots(&values.points_to.linked(function, &node, links)),
            Designator::List(list) => values.roots(&values.points_to.listed(function, &list)),
            Designator::Behind(operand, times) => {
                let mut roots = values.roots(&values.points_to.behind(function, &operand, times));
                if values.points_to.may_be_unknown(function, &operand) {
                    roots.insert(Root::Unknown, None);
                }
                roots
            }
            Designator::Pointer(operand) if perhaps && values.points_to.is_wild(function, &operand) => continue,
            Designator::Pointer(operand) => {
                let mut roots = values.of(function, &operand);
                // A pointer that the program stored nowhere is from somebody else.
                if roots.is_empty() && values.points_to.is_wild(function, &operand) {
                    roots.insert(Root::Outside, None);
                }
                roots
            }
        };
        found.extend(roots.into_iter().map(|(root, offset)| {
            let bytes = offset.and_then(|offset| Some((offset, len?)));
            Touch { root, bytes, kind, atomic }
        }));
    }
    found
}
