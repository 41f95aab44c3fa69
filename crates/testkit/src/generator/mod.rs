//! Seeded random small programs, each as a text program and as C with pthreads.
//!
//! ```
//! use testkit::generator::{Case, Feature};
//! let case = Case::generate(7, &Feature::ALL.into(), testkit::Limits::default());
//! let program = case.program();            // for the interpreter and the engines
//! let c = case.c();                        // the same program; sites name its lines
//! let racing_lines = case.racing_lines();  // what brute force found
//! # let _ = (program, c, racing_lines);
//! ```

mod compose;
mod emit;
mod feature;
mod race_dependence;
mod random;
mod sketch;

use std::collections::BTreeSet;

use model::SiteId;
use program::Program;

pub use emit::{Emitted, FILE};
pub use feature::Feature;
pub use race_dependence::RaceDependence;
pub use random::Random;
pub use sketch::{Awaiting, Change, Index, Item, LockRef, Number, Sketch, Test, Value};

use crate::oracle::{self, Limits, Truth};

/// A pair of lines, the smaller first.
pub type LinePair = (u32, u32);

impl Sketch {
    /// A random sketch with some of these features, of any size.
    pub fn random(seed: u64, features: &BTreeSet<Feature>) -> Self {
        compose::compose(&mut Random::new(seed), features)
    }

    /// The sketch in both languages.
    pub fn emit(&self) -> Emitted {
        emit::emit(self)
    }

    /// The text program. A panic would be a bug of the generator.
    pub fn program(&self) -> Program {
        let text = self.emit().text;
        Program::parse(&text).unwrap_or_else(|error| panic!("raceproof bug: generated program: {error}\n{text}"))
    }

    /// The result of brute force; `None` beyond the limits.
    pub fn truth(&self, limits: Limits) -> Option<Truth> {
        let explored = oracle::explore(&self.program(), limits);
        explored.unwrap_or_else(|error| panic!("raceproof bug: generated program: {error}"))
    }
}

/// A generated program with its exact answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The seed it was generated from.
    pub seed: u64,
    /// The program.
    pub sketch: Sketch,
    /// The result of brute force.
    pub truth: Truth,
}

impl Case {
    /// The first program of this seed's sequence that brute force can handle within the limits.
    pub fn generate(seed: u64, features: &BTreeSet<Feature>, limits: Limits) -> Self {
        let mut seeds = Random::new(seed);
        loop {
            let sketch = Sketch::random(seeds.bits(), features);
            if let Some(truth) = sketch.truth(limits) {
                return Self { seed, sketch, truth };
            }
        }
    }

    /// The text program.
    pub fn program(&self) -> Program {
        self.sketch.program()
    }

    /// The C source.
    pub fn c(&self) -> String {
        self.sketch.emit().c
    }

    /// The racing pairs as lines of the C source.
    pub fn racing_lines(&self) -> BTreeSet<LinePair> {
        line_pairs(&self.program(), &self.truth.races)
    }
}

/// Pairs of sites as pairs of lines.
pub fn line_pairs(program: &Program, pairs: &BTreeSet<(SiteId, SiteId)>) -> BTreeSet<LinePair> {
    let line = |site: SiteId| program.sites[site].location.map_or(0, |l| l.line);
    pairs.iter().map(|(a, b)| (line(*a).min(line(*b)), line(*a).max(line(*b)))).collect()
}
