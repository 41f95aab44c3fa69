//! What an operand's value is made of: a base, perhaps an index, and a number of bytes.
//!
//! Assignments are followed through the function, so that `&p->items[i].lock` is `p + 48·i + 16` however many
//! statements compute it. Two operands with equal addresses have equal values while none of their locals is assigned
//! anew, because locals are in SSA form: whatever uses a local was computed after its base was.

use model::index::{Idx, IndexVec};
use program::{BinaryOp, BlockId, Expr, FunctionId, GlobalId, LocalId, Operand, Program, Stmt};

use crate::spot::Shift;

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// The value of a local that is not computed from another alone: a parameter, a loaded value, a result.
    Local(LocalId),
    /// A global's first byte.
    Global(GlobalId),
    /// A function.
    Function(FunctionId),
    /// Nothing: the value is a number.
    Number,
    /// Any value.
    Any,
}

/// `base + index · scale + offset`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    /// What it starts from.
    pub base: Base,
    /// A local and what it is multiplied by.
    pub index: Option<(LocalId, i64)>,
    /// Bytes added.
    pub offset: i64,
}

impl Address {
    /// The value of a local as it is.
    pub fn of_local(local: LocalId) -> Self {
        Self { base: Base::Local(local), index: None, offset: 0 }
    }
    fn number(value: i64) -> Self {
        Self { base: Base::Number, index: None, offset: value }
    }
    /// The same address so many bytes further.
    pub fn plus(self, bytes: i64) -> Option<Self> {
        Some(Self { offset: self.offset.checked_add(bytes)?, ..self })
    }
    /// How far it is from its base.
    pub fn shift(&self) -> Shift {
        let stride = self.index.map_or(0, |(_, scale)| scale.unsigned_abs());
        Shift { offset: self.offset, stride }
    }
    /// Bytes from this to the other, if that is the same in every run.
    pub fn distance(&self, other: &Self) -> Option<i64> {
        let same = self.base == other.base && self.index == other.index && self.base != Base::Any;
        other.offset.checked_sub(self.offset).filter(|_| same)
    }
    /// Whether its value depends on the local.
    pub fn mentions(&self, local: LocalId) -> bool {
        self.base == Base::Local(local) || self.index.is_some_and(|(index, _)| index == local)
    }
    /// Whether it means the same everywhere in the program.
    pub fn is_absolute(&self) -> bool {
        matches!(self.base, Base::Global(_) | Base::Function(_)) && self.index.is_none()
    }
}

/// The addresses of all locals.
pub struct Addresses {
    of: IndexVec<FunctionId, Vec<Address>>,
    defined: IndexVec<FunctionId, Vec<Option<(BlockId, u32)>>>,
}

impl Addresses {
    /// Follows all assignments.
    pub fn new(program: &Program) -> Self {
        let mut this = Self { of: IndexVec::new(), defined: IndexVec::new() };
        for function in &program.functions {
            let mut defined = vec![None; function.locals.len()];
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    for local in statement.stmt.assigns() {
                        if let Some(slot) = defined.get_mut(local.index()) {
                            *slot = Some((block_id, index as u32));
                        }
                    }
                }
            }
            let mut known: Vec<Option<Address>> = vec![None; function.locals.len()];
            for local in function.locals.ids() {
                follow(function, &defined, &mut known, local, 64);
            }
            let of = known.iter().enumerate().map(|(i, a)| a.unwrap_or(Address::of_local(LocalId::new(i)))).collect();
            this.of.push(of);
            this.defined.push(defined);
        }
        this
    }

    /// What an operand is made of.
    pub fn of(&self, function: FunctionId, operand: &Operand) -> Address {
        match operand {
            Operand::Local(local) => {
                let known = self.of[function].get(local.index());
                known.copied().unwrap_or(Address::of_local(*local))
            }
            other => constant(other),
        }
    }
    /// The statement that assigns a local; `None` for parameters.
    pub fn definition<'p>(&self, program: &'p Program, function: FunctionId, local: LocalId) -> Option<&'p Stmt> {
        let (block, index) = self.defined_at(function, local)?;
        Some(&program.functions[function].blocks[block].statements.get(index as usize)?.stmt)
    }
    /// Where a local is assigned.
    pub fn defined_at(&self, function: FunctionId, local: LocalId) -> Option<(BlockId, u32)> {
        *self.defined[function].get(local.index())?
    }
}

fn constant(operand: &Operand) -> Address {
    match operand {
        Operand::Const(n) => Address::number(*n),
        Operand::Local(local) => Address::of_local(*local),
        Operand::Global(global, offset) => Address { base: Base::Global(*global), index: None, offset: *offset },
        Operand::Function(function) => Address { base: Base::Function(*function), index: None, offset: 0 },
        Operand::Any => Address { base: Base::Any, index: None, offset: 0 },
    }
}

/// Works out a local's address and those it depends on, at most so many steps deep.
fn follow(
    function: &program::Function,
    defined: &[Option<(BlockId, u32)>],
    known: &mut [Option<Address>],
    local: LocalId,
    depth: u32,
) -> Address {
    let itself = Address::of_local(local);
    match known.get(local.index()) {
        Some(Some(address)) => return *address,
        Some(None) if depth > 0 => {}
        _ => return itself,
    }
    let definition = defined[local.index()].and_then(|(b, i)| function.blocks.get(b)?.statements.get(i as usize));
    let mut of = |operand: &Operand| match operand {
        Operand::Local(source) => follow(function, defined, known, *source, depth - 1),
        other => constant(other),
    };
    let address = match definition.map(|s| &s.stmt) {
        // What is not known has one value all the same.
        Some(Stmt::Assign { expr: Expr::Use(Operand::Any), .. }) => None,
        Some(Stmt::Assign { expr: Expr::Use(value), .. }) => Some(of(value)),
        Some(Stmt::Assign { expr: Expr::Offset { base, index, scale, offset }, .. }) => {
            let (base, index) = (of(base), of(index));
            add(base, index, *scale).and_then(|a| a.plus(*offset))
        }
        Some(Stmt::Assign { expr: Expr::Binary { op, bits: 32 | 64, left, right }, .. }) => match (op, left, right) {
            (BinaryOp::Add, value, Operand::Const(n)) | (BinaryOp::Add, Operand::Const(n), value) => of(value).plus(*n),
            (BinaryOp::Sub, value, Operand::Const(n)) => n.checked_neg().and_then(|n| of(value).plus(n)),
            _ => None,
        },
        _ => None,
    };
    let address = address.unwrap_or(itself);
    known[local.index()] = Some(address);
    address
}

/// `base + index · scale`, where that has one index.
fn add(base: Address, index: Address, scale: i64) -> Option<Address> {
    let bytes = index.offset.checked_mul(scale)?;
    match (base.base, index.base, index.index) {
        (Base::Number, ..) => None,
        (_, Base::Number, None) => base.plus(bytes),
        (_, Base::Local(local), None) if base.index.is_none() && scale != 0 => {
            Address { index: Some((local, scale)), ..base }.plus(bytes)
        }
        _ => None,
    }
}
