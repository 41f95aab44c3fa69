//! Values of a region's code as sums: a base, a number, and variables times numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;

use model::SiteId;
use program::{BinaryOp, BlockId, CompareOp, Expr, FunctionId, LocalId, Operand, Program, Stmt, Terminator};
use rustc_hash::FxHashMap;

use super::body::{Place, SharedLoop, called};
use crate::flow_graph::FlowGraph;

/// Starts a loop with a block or chunks for each thread: which argument is the flag of the last iteration, and which the
/// first iteration.
const STATIC_INIT: &str = "__kmpc_for_static_init_";
/// The same for loops that are handed out: what starts the loop, and what gets the next chunk.
const DISPATCH_INIT: &str = "__kmpc_dispatch_init_";
const DISPATCH_NEXT: &str = "__kmpc_dispatch_next_";

/// What a value may depend on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Var {
    /// The thread's number in its team.
    Thread,
    /// The number of the iteration of a shared loop, in the loop with this header: different threads never execute the same
    /// one.
    Split(usize, BlockId),
    /// A local that counts the rounds of a loop inside.
    Counter(LocalId),
    /// The same in all threads of the team as long as the region lasts, by how it is computed.
    Uniform(String),
    /// One of these times a uniform value.
    Scaled(Box<Var>, String),
    /// The quotient of a thread's own value and a number, or the remainder.
    Quotient(Box<Form>, i64),
    Remainder(Box<Form>, i64),
    /// Anything else that a thread computes from its own values, by how it is computed.
    Own(String),
}

/// A base, if it is an address, plus a number, plus variables times numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Form {
    /// What all threads mean by the same address; or a variable of the code itself, which each thread has.
    pub(super) base: Option<String>,
    /// Whether the base is such a variable.
    pub(super) private: bool,
    pub(super) constant: i64,
    pub(super) terms: BTreeMap<Var, i64>,
    /// Whether nothing is known.
    pub(super) unknown: bool,
}

impl Form {
    fn number(constant: i64) -> Self {
        Self { constant, ..Self::default() }
    }

    fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    fn var(var: Var) -> Self {
        Self { terms: BTreeMap::from([(var, 1)]), ..Self::default() }
    }

    fn plus(mut self, other: &Self, times: i64) -> Self {
        if other.base.is_some() && (self.base.is_some() || times != 1) {
            return Self::unknown();
        }
        self.unknown |= other.unknown;
        if other.base.is_some() {
            (self.base, self.private) = (other.base.clone(), other.private);
        }
        let Some(constant) = other.constant.checked_mul(times).and_then(|sum| self.constant.checked_add(sum)) else {
            return Self::unknown();
        };
        self.constant = constant;
        for (var, coefficient) in &other.terms {
            let known = self.terms.entry(var.clone()).or_default();
            let Some(sum) = coefficient.checked_mul(times).and_then(|product| known.checked_add(product)) else {
                return Self::unknown();
            };
            *known = sum;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        self
    }

    /// Whether it is the same in all threads.
    fn is_uniform(&self) -> bool {
        !self.unknown && !self.private && self.terms.keys().all(|var| matches!(var, Var::Uniform(_)))
    }

    /// The number, if it is one.
    pub(super) fn as_number(&self) -> Option<i64> {
        (!self.unknown && self.base.is_none() && self.terms.is_empty()).then_some(self.constant)
    }

    /// Its value for a value of one variable, if it depends on nothing else but uniform values, which count as 0.
    pub(super) fn value(&self, by: &Var, value: i64) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (var, factor)| {
            let of_var = match var {
                _ if var == by => value,
                Var::Uniform(_) => 0,
                Var::Quotient(of, by_number) => of.own_value(by, value)?.checked_div(*by_number)?,
                Var::Remainder(of, by_number) => of.own_value(by, value)?.checked_rem(*by_number)?,
                _ => return None,
            };
            sum.checked_add(of_var.checked_mul(*factor)?)
        })
    }

    /// The same without uniform values.
    fn own_value(&self, by: &Var, value: i64) -> Option<i64> {
        let is_own =
            self.base.is_none() && !self.unknown && !self.terms.keys().any(|var| matches!(var, Var::Uniform(_)));
        if is_own { self.value(by, value) } else { None }
    }

    fn key(&self) -> String {
        format!("{:?} {} {:?}", self.base, self.constant, self.terms)
    }
}

/// The values of a region's code.
pub(super) struct Forms<'f> {
    program: &'f Program,
    code: FunctionId,
    graph: &'f FlowGraph,
    /// Whether this is the code of a region, which is told the number of its thread first.
    of_region: bool,
    definitions: FxHashMap<LocalId, (Place, &'f Stmt)>,
    /// The shared loops.
    pub(super) shared_loops: Vec<SharedLoop>,
    /// Variables that hold the first iteration of a chunk, with the loop.
    lower: FxHashMap<LocalId, usize>,
    /// Variables that are not 0 in the thread with the last iteration, with what starts the loop.
    pub(super) last_flags: FxHashMap<LocalId, Place>,
    /// Loads of what the region does not change.
    steady: FxHashMap<LocalId, bool>,
    known: RefCell<FxHashMap<LocalId, Form>>,
}

impl<'f> Forms<'f> {
    pub(super) fn new(
        program: &'f Program,
        code: FunctionId,
        graph: &'f FlowGraph,
        of_region: bool,
        changed: &dyn Fn(SiteId) -> bool,
    ) -> Self {
        let mut forms = Self {
            program,
            code,
            graph,
            of_region,
            definitions: FxHashMap::default(),
            shared_loops: Vec::new(),
            lower: FxHashMap::default(),
            last_flags: FxHashMap::default(),
            steady: FxHashMap::default(),
            known: RefCell::default(),
        };
        for (block, content) in program.functions[code].blocks.iter_enumerated() {
            for (index, statement) in content.statements.iter().enumerate() {
                if let Some(local) = defined(&statement.stmt) {
                    forms.definitions.insert(local, ((block, index), &statement.stmt));
                    let is_steady = statement.site.is_some_and(|site| !changed(site));
                    forms.steady.insert(local, is_steady);
                }
            }
        }
        forms.find_shared_loops();
        forms
    }

    /// The statement that assigns a local.
    pub(super) fn definition(&self, local: LocalId) -> Option<(Place, &'f Stmt)> {
        self.definitions.get(&local).copied()
    }

    fn find_shared_loops(&mut self) {
        let places = |forms: &Self| -> Vec<Place> {
            let blocks = &forms.program.functions[forms.code].blocks;
            let places = blocks.iter_enumerated();
            places.flat_map(|(block, content)| (0..content.statements.len()).map(move |index| (block, index))).collect()
        };
        let mut handed_out = Vec::new();
        for place in places(self) {
            let Some((name, args)) = called(self.program, self.code, place) else { continue };
            if name.starts_with(STATIC_INIT) {
                if let [_, _, _, Operand::Local(last), Operand::Local(lower), Operand::Local(upper), ..] = *args {
                    let bounds = self.stored(lower).zip(self.stored(upper));
                    self.lower.insert(lower, self.shared_loops.len());
                    self.last_flags.insert(last, place);
                    self.shared_loops.push(SharedLoop { init: place, bounds });
                }
            } else if name.starts_with(DISPATCH_INIT) {
                let number = |at: usize| match args.get(at) {
                    Some(Operand::Const(number)) => Some(*number),
                    _ => None,
                };
                handed_out.push((place, number(3).zip(number(4))));
            }
        }
        for place in places(self) {
            let Some((name, args)) = called(self.program, self.code, place) else { continue };
            if !name.starts_with(DISPATCH_NEXT) {
                continue;
            }
            let [_, _, Operand::Local(last), Operand::Local(lower), ..] = *args else { continue };
            // The loop that was started last on every way here.
            let before: Vec<_> =
                handed_out.iter().filter(|((block, _), _)| self.graph.dominates(*block, place.0)).collect();
            let started = before.iter().find(|one| before.iter().all(|other| self.graph.dominates(other.0.0, one.0.0)));
            if let Some((init, bounds)) = started {
                self.lower.insert(lower, self.shared_loops.len());
                self.last_flags.insert(last, *init);
                self.shared_loops.push(SharedLoop { init: *init, bounds: *bounds });
            }
        }
    }

    /// The only number that is stored in a variable, apart from what is computed.
    fn stored(&self, variable: LocalId) -> Option<i64> {
        let blocks = &self.program.functions[self.code].blocks;
        let mut numbers =
            blocks.iter().flat_map(|block| &block.statements).filter_map(|statement| match statement.stmt {
                Stmt::Store { address: Operand::Local(local), value: Operand::Const(number), .. }
                    if local == variable =>
                {
                    Some(number)
                }
                _ => None,
            });
        numbers.next().filter(|first| numbers.all(|number| number == *first))
    }

    /// A value as a sum.
    pub(super) fn of(&self, operand: Operand) -> Form {
        match operand {
            Operand::Const(number) => Form::number(number),
            Operand::Global(global, offset) => {
                if self.program.globals[global].thread_local {
                    return Form::unknown();
                }
                Form { base: Some(format!("global {global:?}")), constant: offset, ..Form::default() }
            }
            Operand::Function(_) | Operand::Any => Form::unknown(),
            Operand::Local(local) => {
                if let Some(known) = self.known.borrow().get(&local) {
                    return known.clone();
                }
                // A value that depends on itself is not known, except where a loop counts.
                self.known.borrow_mut().insert(local, Form::unknown());
                let form = self.local(local);
                self.known.borrow_mut().insert(local, form.clone());
                form
            }
        }
    }

    fn local(&self, local: LocalId) -> Form {
        if local.0 < self.program.functions[self.code].params {
            // The first two are where the library says the thread's number.
            return match local.0 {
                0 | 1 if self.of_region => Form { base: Some("number".to_owned()), private: true, ..Form::default() },
                n => Form { base: Some(format!("parameter {n}")), ..Form::default() },
            };
        }
        let Some((place, stmt)) = self.definition(local) else { return Form::unknown() };
        match stmt {
            Stmt::Alloca { .. } => {
                Form { base: Some(format!("variable {}", local.0)), private: true, ..Form::default() }
            }
            Stmt::Call { .. } => match called(self.program, self.code, place) {
                Some(("omp_get_thread_num" | "__kmpc_global_thread_num", _)) => Form::var(Var::Thread),
                Some(("omp_get_num_threads", _)) => Form::var(Var::Uniform("threads".to_owned())),
                _ => Form::unknown(),
            },
            Stmt::Load { address, size, atomic: None, .. } => self.load(local, *address, *size),
            Stmt::Assign { expr, .. } => self.expression(local, place, expr),
            _ => Form::unknown(),
        }
    }

    fn load(&self, local: LocalId, address: Operand, size: u32) -> Form {
        let from = self.of(address);
        if from.base.as_deref() == Some("number") && from.constant == 0 && from.terms.is_empty() {
            return Form::var(Var::Thread);
        }
        if from.unknown || from.base.is_none() || !from.is_uniform() || self.steady.get(&local) != Some(&true) {
            return Form::unknown();
        }
        let key = format!("load {size} [{}]", from.key());
        if size == self.program.architecture.pointer_size() {
            // It may be an address or a number. As a base it is added once; as a number it cannot be multiplied.
            Form { base: Some(key), ..Form::default() }
        } else {
            Form::var(Var::Uniform(key))
        }
    }

    fn expression(&self, local: LocalId, (block, _): Place, expr: &Expr) -> Form {
        match expr {
            Expr::Use(value) => self.of(*value),
            Expr::Truncate { value, bits, .. } if *bits >= 32 => self.of(*value),
            Expr::Offset { base, index, scale, offset } => {
                let index = self.of(*index);
                self.of(*base).plus(&index_form(&index), *scale).plus(&Form::number(*offset), 1)
            }
            Expr::Binary { op, bits, left, right } if *bits >= 32 => {
                let (left, right) = (index_form(&self.of(*left)), index_form(&self.of(*right)));
                match op {
                    BinaryOp::Add => left.plus(&right, 1),
                    BinaryOp::Sub => left.plus(&right, -1),
                    BinaryOp::Mul => product(&left, &right),
                    BinaryOp::Shl => match right.as_number() {
                        Some(by @ 0..=31) => Form::default().plus(&left, 1 << by),
                        _ => Form::unknown(),
                    },
                    BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem
                        if !left.unknown && right.is_uniform() =>
                    {
                        let key = format!("{op:?} [{}] [{}]", left.key(), right.key());
                        Form::var(match (op, right.as_number()) {
                            _ if left.is_uniform() => Var::Uniform(key),
                            (BinaryOp::SDiv, Some(by @ 1..)) => Var::Quotient(Box::new(left), by),
                            (BinaryOp::SRem, Some(by @ 1..)) => Var::Remainder(Box::new(left), by),
                            _ => Var::Own(key),
                        })
                    }
                    _ => Form::unknown(),
                }
            }
            Expr::Phi(incoming) => self.phi(local, block, incoming),
            _ => Form::unknown(),
        }
    }

    /// What a loop counts, or the same value on all ways.
    fn phi(&self, local: LocalId, block: BlockId, incoming: &[(BlockId, Operand)]) -> Form {
        let [(_, one), (_, other)] = incoming else { return Form::unknown() };
        for (start, next) in [(one, other), (other, one)] {
            let Operand::Local(next) = next else { continue };
            let Some((_, Stmt::Assign { expr: Expr::Binary { op: BinaryOp::Add, left, right, .. }, .. })) =
                self.definition(*next)
            else {
                continue;
            };
            let by = match (left, right) {
                (Operand::Local(counted), Operand::Const(step)) if *counted == local => *step,
                (Operand::Const(step), Operand::Local(counted)) if *counted == local => *step,
                _ => continue,
            };
            if let Operand::Local(start) = start
                && let Some((_, Stmt::Load { address: Operand::Local(variable), .. })) = self.definition(*start)
                && let Some(index) = self.lower.get(variable)
            {
                return if by == 1 { Form::var(Var::Split(*index, block)) } else { Form::unknown() };
            }
            return if self.graph.loops.iter().any(|l| l.header == block) {
                Form::var(Var::Counter(local))
            } else {
                Form::unknown()
            };
        }
        Form::unknown()
    }

    /// Whether a block is executed in rounds of the loop with this header: there what counts the rounds has a value of one.
    pub(super) fn is_round(&self, header: BlockId, block: BlockId) -> bool {
        block != header && self.graph.loops.iter().any(|l| l.header == header && l.contains(block))
    }

    /// The header of the loop whose rounds a local counts.
    pub(super) fn header(&self, counter: LocalId) -> Option<BlockId> {
        self.definition(counter).map(|((header, _), _)| header)
    }

    /// The first and the last value that a counter has inside of its loop, as sums.
    pub(super) fn range(&self, counter: LocalId) -> Option<(Form, Form)> {
        let ((header, _), Stmt::Assign { expr: Expr::Phi(incoming), .. }) = self.definition(counter)? else {
            return None;
        };
        let around = self.graph.loops.iter().find(|l| l.header == header)?;
        let start = incoming.iter().find(|(from, _)| !around.contains(*from)).map(|(_, start)| *start)?;
        let next = incoming.iter().find(|(from, _)| around.contains(*from)).map(|(_, next)| *next)?;
        let Operand::Local(next) = next else { return None };
        let (_, Stmt::Assign { expr: Expr::Binary { op: BinaryOp::Add, left, right, .. }, .. }) =
            self.definition(next)?
        else {
            return None;
        };
        let step = match (left, right) {
            (_, Operand::Const(step)) | (Operand::Const(step), _) => *step,
            _ => return None,
        };
        let Terminator::Branch { condition: Operand::Local(condition), then, otherwise } =
            &self.program.functions[self.code].blocks[header].terminator
        else {
            return None;
        };
        if !around.contains(*then) || around.contains(*otherwise) {
            return None;
        }
        let (_, Stmt::Assign { expr: Expr::Compare { op, left: Operand::Local(counted), right, .. }, .. }) =
            self.definition(*condition)?
        else {
            return None;
        };
        if *counted != counter {
            return None;
        }
        let (start, bound) = (self.of(start), index_form(&self.of(*right)));
        let one = Form::number(1);
        match (op, step > 0) {
            (CompareOp::SLt | CompareOp::ULt, true) => Some((start, bound.plus(&one, -1))),
            (CompareOp::SLe | CompareOp::ULe, true) => Some((start, bound)),
            (CompareOp::SGt | CompareOp::UGt, false) => Some((bound.plus(&one, 1), start)),
            (CompareOp::SGe | CompareOp::UGe, false) => Some((bound, start)),
            _ => None,
        }
    }
}

/// A number of 8 bytes that was loaded, as a variable.
fn index_form(form: &Form) -> Form {
    match &form.base {
        Some(base) if base.starts_with("load") && !form.unknown => {
            let mut number = Form { base: None, ..form.clone() };
            *number.terms.entry(Var::Uniform(base.clone())).or_default() += 1;
            number
        }
        Some(_) => Form::unknown(),
        None => form.clone(),
    }
}

fn product(left: &Form, right: &Form) -> Form {
    if left.unknown || right.unknown {
        return Form::unknown();
    }
    match (left.as_number(), right.as_number()) {
        (_, Some(number)) => Form::default().plus(left, number),
        (Some(number), _) => Form::default().plus(right, number),
        _ => {
            let (of, by) = if right.is_uniform() { (left, right) } else { (right, left) };
            let [(Var::Uniform(by), 1)] = by.terms.iter().collect::<Vec<_>>()[..] else { return Form::unknown() };
            if left.is_uniform() && right.is_uniform() || of.terms.keys().any(|var| matches!(var, Var::Scaled(..))) {
                return Form::unknown();
            }
            let mut scaled = Form::default();
            if of.constant != 0 {
                scaled.terms.insert(Var::Uniform(by.clone()), of.constant);
            }
            for (var, coefficient) in &of.terms {
                scaled.terms.insert(Var::Scaled(Box::new(var.clone()), by.clone()), *coefficient);
            }
            scaled
        }
    }
}

fn defined(stmt: &Stmt) -> Option<LocalId> {
    match stmt {
        Stmt::Assign { dst, .. } | Stmt::Load { dst, .. } | Stmt::Alloca { dst, .. } | Stmt::Alloc { dst, .. } => {
            Some(*dst)
        }
        Stmt::Call { dst, .. } | Stmt::Library { dst, .. } | Stmt::Sync { dst, .. } => *dst,
        _ => None,
    }
}
