//! Blocks: where control goes, by branches, exceptions and jumps.
//!
//! A block of the module is one block here, unless one of its calls may be left by an exception or a jump
//! ([`Unwinding`](super::unwinding::Unwinding)) or returns twice. Then it is cut after that call, and the first piece
//! keeps the block's number. A call without a handler that is left takes control out of the function, or to where a
//! call of the function that returns twice goes on: the target of a jump is not known. A block is also cut before a call
//! that a thread which is cancelled does not make: what the call waits for has not happened then. And it is cut after what
//! a jump out of a handler of a signal may come after ([`HandlerJumps`](super::handler_jumps::HandlerJumps)).

use inkwell::llvm_sys::LLVMOpcode;
use program::{Block, BlockId, Expr, Operand, Statement, Stmt, SyncOp, Terminator};

use super::body::Body;
use super::unwinding::{ends_thread, goes_to_next_cleanup, returns_twice};
use crate::ir::{self, Value};

impl<'m> Body<'_, '_, 'm> {
    /// Gives numbers to the blocks and to their pieces.
    pub(super) fn number_blocks(&mut self) {
        let blocks = self.function.blocks();
        for block in &blocks {
            let first = self.new_block();
            self.pieces.insert(*block, vec![first]);
        }
        for block in blocks {
            for instruction in block.instructions() {
                if self.cuts_before(instruction) {
                    let piece = self.new_block();
                    self.pieces.entry(block).or_default().push(piece);
                }
                if self.cuts(instruction) {
                    let piece = self.new_block();
                    self.pieces.entry(block).or_default().push(piece);
                    if returns_twice(instruction) {
                        self.again.push(piece);
                    }
                }
                if self.cuts_after(instruction) {
                    let piece = self.new_block();
                    self.pieces.entry(block).or_default().push(piece);
                }
                if instruction.opcode() == Some(LLVMOpcode::LLVMInvoke)
                    && (self.lowering.unwinding.may_jump(instruction) || self.cuts_before(instruction))
                {
                    let before = self.new_block();
                    self.before_handlers.insert(block, before);
                }
            }
        }
    }

    fn new_block(&mut self) -> BlockId {
        let block = BlockId(self.next);
        self.next += 1;
        block
    }

    /// Whether a block is cut after the instruction.
    fn cuts(&self, instruction: Value<'m>) -> bool {
        instruction.opcode() == Some(LLVMOpcode::LLVMCall)
            && (returns_twice(instruction) || self.lowering.unwinding.may_leave(self.function, instruction))
    }

    /// Whether a block is cut after what the instruction does, as a handler of a signal may jump there.
    fn cuts_after(&self, instruction: Value<'m>) -> bool {
        let jumps = self.lowering.unwinding.handler_jumps();
        jumps.is_some_and(|jumps| jumps.leave_after(self.function, instruction))
    }

    /// Whether a block is cut before the instruction.
    fn cuts_before(&self, instruction: Value<'m>) -> bool {
        self.lowering.unwinding.may_be_cancelled(instruction)
    }

    /// The block's number, for those who go there.
    pub(super) fn block(&self, block: ir::Block<'m>) -> BlockId {
        self.pieces[&block][0]
    }

    /// The block from which control comes to a phi, for an edge from a block of the module.
    pub(super) fn comes_from(&self, block: ir::Block<'m>, phi: Value<'m>) -> BlockId {
        let is_handler = || {
            let invoke = block.terminator().filter(|t| t.opcode() == Some(LLVMOpcode::LLVMInvoke));
            invoke.is_some_and(|invoke| invoke.successors().get(1).copied() == phi.block())
        };
        match (self.before_handlers.get(&block), self.pieces[&block].last()) {
            (Some(before), _) if is_handler() => *before,
            (_, Some(last)) => *last,
            (_, None) => self.block(block),
        }
    }

    pub(super) fn lower_block(&mut self, block: ir::Block<'m>) {
        let mut pieces = self.pieces[&block].clone().into_iter();
        let Some(mut current) = pieces.next() else { return };
        let mut end = Terminator::Unreachable;
        for instruction in block.instructions() {
            self.site = self.lowering.sites.id(instruction);
            if self.cuts_before(instruction)
                && let Some(next) = pieces.next()
            {
                let handler = self.before_handlers.get(&block).filter(|_| instruction.next_instruction().is_none());
                let handler = handler.copied().unwrap_or_else(|| self.outward());
                self.close(current, Terminator::Any(vec![next, handler]));
                current = next;
            }
            if self.cuts(instruction) {
                let Some(next) = pieces.next() else { continue };
                let terminator = self.leaving_call(instruction, next);
                self.close(current, terminator);
                current = next;
            } else {
                match self.terminator(instruction) {
                    Some(terminator) => end = terminator,
                    None => self.instruction(instruction),
                }
            }
            if self.cuts_after(instruction)
                && let Some(next) = pieces.next()
            {
                let within = self.released_within();
                let targets = [next, self.outward()].into_iter().chain(within).collect();
                self.close(current, Terminator::Any(targets));
                current = next;
            }
        }
        self.close(current, end);
    }

    /// Where a handler of a signal jumps while the last statement waits for a condition, without its lock.
    fn released_within(&mut self) -> Option<BlockId> {
        let Some(Statement { site, stmt: Stmt::Sync { op: SyncOp::CondWait { lock, .. }, .. }, .. }) =
            self.statements.last()
        else {
            return None;
        };
        let unlock = Stmt::Sync { dst: None, op: SyncOp::Unlock { lock: *lock } };
        let statements = vec![Statement { site: *site, stmt: unlock }];
        let (block, outward) = (self.new_block(), self.outward());
        self.done.insert(block, Block { statements, terminator: Terminator::Goto(outward) });
        Some(block)
    }

    fn close(&mut self, block: BlockId, terminator: Terminator) {
        let statements = std::mem::take(&mut self.statements);
        self.done.insert(block, Block { statements, terminator });
    }

    /// A block without statements.
    fn fork(&mut self, targets: Vec<BlockId>) -> BlockId {
        let block = self.new_block();
        self.done.insert(block, Block { statements: Vec::new(), terminator: Terminator::Any(targets) });
        block
    }

    /// Where what leaves the function by an exception or a jump goes.
    pub(super) fn outward(&mut self) -> BlockId {
        if let Some(known) = self.outward {
            return known;
        }
        let resume = self.resume();
        let outward = if self.again.is_empty() {
            resume
        } else {
            let targets = self.again.iter().copied().chain([resume]).collect();
            self.fork(targets)
        };
        self.outward = Some(outward);
        outward
    }

    /// The block that leaves the function.
    fn resume(&mut self) -> BlockId {
        if let Some(known) = self.resume {
            return known;
        }
        let resume = self.new_block();
        self.done.insert(resume, Block { statements: Vec::new(), terminator: Terminator::Resume });
        self.resume = Some(resume);
        resume
    }

    /// A call without a handler that may be left otherwise than by returning, or returns twice; how its block ends.
    fn leaving_call(&mut self, call: Value<'m>, then: BlockId) -> Terminator {
        if !self.lowering.unwinding.may_leave(self.function, call) {
            self.call(call);
            return Terminator::Goto(then);
        }
        // The next handler of `pthread_cleanup_push` is not the one that is running.
        let is_only = goes_to_next_cleanup(call) && self.again.len() == 1;
        let handler = if is_only { self.resume() } else { self.outward() };
        self.left_call(call, then, handler)
    }

    pub(super) fn invoke(&mut self, invoke: Value<'m>) -> Terminator {
        let successors = invoke.successors();
        let (then, mut handler) = (self.block(successors[0]), self.block(successors[1]));
        if let Some(before) = invoke.block().and_then(|block| self.before_handlers.get(&block)).copied() {
            let targets = vec![handler, self.outward()];
            self.done.insert(before, Block { statements: Vec::new(), terminator: Terminator::Any(targets) });
            handler = before;
        }
        self.left_call(invoke, then, handler)
    }

    fn left_call(&mut self, call: Value<'m>, then: BlockId, handler: BlockId) -> Terminator {
        if ends_thread(call) {
            // The stack is unwound first, as far as the program has code that this runs.
            let before = std::mem::take(&mut self.statements);
            self.call(call);
            let end = self.new_block();
            self.close(end, Terminator::Goto(then));
            self.statements = before;
            return Terminator::Any(vec![end, handler]);
        }
        let before = self.statements.len();
        self.call(call);
        let runs = |s: &Statement| matches!(s.stmt, Stmt::Call { .. } | Stmt::Library { .. } | Stmt::Sync { .. });
        if self.statements[before..].iter().any(runs) {
            Terminator::Invoke { then, handler }
        } else {
            Terminator::Any(vec![then, handler])
        }
    }

    /// What a handler is given: the exception, and a number that says which handler it is for.
    pub(super) fn caught(&mut self, landing: Value<'m>) {
        let (exception, selector) = (self.part_result(landing, 0), self.part_result(landing, 1));
        self.take_exception(exception);
        self.assign(selector, Expr::Use(Operand::Any));
    }
}
