//! Visiting the parts of statements: assigned locals, used values, jump targets.

use crate::ir::{BlockId, Callee, Expr, LocalId, Operand, Stmt, SyncOp, Terminator};

impl Stmt {
    /// The locals it assigns.
    pub fn assigns(&self) -> Vec<LocalId> {
        match self {
            Self::Assign { dst, .. }
            | Self::Load { dst, .. }
            | Self::Rmw { dst, .. }
            | Self::Alloca { dst, .. }
            | Self::Alloc { dst, .. } => vec![*dst],
            Self::CompareExchange { dst, success, .. } => vec![*dst, *success],
            Self::Call { dst, .. } | Self::Library { dst, .. } | Self::Sync { dst, .. } => {
                dst.iter().copied().collect()
            }
            Self::Store { .. }
            | Self::Fence(_)
            | Self::Copy { .. }
            | Self::Fill { .. }
            | Self::Free { .. }
            | Self::Assert { .. }
            | Self::Exit { .. } => Vec::new(),
        }
    }

    /// The values it uses.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Self::Assign { expr, .. } => expr.operands(),
            Self::Load { address, .. } | Self::Free { address } => vec![*address],
            Self::Store { address, value, .. } | Self::Rmw { address, value, .. } => vec![*address, *value],
            Self::CompareExchange { address, expected, new, .. } => vec![*address, *expected, *new],
            Self::Fence(_) => Vec::new(),
            Self::Copy { to, from, len } => vec![*to, *from, *len],
            Self::Fill { to, value, len } => vec![*to, *value, *len],
            Self::Alloca { size, .. } | Self::Alloc { size, .. } => vec![*size],
            Self::Call { callee, args, .. } => {
                let pointer = match callee {
                    Callee::Direct(_) => None,
                    Callee::Indirect(pointer) => Some(*pointer),
                };
                pointer.into_iter().chain(args.iter().copied()).collect()
            }
            Self::Library { args, .. } => args.clone(),
            Self::Sync { op, .. } => op.operands(),
            Self::Assert { condition } => vec![*condition],
            Self::Exit { code } => vec![*code],
        }
    }

    /// Whether it has a visible effect or creates an object; such statements have a site.
    pub fn is_visible(&self) -> bool {
        !matches!(self, Self::Assign { .. })
    }
}

impl Expr {
    /// The values it uses.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Self::Use(value) | Self::Truncate { value, .. } => vec![*value],
            Self::Binary { left, right, .. } | Self::Compare { left, right, .. } => vec![*left, *right],
            Self::Offset { base, index, .. } => vec![*base, *index],
            Self::Select { condition, then, otherwise } => vec![*condition, *then, *otherwise],
            Self::Phi(sources) => sources.iter().map(|(_, value)| *value).collect(),
        }
    }
}

impl SyncOp {
    /// The values it uses.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Self::Create { function, arg } => vec![*function, *arg],
            Self::Join { handle, .. } | Self::Detach { handle } | Self::Cancel { handle } => vec![*handle],
            Self::ExitThread | Self::Current | Self::Yield | Self::SectionBegin | Self::SectionEnd => Vec::new(),
            Self::Choose { lo, hi } => vec![*lo, *hi],
            Self::Assume { condition: value } | Self::Round { again: value } => vec![*value],
            Self::LockInit { lock, .. }
            | Self::LockDestroy { lock }
            | Self::Lock { lock, .. }
            | Self::Unlock { lock } => vec![*lock],
            Self::CondInit { cond } | Self::CondDestroy { cond } | Self::Signal { cond } | Self::Broadcast { cond } => {
                vec![*cond]
            }
            Self::CondWait { cond, lock, .. } => vec![*cond, *lock],
            Self::BarrierInit { barrier, count } => vec![*barrier, *count],
            Self::BarrierDestroy { barrier } | Self::BarrierWait { barrier } => vec![*barrier],
            Self::SemInit { sem, value } => vec![*sem, *value],
            Self::SemDestroy { sem } | Self::SemPost { sem } | Self::SemWait { sem, .. } | Self::SemGet { sem } => {
                vec![*sem]
            }
            Self::Once { control, function } => vec![*control, *function],
        }
    }
}

impl Terminator {
    /// The values it uses.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Self::Branch { condition, .. } => vec![*condition],
            Self::Switch { value, .. } => vec![*value],
            Self::Return(value) => value.iter().copied().collect(),
            Self::Goto(_) | Self::Any(_) | Self::Invoke { .. } | Self::Resume | Self::Unreachable => Vec::new(),
        }
    }

    /// Where it may go; a block may occur twice.
    pub fn targets(&self) -> Vec<BlockId> {
        match self {
            Self::Goto(to) => vec![*to],
            Self::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Self::Switch { cases, default, .. } => cases.iter().map(|(_, to)| *to).chain([*default]).collect(),
            Self::Any(blocks) => blocks.clone(),
            Self::Invoke { then, handler } => vec![*then, *handler],
            Self::Return(_) | Self::Resume | Self::Unreachable => Vec::new(),
        }
    }
}
