//! Partitions of pointers: two pointers in different partitions never point to the same memory.
//!
//! Steensgaard's analysis: every assignment makes what both sides point to one class, in almost linear time. Coarser
//! than [`crate::points_to`]; the paper uses it to divide lock pointers before a finer analysis looks at each class.

use std::collections::{BTreeMap, BTreeSet};

use model::SiteId;
use model::index::IndexVec;
use petgraph::unionfind::UnionFind;
use program::{Expr, FunctionId, GlobalId, LocalId, Operand, Program, Stmt, SyncOp, Terminator};

use crate::address::Base;
use crate::points_to::PointsTo;

/// Classes of pointers.
pub struct Partitions {
    classes: UnionFind<u32>,
    /// What members of a class point to.
    target: Vec<Option<u32>>,
    locals: IndexVec<FunctionId, u32>,
    globals: IndexVec<GlobalId, u32>,
    functions: IndexVec<FunctionId, u32>,
}

impl Partitions {
    /// Divides all pointers of a program; calls are those that the points-to analysis found.
    pub fn new(program: &Program, points_to: &PointsTo) -> Self {
        let mut this = Self {
            classes: UnionFind::new_empty(),
            target: Vec::new(),
            locals: IndexVec::new(),
            globals: IndexVec::new(),
            functions: IndexVec::new(),
        };
        for function in &program.functions {
            let first = this.classes(function.locals.len() + 1);
            this.locals.push(first);
        }
        for _ in &program.globals {
            let class = this.classes(1);
            this.globals.push(class);
        }
        for _ in &program.functions {
            let class = this.classes(1);
            this.functions.push(class);
        }
        for (id, global) in program.globals.iter_enumerated() {
            for (_, target) in &global.relocations {
                if let Some(class) = this.points(points_to, FunctionId(0), target) {
                    let content = this.globals[id];
                    let content = this.target_of(content);
                    this.unify(content, class);
                }
            }
        }
        for (id, function) in program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    this.statement(program, points_to, (id, block_id, index), &statement.stmt);
                }
                if let Terminator::Return(Some(value)) = &block.terminator {
                    let result = this.locals[id] + function.locals.len() as u32;
                    this.assign(points_to, id, result, value);
                }
            }
        }
        this
    }

    /// The sites that take or release locks, by partition of the pointers they do it through.
    pub fn of_locks(&self, program: &Program, points_to: &PointsTo) -> Vec<Vec<SiteId>> {
        let mut groups: BTreeMap<u32, BTreeSet<SiteId>> = BTreeMap::new();
        for (id, function) in program.functions.iter_enumerated() {
            for statement in function.blocks.iter().flat_map(|b| &b.statements) {
                let Stmt::Sync { op: SyncOp::Lock { lock, .. } | SyncOp::Unlock { lock }, .. } = &statement.stmt else {
                    continue;
                };
                let (Some(site), Some(class)) = (statement.site, self.pointee(points_to, id, lock)) else { continue };
                groups.entry(class).or_default().insert(site);
            }
        }
        groups.into_values().map(|sites| sites.into_iter().collect()).collect()
    }
    /// Whether two operands may point to the same object.
    pub fn same(&self, points_to: &PointsTo, one: (FunctionId, &Operand), other: (FunctionId, &Operand)) -> bool {
        let (a, b) = (self.pointee(points_to, one.0, one.1), self.pointee(points_to, other.0, other.1));
        a.is_some() && a == b
    }
    fn pointee(&self, points_to: &PointsTo, function: FunctionId, operand: &Operand) -> Option<u32> {
        match points_to.addresses.of(function, operand).base {
            Base::Global(global) => Some(self.classes.find(self.globals[global])),
            Base::Function(f) => Some(self.classes.find(self.functions[f])),
            Base::Local(local) => {
                let class = self.classes.find(self.locals[function] + local.0);
                self.target[class as usize].map(|t| self.classes.find(t))
            }
            Base::Number | Base::Any => None,
        }
    }

    fn classes(&mut self, count: usize) -> u32 {
        let first = self.classes.len() as u32;
        for _ in 0..count {
            self.classes.new_set();
        }
        self.target.resize(self.classes.len(), None);
        first
    }
    fn target_of(&mut self, class: u32) -> u32 {
        let class = self.classes.find_mut(class) as usize;
        match self.target[class] {
            Some(target) => self.classes.find_mut(target),
            None => {
                let target = self.classes(1);
                self.target[class] = Some(target);
                target
            }
        }
    }
    /// Makes two classes one, and what they point to.
    fn unify(&mut self, one: u32, other: u32) {
        let mut open = vec![(one, other)];
        while let Some((one, other)) = open.pop() {
            let (one, other) = (self.classes.find_mut(one), self.classes.find_mut(other));
            if self.classes.union(one, other) {
                let targets = [one, other].map(|class| self.target[class as usize].take());
                let both = self.classes.find_mut(one) as usize;
                self.target[both] = targets[0].or(targets[1]);
                open.extend(targets[0].zip(targets[1]));
            }
        }
    }

    /// The class of what an operand points to.
    fn points(&mut self, points_to: &PointsTo, function: FunctionId, operand: &Operand) -> Option<u32> {
        match points_to.addresses.of(function, operand).base {
            Base::Local(local) => {
                let class = self.locals[function] + local.0;
                Some(self.target_of(class))
            }
            Base::Global(global) => Some(self.globals[global]),
            Base::Function(f) => Some(self.functions[f]),
            Base::Number | Base::Any => None,
        }
    }
    /// A variable is assigned: both point to the same from now on.
    fn assign(&mut self, points_to: &PointsTo, function: FunctionId, to: u32, value: &Operand) {
        if let Some(class) = self.points(points_to, function, value) {
            let target = self.target_of(to);
            self.unify(target, class);
        }
    }

    fn statement(
        &mut self,
        program: &Program,
        points_to: &PointsTo,
        place: crate::invocations::ProgramPoint,
        stmt: &Stmt,
    ) {
        let f = place.0;
        let local = |this: &Self, local: LocalId| this.locals[f] + local.0;
        match stmt {
            Stmt::Assign { dst, expr } => {
                let to = local(self, *dst);
                let values = match expr {
                    Expr::Compare { .. } => Vec::new(),
                    Expr::Select { then, otherwise, .. } => vec![*then, *otherwise],
                    other => other.operands(),
                };
                values.iter().for_each(|value| self.assign(points_to, f, to, value));
            }
            Stmt::Load { dst, address, .. }
            | Stmt::Rmw { dst, address, .. }
            | Stmt::CompareExchange { dst, address, .. } => {
                if let Some(object) = self.points(points_to, f, address) {
                    let content = self.target_of(object);
                    let to = local(self, *dst);
                    let to = self.target_of(to);
                    self.unify(content, to);
                }
                if let Stmt::Rmw { value, .. } | Stmt::CompareExchange { new: value, .. } = stmt {
                    self.store(points_to, f, address, value);
                }
            }
            Stmt::Store { address, value, .. } => self.store(points_to, f, address, value),
            Stmt::Copy { to, from, .. } => {
                if let (Some(a), Some(b)) = (self.points(points_to, f, to), self.points(points_to, f, from)) {
                    let (a, b) = (self.target_of(a), self.target_of(b));
                    self.unify(a, b);
                }
            }
            Stmt::Call { dst, args, .. } => {
                let callees = points_to.invoke(place).map_or(&[][..], |i| &i.callees).to_vec();
                for callee in callees {
                    let body = &program.functions[callee];
                    for (position, arg) in args.iter().enumerate().take(body.params as usize) {
                        let to = self.locals[callee] + position as u32;
                        self.assign(points_to, f, to, arg);
                    }
                    if let Some(dst) = dst {
                        let (to, result) = (local(self, *dst), self.locals[callee] + body.locals.len() as u32);
                        let (to, result) = (self.target_of(to), self.target_of(result));
                        self.unify(to, result);
                    }
                }
            }
            Stmt::Sync { op: SyncOp::Create { arg, .. }, .. } => {
                for callee in points_to.invoke(place).map_or(&[][..], |i| &i.callees).to_vec() {
                    if program.functions[callee].params > 0 {
                        let to = self.locals[callee];
                        self.assign(points_to, f, to, arg);
                    }
                }
            }
            Stmt::Library { dst: Some(dst), args, .. } => {
                let to = local(self, *dst);
                args.iter().for_each(|arg| self.assign(points_to, f, to, arg));
            }
            _ => {}
        }
    }
    fn store(&mut self, points_to: &PointsTo, f: FunctionId, address: &Operand, value: &Operand) {
        if let (Some(object), Some(class)) = (self.points(points_to, f, address), self.points(points_to, f, value)) {
            let content = self.target_of(object);
            self.unify(content, class);
        }
    }
}
