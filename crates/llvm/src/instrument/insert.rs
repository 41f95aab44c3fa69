//! Inserting instructions around those of the program, and calls to the runtime's hooks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;

use inkwell::llvm_sys::LLVMOpcode;

use crate::ir::{Block, Builder, Module, Ty, Value};

/// Inserts instructions into one module: a builder that knows the runtime's hooks and variables.
pub(crate) struct Insert<'m> {
    builder: Builder<'m>,
    globals: RefCell<BTreeMap<&'static str, Value<'m>>>,
}

impl<'m> Deref for Insert<'m> {
    type Target = Builder<'m>;

    fn deref(&self) -> &Builder<'m> {
        &self.builder
    }
}

impl<'m> Insert<'m> {
    pub(crate) fn new(module: Module<'m>) -> Self {
        Self { builder: Builder::new(module), globals: RefCell::default() }
    }

    /// The next instructions go before this one and have its location in the source.
    pub(crate) fn before(&self, instruction: Value<'m>) {
        self.position_before(instruction);
        self.set_location_of(instruction);
    }

    /// The next instructions go right after this one, on the way on which it returns normally.
    pub(crate) fn after(&self, instruction: Value<'m>) {
        if instruction.opcode() == Some(LLVMOpcode::LLVMInvoke) {
            self.on_normal_edge(instruction);
        } else if let Some(next) = instruction.next_instruction() {
            self.position_before(next);
        }
        self.set_location_of(instruction);
    }

    /// Puts a block of its own on an invoke's normal edge, so that what is inserted runs for this call alone.
    fn on_normal_edge(&self, invoke: Value<'m>) {
        let (Some(source), Some(successor)) = (invoke.block(), invoke.normal_successor()) else { return };
        let edge = self.block_before(successor, c"returned");
        for phi in successor.instructions() {
            if phi.opcode() != Some(LLVMOpcode::LLVMPHI) {
                break;
            }
            self.redirect_phi(phi, source, edge);
        }
        invoke.set_normal_successor(edge);
        self.position_at_end(edge);
        let jump = self.jump(successor);
        self.position_before(jump);
    }

    /// Replaces a phi by one in which values from block `from` come from block `to`.
    fn redirect_phi(&self, phi: Value<'m>, from: Block<'m>, to: Block<'m>) {
        self.position_before(phi);
        let replacement = self.phi(phi.ty());
        for (block, value) in phi.incoming() {
            let value = if value == phi { replacement } else { value };
            replacement.add_incoming(if block == from { to } else { block }, value);
        }
        phi.replace_all_uses(replacement);
        phi.erase();
    }

    /// An array of 64-bit numbers in the frame of the function that `instruction` is in. Moves the insertion point.
    pub(crate) fn frame_array(&self, instruction: Value<'m>, len: u64) -> Value<'m> {
        let entry = instruction.function().and_then(|f| f.blocks().first().copied());
        let first = entry.and_then(|block| block.first_insertion_point()).unwrap_or(instruction);
        self.position_before(first);
        self.set_no_location();
        self.alloca(self.i64.array(len))
    }

    /// A variable of the runtime.
    pub(crate) fn runtime_variable(&self, name: &'static str, ty: Ty<'m>) -> Value<'m> {
        let module = self.module();
        let known = || module.global(name).unwrap_or_else(|| module.add_global(name, ty));
        *self.globals.borrow_mut().entry(name).or_insert_with(known)
    }

    /// Calls a `void` hook of the runtime. Its declaration has no attributes, so that it may do anything to memory:
    /// no access can be moved across it.
    pub(crate) fn hook(&self, name: &'static str, arguments: &[Value<'m>]) {
        self.call_hook(name, self.void, arguments);
    }

    /// The same with a hook that returns a 32-bit number.
    pub(crate) fn asking_hook(&self, name: &'static str, arguments: &[Value<'m>]) -> Value<'m> {
        self.call_hook(name, self.i32, arguments)
    }

    fn call_hook(&self, name: &'static str, result: Ty<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let types: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = result.function(&types);
        let declared = || self.module().declared_function(name, ty);
        let function = *self.globals.borrow_mut().entry(name).or_insert_with(declared);
        self.call(ty, function, arguments)
    }
}
