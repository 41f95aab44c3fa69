//! Exceptions as values: what handlers are given.
//!
//! Which throw leads to which handler is not followed: a handler is given any exception that the program throws, through
//! a variable of ours. Each thread has its own, unless the program keeps exceptions in `std::exception_ptr` or has them
//! kept (`std::future`), and so may pass them on. What libraries throw is memory of theirs.

use program::{Expr, GlobalId, LocalId, Operand, Stmt};

use super::body::Body;
use super::{Lowering, variable};
use crate::functions::Functions;

/// The variables with exceptions.
pub(super) struct Exceptions {
    /// Whether threads may pass exceptions on.
    shared: bool,
    /// Those that the program throws.
    own: Option<GlobalId>,
    /// Those that libraries throw.
    library: Option<GlobalId>,
}

impl Exceptions {
    pub(super) fn new(functions: &Functions<'_>) -> Self {
        let keeps = |name: &str| name.contains("exception_ptr") || name == "_ZSt17current_exceptionv";
        Self { shared: functions.table.iter().any(|f| keeps(&f.name())), own: None, library: None }
    }
}

impl<'m> Lowering<'_, 'm> {
    fn own_exception(&mut self) -> GlobalId {
        let shared = self.exceptions.shared;
        *self.exceptions.own.get_or_insert_with(|| self.program.globals.push(variable("exception", 8, !shared)))
    }

    fn library_exception(&mut self) -> GlobalId {
        *self.exceptions.library.get_or_insert_with(|| {
            let mut exception = variable("exception of a library", 8, false);
            exception.relocations.push((0, Operand::Any));
            self.program.globals.push(exception)
        })
    }
}

impl<'m> Body<'_, '_, 'm> {
    /// What a call of a library function throws or makes an exception of.
    pub(super) fn thrown(&mut self, name: &str, args: &[Operand]) {
        if matches!(name, "__cxa_throw" | "__cxa_init_primary_exception") {
            let address = Operand::Global(self.lowering.own_exception(), 0);
            self.emit_private(Stmt::Store { address, value: Self::arg(args, 0), size: 8, atomic: None });
        }
    }

    /// Loads what a handler is given.
    pub(super) fn take_exception(&mut self, dst: LocalId) {
        let (own, library) = (self.fresh(), self.fresh());
        let places = [(own, self.lowering.own_exception()), (library, self.lowering.library_exception())];
        for (local, global) in places {
            self.emit_private(Stmt::Load { dst: local, address: Operand::Global(global, 0), size: 8, atomic: None });
        }
        let (then, otherwise) = (Operand::Local(own), Operand::Local(library));
        self.assign(dst, Expr::Select { condition: Operand::Any, then, otherwise });
    }
}
