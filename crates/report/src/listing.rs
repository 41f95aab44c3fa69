//! What a document lists one by one, and what it counts.
//!
//! A program of ten thousand lines has millions of pairs that cannot race. Nobody reads them: a document counts them by
//! variable and reason, and lists races and open pairs by rank. `--all-pairs` lists everything. No count, no verdict and no
//! exit status depends on what is listed.

use std::borrow::Cow;
use std::collections::HashMap;

use model::verdict::{Engine as EngineName, Inputs, Scope};
use serde::{Deserialize, Serialize};

use crate::document::{Pair, PairVerdict, Report};

/// Races that a document lists.
const RACES: usize = 5_000;

/// Open pairs that a document lists.
const OPEN: usize = 500;

/// Absent pairs are listed if there are fewer pairs than this in all.
const FEW: usize = 800;

/// Events and threads of runs that a document tells, of all its findings together.
const RUN_ENTRIES: usize = 20_000;

/// Pairs of one variable that are absent for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absent {
    /// What both accesses touch.
    pub variable: String,
    /// Why they cannot race.
    pub reason: String,
    /// The engine that settled it.
    pub by: EngineName,
    /// Where that holds.
    pub scope: Option<Scope>,
    /// How many pairs.
    pub pairs: usize,
}

/// How many pairs a document does not list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Unlisted {
    /// Races that are told by themselves and not suppressed.
    #[serde(default)]
    pub race: usize,
    /// Open pairs.
    #[serde(default)]
    pub unknown: usize,
    /// Absent pairs.
    #[serde(default)]
    pub absent: usize,
}

impl Unlisted {
    /// Whether everything is listed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    fn of(&mut self, verdict: PairVerdict) -> &mut usize {
        match verdict {
            PairVerdict::Race => &mut self.race,
            PairVerdict::Unknown => &mut self.unknown,
            PairVerdict::Absent => &mut self.absent,
        }
    }
}

/// The absent ones of these pairs by variable and reason, in the order in which they first occur.
pub fn count_absent(pairs: &[Pair]) -> Vec<Absent> {
    let mut counted: Vec<Absent> = Vec::new();
    let mut at: HashMap<(&str, &str, EngineName, Option<Scope>), usize> = HashMap::new();
    for pair in pairs.iter().filter(|pair| pair.verdict == PairVerdict::Absent) {
        let Pair { variable, reason, by, details, .. } = pair;
        let index = *at.entry((variable, reason, *by, details.scope)).or_insert_with(|| {
            let (variable, reason) = (variable.clone(), reason.clone());
            counted.push(Absent { variable, reason, by: *by, scope: details.scope, pairs: 0 });
            counted.len() - 1
        });
        counted[index].pairs += 1;
    }
    counted
}

impl Report {
    /// Leaves out of the list what nobody reads one by one. Everything keeps its id and its count.
    pub fn shorten(&mut self) {
        let (mut races, mut open) = (RACES, OPEN);
        let mut absent = if self.count_all() < FEW { FEW } else { 0 };
        let unlisted = &mut self.unlisted;
        self.pairs.retain(|pair| {
            let left = match pair.verdict {
                PairVerdict::Race => &mut races,
                PairVerdict::Unknown => &mut open,
                PairVerdict::Absent => &mut absent,
            };
            if let Some(rest) = left.checked_sub(1) {
                *left = rest;
                return true;
            }
            let counts = pair.verdict != PairVerdict::Race || pair.is_to_be_told();
            *unlisted.of(pair.verdict) += usize::from(counts);
            false
        });
        // How threads reached what cannot race is nobody's question.
        let absent = self.pairs.iter_mut().filter(|pair| pair.verdict == PairVerdict::Absent);
        for access in absent.flat_map(|pair| &mut pair.accesses) {
            access.stack.clear();
            access.created.iter_mut().for_each(|created| created.stack.clear());
        }
        let mut entries = RUN_ENTRIES;
        let of_pairs = self.pairs.iter_mut().map(|pair| &mut pair.details.run);
        for run in of_pairs.chain(self.errors.iter_mut().map(|error| &mut error.run)) {
            let size = run.as_ref().map_or(0, |run| run.events.len() + run.threads.len());
            match entries.checked_sub(size) {
                Some(rest) => entries = rest,
                None => *run = None,
            }
        }
    }

    /// How many pairs have this verdict, listed or not.
    pub fn count(&self, verdict: PairVerdict) -> usize {
        self.pairs_with(verdict).count() + *{ self.unlisted }.of(verdict)
    }

    /// How many pairs there are, listed or not.
    pub fn count_all(&self) -> usize {
        let Unlisted { race, unknown, absent } = self.unlisted;
        self.pairs.len() + race + unknown + absent
    }

    /// What is absent, by variable and reason. Documents of earlier versions list it only.
    pub fn absences(&self) -> Cow<'_, [Absent]> {
        if self.absent.is_empty() { Cow::Owned(count_absent(&self.pairs)) } else { Cow::Borrowed(&self.absent) }
    }

    /// How many pairs this engine proved absent.
    pub fn proved_by(&self, engine: EngineName) -> usize {
        self.absences().iter().filter(|absent| absent.by == engine).map(|absent| absent.pairs).sum()
    }

    /// How many pairs are absent with any input.
    pub fn absent_with_any_input(&self) -> usize {
        let any = |absent: &&Absent| absent.scope.is_some_and(|scope| scope.inputs == Inputs::All);
        self.absences().iter().filter(any).map(|absent| absent.pairs).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Access, Details, Verdict};
    use crate::{Command, Run, RunEvent};
    use model::AccessKind;
    use model::verdict::{Memory, TeamSizes, Threads};

    const SCOPE: Scope = Scope {
        inputs: Inputs::All,
        threads: Threads::Any,
        bounded: false,
        memory: Memory::Sc,
        team_sizes: TeamSizes::NONE,
    };

    fn access() -> Access {
        Access {
            kind: AccessKind::Write,
            atomic: false,
            file: Some("a.c".to_owned()),
            line: 3,
            column: 5,
            function: "f".to_owned(),
            inside: None,
            thread: String::new(),
            locks: Vec::new(),
            created: None,
            stack: Vec::new(),
        }
    }

    fn pair(verdict: PairVerdict, variable: &str) -> Pair {
        let scope = (verdict == PairVerdict::Absent).then_some(SCOPE);
        Pair {
            id: String::new(),
            verdict,
            confirmed: false,
            by: EngineName::Static,
            rank: 0,
            code: None,
            variable: variable.to_owned(),
            reason: "one sentence of a length that reasons have".to_owned(),
            accesses: [access(), access()],
            witness: None,
            details: Details { scope, ..Details::default() },
        }
    }

    /// A report of so many races, open and absent pairs.
    fn report(counts: [usize; 3]) -> Report {
        let verdicts = [PairVerdict::Race, PairVerdict::Unknown, PairVerdict::Absent];
        let of = |(verdict, n): (PairVerdict, usize)| {
            (0..n).map(move |i| pair(verdict, if i % 2 == 0 { "even" } else { "odd" }))
        };
        let mut pairs: Vec<Pair> = verdicts.into_iter().zip(counts).flat_map(of).collect();
        for (rank, pair) in (1..).zip(&mut pairs) {
            (pair.rank, pair.id) = (rank, format!("P{rank}"));
        }
        Report {
            raceproof: "0.1.0".to_owned(),
            schema: crate::document::SCHEMA,
            command: Command::Check,
            inputs: Vec::new(),
            args: Vec::new(),
            verdict: Verdict::Race,
            scope: SCOPE,
            absent: count_absent(&pairs),
            unlisted: Unlisted::default(),
            pairs,
            unknowns: Vec::new(),
            errors: Vec::new(),
            engines: Vec::new(),
            assumptions: Vec::new(),
            warnings: Vec::new(),
            reused: false,
            since: None,
            tests: Vec::new(),
            time_ms: 0,
        }
    }

    #[test]
    fn few_pairs_are_all_listed() {
        let few = report([3, OPEN, FEW - OPEN - 4]);
        let mut short = few.clone();
        short.shorten();
        assert_eq!(short, few);
    }

    /// Whatever is left out keeps its count, and what is listed its id.
    #[test]
    fn many_pairs_are_counted() {
        let whole = report([RACES + 2, OPEN + 5, FEW]);
        let mut short = whole.clone();
        short.shorten();
        assert_eq!(short.unlisted, Unlisted { race: 2, unknown: 5, absent: FEW });
        for verdict in [PairVerdict::Race, PairVerdict::Unknown, PairVerdict::Absent] {
            assert_eq!(short.count(verdict), whole.count(verdict));
        }
        assert_eq!((short.count_all(), short.exit_status()), (whole.count_all(), whole.exit_status()));
        assert_eq!(short.pairs[RACES].id, format!("P{}", RACES + 3));
        assert_eq!(short.proved_by(EngineName::Static), FEW);
        assert_eq!(short.absent.iter().map(|absent| absent.pairs).collect::<Vec<_>>(), [FEW / 2; 2]);
        // Shortened twice, it is the same.
        let once = short.clone();
        short.shorten();
        assert_eq!(short, once);
    }

    /// Details of a race and what is known already are no findings, listed or not.
    #[test]
    fn details_that_are_not_listed_are_no_findings() {
        let mut details = report([RACES + 4, 0, 0]);
        for pair in &mut details.pairs[RACES..] {
            pair.details.inside = Some("P1".to_owned());
        }
        details.shorten();
        assert_eq!((details.pairs.len(), details.unlisted), (RACES, Unlisted::default()));
    }

    /// A document of an earlier version lists absent pairs and counts none.
    #[test]
    fn earlier_documents_are_counted() {
        let mut earlier = report([0, 0, 7]);
        earlier.absent.clear();
        assert_eq!((earlier.proved_by(EngineName::Static), earlier.absent_with_any_input()), (7, 7));
    }

    /// The largest document there is without `--all-pairs`, with long runs: under 20 MB.
    #[test]
    fn documents_have_a_largest_size() {
        let mut large = report([50_000, 50_000, 500_000]);
        let event = RunEvent {
            step: 1_000_000,
            thread: 3,
            action: crate::Action::Write,
            what: "writes `some::variable[3].with.a.name`".to_owned(),
            value: Some(crate::Value { old: Some("1000000".to_owned()), new: Some("1000001".to_owned()) }),
            function: "a_function_with_a_name".to_owned(),
            file: Some("source/of/some/program.c".to_owned()),
            line: 1_000,
            locks: vec!["a_lock".to_owned()],
            marked: false,
            deciding: false,
        };
        for pair in &mut large.pairs[..2_000] {
            pair.details.run = Some(Run { threads: Vec::new(), about: Vec::new(), events: vec![event.clone(); 120] });
        }
        large.shorten();
        assert!(crate::json::render(&large).len() < 20_000_000);
    }
}
