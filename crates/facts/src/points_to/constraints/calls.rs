//! Calls as constraints: arguments and results, of functions in the program and outside of it.

use std::collections::BTreeSet;

use program::{BlockId, Callee, FunctionId, LocalId, Operand, Stmt};

use super::{Call, Generator, OUTSIDE};
use crate::address::Base;
use crate::invocations::{How, ProgramPoint};
use crate::points_to::Invoke;
use crate::points_to::solver::{Source, Task};
use crate::spot::{ObjectId, Origin, Shift, Spot};

impl<'p> Generator<'p> {
    pub(super) fn call(&mut self, place: ProgramPoint, how: How, args: &'p [Operand], dst: Option<LocalId>) -> u32 {
        let number = self.calls.len() as u32;
        self.calls.push(Call { place, how, args, dst, within: None });
        let invoke = Invoke { place, how, callees: Vec::new(), without_body: BTreeSet::new(), outside: false };
        self.invokes.entry(place).or_insert(invoke);
        number
    }
    pub(super) fn invoke(&mut self, f: FunctionId, pointer: &Operand, number: u32) {
        match self.addresses.of(f, pointer).base {
            Base::Function(callee) => self.bind(number, callee),
            _ => {
                let at = self.source(f, pointer);
                self.solver.task(at, Task::Invoke(number));
                self.through_pointers.push(number);
            }
        }
    }

    /// Lets an invocation run a function.
    pub(super) fn bind(&mut self, number: u32, callee: FunctionId) {
        if !self.bound.insert((number, callee)) {
            return;
        }
        let body = &self.program.functions[callee];
        if body.blocks.is_empty() {
            if let Some(call) = self.calls.get(number as usize)
                && let Some(invoke) = self.invokes.get_mut(&call.place)
            {
                invoke.without_body.insert(callee);
            }
            if number != OUTSIDE && !self.assume_pure.contains(&body.symbol) {
                self.call_outside(number, Some(callee));
            }
            return;
        }
        let (returned, outside) = (self.returned[callee], self.outside);
        let whatever = Source::Node(outside, Shift::default());
        let beyond = self.variadic(callee);
        if number == OUTSIDE {
            self.by_outside.push(callee);
            (0..body.params).for_each(|p| self.flow(whatever, callee, LocalId(p)));
            self.solver.flow(whatever, beyond);
            self.solver.flow(Source::Node(returned, Shift::default()), outside);
            return;
        }
        let Call { place, how, args, dst, within } = self.calls[number as usize];
        if let Some(invoke) = self.invokes.get_mut(&place)
            && let Err(at) = invoke.callees.binary_search(&callee)
        {
            invoke.callees.insert(at, callee);
        }
        if let Some(within) = within {
            // It is called with what the function that calls it was given.
            let from = Source::Node(within, Shift::ANYWHERE);
            (0..body.params).for_each(|parameter| self.flow(from, callee, LocalId(parameter)));
            self.solver.flow(from, beyond);
            self.solver.flow(Source::Node(returned, Shift::default()), within);
            return;
        }
        if how == How::Callback {
            // A callback is called with pointers into what the library was given.
            for parameter in 0..body.params {
                for arg in args {
                    let from = self.anywhere(place.0, arg);
                    self.flow(from, callee, LocalId(parameter));
                }
                self.flow(whatever, callee, LocalId(parameter));
            }
            self.solver.flow(whatever, beyond);
        } else {
            for parameter in 0..body.params {
                match args.get(parameter as usize) {
                    Some(arg) => {
                        let from = self.source(place.0, arg);
                        self.flow(from, callee, LocalId(parameter));
                    }
                    None => self.flow(whatever, callee, LocalId(parameter)),
                }
            }
            for arg in args.iter().skip(body.params as usize) {
                let from = self.source(place.0, arg);
                self.solver.flow(from, beyond);
            }
        }
        match how {
            How::Create => {
                let results = self.results;
                self.solver.flow(Source::Node(returned, Shift::default()), results);
            }
            How::Callback => self.solver.flow(Source::Node(returned, Shift::default()), outside),
            How::Call | How::Once => {
                if let Some(dst) = dst {
                    self.result(place, callee, dst);
                }
            }
        }
    }

    /// A call's result: what the function returned, with a block of its own for the one that the function made if it
    /// allocates.
    fn result(&mut self, place: ProgramPoint, callee: FunctionId, dst: LocalId) {
        let returned = self.returned[callee];
        let Some(others) = self.wrappers.get(&callee).cloned() else {
            self.returns_others.insert(place);
            return self.flow(Source::Node(returned, Shift::default()), place.0, dst);
        };
        if !others.is_empty() {
            self.returns_others.insert(place);
        }
        for (function, other) in &others {
            let from = self.source(*function, other);
            self.flow(from, place.0, dst);
        }
        let block = self.object(Origin::Heap(place));
        self.flow(Source::Spot(Spot::start(block)), place.0, dst);
        for made in self.made_by(callee) {
            self.clones.entry(made).or_default().push(block);
            let to = Task::CopyOut { shift: Shift::default(), len: None, to: block };
            self.solver.task(Source::Spot(Spot::start(made)), to);
        }
    }
    /// The blocks that a function makes to return them.
    fn made_by(&mut self, function: FunctionId) -> Vec<ObjectId> {
        let mut places = Vec::new();
        for (block_id, block) in self.program.functions[function].blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let makes = match &statement.stmt {
                    Stmt::Alloc { .. } => true,
                    Stmt::Call { callee: Callee::Direct(callee), .. } => self.wrappers.contains_key(callee),
                    _ => false,
                };
                if makes {
                    places.push((function, block_id, index));
                }
            }
        }
        places.into_iter().map(|place| self.object(Origin::Heap(place))).collect()
    }

    pub(super) fn call_outside(&mut self, number: u32, callee: Option<FunctionId>) {
        let Call { place, args, dst, within, .. } = self.calls[number as usize];
        if let Some(within) = within {
            self.solver.flow(Source::Node(within, Shift::ANYWHERE), self.outside);
            self.solver.flow(Source::Node(self.outside, Shift::default()), within);
        }
        let name = callee.map_or_else(|| "a function pointer".to_owned(), |f| self.program.functions[f].name.clone());
        self.leave(place, name, args, dst);
    }
    /// Calls through a pointer of which nothing is known: any function whose address is used may be meant.
    pub(super) fn call_unknown(&mut self, number: u32) {
        let Call { place, args, dst, .. } = self.calls[number as usize];
        if !self.calls_unknown.insert(number) {
            return;
        }
        let unknown = Source::Spot(self.unknown);
        for arg in args {
            let from = self.source(place.0, arg);
            self.solver.task(
                unknown,
                Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from },
            );
        }
        dst.into_iter().for_each(|dst| self.flow(unknown, place.0, dst));
    }
    /// Lets calls through pointers of which nothing is known run every function whose address is used and that takes no
    /// more arguments than there are.
    pub(super) fn bind_unknown(&mut self) {
        let numbers: BTreeSet<u32> = self.calls_unknown.iter().copied().collect();
        self.bind_all(numbers);
    }
    /// Lets calls through pointers to very many functions run every such function.
    pub(super) fn bind_any(&mut self) {
        self.bind_all(self.calls_any.clone());
    }
    fn bind_all(&mut self, numbers: BTreeSet<u32>) {
        let functions = self.ids.keys().filter_map(|o| if let Origin::Function(f) = o { Some(*f) } else { None });
        let functions: BTreeSet<FunctionId> = functions.collect();
        for number in numbers {
            let most = match self.calls.get(number as usize) {
                Some(Call { how: How::Callback, .. }) | None => u32::MAX,
                Some(Call { args, .. }) => args.len() as u32,
            };
            for function in functions.iter().filter(|f| self.program.functions[**f].params <= most) {
                self.bind(number, *function);
            }
        }
    }

    /// Takes calls that run nothing so far as calls through pointers of which nothing is known, where they can be
    /// reached; whether there are any.
    pub(super) fn call_unresolved(&mut self) -> bool {
        let mut reached: BTreeSet<FunctionId> = BTreeSet::new();
        let mut open: Vec<FunctionId> = self.program.main.into_iter().chain(self.by_outside.iter().copied()).collect();
        open.extend(self.entries);
        while let Some(function) = open.pop() {
            if reached.insert(function) {
                let from = (function, BlockId(0), 0);
                let to = (FunctionId(function.0 + 1), BlockId(0), 0);
                open.extend(self.invokes.range(from..to).flat_map(|(_, invoke)| invoke.callees.iter().copied()));
            }
        }
        let is_open = |number: &u32| {
            let invoke = &self.invokes[&self.calls[*number as usize].place];
            reached.contains(&invoke.place.0)
                && invoke.callees.is_empty()
                && invoke.without_body.is_empty()
                && !invoke.outside
                && !self.calls_unknown.contains(number)
        };
        let unresolved: Vec<u32> = self.through_pointers.iter().copied().filter(is_open).collect();
        unresolved.iter().for_each(|number| self.call_unknown(*number));
        !unresolved.is_empty()
    }
    /// Calls something whose effects are not known.
    pub(super) fn leave(&mut self, place: ProgramPoint, name: String, args: &[Operand], dst: Option<LocalId>) {
        self.calls_outside.push((name, place));
        if let Some(invoke) = self.invokes.get_mut(&place) {
            invoke.outside = true;
        }
        let outside = self.outside;
        for arg in args {
            let from = self.source(place.0, arg);
            self.solver.flow(from, outside);
        }
        if let Some(dst) = dst {
            self.flow(Source::Node(outside, Shift::default()), place.0, dst);
        }
    }
}
