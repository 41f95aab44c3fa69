//! From addresses to names: globals by the symbol table, heap and stack objects by the run's allocations.

use std::collections::BTreeMap;

use decode::{PseudoCell, pseudo_cell};
use model::{Addr, Allocation, Cell, Region, SiteId, Trace};
use program::library::LibraryState;
use program::{GlobalId, Program, Type, naming};
use symbols::Symbols;

/// ObjectNames of a program's objects.
pub(crate) struct ObjectNames<'a> {
    program: &'a Program,
    symbols: &'a Symbols,
    globals: BTreeMap<&'a str, GlobalId>,
}

impl<'a> ObjectNames<'a> {
    /// ObjectNames for runs of `program`, whose executable has these symbols.
    pub(crate) fn new(program: &'a Program, symbols: &'a Symbols) -> Self {
        let globals = program.globals.iter_enumerated().map(|(id, global)| (global.symbol.as_str(), id)).collect();
        Self { program, symbols, globals }
    }

    /// What a person calls bytes in an allocation, if they are in one, that `site` touches: the object's name where it is
    /// known, else the expression at the site, else their kind. What the implementation keeps inside an object has the
    /// object's name.
    pub(crate) fn cell(&self, allocation: Option<&Allocation>, cell: Cell, site: Option<SiteId>) -> String {
        let name = self.object(allocation, cell).or_else(|| self.expression(site));
        name.map_or_else(|| "unnamed memory".to_owned(), |name| naming::without_insides(&name).to_owned())
    }

    fn object(&self, allocation: Option<&Allocation>, cell: Cell) -> Option<String> {
        let len = u64::from(cell.len);
        if let Some((symbol, offset)) = self.symbols.symbol_at(cell.start.0)
            && let Some(global) = self.globals.get(symbol)
        {
            return Some(naming::name_global(self.program, *global, offset, len));
        }
        if let Some(pseudo) = pseudo_cell(cell.start) {
            return Some(pseudo_name(pseudo).replace('`', ""));
        }
        let allocation = allocation?;
        let offset = cell.start.0 - allocation.start.0;
        Some(match allocation.region {
            Region::Heap => naming::name_heap(self.program, allocation.site, offset, len),
            Region::Stack => naming::name_stack(self.program, allocation.site, offset, len),
        })
    }

    /// What a person calls the synchronisation object at `addr`: the variable or field that is it.
    pub(crate) fn synchronisation(&self, trace: &Trace, addr: Addr) -> String {
        self.at_end(trace, Cell { start: addr, len: 1 }, None)
    }

    /// What a person calls bytes as they were at the end of the run.
    pub(crate) fn at_end(&self, trace: &Trace, cell: Cell, site: Option<SiteId>) -> String {
        self.cell(trace.allocation_of(cell.start, trace.events.next_id()), cell, site)
    }

    /// The type of the scalar that is exactly these bytes, as the source writes it. What the implementation keeps inside an
    /// object has the object's name, but is not its value.
    pub(crate) fn scalar(&self, trace: &Trace, cell: Cell) -> Option<&'a str> {
        let len = u64::from(cell.len);
        let allocation = trace.allocation_of(cell.start, trace.events.next_id());
        self.object(allocation, cell).filter(|name| naming::without_insides(name) == name)?;
        if let Some((symbol, offset)) = self.symbols.symbol_at(cell.start.0)
            && let Some(global) = self.globals.get(symbol)
        {
            return naming::scalar_of_global(self.program, *global, offset, len);
        }
        let allocation = allocation?;
        naming::scalar_of_block(self.program, allocation.site, cell.start.0 - allocation.start.0, len)
    }

    /// The name of what a pointer of a type, as the source writes it, points to: a function, an object or part of one.
    pub(crate) fn pointee(&self, trace: &Trace, pointer: &str, addr: Addr) -> Option<String> {
        let function = |symbol: &str| self.program.functions.iter().find(|function| function.symbol == symbol);
        if let Some((symbol, 0)) = self.symbols.symbol_at(addr.0)
            && let Some(function) = function(symbol)
        {
            return Some(function.name.clone());
        }
        let allocation = trace.allocation_of(addr, trace.events.next_id());
        let pointed = pointer.trim_end_matches('*').trim_end();
        let len = self.program.types.iter().find(|ty| ty.name() == Some(pointed)).map_or(1, Type::size);
        let cell = Cell { start: addr, len: u32::try_from(len.max(1)).unwrap_or(1) };
        let name = self.object(allocation, cell)?;
        Some(naming::without_insides(&name).to_owned())
    }

    fn expression(&self, site: Option<SiteId>) -> Option<String> {
        self.program.sites.get(site?)?.expression.clone()
    }
}

fn pseudo_name(cell: PseudoCell) -> &'static str {
    match cell {
        PseudoCell::LibraryState(index) => {
            LibraryState::ALL.get(index).map_or("state of the library", |state| state.name())
        }
        PseudoCell::FileContent => "the content of a file",
        PseudoCell::FilePosition => "the position in an open file",
        PseudoCell::Descriptor => "what is open under a number",
        PseudoCell::PendingSignals => "the pending signals",
    }
}
