//! From addresses to the names of functions and globals.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The symbols of an executable, by address.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Symbols {
    /// Where the executable is loaded.
    base: u64,
    /// Ascending by address.
    symbols: Vec<Symbol>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Symbol {
    start: u64,
    size: u64,
    name: String,
    data: bool,
}

impl Symbols {
    /// Reads the symbol table of an executable that is loaded at `base` (0 for addresses as in the file).
    ///
    /// # Errors
    /// When the file is no executable.
    pub fn load(program: &Path, base: u64) -> Result<Self, Error> {
        let error = |what: String| Error { program: program.to_owned(), what };
        let bytes = std::fs::read(program).map_err(|e| error(e.to_string()))?;
        let file = object::File::parse(&*bytes).map_err(|e| error(e.to_string()))?;
        let mut symbols: Vec<Symbol> = file
            .symbols()
            .filter(|s| s.is_definition() && matches!(s.kind(), SymbolKind::Text | SymbolKind::Data) && s.size() > 0)
            .filter_map(|s| {
                Some(Symbol {
                    start: s.address(),
                    size: s.size(),
                    name: s.name().ok()?.to_owned(),
                    data: s.kind() == SymbolKind::Data,
                })
            })
            .collect();
        // Of aliases the first name is taken, whatever the table's order.
        symbols.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        symbols.dedup_by_key(|s| s.start);
        Ok(Self { base, symbols })
    }

    /// The globals alone.
    pub fn globals(self) -> Self {
        let symbols = self.symbols.into_iter().filter(|symbol| symbol.data).collect();
        Self { symbols, ..self }
    }

    /// The symbol that holds a run's address, and the offset in it.
    pub fn symbol_at(&self, address: u64) -> Option<(&str, u64)> {
        let address = address.checked_sub(self.base)?;
        let after = self.symbols.partition_point(|s| s.start <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        let offset = address - symbol.start;
        (offset < symbol.size).then_some((symbol.name.as_str(), offset))
    }

    /// The address in a run of the symbol with this name.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|s| s.name == name).map(|s| self.base + s.start)
    }
}
