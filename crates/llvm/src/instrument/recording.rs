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

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTailCallKind, LLVMThreadLocalMode};
use model::SiteId;
use wire::log::{ADDRESS_BITS, BUFFER, MARGIN, SITES};

use super::{Weaver, thinning};
use crate::ir::{Block, Node, Ty, Value};

/// Logs a word.
pub(super) const LOG: &str = "__rp_log";
const VARIABLES: &str = "__rp_variables";
/// Bytes from the cursor to the site among a thread's variables.
const SITE_OFFSET: u64 = 16;

impl<'m> Weaver<'_, 'm> {
    /// Logs a plain access before it happens, unless it need not be; false if that takes more than one word.
    pub(super) fn log_access(&mut self, access: Value<'m>, address: Value<'m>, size: u32, site: SiteId) -> bool {
        if self.is_left_out(site) {
            return true;
        }
        if site.0 >= SITES {
            return false;
        }
        access.set_volatile(true);
        let first = self.logged_before(access, address);
        let writes = access.opcode() == Some(LLVMOpcode::LLVMStore);
        match first {
            Some(first) => {
                self.logged.accesses.insert(site, (writes, size));
                self.logged.together.entry(first).or_default().push(site);
            }
            None => self.log_word(writes, address, size, site),
        }
        true
    }

    /// Logs the one side of a copy that others may see, or a fill, as if it were a load or a store; false if that takes more
    /// than one word.
    pub(super) fn log_block(&mut self, writes: bool, address: Value<'m>, len: Value<'m>, site: SiteId) -> bool {
        let size = len.as_integer().and_then(|len| u32::try_from(len).ok());
        let Some(size) = size.filter(|_| self.is_recorded() && site.0 < SITES) else { return false };
        if !self.is_left_out(site) {
            self.log_word(writes, address, size, site);
        }
        true
    }

    fn is_left_out(&self, site: SiteId) -> bool {
        self.plan.recorded_without.is_some_and(|without| without.contains(&site))
    }

    fn log_word(&mut self, writes: bool, address: Value<'m>, size: u32, site: SiteId) {
        self.logged.accesses.insert(site, (writes, size));
        let address = self.insert.widened(address, false);
        self.insert.hook(LOG, &[address, self.insert.const_i64(site.0.into())]);
    }

    /// Where the calling thread keeps the site it is at.
    pub(super) fn thread_site(&self) -> Value<'m> {
        let variables = variables(self);
        self.insert.offset(variables, self.insert.const_i64(SITE_OFFSET))
    }
}

/// The variables of a thread: cursor, state of the recorder, site, table of what it has logged already and the number of its
/// last entry. Without a buffer, the cursor is that of a full one.
pub(super) fn variables<'m>(weaver: &Weaver<'_, 'm>) -> Value<'m> {
    let insert = &weaver.insert;
    weaver.module.global(VARIABLES).unwrap_or_else(|| {
        let module = weaver.module;
        let ty = module.struct_type(&[insert.i64, insert.ptr, insert.i32, insert.ptr, insert.i64]);
        let global = module.add_global(VARIABLES, ty);
        let content = [
            insert.const_i64(BUFFER as u64 - 1),
            insert.ptr.zero(),
            insert.const_i32(wire::NO_SITE),
            thinning::nothing(weaver),
            insert.const_i64(0),
        ];
        global.set_initializer(module.const_struct(&content, false));
        global.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        global.set_thread_local(LLVMThreadLocalMode::LLVMLocalExecTLSModel);
        global
    })
}

/// Defines the functions; to be called when all accesses have their hooks.
pub(super) fn define(weaver: &Weaver<'_, '_>) {
    define_local(weaver);
    define_cursor_in_memory(weaver);
    define_log(weaver);
    define_thread_main(weaver);
    mark_accesses(weaver);
}

/// Begins the body of the function with this name: the function and its entry block.
pub(super) fn function<'m>(
    weaver: &Weaver<'_, 'm>,
    name: &str,
    result: Ty<'m>,
    parameters: &[Ty<'m>],
) -> (Value<'m>, Block<'m>) {
    let function = weaver.module.declared_function(name, result.function(parameters));
    let entry = function.append_block("entry");
    weaver.insert.position_at_end(entry);
    weaver.insert.set_no_location();
    (function, entry)
}

/// `void *__rp_local(void)`: the calling thread's variables, for the recorder.
fn define_local(weaver: &Weaver<'_, '_>) {
    let variables = variables(weaver);
    function(weaver, "__rp_local", weaver.insert.ptr, &[]);
    weaver.insert.ret(Some(variables));
}

/// `void __rp_log(uint64_t address, uint64_t site)`.
fn define_log(weaver: &Weaver<'_, '_>) {
    let insert = &weaver.insert;
    let variables = variables(weaver);
    let (log, entry) = function(weaver, LOG, insert.void, &[insert.i64, insert.i64]);
    log.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    log.add_attribute("alwaysinline", 0);
    let [address, site] = log.parameters()[..] else { return };
    let in_memory = has_cursors_in_memory(weaver);
    let entry = if in_memory { entry } else { thinning::skip(weaver, log, (address, site)) };
    let [full, room] = ["full", "room"].map(|name| log.append_block(name));
    let cursor = marked(weaver, insert.load(insert.i64, variables), Memory::Cursor);
    cursor.set_volatile(in_memory);
    let used = insert.binary(LLVMOpcode::LLVMAnd, cursor, insert.const_i64(BUFFER as u64 - 1));
    let limit = insert.const_i64((BUFFER - MARGIN) as u64);
    let is_full = insert.compare(LLVMIntPredicate::LLVMIntUGT, used, limit);
    mark_unlikely(weaver, insert.branch(is_full, full, room));

    insert.position_at_end(full);
    let ty = insert.i64.function(&[insert.i64]);
    let flush = weaver.module.add_function("__rp_flush", ty);
    flush.add_attribute("nounwind", 0);
    flush.add_attribute("willreturn", 0);
    let fresh = marked(weaver, insert.call(ty, flush, &[cursor]), Memory::Words);
    insert.jump(room);

    insert.position_at_end(room);
    let end = insert.phi(insert.i64);
    end.add_incoming(entry, cursor);
    end.add_incoming(full, fresh);
    let pointer = insert.to_pointer(end);
    let site = insert.binary(LLVMOpcode::LLVMShl, site, insert.const_i64(ADDRESS_BITS.into()));
    let word = insert.binary(LLVMOpcode::LLVMOr, address, site);
    marked(weaver, insert.store(word, pointer), Memory::Words);
    let next = insert.binary(LLVMOpcode::LLVMAdd, end, insert.const_i64(8));
    marked(weaver, insert.store(next, variables), Memory::Cursor).set_volatile(in_memory);
    insert.ret(None);
}

/// Whether cursors have to be in memory all the time: where the program leaves handlers of signals by a jump, or sets them
/// in ways that the recorder does not follow. Other handlers have a cursor of their own.
fn has_cursors_in_memory(weaver: &Weaver<'_, '_>) -> bool {
    const HANDLE: [&str; 4] = ["signal", "bsd_signal", "__sysv_signal", "sigaction"];
    const JUMP: [&str; 6] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "setcontext", "swapcontext"];
    let uses = |name: &str| weaver.module.function(name).is_some();
    uses("sigset") || uses("sysv_signal") || HANDLE.into_iter().any(uses) && JUMP.into_iter().any(uses)
}

/// `const int __rp_cursor_in_memory`, for the recorder.
fn define_cursor_in_memory(weaver: &Weaver<'_, '_>) {
    let content = weaver.insert.const_i32(has_cursors_in_memory(weaver).into());
    weaver.module.define_global("__rp_cursor_in_memory", content).set_constant_global();
}

/// The first side of a branch is hardly ever taken.
pub(super) fn mark_unlikely<'m>(weaver: &Weaver<'_, 'm>, branch: Value<'m>) {
    let name = Node::string_of(weaver.module, "branch_weights");
    let weight = |n: u32| Node::constant(weaver.insert.const_i32(n));
    branch.attach(c"prof", Node::tuple(weaver.module, &[name, weight(1), weight(8000)]));
}

/// What kind of memory an instruction touches. No two kinds overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Memory {
    /// The thread's cursor.
    Cursor,
    /// The words of a buffer, and the table of what was logged.
    Words,
    /// The program's own.
    Program,
}

impl Memory {
    fn name(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::Words => "words",
            Self::Program => "program",
        }
    }
}

/// Marks for alias analysis what kind of memory an instruction touches.
pub(super) fn marked<'m>(weaver: &Weaver<'_, 'm>, instruction: Value<'m>, memory: Memory) -> Value<'m> {
    const NAME: &CStr = c"tbaa";
    let module = weaver.module;
    let zero = Node::constant(weaver.insert.const_i64(0));
    let root = Node::tuple(module, &[Node::string_of(module, "raceproof")]);
    let ty = Node::tuple(module, &[Node::string_of(module, memory.name()), root, zero]);
    instruction.attach(NAME, Node::tuple(module, &[ty, ty, zero]));
    instruction
}

/// Marks the program's loads and stores as such. Its own types for alias analysis, if it has any, say less than nothing:
/// which accesses are logged was decided without them.
fn mark_accesses(weaver: &Weaver<'_, '_>) {
    for (_, function) in weaver.plan.functions.defined() {
        let accesses = function.instructions().into_iter();
        let is_access = |i: &Value<'_>| matches!(i.opcode(), Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore));
        accesses.filter(is_access).for_each(|access| {
            marked(weaver, access, Memory::Program);
        });
    }
}

/// `void *__rp_thread_main(void *state)`: lets the recorder prepare the thread, then becomes the thread's own function.
/// No frame stays, so a thread that is ended in its middle unwinds as it would without the recorder.
fn define_thread_main(weaver: &Weaver<'_, '_>) {
    let insert = &weaver.insert;
    let (main, _) = function(weaver, "__rp_thread_main", insert.ptr, &[insert.ptr]);
    main.add_attribute("uwtable", 2);
    let ty = insert.ptr.function(&[insert.ptr]);
    let begin = weaver.module.add_function("__rp_thread_begin", ty);
    let start = insert.call(ty, begin, &main.parameters());
    let run = insert.load(insert.ptr, start);
    let argument = insert.load(insert.ptr, insert.offset(start, insert.const_i64(8)));
    let call = insert.call(ty, run, &[argument]);
    call.set_tail_call(LLVMTailCallKind::LLVMTailCallKindMustTail);
    insert.ret(Some(call));
}
