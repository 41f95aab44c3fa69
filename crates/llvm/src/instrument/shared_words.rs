//! One word of a recording for several accesses.
//!
//! `a[i] = a[i] + 1` reads and writes the same address with nothing in between that another thread could wait for or that
//! a record is made of. The word of the first access then stands for both, and the trace is the same: plain accesses
//! between two records of a thread have no order but program order.

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;

use super::Weaver;
use crate::ir::Value;

/// How many instructions back the search for an earlier access goes.
const BACK: usize = 64;
/// How many operations deep expressions of addresses are compared.
const DEPTH: u32 = 8;

impl<'m> Weaver<'_, 'm> {
    /// The site of an earlier access with a word of its own that an access to `address` in `instruction` can share.
    pub(super) fn logged_before(&self, instruction: Value<'m>, address: Value<'m>) -> Option<SiteId> {
        let mut at = instruction;
        for _ in 0..BACK {
            at = at.previous_instruction()?;
            match at.opcode()? {
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore if at.is_atomic() => return None,
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => {
                    let site = self.plan.sites.id(at).filter(|site| self.has_word(*site));
                    if let Some(site) = site.filter(|_| at.address().is_some_and(|a| is_same(a, address, DEPTH))) {
                        return Some(site);
                    }
                }
                LLVMOpcode::LLVMCall if is_silent(at) => {}
                LLVMOpcode::LLVMCall
                | LLVMOpcode::LLVMInvoke
                | LLVMOpcode::LLVMCallBr
                | LLVMOpcode::LLVMAtomicRMW
                | LLVMOpcode::LLVMAtomicCmpXchg
                | LLVMOpcode::LLVMFence
                | LLVMOpcode::LLVMVAArg => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether the accesses of a site have a word of their own.
    fn has_word(&self, site: SiteId) -> bool {
        let shares = || self.logged.together.values().any(|sites| sites.contains(&site));
        self.logged.accesses.contains_key(&site) && !shares()
    }
}

/// Whether a call only logs an access or is for a debugger.
fn is_silent(call: Value<'_>) -> bool {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    name == super::recording::LOG || name.starts_with("llvm.dbg.")
}

/// Whether two values computed in one block are certainly the same: the same operations on the same values.
fn is_same(one: Value<'_>, other: Value<'_>, depth: u32) -> bool {
    if one == other {
        return true;
    }
    let pure = matches!(
        one.opcode(),
        Some(
            LLVMOpcode::LLVMGetElementPtr
                | LLVMOpcode::LLVMSExt
                | LLVMOpcode::LLVMZExt
                | LLVMOpcode::LLVMTrunc
                | LLVMOpcode::LLVMAdd
                | LLVMOpcode::LLVMSub
                | LLVMOpcode::LLVMMul
                | LLVMOpcode::LLVMShl
                | LLVMOpcode::LLVMAnd
                | LLVMOpcode::LLVMURem
                | LLVMOpcode::LLVMSRem
        )
    );
    depth > 0
        && pure
        && one.opcode() == other.opcode()
        && one.ty() == other.ty()
        && one.gep_source() == other.gep_source()
        && one.operands().count() == other.operands().count()
        && one.operands().zip(other.operands()).all(|(a, b)| is_same(a, b, depth - 1))
}
