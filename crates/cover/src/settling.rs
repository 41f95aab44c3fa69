//! Which flags nets keep: as long as pairs are candidates, further flags are kept whose right to it is proved by then,
//! and the candidates are asked about again.
//!
//! What a flag rests on is in the module `flags`. Flags whose pairs are absent already come first. Then all others are
//! kept at once, and those whose pairs are not absent then are given up until the rest stays: such flags may protect
//! each other, or themselves. What is left is kept by its writes, which asks for less.

use std::collections::BTreeMap;

use model::Pair;

use crate::flags::{self, Flag, Keeping};
use crate::flow::Known;
use crate::verify::{Counters, Options, Result, answer};

/// Most flags that are tried together, without the right to it.
const MOST_TOGETHER: usize = 8;

/// Answers for the pairs, and perhaps for further ones.
pub(crate) fn settle(
    known: &mut Known<'_>,
    pairs: &[Pair],
    options: &Options,
    counters: &mut Counters,
) -> BTreeMap<Pair, Result> {
    let answers = pairs.iter().map(|pair| (*pair, answer(known, *pair, options, counters))).collect();
    let mut settling = Settling { known, options, counters, answers, kept: Vec::new(), open: Vec::new() };
    if settling.is_open() {
        settling.open = flags::find(
            settling.known.program,
            settling.known.values,
            settling.known.invocations,
            &settling.known.decide(None),
        );
    }
    while settling.is_open() && (settling.keep_ordered() || settling.keep_together() || settling.keep_writes()) {
        settling.ask_again();
    }
    settling.answers
}

struct Settling<'s, 'k> {
    known: &'s mut Known<'k>,
    options: &'s Options,
    counters: &'s mut Counters,
    answers: BTreeMap<Pair, Result>,
    /// The flags that are kept; of the same flag the last one counts.
    kept: Vec<Flag>,
    /// Flags whose values are not kept.
    open: Vec<Flag>,
}

fn is_candidate(answer: &Result) -> bool {
    matches!(answer, Result::Candidate(_))
}

impl Settling<'_, '_> {
    fn is_open(&self) -> bool {
        self.answers.values().any(is_candidate)
    }

    /// Whether all that a flag rests on is absent, by the flags that are kept.
    fn is_proved(&mut self, flag: &Flag) -> bool {
        let mut answers = std::mem::take(&mut self.answers);
        let proved = self.is_proved_by(flag, &mut answers);
        self.answers = answers;
        proved
    }

    /// The same with these answers, to which what is missing is added.
    fn is_proved_by(&mut self, flag: &Flag, answers: &mut BTreeMap<Pair, Result>) -> bool {
        let Some(pairs) = flag.rests_on() else { return false };
        pairs.into_iter().all(|pair| {
            let ask = || answer(self.known, pair, self.options, self.counters);
            matches!(answers.entry(pair).or_insert_with(ask), Result::Absent(_))
        })
    }

    fn is_absent(&self, pair: &Pair) -> bool {
        matches!(self.answers.get(pair), Some(Result::Absent(_)))
    }

    /// Keeps the values of flags whose accesses are ordered; whether there are any.
    fn keep_ordered(&mut self) -> bool {
        let open = std::mem::take(&mut self.open);
        let (ordered, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(|flag| self.is_proved(flag));
        self.open = rest;
        self.keep(ordered)
    }

    /// Keeps the values of flags whose accesses are ordered if all these values are kept; whether there are any.
    fn keep_together(&mut self) -> bool {
        let mut assumed: Vec<Flag> = self.open.iter().filter(|flag| flag.rests_on().is_some()).cloned().collect();
        if assumed.len() > MOST_TOGETHER {
            return false;
        }
        while !assumed.is_empty() {
            self.known.keep(self.kept.iter().chain(&assumed));
            let mut answers = BTreeMap::new();
            let (proved, failed): (Vec<_>, Vec<_>) =
                assumed.into_iter().partition(|flag| self.is_proved_by(flag, &mut answers));
            assumed = proved;
            // What rests on a flag that is given up is not proved.
            if failed.is_empty() {
                answers.retain(|pair, _| !self.is_absent(pair));
                self.answers.append(&mut answers);
                break;
            }
        }
        self.open.retain(|flag| assumed.iter().all(|kept| kept.key != flag.key));
        self.keep(assumed)
    }

    /// Keeps the writes of flags whose plain accesses are ordered; whether there are any.
    fn keep_writes(&mut self) -> bool {
        let kept = |flag: &Flag| self.kept.iter().any(|kept| kept.key == flag.key);
        let by_writes: Vec<Flag> = self.open.iter().filter(|flag| !kept(flag)).filter_map(Flag::by_writes).collect();
        debug_assert!(by_writes.iter().all(|flag| flag.keeping == Keeping::Writes));
        let proved = by_writes.into_iter().filter(|flag| self.is_proved(flag)).collect();
        self.keep(proved)
    }

    fn keep(&mut self, further: Vec<Flag>) -> bool {
        let any = !further.is_empty();
        self.kept.extend(further);
        self.known.keep(&self.kept);
        any
    }

    /// Asks about the candidates again; an answer that is none leaves the candidate.
    fn ask_again(&mut self) {
        for (pair, old) in self.answers.iter_mut().filter(|(_, answer)| is_candidate(answer)) {
            match answer(self.known, *pair, self.options, self.counters) {
                Result::NotExpressed(_) | Result::Unknown(_) => {}
                new => *old = new,
            }
        }
    }
}
