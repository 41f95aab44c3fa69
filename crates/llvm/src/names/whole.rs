//! Structs that are copied, filled or freed through pointers to them ([`program::whole`]).
//!
//! A copy of so many bytes is of the smallest part of a struct that has them. Of how much is freed, the pointer's type alone
//! says something, and only where nothing shows that more is kept behind the struct's end: no part that goes on there, no
//! address that is computed byte by byte or struct by struct.

use std::collections::BTreeSet;

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;

use super::debug_type::DebugType;
use super::expression::{MAX_DEPTH, ValueNames};
use crate::ir::Value;

/// Functions that free a block and do nothing else.
const FREES: [&str; 5] = ["free", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm"];

/// An access to a struct with all that is in it.
pub(crate) struct WholeAccess {
    pub(crate) site: SiteId,
    /// It is read and copied elsewhere.
    pub(crate) is_source: bool,
    /// What the struct may be called.
    pub(crate) names: Vec<String>,
    /// `None` for whatever the block has.
    pub(crate) len: Option<u32>,
}

impl<'m> ValueNames<'_, 'm> {
    /// The accesses of an instruction to whole structs.
    pub(super) fn wholes(&self, site: SiteId, instruction: Value<'m>, found: &mut Vec<WholeAccess>) {
        let Some(function) = instruction.called_function() else { return };
        let name = function.name();
        let argument = |n| instruction.arguments().nth(n);
        let mut add = |is_source, ty: Option<DebugType<'m>>, len| {
            let names = ty.map(struct_names).unwrap_or_default();
            if !names.is_empty() {
                found.push(WholeAccess { site, is_source, names, len });
            }
        };
        if function.is_declaration() && FREES.contains(&name.as_str()) {
            let pointer = argument(0).and_then(|pointer| self.pointer(pointer, MAX_DEPTH));
            return add(false, pointer.and_then(|pointer| pointer.pointee), None);
        }
        let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        if !copies && !name.starts_with("llvm.memset.") {
            return;
        }
        let Some(len) = argument(2).and_then(Value::as_number).and_then(|len| u32::try_from(len).ok()) else { return };
        let part = |n| argument(n).and_then(|address| self.type_at(address, u64::from(len)));
        let holds = |ty: &DebugType<'m>| ty.size() >= u64::from(len) && len > 0;
        add(false, part(0).filter(holds), Some(len));
        if copies {
            add(true, part(1).filter(holds), Some(len));
        }
    }

    /// Notes the structs behind whose end an address computation may go.
    pub(super) fn goes_on(&self, instruction: Value<'m>, found: &mut BTreeSet<String>) {
        let base = match instruction.opcode() {
            Some(LLVMOpcode::LLVMGetElementPtr) => {
                let source = instruction.gep_source();
                let first = instruction.operand(1).and_then(Value::as_number);
                let by_struct = source.is_some_and(|ty| ty.struct_elements().is_some());
                if by_struct && first.is_some_and(|first| first != 0) {
                    found.extend(source.and_then(|ty| ty.struct_name()));
                }
                Some(instruction.part(0)).filter(|_| !by_struct)
            }
            Some(LLVMOpcode::LLVMPtrToInt) => Some(instruction.part(0)),
            _ => None,
        };
        let pointee = base.and_then(|base| self.pointer(base, MAX_DEPTH)).and_then(|pointer| pointer.pointee);
        found.extend(pointee.map(struct_names).into_iter().flatten());
    }
}

/// What a struct may be called; nothing for all else.
fn struct_names(ty: DebugType<'_>) -> Vec<String> {
    if ty.is_struct() { ty.aliases() } else { Vec::new() }
}
