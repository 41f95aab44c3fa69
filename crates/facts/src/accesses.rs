//! Which memory a statement touches, by the operand that names it.

use model::{AccessKind, Order};
use program::library::{self, Effect, FormatArgs, LibraryState, Role, Size, StateAccess};
use program::{Operand, Program, Stmt};

use AccessKind::{Free, Read, ReadModifyWrite, Write};

use crate::formats::may_convert;

/// What names the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Designator {
    /// What an operand points to.
    Pointer(Operand),
    /// What pointers in the object that an operand points to point to, so many times over.
    Behind(Operand, u8),
    /// Memory of the library.
    Library(LibraryState),
    /// What pointers among the arguments of a function of the program point to, which it took as a list.
    List,
}

/// One piece of memory touched by a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// What names it.
    pub designator: Designator,
    /// Number of bytes; `None` if not known.
    pub len: Option<u64>,
    /// What is done there.
    pub kind: AccessKind,
    /// Whether atomically.
    pub atomic: bool,
    /// The operand may be a plain number: if nothing is known to be there, nothing is touched.
    pub perhaps: bool,
}

/// What a statement touches.
pub fn accesses(program: &Program, stmt: &Stmt) -> Vec<Access> {
    let mut found = Found { program, found: Vec::new() };
    match stmt {
        Stmt::Load { address, size, atomic, .. } => found.sized(address, *size, Read, *atomic),
        Stmt::Store { address, size, atomic, .. } => found.sized(address, *size, Write, *atomic),
        Stmt::Rmw { address, size, order, .. } | Stmt::CompareExchange { address, size, order, .. } => {
            found.sized(address, *size, ReadModifyWrite, Some(*order));
        }
        Stmt::Copy { to, from, len } => {
            found.add(from, constant(len), Read, false);
            found.add(to, constant(len), Write, false);
        }
        Stmt::Fill { to, len, .. } => found.add(to, constant(len), Write, false),
        Stmt::Free { address } => found.add(address, None, Free, false),
        Stmt::Library { function: name, args, .. } => found.library(name, args),
        _ => {}
    }
    found.found
}

fn constant(operand: &Operand) -> Option<u64> {
    if let Operand::Const(n) = operand { u64::try_from(*n).ok() } else { None }
}

struct Found<'p> {
    program: &'p Program,
    found: Vec<Access>,
}

impl Found<'_> {
    fn sized(&mut self, address: &Operand, size: u32, kind: AccessKind, order: Option<Order>) {
        let (designator, len) = (Designator::Pointer(*address), Some(u64::from(size)));
        self.found.push(Access { designator, len, kind, atomic: order.is_some(), perhaps: false });
    }
    fn add(&mut self, address: &Operand, len: Option<u64>, kind: AccessKind, atomic: bool) {
        self.found.push(Access { designator: Designator::Pointer(*address), len, kind, atomic, perhaps: false });
    }

    /// Touches what may be a pointer.
    fn perhaps(&mut self, designator: Designator, kind: AccessKind) {
        self.found.push(Access { designator, len: None, kind, atomic: false, perhaps: true });
    }

    fn library(&mut self, name: &str, args: &[Operand]) {
        let arg = |n: u8| args.get(usize::from(n)).copied().unwrap_or(Operand::Any);
        let Some(row) = library::lookup(name) else { return };
        for effect in row.effects {
            let size = |size: &Size| match size {
                Size::Arg(n) => constant(&arg(*n)),
                size => size.fixed(self.program.architecture),
            };
            match effect {
                Effect::Read(n, len) | Effect::ReadAfter(n, len) => self.add(&arg(*n), size(len), Read, false),
                Effect::Write(n, len) | Effect::WriteAfter(n, len) => self.add(&arg(*n), size(len), Write, false),
                Effect::Computed(computed) | Effect::ComputedAfter(computed) => {
                    computed.reads.iter().for_each(|n| self.add(&arg(*n), None, Read, false));
                    computed.writes.iter().for_each(|n| self.add(&arg(*n), None, Write, false));
                }
                // A stream is the library's: where nothing is known of the pointer, it is to nothing of the program's.
                Effect::Stream(n) => {
                    let designator = Designator::Pointer(arg(*n));
                    self.found.push(Access { designator, len: None, kind: Write, atomic: true, perhaps: true });
                }
                Effect::State(state, access) => self.state(*state, *access),
                Effect::Passes(passage) if passage.behind > 0 => {
                    let kind = if passage.out { Write } else { Read };
                    self.perhaps(Designator::Behind(arg(passage.arg), passage.behind), kind);
                    // What says where they are is read itself.
                    (1..passage.behind).for_each(|n| self.perhaps(Designator::Behind(arg(passage.arg), n), Read));
                }
                Effect::Passes(_) => {}
                Effect::Format(format) => {
                    self.add(&arg(format.format), None, Read, false);
                    match format.args {
                        FormatArgs::From(first) => {
                            // `%n` writes in `printf` too.
                            let reads = !format.scan && !may_convert(self.program, format, &arg(format.format), b"n");
                            let kind = if reads { Read } else { Write };
                            for arg in args.iter().skip(usize::from(first)) {
                                self.perhaps(Designator::Pointer(*arg), kind);
                            }
                        }
                        FormatArgs::List(_) => {
                            let reads = !format.scan && !may_convert(self.program, format, &arg(format.format), b"n");
                            self.perhaps(Designator::List, if reads { Read } else { Write });
                        }
                    }
                }
                Effect::Returns(_)
                | Effect::ReturnsState(_)
                | Effect::StoresPointer(..)
                | Effect::Copies(..)
                | Effect::Calls(_)
                | Effect::Keeps(_)
                | Effect::Opaque(_) => {}
            }
        }
        match row.role {
            Role::Reallocate { .. } => self.add(&arg(0), None, Free, false),
            Role::Free(n) => self.add(&arg(n), None, Free, false),
            Role::AllocateInto { pointer, .. } => self.add(&arg(pointer), Some(8), Write, false),
            _ => {}
        }
    }

    fn state(&mut self, state: LibraryState, access: StateAccess) {
        // A state that the library locks is accessed by relaxed atomics.
        let atomic = state.code(access) >> 16 != 0;
        let kind = if access == StateAccess::Write { Write } else { Read };
        self.found.push(Access { designator: Designator::Library(state), len: None, kind, atomic, perhaps: false });
    }
}
