//! Functions, blocks and statements.
//!
//! Values are 64-bit integers; a pointer is a value too. Locals are in SSA form: each is a parameter or is assigned by
//! exactly one statement. Memory is bytes; a load or store states its size. Thread operations are statements of their
//! own ([`SyncOp`]), so that an analysis needs no table of `pthread_` names.

#![allow(missing_docs, reason = "fields of variants are explained by the variant")]

use std::collections::BTreeSet;

use model::index::{IndexVec, index_type};
use model::{LockMode, Order, SiteId};
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;
use crate::members::{Record, RecordId};
use crate::site::{FileId, Site};
use crate::types::{Type, TypeId};

index_type! {
    /// A function.
    pub struct FunctionId("fn");
    /// A global variable.
    pub struct GlobalId("g");
    /// A basic block of one function.
    pub struct BlockId("b");
    /// A local of one function, parameters first.
    pub struct LocalId("%");
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// What it was compiled for.
    pub architecture: Architecture,
    /// Source files.
    pub files: IndexVec<FileId, String>,
    /// Types that globals and allocations refer to.
    pub types: IndexVec<TypeId, Type>,
    /// Structs whose members sites access.
    pub records: IndexVec<RecordId, Record>,
    /// Global variables.
    pub globals: IndexVec<GlobalId, Global>,
    /// Functions, defined and external.
    pub functions: IndexVec<FunctionId, Function>,
    /// Every point with a visible effect; the ids are those of trace events.
    pub sites: IndexVec<SiteId, Site>,
    /// Constructs that could not be expressed, in order of appearance.
    pub unmodelled: Vec<Unmodelled>,
    /// Where the initial thread starts; `None` for sources without `main`.
    pub main: Option<FunctionId>,
}

/// A construct in the source that the language cannot express.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Unmodelled {
    /// Where; `None` for a whole module's property.
    pub site: Option<SiteId>,
    /// What, e.g. "inline assembly", "calls `frobnicate`, whose effect on memory is not known".
    pub what: String,
    /// The external function responsible, if there is one (`--assume-pure` takes this name).
    pub function: Option<String>,
}

impl Unmodelled {
    /// What is said of an access that several iterations of a loop may make at the same time, in one thread. It concerns
    /// two such accesses to the same memory, and nothing else.
    pub const LANES: &str = "runs in several lanes of a `simd` loop, which may touch the same memory";

    /// What is said of inline assembly whose accesses a run does not report. Its statements in the program have them.
    pub const UNSEEN_ASSEMBLY: &str = "inline assembly, whose accesses no run reports";

    /// What is said of an access to memory of another kind than that of variables.
    pub const SPECIAL_MEMORY: &str = "accesses memory in a special address space";

    /// What is said of a program whose handlers of signals may jump to where `setjmp` was called. Its edges say where that
    /// may be from, as far as locks and threads are concerned.
    pub const HANDLER_JUMPS: &str = "jumps, perhaps out of a handler of a signal";

    /// Whether it is a call at a certain place. A run of the instrumented program says when it reaches that, so it concerns
    /// those runs alone.
    pub fn is_announced(&self) -> bool {
        self.site.is_some() && self.function.is_some()
    }

    /// Whether it is about runs alone: the program has statements for it.
    pub fn is_about_runs(&self) -> bool {
        self.what == Self::UNSEEN_ASSEMBLY
    }

    /// Whether it is about an access in several lanes of a loop.
    pub fn is_about_lanes(&self) -> bool {
        self.what == Self::LANES
    }
}

impl Program {
    /// The sites that several lanes of a loop may execute at the same time.
    pub fn lanes(&self) -> BTreeSet<SiteId> {
        self.unmodelled.iter().filter(|entry| entry.is_about_lanes()).filter_map(|entry| entry.site).collect()
    }
}

/// A global variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Global {
    /// As the linker knows it.
    pub symbol: String,
    /// As in the source; a function's static variable is `f.counter`.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// Its type, if debug information has it.
    pub ty: Option<TypeId>,
    /// Initial content; shorter than `size` means zero from there on. Pointers inside are zero here and
    /// listed in `relocations`.
    pub init: Vec<u8>,
    /// Pointers in the initial content: byte offset and what they point to.
    pub relocations: Vec<(u64, Operand)>,
    /// Whether each thread has its own copy.
    pub thread_local: bool,
    /// Whether it is never written.
    pub constant: bool,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Function {
    /// As the linker knows it.
    pub symbol: String,
    /// As in the source (demangled).
    pub name: String,
    /// Number of parameters: the first locals.
    pub params: u32,
    /// All locals.
    pub locals: IndexVec<LocalId, Local>,
    /// Basic blocks, entry first; empty for an external function.
    pub blocks: IndexVec<BlockId, Block>,
}

/// A local.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Local {
    /// As in the source, if known. Two locals may have the same name.
    pub name: Option<String>,
}

/// A basic block.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Block {
    /// In order; phis first.
    pub statements: Vec<Statement>,
    /// How it ends.
    pub terminator: Terminator,
}

/// A statement with its site.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Statement {
    /// Its site; `None` for statements without a visible effect.
    pub site: Option<SiteId>,
    /// What.
    pub stmt: Stmt,
}

/// A value that needs no computation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// A number, or a null pointer (0).
    Const(i64),
    /// A local.
    Local(LocalId),
    /// The address of a global plus a number of bytes.
    Global(GlobalId, i64),
    /// The address of a function.
    Function(FunctionId),
    /// Any value: undefined, or not expressible (floating point, vectors).
    Any,
}

/// Binary arithmetic. Results wrap to the width given with the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    SRem,
    URem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

/// Comparisons; the result is 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CompareOp {
    Eq,
    Ne,
    SLt,
    SLe,
    SGt,
    SGe,
    ULt,
    ULe,
    UGt,
    UGe,
}

/// A computation without effect.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Expr {
    /// The value itself.
    Use(Operand),
    /// Arithmetic on numbers of `bits` bits (1 to 64), sign-extended.
    Binary { op: BinaryOp, bits: u8, left: Operand, right: Operand },
    /// A comparison of numbers of `bits` bits.
    Compare { op: CompareOp, bits: u8, left: Operand, right: Operand },
    /// Pointer arithmetic: `base + index * scale + offset`, staying in base's object.
    Offset { base: Operand, index: Operand, scale: i64, offset: i64 },
    /// `condition ? then : otherwise`.
    Select { condition: Operand, then: Operand, otherwise: Operand },
    /// Keeps the low `bits` bits of the value, sign- or zero-extended.
    Truncate { value: Operand, bits: u8, signed: bool },
    /// The value for the block from which control came.
    Phi(Vec<(BlockId, Operand)>),
}

/// The called function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// This function.
    Direct(FunctionId),
    /// The function this value points to.
    Indirect(Operand),
}

/// What an atomic read-modify-write does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum RmwOp {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    /// Signed maximum, minimum.
    Max,
    Min,
    UMax,
    UMin,
    /// Anything else; the new value is unknown.
    Other,
}

/// A statement. Every effect on memory or on other threads is one of these.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Stmt {
    /// Computes a local.
    Assign { dst: LocalId, expr: Expr },
    /// Reads `size` bytes, sign-extended.
    Load { dst: LocalId, address: Operand, size: u32, atomic: Option<Order> },
    /// Writes `size` bytes.
    Store { address: Operand, value: Operand, size: u32, atomic: Option<Order> },
    /// Atomically replaces the value at `address` by `op` of it and `value`; `dst` is the old value.
    Rmw { dst: LocalId, op: RmwOp, address: Operand, value: Operand, size: u32, order: Order },
    /// Atomically stores `new` if the value is `expected`. `dst` is the old value, `success` 0 or 1.
    CompareExchange {
        dst: LocalId,
        success: LocalId,
        address: Operand,
        expected: Operand,
        new: Operand,
        size: u32,
        order: Order,
        failure: Order,
    },
    /// A fence.
    Fence(Order),
    /// Copies `len` bytes (struct assignment, `memcpy`, `memmove`).
    Copy { to: Operand, from: Operand, len: Operand },
    /// Sets `len` bytes to the low byte of `value`.
    Fill { to: Operand, value: Operand, len: Operand },
    /// A local variable in memory, alive until the function returns.
    Alloca { dst: LocalId, size: Operand, name: Option<String>, ty: Option<TypeId> },
    /// A heap block; `zeroed` as by `calloc`.
    Alloc { dst: LocalId, size: Operand, zeroed: bool },
    /// Ends a heap block's life; freeing null does nothing.
    Free { address: Operand },
    /// Calls a function. A function without a body that is not in the library table has unknown effects.
    Call { dst: Option<LocalId>, callee: Callee, args: Vec<Operand> },
    /// Calls a library function whose effects are in [`crate::library`].
    Library { dst: Option<LocalId>, function: String, args: Vec<Operand> },
    /// A thread operation. `dst` is its result (0 for success), where it has one.
    Sync { dst: Option<LocalId>, op: SyncOp },
    /// Stops the run with an assertion failure if `condition` is 0.
    Assert { condition: Operand },
    /// Ends the program.
    Exit { code: Operand },
}

/// How an operation that may block waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TryMode {
    /// Blocks.
    Wait,
    /// Fails at once instead of blocking; the result is then nonzero.
    Try,
    /// May fail at any time while it would block.
    Timed,
}

/// Thread operations. Operands are addresses of the synchronisation objects.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SyncOp {
    /// Starts a thread in `function(arg)`; the result is its handle.
    Create { function: Operand, arg: Operand },
    /// Waits for a thread's end.
    Join { handle: Operand, mode: TryMode },
    /// Detaches a thread.
    Detach { handle: Operand },
    /// Ends the calling thread.
    ExitThread,
    /// Requests a thread's cancellation.
    Cancel { handle: Operand },
    /// The calling thread's handle.
    Current,
    /// Initialises a mutex, spin lock (`recursive: false`) or reader-writer lock.
    LockInit { lock: Operand, recursive: bool },
    /// Destroys a lock.
    LockDestroy { lock: Operand },
    /// Acquires a lock.
    Lock { lock: Operand, mode: LockMode, wait: TryMode },
    /// Releases a lock, in whichever mode it is held.
    Unlock { lock: Operand },
    /// Initialises a condition variable.
    CondInit { cond: Operand },
    /// Destroys a condition variable.
    CondDestroy { cond: Operand },
    /// Releases `lock`, waits on `cond`, acquires `lock` again.
    CondWait { cond: Operand, lock: Operand, wait: TryMode },
    /// Wakes one waiter.
    Signal { cond: Operand },
    /// Wakes all waiters.
    Broadcast { cond: Operand },
    /// Initialises a barrier for `count` threads.
    BarrierInit { barrier: Operand, count: Operand },
    /// Destroys a barrier.
    BarrierDestroy { barrier: Operand },
    /// Waits until all threads have arrived.
    BarrierWait { barrier: Operand },
    /// Initialises a semaphore.
    SemInit { sem: Operand, value: Operand },
    /// Destroys a semaphore.
    SemDestroy { sem: Operand },
    /// Increments the semaphore.
    SemPost { sem: Operand },
    /// Decrements the semaphore.
    SemWait { sem: Operand, wait: TryMode },
    /// The semaphore's value.
    SemGet { sem: Operand },
    /// Runs `function` if no thread has done so; blocks while another thread runs it.
    Once { control: Operand, function: Operand },
    /// Yields to other threads.
    Yield,
    /// Any value from `lo` to `hi`.
    Choose { lo: Operand, hi: Operand },
    /// Continues if the condition is not 0; otherwise the thread stays here for ever, without effect.
    Assume { condition: Operand },
    /// Starts a section of accesses and choices that no other thread interrupts.
    SectionBegin,
    /// Ends the section.
    SectionEnd,
    /// Starts an iteration of a loop; `again` is 0 for the first one. If the previous iteration only read memory, the
    /// thread waits until something it read has changed. Nothing else that lives from one iteration to the next may
    /// differ.
    Round { again: Operand },
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Terminator {
    /// Continues there.
    Goto(BlockId),
    /// Goes to `then` if the condition is not 0.
    Branch { condition: Operand, then: BlockId, otherwise: BlockId },
    /// Goes to the block of the equal value.
    Switch { value: Operand, cases: Vec<(i64, BlockId)>, default: BlockId },
    /// Goes to any of these (indirect jumps).
    Any(Vec<BlockId>),
    /// Goes to `then` if the [invoking statement](Block::invoking) returned, and to `handler` if it was left by an
    /// exception or a jump. What stands after that statement is executed only if it returned.
    Invoke { then: BlockId, handler: BlockId },
    /// Returns to the caller.
    Return(Option<Operand>),
    /// Leaves the function by an exception or a jump, for the handler of the statement that runs it. A call whose block
    /// does not end with [`Invoke`](Self::Invoke) is never left that way; the start routine of a thread ends with it.
    Resume,
    /// Never reached.
    Unreachable,
}

impl Block {
    /// The statement that [`Terminator::Invoke`] is about: the last one that may run other code.
    pub fn invoking(&self) -> Option<usize> {
        self.statements
            .iter()
            .rposition(|s| matches!(s.stmt, Stmt::Call { .. } | Stmt::Library { .. } | Stmt::Sync { .. }))
    }
}
