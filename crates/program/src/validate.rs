//! The rules that a [`Program`] obeys.
//!
//! Ids are in range; each local is a parameter or assigned by exactly one statement; phis come first in their block,
//! name each predecessor once and nothing else; the entry function has a body. That a definition dominates its uses is
//! not checked.

use std::collections::BTreeSet;
use std::fmt;

use model::SiteId;

use crate::ir::{Block, BlockId, Callee, Expr, Function, FunctionId, LocalId, Operand, Program, Stmt};
use crate::members::{Lvalue, Member, Whole};
use crate::site::Location;
use crate::types::{Type, TypeId};

/// One broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The function it is in.
    pub function: Option<FunctionId>,
    /// Where and what, in words.
    pub message: String,
}

/// The program breaks rules of the language.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Invalid {
    /// What is wrong, in program order; never empty.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program breaks the rules of its language:")?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {}", problem.message))
    }
}

impl Program {
    /// Checks the rules of the language.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut check = Check { program: self, problems: Vec::new() };
        check.tables();
        for (id, function) in self.functions.iter_enumerated() {
            check.function(id, function);
        }
        if check.problems.is_empty() { Ok(()) } else { Err(Invalid { problems: check.problems }) }
    }
}

struct Check<'a> {
    program: &'a Program,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn report(&mut self, function: Option<FunctionId>, message: String) {
        self.problems.push(Problem { function, message });
    }
    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.report(None, message());
        }
    }

    /// Checks everything outside of function bodies.
    fn tables(&mut self) {
        let program = self.program;
        for (id, file) in program.files.iter_enumerated() {
            let once = program.files.iter().filter(|f| *f == file).count() == 1;
            self.require(once, || format!("{id}: there are two files `{file}`"));
        }
        for (id, ty) in program.types.iter_enumerated() {
            match ty {
                Type::Scalar { .. } => {}
                Type::Struct { fields, .. } => fields.iter().for_each(|field| self.ty(field.ty, || format!("{id}"))),
                Type::Array { element, stride, .. } => {
                    self.ty(*element, || format!("{id}"));
                    self.require(*stride > 0, || format!("{id}: an array's stride is 0"));
                }
            }
        }
        for (id, global) in program.globals.iter_enumerated() {
            let place = || format!("global `{}` ({id})", global.symbol);
            if let Some(ty) = global.ty {
                self.ty(ty, place);
            }
            let len = global.init.len() as u64;
            self.require(len <= global.size, || format!("{}: {len} initial bytes in {}", place(), global.size));
            for (offset, target) in &global.relocations {
                let fits = offset.checked_add(8).is_some_and(|end| end <= global.size);
                self.require(fits, || format!("{}: the pointer at byte {offset} is outside of it", place()));
                let sensible = !matches!(target, Operand::Local(_));
                self.require(sensible && self.in_tables(target), || {
                    format!("{}: the pointer at byte {offset} points to nothing", place())
                });
            }
        }
        for (id, site) in program.sites.iter_enumerated() {
            let known = program.functions.get(site.function).is_some();
            self.require(known, || format!("{id}: there is no {}", site.function));
            if let Some(ty) = site.allocates {
                self.ty(ty, || format!("{id}"));
            }
            for lvalue in site.lvalue.into_iter().chain(site.source) {
                let (record, start, end) = match lvalue {
                    Lvalue::Member(Member { record, start, end }) => (record, start, end),
                    Lvalue::Whole(Whole { record, len }) => (record, 0, len.unwrap_or(u32::MAX)),
                    Lvalue::Scalar(_) => continue,
                };
                let known = program.records.get(record).is_some();
                self.require(known && start < end, || format!("{id}: no bytes {start} to {end} of {record}"));
            }
            let frames = site.inlined_at.iter().filter_map(|frame| frame.location);
            for location in site.location.into_iter().chain(frames) {
                self.location(id, location);
            }
        }
        for entry in &program.unmodelled {
            if let Some(site) = entry.site {
                let known = program.sites.get(site).is_some();
                self.require(known, || format!("unmodelled entry: there is no {site}"));
            }
        }
        if let Some(main) = program.main {
            let known = program.functions.get(main).is_some_and(|f| !f.blocks.is_empty());
            self.require(known, || format!("the entry function {main} has no body"));
        }
    }

    fn ty(&mut self, ty: TypeId, place: impl Fn() -> String) {
        let known = self.program.types.get(ty).is_some();
        self.require(known, || format!("{}: there is no {ty}", place()));
    }
    fn location(&mut self, site: SiteId, location: Location) {
        let known = self.program.files.get(location.file).is_some();
        self.require(known, || format!("{site}: there is no {}", location.file));
    }
    fn in_tables(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Global(global, _) => self.program.globals.get(*global).is_some(),
            Operand::Function(function) => self.program.functions.get(*function).is_some(),
            Operand::Const(_) | Operand::Local(_) | Operand::Any => true,
        }
    }

    fn function(&mut self, id: FunctionId, function: &Function) {
        let mut body = Body { check: self, id, function, assigned: vec![0; function.locals.len()] };
        if function.params as usize > function.locals.len() {
            body.report(None, format!("{} parameters, {} locals", function.params, function.locals.len()));
            return;
        }
        body.assigned[..function.params as usize].fill(1);
        for (block_id, block) in function.blocks.iter_enumerated() {
            body.block(block_id, block);
        }
        for (local, count) in body.assigned.clone().into_iter().enumerate().filter(|(_, count)| *count != 1) {
            body.report(None, format!("{} is assigned {count} times", LocalId(local as u32)));
        }
    }
}

struct Body<'a, 'b> {
    check: &'a mut Check<'b>,
    id: FunctionId,
    function: &'a Function,
    /// How often each local is assigned.
    assigned: Vec<u32>,
}

impl Body<'_, '_> {
    fn report(&mut self, block: Option<BlockId>, message: String) {
        let block = block.map_or(String::new(), |b| format!(", {b}"));
        let message = format!("function `{}`{block}: {message}", self.function.symbol);
        self.check.report(Some(self.id), message);
    }

    fn block(&mut self, id: BlockId, block: &Block) {
        let mut phis_over = false;
        for statement in &block.statements {
            if let Some(site) = statement.site
                && self.check.program.sites.get(site).is_none()
            {
                self.report(Some(id), format!("there is no {site}"));
            }
            let stmt = &statement.stmt;
            let is_phi = matches!(stmt, Stmt::Assign { expr: Expr::Phi(_), .. });
            if is_phi && phis_over {
                self.report(Some(id), "a phi comes after another statement".to_owned());
            }
            phis_over |= !is_phi;
            for dst in stmt.assigns() {
                match self.assigned.get_mut(dst.0 as usize) {
                    Some(count) => *count += 1,
                    None => self.report(Some(id), format!("there is no local {dst}")),
                }
            }
            for operand in stmt.operands() {
                self.operand(id, &operand);
            }
            match stmt {
                Stmt::Assign { expr: Expr::Phi(sources), .. } => self.phi(id, sources),
                Stmt::Assign {
                    expr: Expr::Binary { bits, .. } | Expr::Compare { bits, .. } | Expr::Truncate { bits, .. },
                    ..
                } if !(1..=64).contains(bits) => self.report(Some(id), format!("{bits} bits; 1 to 64 are possible")),
                Stmt::Call { callee: Callee::Direct(function), .. }
                    if self.check.program.functions.get(*function).is_none() =>
                {
                    self.report(Some(id), format!("there is no {function}"));
                }
                Stmt::Alloca { ty: Some(ty), .. } if self.check.program.types.get(*ty).is_none() => {
                    self.report(Some(id), format!("there is no {ty}"));
                }
                _ => {}
            }
        }
        for operand in block.terminator.operands() {
            self.operand(id, &operand);
        }
        for target in block.terminator.targets() {
            if self.function.blocks.get(target).is_none() {
                self.report(Some(id), format!("jumps to {target}, which does not exist"));
            }
        }
    }

    fn phi(&mut self, id: BlockId, sources: &[(BlockId, Operand)]) {
        let comes_from = |(_, block): &(BlockId, &Block)| block.terminator.targets().contains(&id);
        let blocks = self.function.blocks.iter_enumerated();
        let predecessors: BTreeSet<BlockId> = blocks.filter(comes_from).map(|(from, _)| from).collect();
        let named: BTreeSet<BlockId> = sources.iter().map(|(block, _)| *block).collect();
        if named.len() != sources.len() {
            self.report(Some(id), "a phi names a block twice".to_owned());
        }
        if let Some(missing) = predecessors.difference(&named).next() {
            self.report(Some(id), format!("a phi has no value for {missing}, from which control comes"));
        }
        if let Some(extra) = named.difference(&predecessors).next() {
            self.report(Some(id), format!("a phi names {extra}, from which control does not come"));
        }
    }

    fn operand(&mut self, block: BlockId, operand: &Operand) {
        let known = match operand {
            Operand::Local(local) => self.function.locals.get(*local).is_some(),
            other => self.check.in_tables(other),
        };
        if !known {
            self.report(Some(block), format!("{operand:?} does not exist"));
        }
    }
}
