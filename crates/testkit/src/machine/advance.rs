//! What a thread does between two visible operations: it computes, jumps, calls and allocates until its next visible
//! operation or its end.

use std::collections::BTreeMap;

use model::{Addr, Region, SiteId, ThreadId};
use program::{Callee, Expr, LocalId, Operand, Program, Stmt, SyncOp, Terminator, arith};

use super::action::{Action, CompareExchange, InitKind, Wait};
use super::iteration::{IterationStart, Waiting};
use super::memory::{FUNCTION_STRIDE, FUNCTIONS, Memory, ObjectState};
use super::thread::{After, Next, Thread, entry};
use super::{Layout, Note};

/// Statements without a visible operation after which a thread counts as an endless loop.
const SILENT_STATEMENTS: u32 = 100_000;
/// Limit on the call depth.
const CALL_DEPTH: usize = 1_000;

/// Why a thread stops advancing.
pub(super) enum Halt {
    /// It executes this operation next.
    Announce(Next),
    /// It ends the process with this status.
    ExitProcess(i32),
    /// Its assertion fails.
    FailAssertion(Option<SiteId>),
    /// It crashes.
    Crash(String),
    /// Its assumption does not hold.
    Assume(Option<SiteId>),
    /// It loops for ever without a visible operation.
    Spin,
}

/// The parts of the machine that a thread uses on its own.
pub(super) struct Advance<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) handles: &'a BTreeMap<u64, ThreadId>,
    pub(super) memory: &'a mut Memory,
    pub(super) id: ThreadId,
    pub(super) thread: &'a mut Thread,
    pub(super) notes: &'a mut Vec<Note>,
    pub(super) waiting: Waiting,
}

impl Advance<'_> {
    /// Runs the thread up to its next visible operation.
    pub(super) fn run(&mut self) -> Halt {
        let program = self.program;
        for _ in 0..SILENT_STATEMENTS {
            let Some(frame) = self.thread.frames.last_mut() else {
                return Halt::Announce(Next { action: Action::Exit, site: None });
            };
            let block = &program.functions[frame.function].blocks[frame.block];
            let halt = match block.statements.get(frame.index) {
                Some(statement) => {
                    frame.index += 1;
                    self.thread.site = statement.site.or(self.thread.site);
                    self.statement(&statement.stmt, statement.site)
                }
                None => self.terminate(&block.terminator),
            };
            if let Err(halt) = halt {
                return halt;
            }
        }
        Halt::Spin
    }

    /// Silent statements return `Ok`; the others stop the thread.
    fn statement(&mut self, stmt: &Stmt, site: Option<SiteId>) -> Result<(), Halt> {
        let action = match stmt {
            Stmt::Assign { dst, expr } => {
                let value = self.compute(expr)?;
                self.thread.set(Some(*dst), value);
                return Ok(());
            }
            Stmt::Load { dst, address, size, atomic } => {
                Action::Load { dst: *dst, address: self.address(address), size: *size, atomic: *atomic }
            }
            Stmt::Store { address, value, size, atomic } => {
                Action::Store { address: self.address(address), value: self.value(value), size: *size, atomic: *atomic }
            }
            Stmt::Rmw { dst, op, address, value, size, order } => Action::Rmw {
                dst: *dst,
                op: *op,
                address: self.address(address),
                value: self.value(value),
                size: *size,
                order: *order,
            },
            Stmt::CompareExchange { dst, success, address, expected, new, size, order, failure } => {
                Action::CompareExchange(CompareExchange {
                    dst: *dst,
                    success: *success,
                    address: self.address(address),
                    expected: self.value(expected),
                    new: self.value(new),
                    size: *size,
                    order: *order,
                    failure: *failure,
                })
            }
            Stmt::Fence(order) => Action::Fence(*order),
            Stmt::Copy { to, from, len } => match self.address(len) {
                0 => return Ok(()),
                len => Action::Copy { to: self.address(to), from: self.address(from), len },
            },
            Stmt::Fill { to, value, len } => match self.address(len) {
                0 => return Ok(()),
                len => Action::Fill { to: self.address(to), value: self.value(value) as u8, len },
            },
            Stmt::Alloca { dst, size, .. } => return self.alloca(*dst, size, site),
            Stmt::Alloc { dst, size, .. } => {
                self.alloc(*dst, size, site);
                return Ok(());
            }
            Stmt::Free { address } => match self.address(address) {
                0 => return Ok(()),
                address => match self.memory.object(address).filter(|o| o.state != ObjectState::Variable) {
                    Some(block) => Action::Free { address, size: block.size() },
                    None => {
                        self.misuse(address, "frees an address that no allocation returned", site);
                        return Ok(());
                    }
                },
            },
            Stmt::Call { dst, callee, args } => return self.call(*dst, *callee, args, site),
            Stmt::Library { dst, function, .. } => {
                self.unmodelled(format!("calls the library function `{function}`"), site);
                self.thread.set(*dst, 0);
                return Ok(());
            }
            Stmt::Sync { dst, op } => match self.sync(*dst, op, site)? {
                Some(action) => action,
                None => return Ok(()),
            },
            Stmt::Assert { condition } => {
                return if self.value(condition) == 0 { Err(Halt::FailAssertion(site)) } else { Ok(()) };
            }
            Stmt::Exit { code } => return Err(Halt::ExitProcess(self.value(code) as i32)),
        };
        Err(Halt::Announce(Next { action, site }))
    }

    /// The action of a thread operation; `None` if it has no visible part.
    fn sync(&mut self, dst: Option<LocalId>, op: &SyncOp, site: Option<SiteId>) -> Result<Option<Action>, Halt> {
        let action = match op {
            SyncOp::Create { function, arg } => {
                let address = self.value(function);
                let function = self.layout.function_at(self.program, address).ok_or_else(|| no_function(address))?;
                if self.program.functions[function].blocks.is_empty() {
                    self.unmodelled(format!("starts a thread in `{}`, which has no body", self.name(function)), site);
                }
                Action::Create { dst, function, arg: self.value(arg) }
            }
            SyncOp::Join { handle, mode } => match self.thread_of(handle, dst, site) {
                Some(child) => Action::Join { dst, child, mode: *mode },
                None => return Ok(None),
            },
            SyncOp::Detach { handle } => match self.thread_of(handle, dst, site) {
                Some(child) => Action::Detach { dst, child },
                None => return Ok(None),
            },
            SyncOp::Cancel { handle } => match self.thread_of(handle, dst, site) {
                Some(target) => Action::Cancel { dst, target },
                None => return Ok(None),
            },
            SyncOp::ExitThread => Action::Exit,
            SyncOp::Current => {
                let handle = self.thread.slot.base() as i64;
                self.thread.set(dst, handle);
                return Ok(None);
            }
            SyncOp::LockInit { lock, recursive } => {
                Action::Init { dst, object: self.object(lock)?, kind: InitKind::Lock { recursive: *recursive } }
            }
            SyncOp::CondInit { cond } => Action::Init { dst, object: self.object(cond)?, kind: InitKind::Cond },
            SyncOp::BarrierInit { barrier, count } => Action::Init {
                dst,
                object: self.object(barrier)?,
                kind: InitKind::Barrier { count: self.value(count) as u32 },
            },
            SyncOp::SemInit { sem, value } => Action::Init {
                dst,
                object: self.object(sem)?,
                kind: InitKind::Semaphore { value: self.value(value) as u32 },
            },
            SyncOp::LockDestroy { lock: object }
            | SyncOp::CondDestroy { cond: object }
            | SyncOp::BarrierDestroy { barrier: object }
            | SyncOp::SemDestroy { sem: object } => Action::Destroy { dst, object: self.object(object)? },
            SyncOp::Lock { lock, mode, wait } => {
                Action::Lock { dst, lock: self.object(lock)?, mode: *mode, wait: *wait }
            }
            SyncOp::Unlock { lock } => Action::Unlock { dst, lock: self.object(lock)? },
            SyncOp::CondWait { cond, lock, wait } => Action::WaitBegin {
                wait: Wait { dst, cond: self.object(cond)?, lock: self.object(lock)?, mode: *wait },
            },
            SyncOp::Signal { cond } => Action::Signal { dst, cond: self.object(cond)? },
            SyncOp::Broadcast { cond } => Action::Broadcast { dst, cond: self.object(cond)? },
            SyncOp::BarrierWait { barrier } => Action::BarrierArrive { dst, barrier: self.object(barrier)? },
            SyncOp::SemPost { sem } => Action::SemPost { dst, sem: self.object(sem)? },
            SyncOp::SemWait { sem, wait } => Action::SemWait { dst, sem: self.object(sem)?, wait: *wait },
            SyncOp::SemGet { sem } => Action::SemGet { dst, sem: self.object(sem)? },
            SyncOp::Once { control, function } => {
                let address = self.value(function);
                let function = self.layout.function_at(self.program, address).ok_or_else(|| no_function(address))?;
                Action::OnceBegin { dst, control: self.object(control)?, function }
            }
            SyncOp::Yield => Action::Yield { dst },
            SyncOp::Choose { lo, hi } => {
                let (lo, hi) = (self.value(lo), self.value(hi));
                Action::Choose { dst, lo, hi: hi.max(lo) }
            }
            SyncOp::Assume { condition } => {
                return if self.value(condition) == 0 { Err(Halt::Assume(site)) } else { Ok(None) };
            }
            SyncOp::SectionBegin if self.thread.in_section => return Ok(None),
            SyncOp::SectionBegin => Action::Section,
            SyncOp::SectionEnd if self.thread.in_section => Action::SectionEnd,
            SyncOp::SectionEnd => return Ok(None),
            SyncOp::Round { again } => {
                let again = self.value(again) != 0;
                match self.thread.next_iteration(again, self.waiting) {
                    IterationStart::After(cells) => Action::Await { cells },
                    IterationStart::AtOnce => return Ok(None),
                    IterationStart::Never => return Err(Halt::Assume(site)),
                }
            }
        };
        Ok(Some(action))
    }

    fn terminate(&mut self, terminator: &Terminator) -> Result<(), Halt> {
        match terminator {
            Terminator::Goto(to) => self.jump(*to),
            Terminator::Branch { condition, then, otherwise } => {
                let to = if self.value(condition) != 0 { *then } else { *otherwise };
                self.jump(to);
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.value(value);
                self.jump(cases.iter().find(|(case, _)| *case == value).map_or(*default, |(_, to)| *to));
            }
            Terminator::Any(blocks) => {
                let Some(first) = blocks.first() else { return Err(Halt::Crash("jumps nowhere".into())) };
                self.unmodelled("makes a jump whose target is not known; the first one is taken".into(), None);
                self.jump(*first);
            }
            Terminator::Return(value) => {
                let value = value.as_ref().map_or(0, |v| self.value(v));
                return self.leave(value);
            }
            Terminator::Invoke { then, .. } => self.jump(*then),
            Terminator::Resume => return self.unwind(),
            Terminator::Unreachable => return Err(Halt::Crash("reaches code marked unreachable".into())),
        }
        Ok(())
    }

    /// Jumps to a block and assigns its phis simultaneously, from the values before the jump.
    fn jump(&mut self, to: program::BlockId) {
        let Some(frame) = self.thread.frames.last_mut() else { return };
        let from = frame.block;
        (frame.from, frame.block, frame.index) = (Some(from), to, 0);
        let statements = &self.program.functions[frame.function].blocks[to].statements;
        let mut values = Vec::new();
        for statement in statements {
            let Stmt::Assign { dst, expr: Expr::Phi(sources) } = &statement.stmt else { break };
            let value = sources.iter().find(|(block, _)| *block == from).map_or(0, |(_, v)| self.value(v));
            values.push((*dst, value));
        }
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.index = values.len();
        }
        for (dst, value) in values {
            self.thread.set(Some(dst), value);
        }
    }

    fn leave(&mut self, value: i64) -> Result<(), Halt> {
        let Some(frame) = self.thread.frames.pop() else { return Ok(()) };
        match frame.after {
            After::Thread if self.id == ThreadId::MAIN => Err(Halt::ExitProcess(value as i32)),
            After::Thread => Err(Halt::Announce(Next { action: Action::Exit, site: None })),
            After::Call(dst) => {
                self.thread.set(dst, value);
                Ok(())
            }
            After::Once { dst, control, site } => {
                Err(Halt::Announce(Next { action: Action::OnceEnd { dst, control }, site }))
            }
        }
    }

    /// Leaves a function for the handler of its call.
    fn unwind(&mut self) -> Result<(), Halt> {
        if !matches!(self.thread.frames.last().map(|frame| &frame.after), Some(After::Call(_))) {
            return self.leave(0);
        }
        self.thread.frames.pop();
        let caller = self.thread.frames.last();
        let end = caller.map(|f| &self.program.functions[f.function].blocks[f.block].terminator);
        match end {
            Some(Terminator::Invoke { handler, .. }) => {
                self.jump(*handler);
                Ok(())
            }
            _ => Err(Halt::Crash("leaves a call that has no handler".into())),
        }
    }

    fn call(
        &mut self,
        dst: Option<LocalId>,
        callee: Callee,
        args: &[Operand],
        site: Option<SiteId>,
    ) -> Result<(), Halt> {
        let function = match callee {
            Callee::Direct(function) => function,
            Callee::Indirect(operand) => {
                let address = self.value(&operand);
                self.layout.function_at(self.program, address).ok_or_else(|| no_function(address))?
            }
        };
        let body = &self.program.functions[function];
        if body.blocks.is_empty() {
            self.unmodelled(format!("calls `{}`, which has no body", body.name), site);
            self.thread.set(dst, 0);
            return Ok(());
        }
        if self.thread.frames.len() >= CALL_DEPTH {
            return Err(Halt::Crash("stack overflow".into()));
        }
        let args: Vec<i64> = args.iter().take(body.params as usize).map(|a| self.value(a)).collect();
        self.thread.frames.push(entry(function, body.locals.len(), &args, After::Call(dst)));
        Ok(())
    }

    fn alloca(&mut self, dst: LocalId, size: &Operand, site: Option<SiteId>) -> Result<(), Halt> {
        let size = self.address(size);
        let start = self.thread.allocate_local(size).ok_or_else(|| Halt::Crash("stack overflow".into()))?;
        self.place(dst, start, size, Region::Stack, site);
        Ok(())
    }

    /// A heap block, or null when the heap is full.
    fn alloc(&mut self, dst: LocalId, size: &Operand, site: Option<SiteId>) {
        let size = self.address(size);
        match self.thread.allocate(size) {
            Some(start) => self.place(dst, start, size, Region::Heap, site),
            None => self.thread.set(Some(dst), 0),
        }
    }

    fn place(&mut self, dst: LocalId, start: u64, size: u64, region: Region, site: Option<SiteId>) {
        let life = if region == Region::Heap { ObjectState::Heap } else { ObjectState::Variable };
        self.memory.place(start, life, vec![0; size as usize]);
        self.thread.set(Some(dst), start as i64);
        self.notes.push(Note::Allocation { site, region, start: Addr(start), size });
    }

    fn compute(&mut self, expr: &Expr) -> Result<i64, Halt> {
        Ok(match expr {
            Expr::Use(value) => self.value(value),
            Expr::Binary { op, bits, left, right } => {
                let (left, right) = (self.value(left), self.value(right));
                arith::binary(*op, *bits, left, right).ok_or_else(|| Halt::Crash("arithmetic exception".into()))?
            }
            Expr::Compare { op, bits, left, right } => {
                let (left, right) = (self.value(left), self.value(right));
                arith::compare(*op, *bits, left, right)
            }
            Expr::Offset { base, index, scale, offset } => {
                let index = self.value(index).wrapping_mul(*scale);
                self.value(base).wrapping_add(index).wrapping_add(*offset)
            }
            Expr::Select { condition, then, otherwise } => {
                let chosen = if self.value(condition) != 0 { then } else { otherwise };
                self.value(chosen)
            }
            Expr::Truncate { value, bits, signed } => arith::extend(self.value(value), u32::from(*bits), *signed),
            Expr::Phi(sources) => {
                let from = self.thread.frames.last().and_then(|f| f.from);
                sources.iter().find(|(block, _)| Some(*block) == from).map_or(0, |(_, v)| self.value(v))
            }
        })
    }

    fn value(&mut self, operand: &Operand) -> i64 {
        match *operand {
            Operand::Const(value) => value,
            Operand::Local(local) => self.thread.frames.last().map_or(0, |f| f.locals[local.0 as usize]),
            Operand::Global(global, offset) => {
                (self.layout.global(global, self.thread.slot) as i64).wrapping_add(offset)
            }
            Operand::Function(function) => (FUNCTIONS + u64::from(function.0) * FUNCTION_STRIDE) as i64,
            Operand::Any => {
                self.unmodelled("uses a value that the program does not define; 0 is taken".into(), self.thread.site);
                0
            }
        }
    }

    /// A value used as an address or a length.
    fn address(&mut self, operand: &Operand) -> u64 {
        self.value(operand) as u64
    }

    /// The address of a synchronisation object; using one that is not in memory crashes.
    fn object(&mut self, operand: &Operand) -> Result<u64, Halt> {
        let address = self.address(operand);
        if self.memory.is_mapped(address) { Ok(address) } else { Err(Halt::Crash(segmentation_fault(address))) }
    }

    /// The thread with this handle; if there is none the operation fails with `ESRCH`.
    fn thread_of(&mut self, handle: &Operand, dst: Option<LocalId>, site: Option<SiteId>) -> Option<ThreadId> {
        let handle = self.address(handle);
        let found = self.handles.get(&handle).copied();
        if found.is_none() {
            self.misuse(handle, "uses a value that is no thread's handle", site);
            self.thread.set(dst, super::perform::ESRCH);
        }
        found
    }

    fn name(&self, function: program::FunctionId) -> &str {
        &self.program.functions[function].name
    }
    fn misuse(&mut self, object: u64, what: &str, site: Option<SiteId>) {
        self.notes.push(Note::Misuse { site, what: what.to_owned(), object: Addr(object) });
    }
    fn unmodelled(&mut self, what: String, site: Option<SiteId>) {
        self.notes.push(Note::Unmodelled { site, what });
    }
}

fn no_function(address: i64) -> Halt {
    Halt::Crash(segmentation_fault(address as u64))
}

/// The text of a crash by a bad address.
pub(super) fn segmentation_fault(address: u64) -> String {
    format!("segmentation fault at address {address:#x}")
}
