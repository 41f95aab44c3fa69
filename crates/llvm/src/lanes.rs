//! `simd` loops of OpenMP: loops whose iterations may run at the same time in one thread, in *lanes*.
//!
//! Variables that the directive or the body declares are each lane's own: `private`, `linear`, `lastprivate` and `reduction`
//! variables, the counter. All others are shared by the lanes, also locals of the function around the loop, which would become
//! registers: [`mark`] keeps those in memory, where two lanes are seen to touch the same. Whose a local is, debug information
//! says: clang puts the copies that a directive makes into a lexical block of the directive, where the counter `.omp.iv` is.
//!
//! [`mark`] comes before locals become registers, [`loops`] and [`executed`] after that.

use std::collections::BTreeSet;
use std::ffi::CStr;

use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::escape;
use crate::ir::{Block, Builder, Module, Node, Value};
use crate::loops::Flow;

/// What clang says of the branch back to the start of such a loop: to be vectorised, without regard to accesses whose
/// independence is promised, by so many iterations.
const ENABLE: &str = "llvm.loop.vectorize.enable";
const PARALLEL: &str = "llvm.loop.parallel_accesses";
const WIDTH: &str = "llvm.loop.vectorize.width";

/// The variable in which clang counts the iterations of a loop that a directive is for.
const COUNTER: &str = ".omp.iv";

/// Attached to a branch back to the start of a marked loop, with the number of iterations that may run together, 0 for any.
const LANES: &CStr = c"raceproof.lanes";
/// The first operand of what is attached: LLVM takes a node with nothing but a number for the number.
const MARK: &str = "raceproof";
/// Attached to locals that each lane has for itself.
const OWN: &CStr = c"raceproof.lane.own";

/// A marked loop.
pub(crate) struct LaneLoop<'m> {
    /// Where every iteration begins.
    pub(crate) header: Block<'m>,
    /// The blocks from which another iteration begins.
    pub(crate) again: BTreeSet<Block<'m>>,
    /// All blocks, the header included.
    pub(crate) blocks: Vec<Block<'m>>,
    /// Where control may go when it leaves.
    pub(crate) exits: BTreeSet<Block<'m>>,
    /// The locals in memory that each lane has for itself, as far as the loop can use them.
    pub(crate) own: Vec<Value<'m>>,
    /// How many iterations may run together; `None` for any number.
    pub(crate) together: Option<u32>,
}

/// Marks the loops of a module and what their lanes have of their own, and keeps in memory what they share.
pub(crate) fn mark(module: Module<'_>) {
    let functions = || module.functions().into_iter().filter(|function| !function.is_declaration());
    let branches = |function: Value<'_>| function.blocks().into_iter().any(|block| promised(block).is_some());
    if !functions().any(branches) {
        return;
    }
    module.use_debug_intrinsics();
    let builder = Builder::new(module);
    for function in functions().filter(|function| branches(*function)) {
        mark_function(&builder, function);
    }
}

fn mark_function<'m>(builder: &Builder<'m>, function: Value<'m>) {
    let declared = declarations(function);
    let flow = Flow::of(function);
    let mut shared = FxHashSet::default();
    for l in flow.loops() {
        let blocks: Vec<_> = l.blocks.iter().map(|block| flow.blocks[*block]).collect();
        let latches = blocks.iter().filter(|block| block.successors().contains(&flow.blocks[l.header]));
        let marks: Vec<_> = latches.filter_map(|block| Some((block.terminator()?, promised(*block)?))).collect();
        let counter = flow.blocks[l.header].instructions().into_iter().find_map(|instruction| {
            let declared = declared.get(&instruction.address()?)?;
            (declared.name == COUNTER).then_some(declared.at)
        });
        let Some(directive) = counter.filter(|_| !marks.is_empty()) else { continue };
        let name = Node::string_of(builder.module(), MARK);
        for (branch, together) in marks {
            let number = Node::constant(builder.const_i32(together.unwrap_or(0)));
            branch.attach(LANES, Node::tuple(builder.module(), &[name, number]));
        }
        let is_own = |local: Value<'m>| declared.get(&local).map(|local| is_inside(local.at, directive));
        for local in declared.keys().copied().filter(|local| is_own(*local) == Some(true)) {
            if local.opcode() == Some(LLVMOpcode::LLVMAlloca) {
                local.attach(OWN, Node::tuple(builder.module(), &[name]));
            }
        }
        for user in blocks.iter().flat_map(|block| block.instructions()) {
            let writes = user.opcode() != Some(LLVMOpcode::LLVMLoad);
            for local in user.operands().filter(|o| o.opcode() == Some(LLVMOpcode::LLVMAlloca)) {
                match is_own(local) {
                    // A temporary of clang's.
                    None => local.attach(OWN, Node::tuple(builder.module(), &[name])),
                    Some(false) if writes => drop(shared.insert(local)),
                    Some(_) => {}
                }
            }
        }
    }
    for local in function.instructions().into_iter().filter(|i| i.opcode() == Some(LLVMOpcode::LLVMAlloca)) {
        if shared.contains(&local) || local.node(OWN).is_none() && is_stored(local) {
            keep_in_memory(builder, local);
        }
    }
}

/// Whether the address of a local is put into a variable: a pointer in a register would make a register of the local too.
fn is_stored(local: Value<'_>) -> bool {
    local.users().iter().any(|user| user.opcode() == Some(LLVMOpcode::LLVMStore) && user.operand(0) == Some(local))
}

/// Gives a local a use that a register does not have: an address inside it, which nothing needs.
fn keep_in_memory<'m>(builder: &Builder<'m>, local: Value<'m>) {
    let Some(next) = local.next_instruction() else { return };
    builder.position_before(next);
    builder.set_no_location();
    builder.offset(local, builder.const_i64(1));
}

/// A local variable of the source, or one that clang made.
struct Declared<'m> {
    name: String,
    at: Node<'m>,
}

/// The locals of a function by their addresses.
fn declarations<'m>(function: Value<'m>) -> FxHashMap<Value<'m>, Declared<'m>> {
    let mut declared = FxHashMap::default();
    for call in function.instructions() {
        if call.called_function().is_none_or(|f| f.name() != "llvm.dbg.declare") {
            continue;
        }
        let node = |index| call.operand(index).and_then(Node::of);
        let (Some(local), Some(variable)) = (node(0).and_then(Node::value), node(1)) else { continue };
        if let (Some(name), Some(at)) = (variable.string(1), call.location()) {
            declared.insert(local, Declared { name, at });
        }
    }
    declared
}

/// Whether a place in the source is inside the scope that another one is in, perhaps in a function that was inlined there.
fn is_inside<'m>(at: Node<'m>, scope_of: Node<'m>) -> bool {
    let directive = scope_of.location_scope();
    let mut place = Some(at);
    while let Some(at) = place {
        // Operand 1 of a lexical block is the scope around it.
        let mut scope = at.location_scope();
        while let Some(inner) = scope.filter(|_| at.inlined_at() == scope_of.inlined_at()) {
            if Some(inner) == directive {
                return true;
            }
            scope = inner.operand(1).filter(|outer| outer.is_lexical_block());
        }
        place = at.inlined_at();
    }
    false
}

/// Of a block that ends with the branch back to the start of such a loop: how many iterations may run together at most.
fn promised(latch: Block<'_>) -> Option<Option<u32>> {
    let node = latch.terminator()?.node(c"llvm.loop")?;
    let properties: Vec<_> = node.operands().into_iter().flatten().collect();
    let property = |name: &str| properties.iter().find(|p| p.string(0).is_some_and(|known| known == name));
    let number = |name: &str| property(name).and_then(|p| p.operand(1)?.value()?.as_number());
    (number(ENABLE) == Some(1)).then_some(())?;
    if property(PARALLEL).is_some() {
        return Some(None);
    }
    Some(Some(u32::try_from(number(WIDTH)?).ok()?))
}

/// The marked loops of a function.
pub(crate) fn loops<'m>(function: Value<'m>) -> Vec<LaneLoop<'m>> {
    let together = |block: Block<'m>| block.terminator()?.node(LANES)?.operand(1)?.value()?.as_integer();
    if !function.blocks().into_iter().any(|block| together(block).is_some()) {
        return Vec::new();
    }
    let flow = Flow::of(function);
    let locals: Vec<_> = function.instructions().into_iter().filter(|i| is_own_local(*i)).collect();
    let of = |l: crate::loops::Loop| {
        let header = flow.blocks[l.header];
        let again = flow.predecessors(l.header).iter().filter(|block| l.blocks.contains(block));
        let again: BTreeSet<_> = again.map(|block| flow.blocks[*block]).collect();
        let together = again.iter().find_map(|block| together(*block))?;
        let leaves = |block: &usize| flow.successors(*block).iter().filter(|to| !l.blocks.contains(to));
        let exits = l.blocks.iter().flat_map(leaves).map(|block| flow.blocks[*block]).collect();
        let blocks = l.blocks.iter().map(|block| flow.blocks[*block]).collect();
        let is_usable = |local: &Value<'m>| {
            let block = flow.blocks.iter().position(|block| Some(*block) == local.block());
            block.is_some_and(|block| l.blocks.contains(&block) || flow.dominates(block, l.header))
        };
        let own = locals.iter().copied().filter(is_usable).collect();
        let together = u32::try_from(together).ok().filter(|together| *together > 0);
        Some(LaneLoop { header, again, blocks, exits, own, together })
    };
    flow.loops().into_iter().filter_map(of).collect()
}

/// Whether some loop of the module may run a limited number of iterations together.
pub(crate) fn has_limited(module: Module<'_>) -> bool {
    module.functions().into_iter().any(|function| loops(function).iter().any(|l| l.together.is_some()))
}

/// Whether a local is one that each lane has for itself.
pub(crate) fn is_own_local(local: Value<'_>) -> bool {
    local.opcode() == Some(LLVMOpcode::LLVMAlloca) && local.node(OWN).is_some()
}

/// What lanes of these loops execute: in the loops themselves, and in what is called there; without accesses to memory that
/// each lane has for itself, which the locals of a function that is called are. A call through a pointer, or of a function
/// without a body, which may have been given one to call (`qsort`), may be of any of these functions whose address is used.
pub(crate) fn executed<'m>(loops: &[LaneLoop<'m>], functions: &[Value<'m>]) -> BTreeSet<Value<'m>> {
    let inside: BTreeSet<_> = loops.iter().flat_map(|l| l.blocks.iter().copied()).collect();
    let all = inside.into_iter().flat_map(|block| block.instructions());
    let mut open: Vec<_> = all.map(|instruction| (instruction, false)).collect();
    let (mut called, mut found) = (FxHashSet::default(), BTreeSet::new());
    let mut by_address = None;
    while let Some((instruction, is_called)) = open.pop() {
        let is_own = |root: &Value<'m>| match root.opcode() {
            Some(LLVMOpcode::LLVMAlloca) => is_called || is_own_local(*root),
            _ => false,
        };
        let roots = instruction.address().map(escape::roots).unwrap_or_default();
        if roots.is_empty() || !roots.iter().all(is_own) {
            found.insert(instruction);
        }
        let callees: Vec<_> = match instruction.called_function() {
            Some(callee) if !callee.is_declaration() => vec![callee],
            Some(callee) if callee.is_intrinsic() => Vec::new(),
            _ if instruction.is_call() => by_address.get_or_insert_with(|| addressed(functions)).clone(),
            _ => Vec::new(),
        };
        for callee in callees {
            if called.insert(callee) {
                open.extend(callee.instructions().into_iter().map(|instruction| (instruction, true)));
            }
        }
    }
    found
}

/// Those functions that are used in another way than by calling them by their names.
fn addressed<'m>(functions: &[Value<'m>]) -> Vec<Value<'m>> {
    let is_call_of = |user: &Value<'m>, f: Value<'m>| user.callee() == Some(f) && user.arguments().all(|a| a != f);
    functions.iter().copied().filter(|f| !f.users().iter().all(|user| is_call_of(user, *f))).collect()
}
