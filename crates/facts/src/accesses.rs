//! Which memory a statement touches, by the operand that names it.

use model::{AccessKind, Order};
use program::library::{self, CType, Effect, FileUse, FormatArgs, LibraryState, Links, Role, Size, StateAccess};
use program::members::Content;
use program::{Expr, Function, FunctionId, Operand, Program, Stmt};

use AccessKind::{Free, Read, ReadModifyWrite, Write};

use crate::formats::may_convert;

/// What names the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Designator {
    /// What an operand points to.
    Pointer(Operand),
    /// What pointers in the object that an operand points to point to, so many times over.
    Behind(Operand, u8),
    /// What is linked with the node that an operand points to.
    Linked(Operand, Links),
    /// Memory of the library.
    Library(LibraryState),
    /// What pointers in memory of the library point to, which earlier calls left there.
    BehindLibrary(LibraryState),
    /// What pointers in a list of arguments point to (`va_list`).
    List(Operand),
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
    /// What it touches, whatever the pointer may be to: characters of a text, or a stream.
    pub content: Option<Content>,
    /// Whether it reads what the statement copies elsewhere.
    pub is_source: bool,
}

/// What a statement of a function touches.
pub fn accesses(program: &Program, function: FunctionId, stmt: &Stmt) -> Vec<Access> {
    let mut found = Found { program, function, found: Vec::new() };
    match stmt {
        Stmt::Load { address, size, atomic, .. } => found.sized(address, *size, Read, *atomic),
        Stmt::Store { address, size, atomic, .. } => found.sized(address, *size, Write, *atomic),
        Stmt::Rmw { address, size, order, .. } | Stmt::CompareExchange { address, size, order, .. } => {
            found.sized(address, *size, ReadModifyWrite, Some(*order));
        }
        Stmt::Copy { to, from, len } => {
            found.add(from, constant(len), Read, false);
            found.found.iter_mut().for_each(|access| access.is_source = true);
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

/// Whether an operand of a function may be a null pointer. Only what is made from the address of a variable is known
/// not to be.
fn may_be_null(function: &Function, operand: &Operand) -> bool {
    let mut operand = *operand;
    // Each local is assigned once, so a chain of assignments ends; a phi is where a loop would close.
    loop {
        let local = match operand {
            Operand::Const(number) => return number == 0,
            Operand::Global(..) | Operand::Function(_) => return false,
            Operand::Any => return true,
            Operand::Local(local) => local,
        };
        let statements = function.blocks.iter().flat_map(|block| &block.statements);
        let made = statements.filter_map(|statement| match &statement.stmt {
            Stmt::Alloca { dst, .. } if *dst == local => Some(Operand::Const(1)),
            Stmt::Assign { dst, expr: Expr::Use(from) } if *dst == local => Some(*from),
            Stmt::Assign { dst, expr: Expr::Offset { base, .. } } if *dst == local => Some(*base),
            _ => None,
        });
        match made.into_iter().next() {
            Some(from) => operand = from,
            None => return true,
        }
    }
}

struct Found<'p> {
    program: &'p Program,
    function: FunctionId,
    found: Vec<Access>,
}

impl Found<'_> {
    fn sized(&mut self, address: &Operand, size: u32, kind: AccessKind, order: Option<Order>) {
        let (designator, len) = (Designator::Pointer(*address), Some(u64::from(size)));
        self.found.push(Access {
            designator,
            len,
            kind,
            atomic: order.is_some(),
            perhaps: false,
            content: None,
            is_source: false,
        });
    }
    fn add(&mut self, address: &Operand, len: Option<u64>, kind: AccessKind, atomic: bool) {
        self.push(Designator::Pointer(*address), len, kind, atomic, false);
    }

    /// Touches what may be a pointer.
    fn perhaps(&mut self, designator: Designator, kind: AccessKind) {
        self.push(designator, None, kind, false, true);
    }
    fn push(&mut self, designator: Designator, len: Option<u64>, kind: AccessKind, atomic: bool, perhaps: bool) {
        self.found.push(Access { designator, len, kind, atomic, perhaps, content: None, is_source: false });
    }

    /// Touches what an argument points to, which is a text if the function is one for texts.
    fn text(&mut self, address: &Operand, kind: AccessKind, perhaps: bool, text: bool) {
        let (designator, content) = (Designator::Pointer(*address), text.then_some(Content::Text));
        self.found.push(Access { designator, len: None, kind, atomic: false, perhaps, content, is_source: false });
    }

    /// Uses a stream, and the buffer that the program may have given it. A stream is the library's: where nothing is known
    /// of the pointer, it is to nothing of the program's.
    fn stream(&mut self, stream: &Operand, locked: bool) {
        let (designator, content) = (Designator::Pointer(*stream), Some(Content::Stream));
        self.found.push(Access {
            designator,
            len: None,
            kind: Write,
            atomic: locked,
            perhaps: true,
            content,
            is_source: false,
        });
        self.push(Designator::BehindLibrary(LibraryState::StreamBuffers), None, Write, true, true);
    }

    /// Touches a node and all that are linked with it.
    fn linked(&mut self, node: &Operand, links: Links, kind: AccessKind) {
        self.add(node, Some(links.size()), kind, false);
        self.push(Designator::Linked(*node, links), Some(links.size()), kind, false, true);
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
                Effect::Write(n, len @ Size::Of(CType::File)) => {
                    let (designator, content) = (Designator::Pointer(arg(*n)), Some(Content::Stream));
                    let len = size(len);
                    self.found.push(Access {
                        designator,
                        len,
                        kind: Write,
                        atomic: false,
                        perhaps: false,
                        content,
                        is_source: false,
                    });
                }
                Effect::Read(n, len) | Effect::ReadAfter(n, len) => self.add(&arg(*n), size(len), Read, false),
                Effect::Write(n, len) | Effect::WriteAfter(n, len) => self.add(&arg(*n), size(len), Write, false),
                // The links say more exactly what is touched.
                Effect::Computed(_) if row.follows_links() => {}
                Effect::Computed(computed) | Effect::ComputedAfter(computed) => {
                    let text = library::is_for_texts(name);
                    computed.reads.iter().for_each(|n| self.text(&arg(*n), Read, false, text));
                    computed.writes.iter().for_each(|n| self.text(&arg(*n), Write, false, text));
                }
                Effect::Stream(n) => self.stream(&arg(*n), true),
                Effect::UnlockedStream(n) => self.stream(&arg(*n), false),
                Effect::State(state, access) => self.state(*state, *access),
                Effect::File(_, used) => {
                    // Which file it is only a run knows.
                    self.state(LibraryState::Descriptors, StateAccess::Read);
                    if let FileUse::Description(access) | FileUse::Content(access) = used {
                        self.state(LibraryState::Bytes, *access);
                    }
                }
                Effect::StateWithout(n, state, access) => {
                    if may_be_null(&self.program.functions[self.function], &arg(*n)) {
                        self.state(*state, *access);
                    }
                }
                Effect::Links(nodes, links) => nodes.iter().for_each(|n| self.linked(&arg(*n), *links, Write)),
                Effect::ReturnsLinked(n, links) => self.linked(&arg(*n), *links, Read),
                Effect::Behind(n, kind) => self.perhaps(Designator::Behind(arg(*n), 1), *kind),
                Effect::Kept(state, kind) => {
                    let designator = Designator::BehindLibrary(*state);
                    self.push(designator, None, *kind, state.is_locked(), true);
                }
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
                                self.text(arg, kind, true, reads);
                            }
                        }
                        FormatArgs::List(list) => {
                            let reads = !format.scan && !may_convert(self.program, format, &arg(format.format), b"n");
                            self.perhaps(Designator::List(arg(list)), if reads { Read } else { Write });
                        }
                    }
                }
                // The state that the result points to is written as such.
                Effect::WriteResult(_)
                | Effect::Returns(_)
                | Effect::ReturnsState(_)
                | Effect::ReturnsBehind(_)
                | Effect::ReturnsKept(_)
                | Effect::StoresPointer(..)
                | Effect::StoresBlock(_)
                | Effect::Advances(_)
                | Effect::Copies(..)
                | Effect::Calls(_)
                | Effect::Keeps(_)
                | Effect::KeepsIn(..)
                | Effect::Opaque(_)
                | Effect::Unproved(_) => {}
            }
        }
        match row.role {
            Role::Reallocate { .. } => self.add(&arg(0), None, Free, false),
            Role::Free(n) => self.add(&arg(n), None, Free, false),
            Role::AllocateInto { pointer, .. } => {
                let size = self.program.architecture.pointer_size();
                self.add(&arg(pointer), Some(size.into()), Write, false);
            }
            _ => {}
        }
    }

    fn state(&mut self, state: LibraryState, access: StateAccess) {
        // A state that the library locks is accessed by relaxed atomics.
        let atomic = state.is_locked();
        let kind = if access == StateAccess::Write { Write } else { Read };
        self.push(Designator::Library(state), None, kind, atomic, false);
        for (symbol, ty) in state.variables() {
            for (id, _) in self.program.globals.iter_enumerated().filter(|(_, global)| global.symbol == *symbol) {
                let variable = Designator::Pointer(Operand::Global(id, 0));
                self.push(variable, ty.size(self.program.architecture), kind, atomic, false);
            }
        }
    }
}
