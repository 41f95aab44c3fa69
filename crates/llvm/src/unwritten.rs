//! Locals that are read before they are written, in the registers they are about to live in.
//!
//! A register that was never written has no value at all for LLVM, and code that depends on it is removed: the program that
//! is run would not be the one in the source. Each such local is given a value instead, a frozen one, which the controlled
//! runtime decides ([`crate::instrument`]) and proofs take for any value. A load that no write can reach is frozen where it
//! is made, so that it can be reported; where only some ways lead past the writes, the local is frozen where the function
//! begins.

use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Block, Builder, Module, Ty, Value};

/// Gives values to locals of the module that are about to become registers.
pub(crate) fn complete(module: Module<'_>) {
    let builder = Builder::new(module);
    for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        give_values(&builder, function);
    }
}

/// Whether the instruction is the value of a local that was never written.
pub(crate) fn is_value(instruction: Value<'_>) -> bool {
    instruction.opcode() == Some(LLVMOpcode::LLVMFreeze) && instruction.operand(0).is_some_and(Value::is_undefined)
}

/// Loads and stores of one local, by block and in their order.
type Accesses<'m> = FxHashMap<Block<'m>, Vec<Value<'m>>>;

fn give_values<'m>(builder: &Builder<'m>, function: Value<'m>) {
    let Some(entry) = function.blocks().first().copied() else { return };
    let leading: Vec<_> = entry.instructions().into_iter().take_while(is_local).collect();
    let Some(after_locals) = entry.instructions().get(leading.len()).copied() else { return };
    let registers: Vec<_> = leading.into_iter().filter(|local| becomes_register(*local)).collect();
    let mut locals: FxHashMap<_, _> = registers.iter().map(|local| (*local, Accesses::default())).collect();
    if locals.is_empty() {
        return;
    }
    for block in function.blocks() {
        for access in block.instructions() {
            if let Some(accesses) = access.address().and_then(|address| locals.get_mut(&address)) {
                accesses.entry(block).or_default().push(access);
            }
        }
    }
    for local in registers {
        let accesses = &locals[&local];
        let loads = early_loads(entry, accesses);
        let written = reached_by_writes(accesses);
        let is_written = |load: &Value<'m>| load.block().is_none_or(|block| written.contains(&block));
        let (some, never): (Vec<_>, Vec<_>) = loads.into_iter().partition(is_written);
        for load in never {
            builder.position_before(load);
            builder.set_location_of(load);
            load.replace_all_uses(builder.frozen(load.ty()));
            load.erase();
        }
        if !some.is_empty() {
            builder.position_before(after_locals);
            builder.set_no_location();
            builder.store(builder.frozen(local.allocated()), local);
        }
    }
}

fn is_local(instruction: &Value<'_>) -> bool {
    instruction.opcode() == Some(LLVMOpcode::LLVMAlloca)
}

/// Whether LLVM makes a register of a local, as it does when all uses load and store the whole of it.
fn becomes_register(local: Value<'_>) -> bool {
    let ty = local.allocated();
    let whole = |user: &Value<'_>| match user.opcode() {
        Some(LLVMOpcode::LLVMLoad) => user.ty() == ty && !user.is_volatile() && !user.is_atomic(),
        Some(LLVMOpcode::LLVMStore) => {
            user.operand(0).is_some_and(|stored| stored != local && stored.ty() == ty)
                && !user.is_volatile()
                && !user.is_atomic()
        }
        Some(LLVMOpcode::LLVMCall) => user.called_function().is_some_and(|f| f.name().starts_with("llvm.lifetime.")),
        _ => false,
    };
    is_scalar(ty) && local.users().iter().all(whole)
}

/// Whether a value of the type can decide a branch or an address.
fn is_scalar(ty: Ty<'_>) -> bool {
    use LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMPointerTypeKind};
    matches!(ty.kind(), LLVMIntegerTypeKind | LLVMPointerTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind)
}

fn is_store(access: &Value<'_>) -> bool {
    access.opcode() == Some(LLVMOpcode::LLVMStore)
}

/// The loads that some way reaches without a store.
fn early_loads<'m>(entry: Block<'m>, accesses: &Accesses<'m>) -> Vec<Value<'m>> {
    let (mut loads, mut seen, mut next) = (Vec::new(), FxHashSet::from_iter([entry]), vec![entry]);
    while let Some(block) = next.pop() {
        let here = accesses.get(&block).map_or(&[][..], Vec::as_slice);
        let early = here.iter().take_while(|access| !is_store(access));
        loads.extend(early.copied());
        if !here.iter().any(is_store) {
            next.extend(block.successors().into_iter().filter(|successor| seen.insert(*successor)));
        }
    }
    loads
}

/// The blocks that some way reaches after a store.
fn reached_by_writes<'m>(accesses: &Accesses<'m>) -> FxHashSet<Block<'m>> {
    let mut reached = FxHashSet::default();
    let stores = accesses.iter().filter(|(_, accesses)| accesses.iter().any(is_store));
    let mut next: Vec<_> = stores.flat_map(|(block, _)| block.successors()).collect();
    while let Some(block) = next.pop() {
        if reached.insert(block) {
            next.extend(block.successors());
        }
    }
    reached
}
