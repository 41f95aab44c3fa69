//! Structs as values: which numbers they consist of.
//!
//! The language has numbers only. A struct that an instruction results in is one local per number; a struct that a
//! function returns travels in a thread-local variable of that function, written before the return and read right
//! after the call.

use inkwell::llvm_sys::LLVMOpcode;
use program::{Expr, Global, GlobalId, Operand, Stmt};

use super::Lowering;
use super::body::Body;
use crate::ir::{Ty, Value};

/// A part of a type that is not a struct.
pub(super) struct Leaf<'m> {
    /// The members on the way to it.
    pub(super) path: Vec<u32>,
    pub(super) ty: Ty<'m>,
    /// In bytes.
    pub(super) offset: i64,
}

impl<'m> Body<'_, '_, 'm> {
    /// The values by predecessor; with a path, of that part of them.
    pub(super) fn phi(&mut self, phi: Value<'m>, path: &[u32]) -> Expr {
        // One entry per edge in LLVM, one per predecessor here; edges from one block agree.
        let mut incoming = Vec::new();
        for (block, value) in phi.incoming() {
            let entry = (self.comes_from(block, phi), self.extract(value, path));
            if !incoming.contains(&entry) {
                incoming.push(entry);
            }
        }
        Expr::Phi(incoming)
    }

    pub(super) fn phi_of_parts(&mut self, phi: Value<'m>) {
        for (index, dst) in self.parts(phi) {
            let expr = self.phi(phi, &[index]);
            self.assign(dst, expr);
        }
    }

    /// The numbers of a struct in memory. The access itself is a statement before.
    pub(super) fn load_parts(&mut self, instruction: Value<'m>, address: Operand) {
        let ty = instruction.ty();
        let elements = ty.struct_elements().unwrap_or_default();
        for (index, dst) in self.parts(instruction) {
            let layout = self.symbols().layout;
            let offset = layout.element_offset(ty, index) as i64;
            let size = layout.store_size(elements[index as usize]) as u32;
            let expr = self.offset(address, offset);
            let address = self.value_of(expr);
            self.emit(Stmt::Load { dst, address, size, atomic: None });
        }
    }

    /// Puts the numbers of a struct into memory, pointers to member functions among them; what is not a number
    /// may be any [address that cannot be followed](super::lost). The access itself is a statement before.
    pub(super) fn store_parts(&mut self, value: Value<'m>, address: Operand) {
        for Leaf { path, ty, offset } in self.leaves(value.ty()) {
            // The statement before stores a value that is one number.
            if path.is_empty() && (Self::is_scalar(ty) || ty.is_float()) {
                continue;
            }
            if !Self::is_scalar(ty) {
                self.store_lost(address, offset, ty);
            } else {
                let size = self.size(ty);
                let part = self.extract(value, &path);
                let expr = self.offset(address, offset);
                let address = self.value_of(expr);
                self.emit(Stmt::Store { address, value: part, size, atomic: None });
            }
        }
    }

    /// What a value of the type consists of that is not a struct.
    pub(super) fn leaves(&self, ty: Ty<'m>) -> Vec<Leaf<'m>> {
        let layout = self.symbols().layout;
        let (mut leaves, mut left) = (Vec::new(), vec![Leaf { path: Vec::new(), ty, offset: 0 }]);
        while let Some(Leaf { path, ty, offset }) = left.pop() {
            match ty.struct_elements() {
                None => leaves.push(Leaf { path, ty, offset }),
                Some(elements) => left.extend((0..).zip(elements).map(|(index, element)| Leaf {
                    path: [path.as_slice(), &[index]].concat(),
                    ty: element,
                    offset: offset + layout.element_offset(ty, index) as i64,
                })),
            }
        }
        leaves
    }

    /// Puts the numbers of a returned struct where the caller finds them.
    pub(super) fn return_parts(&mut self, value: Value<'m>) {
        let ty = value.ty();
        let Some(elements) = ty.struct_elements() else { return };
        let result = self.lowering.result_variable(self.function);
        for (index, element) in elements.into_iter().enumerate().filter(|(_, e)| Self::is_scalar(*e)) {
            let layout = self.symbols().layout;
            let address = Operand::Global(result, layout.element_offset(ty, index as u32) as i64);
            let size = layout.store_size(element) as u32;
            let value = self.extract(value, &[index as u32]);
            self.emit_private(Stmt::Store { address, value, size, atomic: None });
        }
    }

    /// Takes the numbers of the struct that a call returned.
    pub(super) fn returned_parts(&mut self, call: Value<'m>, callee: Value<'m>) {
        if self.parts(call).is_empty() {
            return;
        }
        let result = self.lowering.result_variable(callee);
        let site = self.site.take();
        self.load_parts(call, Operand::Global(result, 0));
        self.site = site;
    }

    /// A part of an aggregate value.
    pub(super) fn extract(&mut self, aggregate: Value<'m>, path: &[u32]) -> Operand {
        let mut at = aggregate;
        let mut path = path;
        loop {
            if path.is_empty() {
                return self.operand(at);
            }
            match at.opcode() {
                Some(LLVMOpcode::LLVMInsertValue) => {
                    let inserted = at.indices();
                    if let Some(rest) = path.strip_prefix(inserted.as_slice()) {
                        (at, path) = (at.part(1), rest);
                    } else if inserted.starts_with(path) {
                        return Operand::Any;
                    } else {
                        at = at.part(0);
                    }
                }
                Some(LLVMOpcode::LLVMExtractValue) => {
                    let mut whole = at.indices();
                    whole.extend(path);
                    return self.extract(at.part(0), &whole);
                }
                Some(_) => return self.part_of(at, path),
                None => {
                    let Some(element) = at.element(path[0]) else { return Operand::Any };
                    (at, path) = (element, &path[1..]);
                }
            }
        }
    }

    /// The operand that an expression is, or a local with its value.
    pub(super) fn value_of(&mut self, expr: Expr) -> Operand {
        match expr {
            Expr::Use(operand) => operand,
            expr => self.temporary(expr),
        }
    }
}

impl<'m> Lowering<'_, 'm> {
    /// The variable in which a function returns a struct.
    fn result_variable(&mut self, function: Value<'m>) -> GlobalId {
        if let Some(&known) = self.results.get(&function) {
            return known;
        }
        let size = self.symbols.layout.stride(function.value_type().result());
        let global = self.program.globals.push(Global {
            symbol: format!("{}.result", function.name()),
            name: format!("result of {}", crate::functions::source_name(function)),
            size,
            ty: None,
            init: Vec::new(),
            relocations: Vec::new(),
            thread_local: true,
            constant: false,
        });
        self.results.insert(function, global);
        global
    }
}
