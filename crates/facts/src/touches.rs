//! Which memory a statement touches.

use model::{AccessKind, SiteId};
use program::{FunctionId, LocalId, Program, Stmt};

use crate::accesses::{Access, Designator, accesses};
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

/// The site of the local variable whose address a local holds.
pub(crate) fn site_of_alloca(program: &Program, function: FunctionId, local: LocalId) -> Option<SiteId> {
    let mut statements = program.functions[function].blocks.iter().flat_map(|b| &b.statements);
    let makes = |stmt: &Stmt| matches!(stmt, Stmt::Alloca { dst, .. } if *dst == local);
    statements.find(|s| makes(&s.stmt)).and_then(|s| s.site)
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
