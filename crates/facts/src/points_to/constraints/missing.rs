//! Functions without a body of which is known how far they reach ([`Reach`]), and arguments beyond the parameters.

use program::library::{self, Reach};
use program::{FunctionId, LocalId, Operand};

use super::Generator;
use crate::invocations::{How, ProgramPoint};
use crate::points_to::solver::{Node, Source, Task};
use crate::spot::{Origin, Shift, Spot};

impl<'p> Generator<'p> {
    /// The node of the arguments that a function is given beyond its parameters.
    pub(super) fn variadic(&mut self, function: FunctionId) -> Node {
        if let Some(node) = self.variadic.get(&function) {
            return *node;
        }
        let node = self.solver.node();
        self.variadic.insert(function, node);
        node
    }

    /// How far a function reaches that has no body, where that is known and nothing else was said about it.
    pub(super) fn reach_of(&self, function: FunctionId) -> Option<Reach> {
        let body = &self.program.functions[function];
        let missing = body.blocks.is_empty() && !self.assume_pure.contains(&body.symbol);
        library::reach(&body.symbol).filter(|_| missing)
    }

    /// Calls a function of which is known how far it reaches. What it makes of that is not known, so the call is one of
    /// those that leave the program.
    pub(super) fn reach(
        &mut self,
        place: ProgramPoint,
        name: &str,
        args: &'p [Operand],
        dst: Option<LocalId>,
        reach: Reach,
    ) {
        let f = place.0;
        self.calls_outside.push((name.to_owned(), place));
        let made = Source::Spot(Spot::new(self.object(Origin::Heap(place)), Shift::ANYWHERE));
        let node = match reach {
            Reach::Bytes | Reach::Makes(_) | Reach::Arguments => {
                let node = self.solver.node();
                self.given.push(node);
                node
            }
            Reach::Library(library) => match self.libraries.get(library) {
                Some(node) => *node,
                None => {
                    let node = self.solver.node();
                    self.libraries.insert(library, node);
                    node
                }
            },
        };
        self.solver.flow(made, node);
        for arg in args {
            let from = self.anywhere(f, arg);
            self.solver.flow(from, node);
        }
        dst.into_iter().for_each(|dst| self.flow(Source::Node(node, Shift::ANYWHERE), f, dst));
        match reach {
            Reach::Bytes => return,
            Reach::Makes(n) => {
                let to = args.get(usize::from(n)).copied().unwrap_or(Operand::Any);
                self.store(f, &to, (self.solver.pointer(), None), made);
                self.solver.task(
                    made,
                    Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from: made },
                );
                return;
            }
            Reach::Arguments | Reach::Library(_) => {}
        }
        self.solver.task(Source::Node(node, Shift::default()), Task::Leak { to: node });
        let number = self.call(place, How::Callback, args, None);
        self.calls[number as usize].within = Some(node);
        self.invokes.entry(place).and_modify(|invoke| invoke.outside = true);
        self.solver.task(Source::Node(node, Shift::default()), Task::Invoke(number));
    }
}
