//! Calls: to functions of the program, to LLVM's own, to modelled library functions and to unknown ones.

use inkwell::llvm_sys::LLVMValueKind;
use model::Order;
use program::library::{self, Effect, LibraryFunction, Role, Size, atomics, threads};
use program::{BinaryOp, Callee, CompareOp, Expr, Operand, RmwOp, Stmt};

use super::body::Body;
use crate::assembly::{self, Assembly, Atomic, Seen, Touch};
use crate::intrinsics::{self, Intrinsic};
use crate::ir::Value;
use crate::openmp;
use crate::system_calls::system_call;

impl<'m> Body<'_, '_, 'm> {
    pub(super) fn call(&mut self, call: Value<'m>) {
        let Some(callee) = call.callee() else { return };
        if callee.is_assembly() {
            return self.assembly(call, callee);
        }
        if let Some(effect) = intrinsics::of_call(call) {
            return self.intrinsic(call, &callee.name(), effect);
        }
        if self.same_as(call).is_some() && Self::returned_constant(call).is_some() {
            return;
        }
        let args = self.arguments(call);
        if !callee.is_function() {
            if !matches!(callee.kind(), LLVMValueKind::LLVMInstructionValueKind | LLVMValueKind::LLVMArgumentValueKind)
                && self.operand(callee) == Operand::Any
            {
                self.unmodelled("calls a function that is chosen when the program is loaded", None);
            }
            let (dst, callee) = (self.optional_result(call), Callee::Indirect(self.operand(callee)));
            return self.emit(Stmt::Call { dst, callee, args });
        }
        let name = callee.name();
        if !callee.is_declaration() {
            self.direct_call(call, callee, args);
        } else if let Some(function) =
            threads::lookup(&name).or_else(|| system_call(self.lowering.program.architecture, call))
        {
            self.thread_call(call, callee, function, &args);
        } else if let Some(atomic) = atomics::lookup(&name) {
            self.atomic_call(call, atomic, &args);
        } else if self.lowering.exit.registers(&name) {
            self.register_handler(call, &name, &args);
        } else if self.lowering.assume_pure.contains(&name) {
            self.define(call, Expr::Use(Operand::Any));
        } else if let Some(function) = library::lookup(&name) {
            self.library_call(call, function, args);
        } else if self.lowering.synthetic.contains(&name) {
            self.direct_call(call, callee, args);
        } else if callee.touches_no_memory() {
            self.define(call, Expr::Use(Operand::Any));
        } else {
            match openmp::unsupported(&name) {
                Some(what) => self.unmodelled(&what, None),
                None => self.unmodelled(&format!("calls `{name}`, whose effect on memory is not known"), Some(&name)),
            }
            self.direct_call(call, callee, args);
        }
    }

    /// A call of a function of the program's table.
    pub(super) fn direct_call(&mut self, call: Value<'m>, callee: Value<'m>, args: Vec<Operand>) {
        let dst = self.optional_result(call);
        match self.symbols().functions.id(callee) {
            Some(id) => {
                self.emit(Stmt::Call { dst, callee: Callee::Direct(id), args });
                self.returned_parts(call, callee);
            }
            None => self.unmodelled(&format!("calls `{}`, which is not in the program", callee.name()), None),
        }
    }

    /// The arguments; what is passed by value in memory is copied first.
    fn arguments(&mut self, call: Value<'m>) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (position, argument) in call.arguments().enumerate() {
            let operand = self.operand(argument);
            operands.push(match call.by_value_argument(position as u32) {
                Some(ty) => {
                    let len = Operand::Const(self.symbols().layout.stride(ty) as i64);
                    let dst = self.fresh();
                    self.emit(Stmt::Alloca { dst, size: len, name: None, ty: None });
                    self.emit(Stmt::Copy { to: Operand::Local(dst), from: operand, len });
                    Operand::Local(dst)
                }
                None => operand,
            });
        }
        operands
    }

    /// Inline assembly; its outputs are not known, except that none at all changes nothing.
    fn assembly(&mut self, call: Value<'m>, assembly: Value<'m>) {
        if let Some(value) = assembly::passed_on(assembly, call) {
            let value = self.operand(value);
            return self.define(call, Expr::Use(value));
        }
        match Assembly::of(assembly, call) {
            Assembly::Nothing => {}
            Assembly::Fence(order) => self.emit(Stmt::Fence(order)),
            Assembly::Update => {
                for (place, ty) in assembly::operands(call) {
                    let (address, size, dst) = (self.operand(place), self.size(ty), self.fresh());
                    let (op, value, order) = (RmwOp::Other, Operand::Any, Order::SeqCst);
                    self.emit(Stmt::Rmw { dst, op, address, value, size, order });
                }
            }
            Assembly::Seen(Seen::Atomic(access)) => self.assembly_access(access),
            Assembly::Seen(Seen::Plain(_)) | Assembly::Operands => {
                let touches = assembly::touches(assembly, call).unwrap_or_default();
                touches.into_iter().for_each(|touch| self.assembly_touch(touch));
            }
            Assembly::Unknown => return self.unknown_assembly(call, assembly),
        }
        if !call.ty().is_void() {
            call.arguments().for_each(|argument| self.lose(argument));
        }
        let output = self.found(call);
        self.define(call, output);
    }

    /// A single load or store that the machine makes at once.
    fn assembly_access(&mut self, Atomic { place, bytes: size, writes, order }: Atomic<'m>) {
        let (address, atomic) = (self.operand(place), Some(order));
        if writes {
            self.emit(Stmt::Store { address, value: Operand::Any, size, atomic });
        } else {
            let dst = self.fresh();
            self.emit(Stmt::Load { dst, address, size, atomic });
        }
    }

    fn assembly_touch(&mut self, touch: Touch<'m>) {
        let (value, len) = (Operand::Any, Operand::Any);
        match touch {
            Touch::Read(place, ty) => {
                let (address, size, dst) = (self.operand(place), self.size(ty), self.fresh());
                self.emit(Stmt::Load { dst, address, size, atomic: None });
            }
            Touch::Write(place, ty) => {
                let (address, size) = (self.operand(place), self.size(ty));
                self.emit(Stmt::Store { address, value, size, atomic: None });
            }
            Touch::Fill(to) | Touch::Behind(to) => {
                let to = self.operand(to);
                self.emit(Stmt::Fill { to, value, len });
            }
            Touch::Copy(to, from) => {
                let (to, from) = (self.operand(to), self.operand(from));
                self.emit(Stmt::Copy { to, from, len });
            }
        }
    }

    /// Touches the operands in memory, and does what a function without a body may do with everything it is given or
    /// names. It may start a thread only by calling the kernel.
    fn unknown_assembly(&mut self, call: Value<'m>, assembly: Value<'m>) {
        let mut args: Vec<Operand> = call.arguments().map(|argument| self.operand(argument)).collect();
        if args.iter().any(|arg| matches!(arg, Operand::Const(number) if assembly::STARTS_THREADS.contains(number))) {
            self.unmodelled(assembly::UNKNOWN, None);
        }
        for (place, ty) in assembly::operands(call) {
            self.assembly_touch(Touch::Write(place, ty));
        }
        let pointers: Vec<_> = call.arguments().filter(|argument| self.is_pointer_input(call, *argument)).collect();
        pointers.into_iter().for_each(|pointer| self.assembly_touch(Touch::Behind(pointer)));
        args.extend(assembly::symbols(assembly, call).into_iter().map(|symbol| self.symbols().constant(symbol)));
        let function = self.lowering.unknown_assembly();
        let dst = self.optional_result(call);
        self.emit(Stmt::Call { dst, callee: Callee::Direct(function), args });
    }

    /// Whether an argument of inline assembly is a pointer in a register, and not the address of an operand in memory.
    fn is_pointer_input(&self, call: Value<'m>, argument: Value<'m>) -> bool {
        let constant = matches!(self.operand(argument), Operand::Function(_) | Operand::Const(_));
        argument.is_pointer() && !constant && assembly::operands(call).all(|(place, _)| place != argument)
    }

    fn intrinsic(&mut self, call: Value<'m>, name: &str, effect: Intrinsic) {
        let args: Vec<_> = call.arguments().map(|a| self.operand(a)).collect();
        match effect {
            Intrinsic::Copy => self.emit(Stmt::Copy { to: args[0], from: args[1], len: args[2] }),
            Intrinsic::Fill => self.emit(Stmt::Fill { to: args[0], value: args[1], len: args[2] }),
            Intrinsic::ThreadLocal => self.define(call, Expr::Use(args[0])),
            Intrinsic::PassesPointer if name.starts_with("llvm.ptrmask") => {
                self.define(call, Expr::Offset { base: args[0], index: Operand::Any, scale: 1, offset: 0 });
            }
            Intrinsic::PassesPointer => self.define(call, Expr::Use(args[0])),
            Intrinsic::Unknown => {
                self.unmodelled(&format!("uses `{name}`, whose effect on memory is not known"), None);
                self.define(call, Expr::Use(Operand::Any));
            }
            Intrinsic::Nothing => self.bookkeeping(call, name, &args),
        }
    }

    /// Intrinsics without an effect that another thread could see.
    fn bookkeeping(&mut self, call: Value<'m>, name: &str, args: &[Operand]) {
        let Some(rest) = name.strip_prefix("llvm.") else { return };
        let bits = call.ty().int_bits().filter(|&bits| 1 < bits && bits <= 64).map(|bits| bits as u8);
        let comparison = match rest.split('.').next().unwrap_or_default() {
            "smax" => Some(CompareOp::SGt),
            "smin" => Some(CompareOp::SLt),
            "umax" => Some(CompareOp::UGt),
            "umin" => Some(CompareOp::ULt),
            "va_start" => return self.variadic_start(args[0]),
            "va_copy" => return self.variadic_copy(args[0], args[1]),
            "trap" | "ubsantrap" => return self.emit(Stmt::Assert { condition: Operand::Const(0) }),
            _ => None,
        };
        match (comparison, bits) {
            (Some(op), Some(bits)) => {
                let (left, right) = (args[0], args[1]);
                let condition = self.temporary(Expr::Compare { op, bits, left, right });
                self.define(call, Expr::Select { condition, then: left, otherwise: right });
            }
            _ if Self::is_overflow_arithmetic(call) => self.overflow_arithmetic(call, rest, args),
            _ => self.define(call, Expr::Use(Operand::Any)),
        }
    }

    /// The wrapped result; whether it overflowed is not known.
    fn overflow_arithmetic(&mut self, call: Value<'m>, name: &str, args: &[Operand]) {
        let op = match name.get(1..4) {
            Some("add") => BinaryOp::Add,
            Some("sub") => BinaryOp::Sub,
            _ => BinaryOp::Mul,
        };
        let bits = call.part(0).ty().int_bits().unwrap_or(64) as u8;
        let expr = match bits {
            1 => Expr::Use(Operand::Any),
            _ => Expr::Binary { op, bits, left: args[0], right: args[1] },
        };
        let (dst, overflowed) = (self.part_result(call, 0), self.part_result(call, 1));
        self.assign(dst, expr);
        self.assign(overflowed, Expr::Use(Operand::Any));
    }

    fn library_call(&mut self, call: Value<'m>, function: &LibraryFunction, args: Vec<Operand>) {
        for effect in function.effects {
            if let Effect::Opaque(why) | Effect::Unproved(why) = effect {
                self.unmodelled(&format!("calls `{}`: {why}", function.name), Some(function.name));
            }
            if let Effect::UnlockedStream(_) = effect
                && library::locks_streams(|name| self.symbols().functions.table.iter().any(|f| f.name() == name))
            {
                let what = format!("calls `{}`: {}", function.name, library::UNLOCKED);
                self.unmodelled(&what, Some(function.name));
            }
        }
        if function.name.starts_with("pthread_mutexattr_setrobust") {
            // Here a lock operation that blocks succeeds.
            self.unmodelled("makes a mutex robust: if its owner ends, to lock it may fail", None);
        }
        match function.role {
            // The result may be other memory than a new block: only the table can say which.
            Role::Allocate { .. } if function.name == "mmap" && maps_shared_file(&args) => {
                self.ordinary_call(call, function, args);
            }
            Role::AllocateInside if function.effects.iter().any(|e| matches!(e, Effect::Returns(_))) => {
                self.ordinary_call(call, function, args);
            }
            Role::Ordinary => self.ordinary_call(call, function, args),
            Role::Allocate { size, zeroed } => {
                if function.name != "mmap" {
                    self.touches(function, &args);
                }
                let size = self.library_size(size, &args);
                let dst = self.result(call);
                self.emit(Stmt::Alloc { dst, size, zeroed });
            }
            Role::Reallocate { size } => {
                let size = self.library_size(size, &args);
                let dst = self.result(call);
                self.emit(Stmt::Alloc { dst, size, zeroed: false });
                if args[0] != Operand::Const(0) {
                    self.emit(Stmt::Copy { to: Operand::Local(dst), from: args[0], len: Operand::Any });
                    self.emit(Stmt::Free { address: args[0] });
                }
            }
            Role::Free(arg) => {
                self.touches(function, &args);
                let address = Self::arg(&args, arg);
                self.emit(Stmt::Free { address });
                self.define(call, Expr::Use(Operand::Any));
            }
            Role::AllocateInside => {
                self.touches(function, &args);
                let dst = self.result(call);
                self.emit(Stmt::Alloc { dst, size: Operand::Any, zeroed: false });
            }
            Role::AllocateInto { pointer, size } => {
                self.touches(function, &args);
                let size = self.library_size(size, &args);
                let dst = self.fresh();
                self.emit(Stmt::Alloc { dst, size, zeroed: false });
                let address = Self::arg(&args, pointer);
                self.emit(Stmt::Store { address, value: Operand::Local(dst), size: self.word(), atomic: None });
                self.define(call, Expr::Use(Operand::Const(0)));
            }
            Role::Errno => {
                let errno = self.lowering.errno();
                self.define(call, Expr::Use(Operand::Global(errno, 0)));
            }
            Role::SetJump => self.define(call, Expr::Use(Operand::Any)),
            Role::LongJump => {
                self.unmodelled(&format!("calls `{}`, a jump out of a function", function.name), Some(function.name));
            }
            Role::Exit(status) => {
                self.run_exit_handlers(function.name);
                self.emit(Stmt::Exit { code: Self::arg(&args, status) });
            }
            Role::Abort | Role::AssertionFailed => self.emit(Stmt::Assert { condition: Operand::Const(0) }),
            Role::Throws => self.ordinary_call(call, function, args),
        }
    }

    fn ordinary_call(&mut self, call: Value<'m>, function: &LibraryFunction, args: Vec<Operand>) {
        match (function.name, args.as_slice()) {
            ("memcpy" | "memmove", &[to, from, len, ..]) => {
                self.emit(Stmt::Copy { to, from, len });
                self.define(call, Expr::Use(to));
            }
            ("memset", &[to, value, len, ..]) => {
                self.emit(Stmt::Fill { to, value, len });
                self.define(call, Expr::Use(to));
            }
            _ => {
                self.thrown(function.name, &args);
                let dst = self.optional_result(call);
                self.emit(Stmt::Library { dst, function: function.name.to_owned(), args });
            }
        }
    }

    /// The memory that a function with another role touches as well.
    fn touches(&mut self, function: &LibraryFunction, args: &[Operand]) {
        if !function.effects.is_empty() {
            self.emit(Stmt::Library { dst: None, function: function.name.to_owned(), args: args.to_vec() });
        }
    }

    /// An argument; a call with too few (through a wrong prototype) has an unknown one.
    pub(super) fn arg(args: &[Operand], position: u8) -> Operand {
        args.get(usize::from(position)).copied().unwrap_or(Operand::Any)
    }

    fn library_size(&mut self, size: Size, args: &[Operand]) -> Operand {
        let architecture = self.lowering.program.architecture;
        let number = |bytes: Option<u64>| bytes.map_or(Operand::Any, |bytes| Operand::Const(bytes as i64));
        let (left, right) = match size {
            Size::Arg(arg) => return Self::arg(args, arg),
            Size::Scaled(arg, element) => (Self::arg(args, arg), number(element.size(architecture))),
            Size::Product(a, b) => (Self::arg(args, a), Self::arg(args, b)),
            size => return number(size.fixed(architecture)),
        };
        match (left, right) {
            (Operand::Const(a), Operand::Const(b)) => Operand::Const(a.wrapping_mul(b)),
            _ => self.temporary(Expr::Binary { op: BinaryOp::Mul, bits: 64, left, right }),
        }
    }
}

/// Whether a call of `mmap` may show bytes that another map shows, too: it shares a file.
fn maps_shared_file(args: &[Operand]) -> bool {
    const MAP_TYPE: i64 = 0x0f;
    const MAP_PRIVATE: i64 = 0x02;
    const MAP_ANONYMOUS: i64 = 0x20;
    match args.get(3) {
        Some(Operand::Const(flags)) => flags & MAP_ANONYMOUS == 0 && flags & MAP_TYPE != MAP_PRIVATE,
        _ => true,
    }
}
