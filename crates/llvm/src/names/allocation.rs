//! The type of the object that a site brings into being.

use inkwell::llvm_sys::LLVMOpcode;
use program::library::{self, Role};

use super::debug_type::DebugType;
use super::expression::ValueNames;
use crate::ir::Value;

impl<'m> ValueNames<'_, 'm> {
    /// The type of a local, or of a heap block by what its address is assigned to.
    pub(super) fn allocated_type(&self, instruction: Value<'m>) -> Option<DebugType<'m>> {
        if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca) {
            return self.variables.at_address(instruction)?.ty;
        }
        let callee = instruction.called_function().filter(|f| f.is_declaration())?;
        let row = library::lookup(&callee.name())?;
        if !matches!(row.role, Role::Allocate { .. } | Role::Reallocate { .. }) {
            return None;
        }
        let pointee = self.variables.value(instruction).and_then(|v| v.ty).and_then(DebugType::pointee);
        pointee.or_else(|| instruction.users().into_iter().find_map(|user| self.pointee_by_use(instruction, user)))
    }

    /// What a use of a pointer says about what it points to.
    fn pointee_by_use(&self, pointer: Value<'m>, user: Value<'m>) -> Option<DebugType<'m>> {
        match user.opcode()? {
            LLVMOpcode::LLVMStore if user.operand(0) == Some(pointer) => self.type_at(user.part(1), 8)?.pointee(),
            LLVMOpcode::LLVMRet => {
                DebugType::signature(self.function.subprogram()?).first().copied().flatten()?.pointee()
            }
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                let function = user.called_function()?;
                let parameter = user.arguments().position(|a| a == pointer)?;
                let signature = DebugType::signature(function.subprogram()?);
                // A result in memory is a parameter that the signature does not have.
                if signature.len() != function.parameters().len() + 1 {
                    return None;
                }
                signature.get(parameter + 1).copied().flatten()?.pointee()
            }
            _ => None,
        }
    }
}
