//! What a program for the recorder has of its own: the variables of a thread, and the code that logs an access.
//!
//! A plain access is one word at the thread's cursor. The code for it is a function that is always inlined: load the
//! cursor, ask for an empty buffer if its low bits say that this one is full, store the word, move the cursor. In a loop
//! the optimiser keeps the cursor in a register: by their types for alias analysis neither the program's accesses nor the
//! words nor the call for a new buffer touch the variable it is in. Other calls may, so it is up to date whenever the
//! recorder or another function runs. (Not in programs that jump out of signal handlers, which log too and cannot see
//! registers; other handlers are given a cursor of their own.)
//! Logged accesses are volatile: they stay where they are and as many as they are.

use std::ffi::CStr;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMMetadataRef, LLVMTypeRef};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTailCallKind, LLVMThreadLocalMode};
use model::SiteId;
use wire::log::{ADDRESS_BITS, BUFFER, MARGIN, SITES};

use super::{Weaver, seen};
use crate::value::Value;

/// Logs a word.
pub(super) const LOG: &str = "__rp_log";
const VARIABLES: &CStr = c"__rp_variables";
/// Bytes from the cursor to the site among a thread's variables.
const SITE_OFFSET: u64 = 16;

impl<'m> Weaver<'_, 'm> {
    /// Logs a plain access before it happens, unless it need not be; false if that takes more than one word.
    pub(super) fn log_access(&mut self, access: Value<'m>, address: Value<'m>, size: u32, site: SiteId) -> bool {
        if self.plan.recorded_without.is_some_and(|without| without.contains(&site)) {
            return true;
        }
        if site.0 >= SITES {
            return false;
        }
        unsafe { LLVMSetVolatile(access.raw(), 1) };
        let first = self.logged_before(access, address);
        let writes = access.opcode() == Some(LLVMOpcode::LLVMStore);
        self.logged.accesses.insert(site, (writes, size));
        if let Some(first) = first {
            self.logged.together.entry(first).or_default().push(site);
            return true;
        }
        let address = self.insert.widened(address, false);
        self.insert.hook(LOG, &[address, self.insert.const_i64(site.0.into())]);
        true
    }

    /// Where the calling thread keeps the site it is at.
    pub(super) fn thread_site(&self) -> Value<'m> {
        let variables = variables(self);
        self.insert.offset(variables, self.insert.const_i64(SITE_OFFSET))
    }
}

/// The variables of a thread: cursor, state of the recorder, site, table of what it has logged already. Without a buffer,
/// the cursor is that of a full one.
pub(super) fn variables<'m>(weaver: &Weaver<'_, 'm>) -> Value<'m> {
    let insert = &weaver.insert;
    unsafe {
        let module = weaver.module.as_mut_ptr();
        let known = LLVMGetNamedGlobal(module, VARIABLES.as_ptr());
        if !known.is_null() {
            return made(known);
        }
        let mut fields = [insert.i64, insert.ptr, insert.i32, insert.ptr];
        let ty = LLVMStructTypeInContext(insert.context(), fields.as_mut_ptr(), fields.len() as u32, 0);
        let global = LLVMAddGlobal(module, ty, VARIABLES.as_ptr());
        let mut content = [
            LLVMConstInt(insert.i64, BUFFER as u64 - 1, 0),
            LLVMConstNull(insert.ptr),
            LLVMConstInt(insert.i32, u64::from(wire::NO_SITE), 0),
            seen::nothing(weaver).raw(),
        ];
        let content = LLVMConstStructInContext(insert.context(), content.as_mut_ptr(), content.len() as u32, 0);
        LLVMSetInitializer(global, content);
        LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetThreadLocalMode(global, LLVMThreadLocalMode::LLVMLocalExecTLSModel);
        made(global)
    }
}

pub(super) fn made<'m>(value: inkwell::llvm_sys::prelude::LLVMValueRef) -> Value<'m> {
    unsafe { Value::from_raw(value) }.expect("raceproof bug: LLVM makes a value of well-typed operands")
}

/// Defines the functions; to be called when all accesses have their hooks.
pub(super) fn define(weaver: &Weaver<'_, '_>) {
    define_local(weaver);
    define_cursor_in_memory(weaver);
    define_log(weaver);
    define_thread_main(weaver);
    mark_accesses(weaver);
}

/// The function with this name and its entry block.
unsafe fn function(
    weaver: &Weaver<'_, '_>,
    name: &CStr,
    result: LLVMTypeRef,
    parameters: &mut [LLVMTypeRef],
) -> (inkwell::llvm_sys::prelude::LLVMValueRef, LLVMBasicBlockRef) {
    let insert = &weaver.insert;
    unsafe {
        let module = weaver.module.as_mut_ptr();
        let known = LLVMGetNamedFunction(module, name.as_ptr());
        let function = if known.is_null() {
            let ty = LLVMFunctionType(result, parameters.as_mut_ptr(), parameters.len() as u32, 0);
            LLVMAddFunction(module, name.as_ptr(), ty)
        } else {
            known
        };
        let entry = LLVMAppendBasicBlockInContext(insert.context(), function, c"entry".as_ptr());
        LLVMPositionBuilderAtEnd(insert.builder(), entry);
        LLVMSetCurrentDebugLocation2(insert.builder(), std::ptr::null_mut());
        (function, entry)
    }
}

unsafe fn attribute(
    weaver: &Weaver<'_, '_>,
    function: inkwell::llvm_sys::prelude::LLVMValueRef,
    name: &CStr,
    value: u64,
) {
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.to_bytes().len());
        let attribute = LLVMCreateEnumAttribute(weaver.insert.context(), kind, value);
        LLVMAddAttributeAtIndex(function, u32::MAX, attribute);
    }
}

/// `void *__rp_local(void)`: the calling thread's variables, for the recorder.
fn define_local(weaver: &Weaver<'_, '_>) {
    let insert = &weaver.insert;
    unsafe {
        let variables = variables(weaver);
        function(weaver, c"__rp_local", insert.ptr, &mut []);
        LLVMBuildRet(insert.builder(), variables.raw());
    }
}

/// `void __rp_log(uint64_t address, uint64_t site)`.
fn define_log(weaver: &Weaver<'_, '_>) {
    let insert = &weaver.insert;
    let builder = insert.builder();
    unsafe {
        let variables = variables(weaver);
        let (log, entry) = function(weaver, c"__rp_log", insert.void, &mut [insert.i64, insert.i64]);
        LLVMSetLinkage(log, LLVMLinkage::LLVMInternalLinkage);
        attribute(weaver, log, c"alwaysinline", 0);
        let [address, site] = [0, 1].map(|i| made(LLVMGetParam(log, i)));
        let in_memory = has_cursors_in_memory(weaver);
        let entry = if in_memory { entry } else { seen::skip(weaver, log, (address, site)) };
        let full = LLVMAppendBasicBlockInContext(insert.context(), log, c"full".as_ptr());
        let room = LLVMAppendBasicBlockInContext(insert.context(), log, c"room".as_ptr());
        let cursor = marked(weaver, insert.load(insert.i64, variables), c"cursor");
        LLVMSetVolatile(cursor.raw(), in_memory.into());
        let used = insert.binary(LLVMOpcode::LLVMAnd, cursor, insert.const_i64(BUFFER as u64 - 1));
        let limit = insert.const_i64((BUFFER - MARGIN) as u64);
        let is_full = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntUGT, used.raw(), limit.raw(), c"".as_ptr());
        let branch = LLVMBuildCondBr(builder, is_full, full, room);
        mark_unlikely(weaver, branch);

        LLVMPositionBuilderAtEnd(builder, full);
        let ty = LLVMFunctionType(insert.i64, [insert.i64].as_mut_ptr(), 1, 0);
        let flush = LLVMAddFunction(weaver.module.as_mut_ptr(), c"__rp_flush".as_ptr(), ty);
        attribute(weaver, flush, c"nounwind", 0);
        attribute(weaver, flush, c"willreturn", 0);
        let fresh = LLVMBuildCall2(builder, ty, flush, [cursor.raw()].as_mut_ptr(), 1, c"".as_ptr());
        let fresh = marked(weaver, made(fresh), c"words");
        LLVMBuildBr(builder, room);

        LLVMPositionBuilderAtEnd(builder, room);
        let place = LLVMBuildPhi(builder, insert.i64, c"".as_ptr());
        LLVMAddIncoming(place, [cursor.raw(), fresh.raw()].as_mut_ptr(), [entry, full].as_mut_ptr(), 2);
        let pointer = LLVMBuildIntToPtr(builder, place, insert.ptr, c"".as_ptr());
        let site = insert.binary(LLVMOpcode::LLVMShl, site, insert.const_i64(ADDRESS_BITS.into()));
        let word = insert.binary(LLVMOpcode::LLVMOr, address, site);
        marked(weaver, made(LLVMBuildStore(builder, word.raw(), pointer)), c"words");
        let next = insert.binary(LLVMOpcode::LLVMAdd, made(place), insert.const_i64(8));
        LLVMSetVolatile(marked(weaver, insert.store(next, variables), c"cursor").raw(), in_memory.into());
        LLVMBuildRetVoid(builder);
    }
}

/// Whether cursors have to be in memory all the time: where the program leaves handlers of signals by a jump, or sets them
/// in ways that the recorder does not look after. Other handlers have a cursor of their own.
fn has_cursors_in_memory(weaver: &Weaver<'_, '_>) -> bool {
    const HANDLE: [&CStr; 4] = [c"signal", c"bsd_signal", c"__sysv_signal", c"sigaction"];
    const JUMP: [&CStr; 6] = [c"longjmp", c"_longjmp", c"siglongjmp", c"__longjmp_chk", c"setcontext", c"swapcontext"];
    let module = weaver.module.as_mut_ptr();
    let uses = |name: &CStr| unsafe { !LLVMGetNamedFunction(module, name.as_ptr()).is_null() };
    uses(c"sigset") || uses(c"sysv_signal") || HANDLE.into_iter().any(uses) && JUMP.into_iter().any(uses)
}

/// `const int __rp_cursor_in_memory`, for the recorder.
fn define_cursor_in_memory(weaver: &Weaver<'_, '_>) {
    unsafe {
        let i32 = weaver.insert.i32;
        let global = LLVMAddGlobal(weaver.module.as_mut_ptr(), i32, c"__rp_cursor_in_memory".as_ptr());
        LLVMSetInitializer(global, LLVMConstInt(i32, u64::from(has_cursors_in_memory(weaver)), 0));
        LLVMSetGlobalConstant(global, 1);
    }
}

/// The buffer is hardly ever full.
unsafe fn mark_unlikely(weaver: &Weaver<'_, '_>, branch: inkwell::llvm_sys::prelude::LLVMValueRef) {
    unsafe {
        let context = weaver.insert.context();
        let name = c"branch_weights";
        let name = LLVMMDStringInContext2(context, name.as_ptr(), name.to_bytes().len());
        let weight = |n: u64| LLVMValueAsMetadata(LLVMConstInt(weaver.insert.i32, n, 0));
        let mut parts = [name, weight(1), weight(8000)];
        let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let kind = LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4);
        LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(context, node));
    }
}

/// Tells alias analysis what kind of memory an instruction touches: the thread's `cursor`, the `words` of a buffer, or the
/// `program`'s own. Nothing of one kind is another's.
pub(super) fn marked<'m>(weaver: &Weaver<'_, 'm>, instruction: Value<'m>, kind: &CStr) -> Value<'m> {
    unsafe {
        let context = weaver.insert.context();
        let text = |text: &CStr| LLVMMDStringInContext2(context, text.as_ptr(), text.to_bytes().len());
        let node = |parts: &mut [LLVMMetadataRef]| LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let zero = LLVMValueAsMetadata(weaver.insert.const_i64(0).raw());
        let root = node(&mut [text(c"raceproof")]);
        let ty = node(&mut [text(kind), root, zero]);
        let tag = LLVMMetadataAsValue(context, node(&mut [ty, ty, zero]));
        LLVMSetMetadata(instruction.raw(), LLVMGetMDKindIDInContext(context, c"tbaa".as_ptr(), 4), tag);
    }
    instruction
}

/// Marks the program's loads and stores as such. Its own types for alias analysis, if it has any, say less than nothing:
/// which accesses are logged was decided without them.
fn mark_accesses(weaver: &Weaver<'_, '_>) {
    for (_, function) in weaver.plan.functions.defined() {
        let accesses = function.instructions().into_iter();
        let is_access = |i: &Value<'_>| matches!(i.opcode(), Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore));
        accesses.filter(is_access).for_each(|access| {
            marked(weaver, access, c"program");
        });
    }
}

/// `void *__rp_thread_main(void *state)`: lets the recorder prepare the thread, then becomes the thread's own function.
/// No frame stays, so a thread that is ended in its middle unwinds as it would without the recorder.
fn define_thread_main(weaver: &Weaver<'_, '_>) {
    let insert = &weaver.insert;
    let builder = insert.builder();
    unsafe {
        let (main, _) = function(weaver, c"__rp_thread_main", insert.ptr, &mut [insert.ptr]);
        attribute(weaver, main, c"uwtable", 2);
        let mut parameter = [insert.ptr];
        let ty = LLVMFunctionType(insert.ptr, parameter.as_mut_ptr(), 1, 0);
        let module = weaver.module.as_mut_ptr();
        let begin = LLVMAddFunction(module, c"__rp_thread_begin".as_ptr(), ty);
        let start = made(LLVMBuildCall2(builder, ty, begin, [LLVMGetParam(main, 0)].as_mut_ptr(), 1, c"".as_ptr()));
        let run = insert.load(insert.ptr, start);
        let argument = insert.load(insert.ptr, insert.offset(start, insert.const_i64(8)));
        let call = LLVMBuildCall2(builder, ty, run.raw(), [argument.raw()].as_mut_ptr(), 1, c"".as_ptr());
        LLVMSetTailCallKind(call, LLVMTailCallKind::LLVMTailCallKindMustTail);
        LLVMBuildRet(builder, call);
    }
}
