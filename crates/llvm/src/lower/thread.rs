//! Thread functions and atomic library calls.

use model::{LockMode, Order};
use program::library::atomics::{AtomicCall, AtomicOp, AtomicOrder, AtomicSize, AtomicValue};
use program::library::threads::{ObjectArg, Recursion, ThreadFunction, ThreadOp};
use program::library::{Effect, Size};
use program::{BinaryOp, CompareOp, Expr, Operand, RmwOp, Stmt, SyncOp, TryMode};

use super::body::Body;
use crate::ir::Value;

/// What `pthread_mutexattr_t` holds for a recursive mutex, in its lowest bits.
const RECURSIVE: i64 = 1;

impl<'m> Body<'_, '_, 'm> {
    /// Lowers a call to a thread function. What it touches besides is read before and written after it.
    pub(super) fn thread_call(
        &mut self,
        call: Value<'m>,
        callee: Value<'m>,
        function: &ThreadFunction,
        args: &[Operand],
    ) {
        if let ThreadOp::GuardEnter { .. } | ThreadOp::GuardLeave { .. } = function.op {
            // These have a body of their own, in the language.
            return self.direct_call(call, callee, args.to_vec());
        }
        let own = Self::own_memory(function.op);
        for effect in function.effects {
            if let Effect::Read(arg, size) | Effect::ReadAfter(arg, size) = *effect
                && Some(arg) != own
            {
                self.touch(args, arg, size, false);
            }
        }
        self.operation(call, function, args);
        for effect in function.effects {
            if let Effect::Write(arg, size) | Effect::WriteAfter(arg, size) = *effect
                && Some(arg) != own
            {
                self.touch(args, arg, size, true);
            }
        }
    }

    /// The argument whose memory the operation's own statements access.
    fn own_memory(op: ThreadOp) -> Option<u8> {
        match op {
            ThreadOp::Create { handle, .. } | ThreadOp::CxxStart { handle, .. } => Some(handle),
            ThreadOp::Join { handle: ObjectArg::Deref(arg), .. }
            | ThreadOp::Detach { handle: ObjectArg::Deref(arg) }
            | ThreadOp::CondWait { lock: ObjectArg::Deref(arg), .. } => Some(arg),
            ThreadOp::SemGet { value, .. } => Some(value),
            _ => None,
        }
    }

    /// An access to memory that an argument points to, with unknown content.
    fn touch(&mut self, args: &[Operand], arg: u8, size: Size, writes: bool) {
        let address = Self::arg(args, arg);
        if address == Operand::Const(0) {
            return;
        }
        let small = size.fixed(self.lowering.program.architecture).and_then(|bytes| u32::try_from(bytes).ok());
        let stmt = match (small, writes) {
            (Some(size), true) => Stmt::Store { address, value: Operand::Any, size, atomic: None },
            (Some(size), false) => Stmt::Load { dst: self.fresh(), address, size, atomic: None },
            (None, true) => Stmt::Fill { to: address, value: Operand::Any, len: Operand::Any },
            (None, false) => {
                let scratch = self.fresh();
                self.emit(Stmt::Alloca { dst: scratch, size: Operand::Any, name: None, ty: None });
                Stmt::Copy { to: Operand::Local(scratch), from: address, len: Operand::Any }
            }
        };
        self.emit(stmt);
    }

    fn object(&mut self, object: ObjectArg, args: &[Operand]) -> Operand {
        match object {
            ObjectArg::Arg(arg) => Self::arg(args, arg),
            ObjectArg::Deref(arg) => {
                let dst = self.fresh();
                self.emit(Stmt::Load { dst, address: Self::arg(args, arg), size: self.word(), atomic: None });
                Operand::Local(dst)
            }
        }
    }

    fn sync(&mut self, call: Value<'m>, op: SyncOp) {
        let dst = self.optional_result(call);
        self.emit(Stmt::Sync { dst, op });
    }

    fn succeeds(&mut self, call: Value<'m>) {
        self.define(call, Expr::Use(Operand::Const(0)));
    }

    fn operation(&mut self, call: Value<'m>, function: &ThreadFunction, args: &[Operand]) {
        let arg = |position| Self::arg(args, position);
        match function.op {
            ThreadOp::Create { handle, function, arg: passed } => {
                let routine = self.start_routine(arg(function));
                self.create(call, routine, arg(passed), arg(handle));
            }
            ThreadOp::CxxStart { handle, state } => {
                let (owner, owned) = (arg(state), self.fresh());
                self.emit(Stmt::Load { dst: owned, address: owner, size: self.word(), atomic: None });
                self.emit(Stmt::Store { address: owner, value: Operand::Const(0), size: self.word(), atomic: None });
                let routine = self.lowering.thread_routine(self.function);
                self.create(call, Operand::Function(routine), Operand::Local(owned), arg(handle));
            }
            ThreadOp::Join { handle, wait, .. } => {
                let thread = self.object(handle, args);
                self.sync(call, SyncOp::Join { handle: thread, mode: wait });
                self.clear_handle(handle, args);
            }
            ThreadOp::Detach { handle } => {
                let thread = self.object(handle, args);
                self.sync(call, SyncOp::Detach { handle: thread });
                self.clear_handle(handle, args);
            }
            ThreadOp::ExitThread => {
                self.end_thread();
                self.sync(call, SyncOp::ExitThread);
            }
            ThreadOp::Cancel { handle } => {
                let handle = self.object(handle, args);
                self.sync(call, SyncOp::Cancel { handle });
            }
            ThreadOp::Current => self.sync(call, SyncOp::Current),
            ThreadOp::Equal { left, right } => {
                let (left, right) = (arg(left), arg(right));
                self.define(call, Expr::Compare { op: CompareOp::Eq, bits: 64, left, right });
            }
            ThreadOp::TestCancel => self.succeeds(call),
            ThreadOp::LockInit { lock, recursive } => self.lock_init(call, lock, recursive, args),
            ThreadOp::LockDestroy { lock } => {
                let lock = self.object(lock, args);
                self.sync(call, SyncOp::LockDestroy { lock });
            }
            ThreadOp::Lock { lock, mode, wait } => {
                let lock = self.object(lock, args);
                self.sync(call, SyncOp::Lock { lock, mode, wait });
            }
            ThreadOp::Unlock { lock } => {
                let lock = self.object(lock, args);
                self.sync(call, SyncOp::Unlock { lock });
            }
            ThreadOp::CondInit { cond } => {
                let cond = self.object(cond, args);
                self.sync(call, SyncOp::CondInit { cond });
            }
            ThreadOp::CondDestroy { cond } => {
                let cond = self.object(cond, args);
                self.sync(call, SyncOp::CondDestroy { cond });
            }
            ThreadOp::CondWait { cond, lock, wait } => {
                let (cond, lock) = (self.object(cond, args), self.object(lock, args));
                self.sync(call, SyncOp::CondWait { cond, lock, wait });
            }
            ThreadOp::Signal { cond } => {
                let cond = self.object(cond, args);
                self.sync(call, SyncOp::Signal { cond });
            }
            ThreadOp::Broadcast { cond } => {
                let cond = self.object(cond, args);
                self.sync(call, SyncOp::Broadcast { cond });
            }
            ThreadOp::BarrierInit { barrier, count } => {
                let barrier = self.object(barrier, args);
                self.sync(call, SyncOp::BarrierInit { barrier, count: arg(count) });
            }
            ThreadOp::BarrierDestroy { barrier } => {
                let barrier = self.object(barrier, args);
                self.sync(call, SyncOp::BarrierDestroy { barrier });
            }
            ThreadOp::BarrierWait { barrier } => {
                let barrier = self.object(barrier, args);
                self.sync(call, SyncOp::BarrierWait { barrier });
            }
            ThreadOp::SemInit { sem, value } => {
                let sem = self.object(sem, args);
                self.sync(call, SyncOp::SemInit { sem, value: arg(value) });
            }
            ThreadOp::SemDestroy { sem } => {
                let sem = self.object(sem, args);
                self.sync(call, SyncOp::SemDestroy { sem });
            }
            ThreadOp::SemPost { sem } => {
                let sem = self.object(sem, args);
                self.sync(call, SyncOp::SemPost { sem });
            }
            ThreadOp::SemWait { sem, wait } => {
                let sem = self.object(sem, args);
                self.sync(call, SyncOp::SemWait { sem, wait });
            }
            ThreadOp::SemGet { sem, value } => {
                let (sem, dst) = (self.object(sem, args), self.fresh());
                self.emit(Stmt::Sync { dst: Some(dst), op: SyncOp::SemGet { sem } });
                self.emit(Stmt::Store { address: arg(value), value: Operand::Local(dst), size: 4, atomic: None });
                self.succeeds(call);
            }
            ThreadOp::Once { control, function } => {
                let control = self.object(control, args);
                self.sync(call, SyncOp::Once { control, function: arg(function) });
            }
            // Have bodies of their own; see `thread_call`.
            ThreadOp::GuardEnter { .. } | ThreadOp::GuardLeave { .. } => {}
            ThreadOp::KeyCreate { destructor, .. } => {
                if !matches!(arg(destructor), Operand::Const(0) | Operand::Function(_)) {
                    self.keep_destructor(arg(destructor));
                }
                self.change_keys();
                self.succeeds(call);
            }
            // It fails for a key that is not in use.
            ThreadOp::KeyDelete { .. } => {
                self.change_keys();
                self.define(call, Expr::Use(Operand::Any));
            }
            ThreadOp::KeySet { key, value } => {
                if let Some(cell) = self.key_cell(call, key) {
                    let address = Operand::Global(cell, 0);
                    self.emit(Stmt::Store { address, value: arg(value), size: self.word(), atomic: None });
                }
                self.succeeds(call);
            }
            ThreadOp::KeyGet { key } => match self.key_cell(call, key) {
                Some(cell) => {
                    let (dst, address) = (self.result(call), Operand::Global(cell, 0));
                    self.emit(Stmt::Load { dst, address, size: self.word(), atomic: None });
                }
                None => self.define(call, Expr::Use(Operand::Any)),
            },
            ThreadOp::Attribute => self.define(call, Expr::Use(Operand::Any)),
            // The caller looks at the number again after the wait, so a wait that may end at any time stands for it.
            ThreadOp::AddressWait { address, .. } => {
                let (address, dst) = (self.object(address, args), self.fresh());
                self.emit(Stmt::Load { dst, address, size: 4, atomic: Some(Order::Relaxed) });
                self.emit(Stmt::Sync { dst: None, op: SyncOp::Yield });
                self.define(call, Expr::Use(Operand::Any));
            }
            ThreadOp::AddressWake { .. } => self.define(call, Expr::Use(Operand::Any)),
            ThreadOp::Yield => self.sync(call, SyncOp::Yield),
            ThreadOp::Choose => self.define(call, Expr::Use(Operand::Any)),
            // Going on in any case allows more, never less.
            ThreadOp::Assume => {}
            // No two sections overlap, as if they were under one lock.
            ThreadOp::SectionBegin => {
                let lock = Operand::Global(self.lowering.sections(), 0);
                let op = SyncOp::Lock { lock, mode: LockMode::Exclusive, wait: TryMode::Wait };
                self.emit(Stmt::Sync { dst: None, op });
            }
            ThreadOp::SectionEnd => {
                let lock = Operand::Global(self.lowering.sections(), 0);
                self.emit(Stmt::Sync { dst: None, op: SyncOp::Unlock { lock } });
            }
            ThreadOp::Unmodelled => {
                self.unmodelled(&format!("calls `{}`", function.name), Some(function.name));
                self.define(call, Expr::Use(Operand::Any));
            }
        }
    }

    /// Starts a thread and stores its handle. Creation does not fail.
    fn create(&mut self, call: Value<'m>, function: Operand, arg: Operand, handle: Operand) {
        let dst = self.fresh();
        self.emit(Stmt::Sync { dst: Some(dst), op: SyncOp::Create { function, arg } });
        self.emit(Stmt::Store { address: handle, value: Operand::Local(dst), size: self.word(), atomic: None });
        self.succeeds(call);
    }

    /// A handle that lies in memory is empty after its thread was joined or detached.
    fn clear_handle(&mut self, handle: ObjectArg, args: &[Operand]) {
        if let ObjectArg::Deref(arg) = handle {
            let address = Self::arg(args, arg);
            self.emit(Stmt::Store { address, value: Operand::Const(0), size: self.word(), atomic: None });
        }
    }

    fn lock_init(&mut self, call: Value<'m>, lock: ObjectArg, recursive: Recursion, args: &[Operand]) {
        let lock = self.object(lock, args);
        // Where it cannot be known, the lock counts as recursive: taking it again then blocks nobody.
        let recursive = match recursive {
            Recursion::No => false,
            Recursion::Attributes(arg) => Self::arg(args, arg) != Operand::Const(0),
            Recursion::Flags(arg) => match Self::arg(args, arg) {
                Operand::Const(flags) => flags & RECURSIVE != 0,
                _ => true,
            },
        };
        self.sync(call, SyncOp::LockInit { lock, recursive });
    }

    /// Lowers a call to an atomic library function.
    pub(super) fn atomic_call(&mut self, call: Value<'m>, atomic: AtomicCall, args: &[Operand]) {
        let order = Self::atomic_order(atomic.order, args);
        if atomic.op == AtomicOp::Fence {
            return self.emit(Stmt::Fence(order));
        }
        let address = Self::arg(args, atomic.address);
        let size = match atomic.size {
            AtomicSize::Bytes(bytes) => u32::from(bytes),
            AtomicSize::Arg(arg) => match Self::arg(args, arg) {
                Operand::Const(bytes) => u32::try_from(bytes).unwrap_or(u32::MAX),
                _ => {
                    self.unmodelled("an atomic access whose size is not constant", None);
                    return self.define(call, Expr::Use(Operand::Any));
                }
            },
        };
        match atomic.op {
            AtomicOp::Load { to } => {
                let dst = self.fresh();
                self.emit(Stmt::Load { dst, address, size, atomic: Some(order) });
                self.put(call, to, Operand::Local(dst), size, args);
            }
            AtomicOp::Store { value } => {
                let value = self.take(value, size, args);
                self.emit(Stmt::Store { address, value, size, atomic: Some(order) });
            }
            AtomicOp::Rmw { op, value, old, returns_new } => {
                let (value, dst) = (self.take(value, size, args), self.fresh());
                self.emit(Stmt::Rmw { dst, op, address, value, size, order });
                let result =
                    if returns_new { self.updated(op, Operand::Local(dst), value, size) } else { Operand::Local(dst) };
                self.put(call, old, result, size, args);
            }
            AtomicOp::CompareExchange { expected, new, failure, returns_old } => {
                let failure = Self::atomic_order(failure, args);
                let (wanted, new) = (self.take(expected, size, args), self.take(new, size, args));
                let (dst, success) = (self.fresh(), self.fresh());
                self.emit(Stmt::CompareExchange { dst, success, address, expected: wanted, new, size, order, failure });
                if let AtomicValue::Memory(_) = expected {
                    // On success the old value is the expected one: storing it changes nothing.
                    self.put(call, expected, Operand::Local(dst), size, args);
                }
                let result = if returns_old { dst } else { success };
                self.define(call, Expr::Use(Operand::Local(result)));
            }
            AtomicOp::Fence => {}
        }
    }

    fn atomic_order(order: AtomicOrder, args: &[Operand]) -> Order {
        match order {
            AtomicOrder::Fixed(order) => order,
            AtomicOrder::Arg(arg) => match Self::arg(args, arg) {
                Operand::Const(1 | 2) => Order::Acquire,
                Operand::Const(3) => Order::Release,
                Operand::Const(4) => Order::AcqRel,
                Operand::Const(5) => Order::SeqCst,
                // The weakest orders the least, whatever it is at run time.
                _ => Order::Relaxed,
            },
        }
    }

    fn take(&mut self, value: AtomicValue, size: u32, args: &[Operand]) -> Operand {
        match value {
            AtomicValue::Arg(arg) => Self::arg(args, arg),
            AtomicValue::Memory(arg) => {
                let dst = self.fresh();
                self.emit(Stmt::Load { dst, address: Self::arg(args, arg), size, atomic: None });
                if size <= 8 { Operand::Local(dst) } else { Operand::Any }
            }
            AtomicValue::Zero => Operand::Const(0),
            AtomicValue::Result => Operand::Any,
        }
    }

    fn put(&mut self, call: Value<'m>, to: AtomicValue, value: Operand, size: u32, args: &[Operand]) {
        let value = if size <= 8 { value } else { Operand::Any };
        match to {
            AtomicValue::Memory(arg) => {
                self.emit(Stmt::Store { address: Self::arg(args, arg), value, size, atomic: None });
            }
            AtomicValue::Result => self.define(call, Expr::Use(value)),
            AtomicValue::Arg(_) | AtomicValue::Zero => {}
        }
    }

    /// The value after a read-modify-write.
    fn updated(&mut self, op: RmwOp, old: Operand, value: Operand, size: u32) -> Operand {
        let op = match op {
            RmwOp::Exchange => return value,
            RmwOp::Add => BinaryOp::Add,
            RmwOp::Sub => BinaryOp::Sub,
            RmwOp::And => BinaryOp::And,
            RmwOp::Or => BinaryOp::Or,
            RmwOp::Xor => BinaryOp::Xor,
            _ => return Operand::Any,
        };
        if size > 8 {
            return Operand::Any;
        }
        self.temporary(Expr::Binary { op, bits: (8 * size) as u8, left: old, right: value })
    }
}
