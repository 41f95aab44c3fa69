//! Critical sections that a search can take as one event ([`model::shortcuts`]).
//!
//! Such a section is part of one block: it takes a lock, computes, loads and stores plainly, and gives the same lock back.
//! Where it loads and stores must not depend on what it loads, so that every execution of it in the same state of its
//! thread touches the same bytes. A load and a store of the same bytes are an *update* that commutes with others of its
//! kind if the stored value is the loaded one changed by one kind of operation, and nothing else uses either.

use std::collections::{BTreeMap, BTreeSet};

use model::index::IndexVec;
use model::{CriticalSection, LockMode, SiteId, Update};
use program::{
    BinaryOp, Block, Expr, Function, FunctionId, LocalId, Operand, Program, Statement, Stmt, SyncOp, TryMode,
};

use super::uses;
use crate::address::{Addresses, Base};

/// Sections with more statements are left as they are: taking them as one event saves little.
const MOST_STATEMENTS: usize = 128;

/// Functions after which a section under way may be copied with everything else.
const COPIES: [&str; 4] = ["fork", "vfork", "clone", "_Fork"];

/// The program's critical sections that can be taken as one event.
pub(super) fn sections(program: &Program) -> BTreeMap<SiteId, CriticalSection> {
    let is_copied = |function: &Function| COPIES.contains(&function.symbol.as_str());
    let copies = |statement: &Statement| matches!(&statement.stmt, Stmt::Library { function, .. } if COPIES.contains(&function.as_str()));
    let statements = || program.functions.iter().flat_map(|f| &f.blocks).flat_map(|block| &block.statements);
    if program.functions.iter().any(is_copied) || statements().any(copies) {
        return BTreeMap::new();
    }
    let mut addresses = None;
    let mut found = BTreeMap::new();
    for (id, function) in program.functions.iter_enumerated() {
        let has_sections = |block: &Block| candidates(block).next().is_some();
        if !function.blocks.iter().any(has_sections) {
            continue;
        }
        let addresses = addresses.get_or_insert_with(|| Addresses::new(program));
        let finder = Finder { id, addresses, uses: uses(function) };
        let candidates = function.blocks.iter().flat_map(candidates);
        found.extend(candidates.filter_map(|section| finder.section(section)));
    }
    found
}

/// The parts of a block from a statement that takes a lock to the next one that gives one back.
fn candidates(block: &Block) -> impl Iterator<Item = &[Statement]> {
    let takes = |statement: &Statement| {
        matches!(
            statement.stmt,
            Stmt::Sync { op: SyncOp::Lock { mode: LockMode::Exclusive, wait: TryMode::Wait, .. }, .. }
        )
    };
    let starts = block.statements.iter().enumerate().filter(move |(_, statement)| takes(statement));
    starts.filter_map(|(at, _)| {
        let rest = &block.statements[at..];
        let simple = |statement: &&Statement| {
            matches!(&statement.stmt, Stmt::Assign { expr, .. } if !matches!(expr, Expr::Phi(_)))
                || matches!(statement.stmt, Stmt::Load { atomic: None, .. } | Stmt::Store { atomic: None, .. })
        };
        let inside = rest[1..].iter().take(MOST_STATEMENTS).take_while(simple).count();
        let last = rest.get(inside + 1)?;
        matches!(last.stmt, Stmt::Sync { op: SyncOp::Unlock { .. }, .. }).then(|| &rest[..inside + 2])
    })
}

/// Finds the sections of one function.
struct Finder<'a> {
    id: FunctionId,
    addresses: &'a Addresses,
    uses: IndexVec<LocalId, u32>,
}

impl Finder<'_> {
    /// The section of these statements, with the site that takes its lock.
    fn section(&self, statements: &[Statement]) -> Option<(SiteId, CriticalSection)> {
        let (first, rest) = statements.split_first()?;
        let (last, inside) = rest.split_last()?;
        let (
            Stmt::Sync { op: SyncOp::Lock { lock, .. }, .. },
            Stmt::Sync { op: SyncOp::Unlock { lock: unlocked }, .. },
        ) = (&first.stmt, &last.stmt)
        else {
            return None;
        };
        if !self.are_same(lock, unlocked) {
            return None;
        }
        let mut loaded: BTreeSet<LocalId> = BTreeSet::new();
        let mut accesses = Vec::new();
        let is_loaded = |loaded: &BTreeSet<LocalId>, operand: &Operand| {
            matches!(operand, Operand::Any) || matches!(operand, Operand::Local(local) if loaded.contains(local))
        };
        for Statement { site, stmt } in inside {
            match stmt {
                Stmt::Load { dst, address, .. } => {
                    if is_loaded(&loaded, address) {
                        return None;
                    }
                    loaded.insert(*dst);
                    accesses.push((*site)?);
                }
                Stmt::Store { address, .. } => {
                    if is_loaded(&loaded, address) {
                        return None;
                    }
                    accesses.push((*site)?);
                }
                Stmt::Assign { dst, expr } => {
                    if expr.operands().iter().any(|operand| is_loaded(&loaded, operand)) {
                        loaded.insert(*dst);
                    }
                }
                _ => return None,
            }
        }
        if is_loaded(&loaded, unlocked) {
            return None;
        }
        let updates = self.updates(inside);
        let update_of =
            |site: &SiteId| updates.iter().find(|(sites, _)| sites.contains(site)).map(|(_, update)| *update);
        let accesses = accesses.iter().map(|site| (*site, update_of(site))).collect();
        Some((first.site?, CriticalSection { accesses, release: last.site? }))
    }

    /// Whether two operands have the same value, as long as none of their locals is assigned anew.
    fn are_same(&self, one: &Operand, other: &Operand) -> bool {
        let [one, other] = [one, other].map(|operand| self.addresses.of(self.id, operand));
        one == other && one.base != Base::Any
    }

    /// The updates that commute: the sites of the load and the store.
    fn updates(&self, inside: &[Statement]) -> Vec<([SiteId; 2], Update)> {
        let stores = inside.iter().filter_map(|statement| match &statement.stmt {
            Stmt::Store { address, value, size, .. } => Some((statement.site?, Target { address, size: *size }, value)),
            _ => None,
        });
        let update = |(site, target, value): (SiteId, Target<'_>, &Operand)| {
            let (load, update) = self.change(inside, target, value, None)?;
            Some(([load, site], update))
        };
        stores.filter_map(update).collect()
    }

    /// Where the value is loaded from, if that is where it is stored to, and all that is done to it on the way are operations
    /// of one kind, on all of its bits. Nothing else uses it or what is made of it on the way, so what is combined with it
    /// is not made of it either.
    fn change(
        &self,
        inside: &[Statement],
        target: Target<'_>,
        value: &Operand,
        kind: Option<Update>,
    ) -> Option<(SiteId, Update)> {
        let local = self.only_use(value)?;
        let Statement { site, stmt } = inside.iter().find(|statement| statement.stmt.assigns().contains(&local))?;
        let whole = |bits: u8| u32::from(bits) >= target.size.saturating_mul(8);
        match stmt {
            Stmt::Load { address, size, .. } if *size == target.size && self.are_same(address, target.address) => {
                Some(((*site)?, kind?))
            }
            Stmt::Assign { expr: Expr::Use(from), .. } => self.change(inside, target, from, kind),
            Stmt::Assign { expr: Expr::Truncate { value: from, bits, .. }, .. } if whole(*bits) => {
                self.change(inside, target, from, kind)
            }
            Stmt::Assign { expr: Expr::Binary { op, bits, left, right }, .. } if whole(*bits) => {
                let update = match op {
                    BinaryOp::Add | BinaryOp::Sub => Update::Add,
                    BinaryOp::And => Update::And,
                    BinaryOp::Or => Update::Or,
                    BinaryOp::Xor => Update::Xor,
                    _ => return None,
                };
                if kind.is_some_and(|kind| kind != update) {
                    return None;
                }
                let other = || self.change(inside, target, right, Some(update)).filter(|_| *op != BinaryOp::Sub);
                self.change(inside, target, left, Some(update)).or_else(other)
            }
            _ => None,
        }
    }

    /// The local that the operand is, if that is all that it is used for.
    fn only_use(&self, operand: &Operand) -> Option<LocalId> {
        match operand {
            Operand::Local(local) if self.uses[*local] == 1 => Some(*local),
            _ => None,
        }
    }
}

/// What a store writes to.
#[derive(Clone, Copy)]
struct Target<'a> {
    address: &'a Operand,
    size: u32,
}
