//! Where values in memory come from: which statements write what another reads, and which meet other threads there.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::ProgramPoint;
use facts::touches::{self, Touch};
use facts::values::{Root, Values};
use model::AccessKind;
use program::Program;

use crate::parallel::Parallel;

/// Most meetings of statements in memory that are looked at; in larger programs everything counts as shared.
const MOST: usize = 2_000_000;

/// The statements that touch memory.
#[derive(Default)]
pub(crate) struct Memory {
    numbers: BTreeMap<ProgramPoint, usize>,
    /// For each, those that may have written what it reads.
    writers: Vec<BTreeSet<usize>>,
    /// Those that may touch what another thread touches at the same time, one of them writing.
    contended: Vec<bool>,
    pub(crate) places: Vec<ProgramPoint>,
}

/// One touch of a statement.
type Touched<'a> = (usize, &'a Touch);

impl Memory {
    /// `None` if there is too much to look at.
    pub(crate) fn new(program: &Program, values: &Values<'_>, parallel: &Parallel<'_>) -> Option<Self> {
        let mut memory = Self::default();
        let mut touching: Vec<Vec<Touch>> = Vec::new();
        for (function, body) in program.functions.iter_enumerated() {
            for (block, code) in body.blocks.iter_enumerated() {
                for (index, statement) in code.statements.iter().enumerate() {
                    let touched = touches::touches(program, values, function, &statement.stmt);
                    if !touched.is_empty() {
                        memory.numbers.insert((function, block, index), memory.places.len());
                        memory.places.push((function, block, index));
                        touching.push(touched);
                    }
                }
            }
        }
        memory.writers = vec![BTreeSet::new(); memory.places.len()];
        memory.contended = vec![false; memory.places.len()];
        let mut by_root: BTreeMap<Root, Vec<Touched<'_>>> = BTreeMap::new();
        for (number, touch) in touching.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |t| (n, t))) {
            by_root.entry(touch.root).or_default().push((number, touch));
        }
        let anywhere = by_root.get(&Root::Unknown).cloned().unwrap_or_default();
        let mut meetings = 0;
        for (root, touched) in &by_root {
            let escaped = values.is_escaped(*root);
            let shared = values.is_shared(*root);
            let others = || touched.iter().chain(anywhere.iter().filter(|_| escaped && *root != Root::Unknown));
            meetings += touched.len() * others().count();
            if meetings > MOST {
                return None;
            }
            for one in touched {
                others().for_each(|other| memory.meet(parallel, shared, *one, *other));
            }
        }
        Some(memory)
    }

    fn meet(&mut self, parallel: &Parallel<'_>, shared: bool, one: Touched<'_>, other: Touched<'_>) {
        let writes = |touch: &Touch| touch.kind.writes();
        if !(writes(one.1) || writes(other.1)) || !overlap(one.1, other.1) {
            return;
        }
        for ((reader, read), (writer, written)) in [(one, other), (other, one)] {
            let reads = matches!(read.kind, AccessKind::Read | AccessKind::ReadModifyWrite);
            if reads && writes(written) && written.kind != AccessKind::Free {
                self.writers[reader].insert(writer);
            }
        }
        let known = self.contended[one.0] && self.contended[other.0];
        if shared && !known && parallel.may(self.places[one.0], self.places[other.0]) {
            (self.contended[one.0], self.contended[other.0]) = (true, true);
        }
    }

    /// Whether the statement may touch what another thread touches at the same time, one of them writing.
    pub(crate) fn is_contended(&self, place: ProgramPoint) -> bool {
        self.numbers.get(&place).is_some_and(|number| self.contended[*number])
    }

    /// The statements that may have written what this one reads.
    pub(crate) fn writers(&self, place: ProgramPoint) -> impl Iterator<Item = ProgramPoint> + '_ {
        let writers = self.numbers.get(&place).into_iter().flat_map(|number| &self.writers[*number]);
        writers.map(|writer| self.places[*writer])
    }
}

fn overlap(one: &Touch, other: &Touch) -> bool {
    let (Some((a, len_a)), Some((b, len_b)), true) = (one.bytes, other.bytes, one.root == other.root) else {
        return true;
    };
    let end = |start: i64, len: u64| i128::from(start) + i128::from(len);
    i128::from(a) < end(b, len_b) && i128::from(b) < end(a, len_a)
}
