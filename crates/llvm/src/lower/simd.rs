//! Loops whose iterations may run at the same time in one thread: `simd` loops of OpenMP.
//!
//! The lanes of such a loop are not threads of the language; a pair of two accesses in lanes is told from others.

use program::Unmodelled;

use super::Lowering;
use crate::lanes;

impl Lowering<'_, '_> {
    /// Notes all accesses in `simd` loops, and in what they call.
    pub(super) fn simd_loops(&mut self) {
        let functions: Vec<_> = self.symbols.functions.defined().map(|(_, function)| function).collect();
        let loops: Vec<_> = functions.iter().flat_map(|function| lanes::loops(*function)).collect();
        let mut found: Vec<_> =
            lanes::executed(&loops, &functions).into_iter().filter_map(|i| self.sites.id(i)).collect();
        found.sort_unstable();
        let lane = |site| Unmodelled { site: Some(site), what: Unmodelled::LANES.to_owned(), function: None };
        self.program.unmodelled.extend(found.into_iter().map(lane));
    }
}
