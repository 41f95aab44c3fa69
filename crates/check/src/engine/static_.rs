//! The static engine in the line: what the text of the program says about every pair, for all inputs.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use facts::Facts;
use facts::Rounds;
use facts::teams::{Assumed, Teams};
use lockset::{Analysis, Finding};
use model::verdict::{Inputs, Memory, Scope, TeamSizes, Threads};
use model::{Budget, Engine, Pair, Spent};
use program::{Program, naming};
use report::{Code, Protection};

use super::{Answer, Figures, Open, Settled, Verdict};
use crate::assumptions;
use crate::describe::Position;
use crate::gap::Gap;

/// What an analysis did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnalysisFigures {
    /// How long each part took, in order.
    pub phases: Vec<(&'static str, Duration)>,
    /// How many warnings another one implies: if that one is settled, so are they.
    pub implied: usize,
    /// How many pairs of lines the other warnings have.
    pub lines: usize,
    /// How many classes of accesses to shared memory there are.
    pub classes: usize,
    /// How many pairs of classes conflict.
    pub class_pairs: lockset::ClassPairs,
    /// What keeps open pairs of classes open, in words, most first, with how many.
    pub holds: Vec<(&'static str, u64)>,
    /// The objects with most open pairs of classes, by name.
    pub crowded: Vec<(String, u64)>,
    /// How many variables the warnings are about.
    pub variables: usize,
}

impl AnalysisFigures {
    /// Those of an analysis of this program.
    pub(crate) fn of(program: &Program, analysis: &Analysis) -> Self {
        let line = |side: &lockset::Side| {
            let Position { file, line, .. } = Position::of(program, Some(side.site));
            (file, line)
        };
        let mut lines = BTreeSet::new();
        let mut implied = 0;
        for finding in &analysis.findings {
            match finding.answer {
                lockset::Answer::Unknown { covered: true, .. } => implied += 1,
                lockset::Answer::Unknown { covered: false, .. } => {
                    let mut pair = finding.sides.each_ref().map(line);
                    pair.sort();
                    lines.insert(pair);
                }
                lockset::Answer::Absent(_) => {}
            }
        }
        let (classes, class_pairs, variables) = (analysis.classes, analysis.class_pairs, analysis.variables);
        Self {
            phases: analysis.phases.clone(),
            implied,
            lines: lines.len(),
            classes,
            class_pairs,
            holds: analysis.holds.iter().map(|(hold, pairs)| (hold.words(), *pairs)).collect(),
            crowded: analysis.crowded.clone(),
            variables,
        }
    }
}

/// What a verdict of this engine covers.
const SCOPE: Scope = Scope {
    inputs: Inputs::All,
    threads: Threads::Any,
    bounded: false,
    memory: Memory::Sc,
    team_sizes: TeamSizes::NONE,
};

/// Why a pair that the analysis does not list cannot race.
const NEVER_MEET: &str = "the two never touch the same memory from different threads";

/// Why one of very many pairs cannot race.
const WITH_ITS_CLASS: &str =
    "the two never touch the same memory from different threads, or a lock or an order keeps them apart";

/// What would settle a warning.
const WARNING: &str = "`raceproof check` runs the program and looks for it";

/// Analyses the program. Verdicts are about the `listed` pairs; without a list, about every pair that the analysis finds.
/// The analysis itself describes the pairs. `declared` says that the user declared effects of functions.
pub(crate) fn run(facts: &Facts, listed: Option<&BTreeSet<Pair>>, declared: bool) -> (Answer, Option<Analysis>) {
    let start = Instant::now();
    let figures = |stopped| Figures::new(Engine::Static, "acquisition histories", stopped, start.elapsed());
    let analysis = match lockset::analyse(facts) {
        Ok(analysis) => analysis,
        Err(spent) => {
            let gaps = vec![stopped(spent)];
            return (Answer { gaps, ..Answer::new(figures(Some(spent.to_string()))) }, None);
        }
    };
    let gaps = gaps(&analysis);
    let mut verdicts: Vec<Settled> = analysis
        .findings
        .iter()
        .filter(|finding| listed.is_none_or(|listed| listed.contains(&finding.pair)))
        .map(settled)
        .collect();
    if !analysis.proves_nothing() {
        let found: BTreeSet<Pair> = verdicts.iter().map(|settled| settled.pair).collect();
        let unlisted = listed.into_iter().flatten().filter(|pair| !found.contains(pair) && !analysis.may_race(**pair));
        let reason = if analysis.more_absent == 0 { NEVER_MEET } else { WITH_ITS_CLASS };
        verdicts.extend(unlisted.map(|pair| {
            let verdict = Verdict::Absent { reason: reason.to_owned(), scope: SCOPE };
            Settled { pair: *pair, verdict, seen: None }
        }));
    }
    let mut assumed = Assumed::default();
    if !analysis.proves_nothing() {
        let separated = Teams::new(facts).and_then(|teams| match teams {
            Some(teams) => separate(&teams, &mut verdicts, facts.budget()),
            None => Ok(Assumed::default()),
        });
        match separated {
            Ok(of_teams) => assumed = of_teams,
            Err(spent) => {
                return (
                    Answer { gaps: vec![stopped(spent)], ..Answer::new(figures(Some(spent.to_string()))) },
                    Some(analysis),
                );
            }
        }
    }
    let outside = !analysis.outside.is_empty();
    let mut assumptions = assumptions::of_static(facts, declared, outside);
    assumptions.extend(assumptions::of_teams(assumed));
    let everything = analysis.obstacles.iter().find(|obstacle| obstacle.everything);
    let figures = figures(everything.map(|obstacle| obstacle.what.clone()));
    (Answer { verdicts, gaps, assumptions, ..Answer::new(figures) }, Some(analysis))
}

/// Proves what the regions of OpenMP keep apart; returns what that assumes.
fn separate(teams: &Teams<'_>, verdicts: &mut [Settled], budget: &Budget) -> Result<Assumed, Spent> {
    let (mut assumed, mut rounds) = (Assumed::default(), Rounds::new(budget, 64));
    for settled in verdicts.iter_mut().filter(|settled| matches!(settled.verdict, Verdict::Open(_))) {
        rounds.begin()?;
        let [one, other] = settled.pair.sites();
        if let Some(separation) = teams.separation(one, other) {
            assumed = assumed.and(separation.assumed());
            settled.verdict = Verdict::Absent { reason: separation.to_string(), scope: SCOPE };
        }
    }
    Ok(assumed)
}

fn settled(finding: &Finding) -> Settled {
    let verdict = match &finding.answer {
        lockset::Answer::Absent(reason) => Verdict::Absent { reason: reason.to_string(), scope: SCOPE },
        lockset::Answer::Unknown { why, usual_lock, .. } => {
            let open = Open::new(Code::WARNING, why.clone()).settled_by(WARNING);
            Verdict::Open(Open { protection: usual_lock.clone().map(protection), ..open })
        }
    };
    Settled { pair: finding.pair, verdict, seen: None }
}

/// An analysis that the budget ended.
fn stopped(spent: Spent) -> Gap {
    Gap::new(Code::SEARCH_BOUND, format!("the static analysis did not finish: {spent}"), "raise `--time`")
}

/// What keeps the answer from being `safe`, apart from pairs.
fn gaps(analysis: &Analysis) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for obstacle in &analysis.obstacles {
        let settle = match obstacle.everything {
            true => "because of it no pair is called absent for all inputs; let `explore` look at runs of this input",
            false => "let `explore` look at runs of this input",
        };
        gaps.push(Gap::new(Code::UNMODELLED, obstacle.what.clone(), settle).at(obstacle.site));
    }
    for (name, site) in &analysis.outside {
        let reason = format!("calls `{name}`, whose body is missing: what it does to memory it is given is not known");
        let settle = "give its source, or `--assume-pure` if it touches nothing that threads share";
        gaps.push(Gap { function: Some(name.clone()), ..Gap::new(Code::UNMODELLED, reason, settle).at(*site) });
    }
    if analysis.more_warnings > 0 {
        let reason = format!("{} further pairs are not listed one by one", analysis.more_warnings);
        gaps.push(Gap::new(Code::SEARCH_BOUND, reason, "settle the pairs listed first"));
    }
    gaps
}

/// The lock that is held at so many of so many places, by the name that runs know it by.
fn protection((lock, held, places): (String, usize, usize)) -> Protection {
    Protection { lock: naming::without_insides(&lock).to_owned(), held, places }
}

/// How the analysis describes the accesses of a pair: kinds, places and locks, but no threads.
pub(crate) fn describe(program: &Program, finding: &Finding) -> (String, [report::Access; 2]) {
    let access = |side: &lockset::Side| {
        let Position { function, inside, file, line, column } = Position::of(program, Some(side.site));
        let (kind, atomic) = (side.kind, side.atomic);
        let (thread, locks, created) = (String::new(), side.locks.clone(), None);
        let stack = Vec::new();
        report::Access { kind, atomic, file, line, column, function, inside, thread, locks, created, stack }
    };
    (finding.variable.clone(), finding.sides.each_ref().map(access))
}
