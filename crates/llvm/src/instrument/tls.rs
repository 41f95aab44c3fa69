//! Thread-local variables: moved into one image of which the runtime gives each thread a copy.
//!
//! The program's threads share one operating-system thread, so real thread-local storage would be shared too. The
//! address of a variable becomes `__rp_tls_base + offset`.

use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMValueKind};

use super::Weaver;
use crate::intrinsics::{self, Intrinsic};
use crate::ir::Value;

/// Moves the program's own thread-local variables; those of libraries stay, and are listed as unmodelled.
pub(super) fn move_into_image(weaver: &mut Weaver<'_, '_>) {
    let (own, foreign): (Vec<_>, Vec<_>) =
        weaver.module.globals().into_iter().filter(|g| g.is_thread_local()).partition(|g| !g.is_declaration());
    for variable in foreign {
        let what = format!("uses the thread-local variable `{}` of a library", variable.name());
        weaver.unmodelled(None, what, None);
    }
    let mut image = Image::default();
    for variable in own {
        let offset = image.add(weaver, variable);
        if !replace(weaver, variable, offset) {
            let what = format!("uses the address of the thread-local variable `{}` as a constant", variable.name());
            weaver.unmodelled(None, what, None);
        } else if variable.users().is_empty() {
            variable.delete();
        }
    }
    image.define(weaver);
}

/// The initial content of a thread's variables.
struct Image<'m> {
    content: Vec<Value<'m>>,
    size: u64,
    align: u64,
}

impl Default for Image<'_> {
    fn default() -> Self {
        Self { content: Vec::new(), size: 0, align: 1 }
    }
}

impl<'m> Image<'m> {
    /// Appends a variable: its offset.
    fn add(&mut self, weaver: &Weaver<'_, 'm>, variable: Value<'m>) -> u64 {
        let layout = weaver.module.layout();
        let ty = variable.value_type();
        let align = u64::from(variable.alignment().max(layout.alignment(ty))).max(1);
        let offset = self.size.next_multiple_of(align);
        if offset > self.size {
            self.content.push(weaver.insert.i8.array(offset - self.size).zero());
        }
        let initial = variable.initializer().unwrap_or_else(|| ty.zero());
        self.content.push(initial);
        self.size = offset + layout.stride(ty).max(layout.stride(initial.ty()));
        self.align = self.align.max(align);
        offset
    }

    /// Defines `__rp_tls_image`, `__rp_tls_size` and `__rp_tls_align`.
    fn define(self, weaver: &Weaver<'_, 'm>) {
        let constant = |name: &str, value: Value<'m>, align: u32| {
            let global = weaver.module.define_global(name, value);
            global.set_constant_global();
            global.set_linkage(LLVMLinkage::LLVMExternalLinkage);
            global.set_alignment(align);
        };
        let image = weaver.module.const_struct(&self.content, true);
        constant("__rp_tls_image", image, u32::try_from(self.align).unwrap_or(1));
        constant("__rp_tls_size", weaver.insert.const_i64(self.size), 8);
        constant("__rp_tls_align", weaver.insert.const_i64(self.align), 8);
    }
}

/// Replaces all uses of a variable's address; false if some use remains.
fn replace<'m>(weaver: &Weaver<'_, 'm>, variable: Value<'m>, offset: u64) -> bool {
    variable.users().into_iter().all(|user| {
        if intrinsics::of_call(user) != Some(Intrinsic::ThreadLocal) {
            return replace_in(weaver, user, variable, &|weaver| address(weaver, offset));
        }
        weaver.insert.before(user);
        let address = address(weaver, offset);
        user.replace_all_uses(address);
        user.erase();
        true
    })
}

/// The variable's address, computed at the insertion point.
fn address<'m>(weaver: &Weaver<'_, 'm>, offset: u64) -> Value<'m> {
    let insert = &weaver.insert;
    let base = insert.runtime_variable("__rp_tls_base", insert.ptr);
    let base = insert.load(insert.ptr, base);
    insert.offset(base, insert.const_i64(offset))
}

type Compute<'c, 'w, 'm> = &'c dyn Fn(&Weaver<'w, 'm>) -> Value<'m>;

/// Replaces the constant `old` in one of its users by a computed value; through constant pointer arithmetic too.
fn replace_in<'w, 'm>(weaver: &Weaver<'w, 'm>, user: Value<'m>, old: Value<'m>, compute: Compute<'_, 'w, 'm>) -> bool {
    match user.kind() {
        LLVMValueKind::LLVMInstructionValueKind => {
            for index in (0..).zip(user.operands()).filter(|(_, o)| *o == old).map(|(i, _)| i).collect::<Vec<u32>>() {
                let at = if user.opcode() == Some(LLVMOpcode::LLVMPHI) {
                    user.incoming().get(index as usize).and_then(|(block, _)| block.terminator())
                } else {
                    Some(user)
                };
                let Some(at) = at else { return false };
                weaver.insert.before(at);
                let new = compute(weaver);
                user.set_operand(index, new);
            }
            true
        }
        LLVMValueKind::LLVMConstantExprValueKind if user.operation() == Some(LLVMOpcode::LLVMGetElementPtr) => {
            let Some(element) = user.gep_source() else { return false };
            let indices: Vec<_> = user.operands().skip(1).collect();
            let moved = |weaver: &Weaver<'w, 'm>| weaver.insert.element_address(element, compute(weaver), &indices);
            user.users().into_iter().all(|next| replace_in(weaver, next, user, &moved))
        }
        _ => false,
    }
}
