//! Library functions as constraints, by their rows.

use program::library::{self, Effect, Format, FormatArgs, LibraryState, Links, Role, Size};
use program::{Architecture, FunctionId, LocalId, Operand};

use super::{Generator, constant};
use crate::formats::{may_convert, may_store_pointer};
use crate::invocations::{How, ProgramPoint};
use crate::points_to::solver::{Node, Source, Task};
use crate::spot::{Origin, Shift, Spot};

impl<'p> Generator<'p> {
    /// Anywhere in the objects of the pointers that an operand points to.
    fn loaded(&mut self, f: FunctionId, address: &Operand) -> Source {
        let (at, to) = (self.source(f, address), self.solver.node());
        self.solver.task(at, Task::Load { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, to });
        Source::Node(to, Shift::ANYWHERE)
    }

    /// Pointers that are read from text: any of which nothing is known, to a new block, or one that was printed.
    fn format(&mut self, (f, block, index): ProgramPoint, format: &Format, args: &'p [Operand]) {
        let text = args.get(usize::from(format.format)).copied().unwrap_or(Operand::Any);
        let listed = match format.args {
            FormatArgs::From(first) => args.get(usize::from(first)..).unwrap_or_default(),
            FormatArgs::List(_) => &[],
        };
        if may_store_pointer(self.program, format, &text) {
            let block = self.start(Origin::Heap((f, block, index)));
            let outside = Source::Node(self.outside, Shift::default());
            for from in [Source::Spot(self.unknown), block, outside] {
                listed.iter().for_each(|to| self.store(f, to, (self.solver.pointer(), None), from));
                // What a list has is known outside.
                if let FormatArgs::List(_) = format.args {
                    self.solver.task(
                        outside,
                        Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from },
                    );
                }
            }
        } else if !format.scan && self.scans_pointers && may_convert(self.program, format, &text, b"p") {
            for value in listed {
                let from = self.anywhere(f, value);
                self.solver.flow(from, self.outside);
            }
        }
    }

    /// `getopt` goes through an array of texts: its variables point to one of them.
    fn options_of(&mut self, f: FunctionId, words: &Operand) {
        let (at, word) = (self.anywhere(f, words), self.solver.node());
        self.solver
            .task(at, Task::Load { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, to: word });
        let from = Source::Node(word, Shift::ANYWHERE);
        for (id, global) in self.program.globals.iter_enumerated() {
            if LibraryState::Getopt.has_pointer(&global.symbol) {
                let variable = self.object(Origin::Global(id));
                let cell = self.solver.cell(Spot::start(variable), self.solver.pointer());
                self.solver.flow(from, cell);
            }
        }
    }

    /// Where nodes have their links. Another machine's pointers may have another size.
    fn link_shifts(&self, links: Links) -> Vec<Shift> {
        match self.program.architecture {
            Architecture::Other => vec![Shift::ANYWHERE],
            _ => links.offsets().iter().map(|offset| Shift { offset: *offset, stride: 0 }).collect(),
        }
    }

    /// A set of nodes has whatever is linked with one of them.
    fn follow_links(&mut self, all: Node, links: Links) {
        for shift in self.link_shifts(links) {
            self.solver.task(
                Source::Node(all, Shift::default()),
                Task::Load { shift, size: self.solver.pointer(), lvalue: None, to: all },
            );
        }
    }

    pub(super) fn library(&mut self, place: ProgramPoint, dst: Option<LocalId>, name: &str, args: &'p [Operand]) {
        let f = place.0;
        let arg = |n: u8| args.get(usize::from(n)).copied().unwrap_or(Operand::Any);
        let Some(row) = library::lookup(name) else {
            if self.assume_pure.contains(name) {
            } else if let Some(reach) = library::reach(name) {
                self.reach(place, name, args, dst, reach);
            } else {
                self.call(place, How::Call, args, dst);
                self.leave(place, name.to_owned(), args, dst);
            }
            return;
        };
        for effect in row.effects {
            match effect {
                Effect::Returns(n) => {
                    let from = self.anywhere(f, &arg(*n));
                    dst.into_iter().for_each(|dst| self.flow(from, f, dst));
                }
                Effect::ReturnsState(state) => {
                    let object = self.object(Origin::Library(*state));
                    let from = Source::Spot(Spot::new(object, Shift::ANYWHERE));
                    dst.into_iter().for_each(|dst| self.flow(from, f, dst));
                    // Pointers there that nobody else left there are to more of the same.
                    self.solver.task(
                        from,
                        Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from },
                    );
                }
                Effect::ReturnsBehind(n) => {
                    let from = self.loaded(f, &arg(*n));
                    dst.into_iter().for_each(|dst| self.flow(from, f, dst));
                }
                Effect::ReturnsKept(state) => {
                    let (memory, to) = (self.object(Origin::Library(*state)), self.solver.node());
                    let at = Source::Spot(Spot::new(memory, Shift::ANYWHERE));
                    self.solver.task(at, Task::Load { shift: Shift::default(), size: None, lvalue: None, to });
                    dst.into_iter().for_each(|dst| self.flow(Source::Node(to, Shift::ANYWHERE), f, dst));
                }
                Effect::KeepsIn(n, state) => {
                    let (memory, from) = (self.object(Origin::Library(*state)), self.anywhere(f, &arg(*n)));
                    let at = Source::Spot(Spot::start(memory));
                    if from != Source::Nothing {
                        self.solver.task(
                            at,
                            Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from },
                        );
                    }
                }
                Effect::StoresBlock(n) => {
                    // Where the block holds pointers itself, they are to blocks of the same call.
                    let from = self.start(Origin::Heap(place));
                    self.store(f, &arg(*n), (self.solver.pointer(), None), from);
                    self.solver.task(
                        from,
                        Task::Store { shift: Shift::ANYWHERE, size: self.solver.pointer(), lvalue: None, from },
                    );
                }
                Effect::Advances(n) => {
                    let from = self.loaded(f, &arg(*n));
                    self.store(f, &arg(*n), (self.solver.pointer(), None), from);
                }
                // Threads meet there, whether or not a pointer to it is ever returned.
                Effect::State(state, _) | Effect::StateWithout(_, state, _) => {
                    self.object(Origin::Library(*state));
                    if *state == LibraryState::Getopt {
                        self.options_of(f, &arg(1));
                    }
                }
                Effect::File(..) => {
                    self.object(Origin::Library(LibraryState::Descriptors));
                    self.object(Origin::Library(LibraryState::Bytes));
                }
                Effect::StoresPointer(to, n) => {
                    let from = self.anywhere(f, &arg(*n));
                    self.store(f, &arg(*to), (self.solver.pointer(), None), from);
                }
                Effect::Copies(to, from) => {
                    self.copy(place, &arg(*to), &arg(*from), None, Shift::ANYWHERE);
                }
                Effect::Links(nodes, links) => {
                    let all = self.solver.node();
                    for n in *nodes {
                        let node = self.source(f, &arg(*n));
                        self.solver.flow(node, all);
                    }
                    self.follow_links(all, *links);
                    let from = Source::Node(all, Shift::default());
                    for shift in self.link_shifts(*links) {
                        self.solver.task(from, Task::Store { shift, size: self.solver.pointer(), lvalue: None, from });
                    }
                }
                Effect::ReturnsLinked(n, links) => {
                    let (node, all) = (self.source(f, &arg(*n)), self.solver.node());
                    self.solver.flow(node, all);
                    self.follow_links(all, *links);
                    dst.into_iter().for_each(|dst| self.flow(Source::Node(all, Shift::default()), f, dst));
                }
                Effect::Passes(passage) => {
                    let memory = self.object(Origin::Library(passage.state));
                    let at = self.source(f, &arg(passage.arg));
                    let len = row.effects.iter().find_map(|e| match e {
                        Effect::Read(n, Size::Arg(len)) if *n == passage.arg => constant(&arg(*len)),
                        Effect::Read(n, size) if *n == passage.arg => {
                            size.fixed(self.program.architecture).and_then(|len| u32::try_from(len).ok())
                        }
                        _ => None,
                    });
                    self.passages.add(&mut self.solver, passage, at, len, memory);
                }
                Effect::Format(format) => self.format(place, format, args),
                Effect::Keeps(n) => {
                    let (from, outside) = (self.source(f, &arg(*n)), self.outside);
                    self.solver.flow(from, outside);
                }
                Effect::Calls(n) => {
                    let number = self.call(place, How::Callback, args, None);
                    let pointer = arg(*n);
                    self.invoke(f, &pointer, number);
                }
                _ => {}
            }
        }
        // What else it does is not known, but perhaps how far that reaches.
        let reach = match row.name {
            "ioctl" => Some(library::reach_of_request(constant(&arg(1)).map(i64::from))),
            name => library::reach(name),
        };
        match reach.filter(|_| row.is_opaque()) {
            Some(reach) => self.reach(place, name, args, dst, reach),
            None if row.is_opaque() && !library::is_about_signals(name) => {
                self.call(place, How::Call, args, dst);
                self.leave(place, name.to_owned(), args, dst);
            }
            None => {}
        }
        let block = Origin::Heap(place);
        match row.role {
            Role::Allocate { .. } | Role::AllocateInside | Role::Reallocate { .. } => {
                let from = self.start(block);
                dst.into_iter().for_each(|dst| self.flow(from, f, dst));
            }
            Role::AllocateInto { pointer, .. } => {
                let from = self.start(block);
                self.store(f, &arg(pointer), (self.solver.pointer(), None), from);
            }
            Role::Errno => {
                let from = self.start(Origin::Errno);
                dst.into_iter().for_each(|dst| self.flow(from, f, dst));
            }
            _ => {}
        }
    }
}
