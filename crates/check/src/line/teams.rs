//! Searches with further numbers of threads in the teams of OpenMP, where the program leaves that open.
//!
//! A claim about one number says nothing about another: an error may need three threads, or as many as an array has
//! elements. So `check` searches with two threads first, and then with more, while the budget lasts. What is absent is so
//! for the numbers whose search was complete, which the scope lists; a race counts with any number.

use std::collections::BTreeSet;

use ::explore::Failure;
use model::Pair;
use model::verdict::TeamSizes;
use program::{BinaryOp, Expr, Operand, Program, Stmt};
use report::Command;

use super::{Line, Watcher};
use crate::Error;
use crate::document;
use crate::engine::Answer;
use crate::engine::explore::SearchOptions;
use crate::run::TEAM_SIZES;

impl Line<'_> {
    /// Searches with the sizes of teams that the first search did not have, whose `first` answer is not entered yet.
    pub(super) fn search_other_teams(
        &mut self,
        first: &mut Answer,
        options: &SearchOptions,
        absent: &BTreeSet<Pair>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let request = self.request;
        let limits = self.limits();
        let Some(running) = self.subject.launched().filter(|running| running.built.features.open_teams) else {
            return Ok(());
        };
        let size = limits.team_size_of(&running.built);
        let others = self.other_sizes();
        if self.covered {
            size.into_iter().for_each(|size| self.team_sizes.insert(size));
        }
        for other in others {
            if request.budget.is_spent() || request.search.stop_at_first && self.ledger.races().next().is_some() {
                break;
            }
            // While the process is there that the races found so far were found in.
            document::show_new(self)?;
            self.use_teams_of(Some(other));
            let brief = SearchOptions { max_executions: Some(BRIEF), ..options.clone() };
            let share = if self.covered { SHARE } else { BRIEF_SHARE };
            let options = if self.covered { options } else { &brief };
            let mut answer = match self.search(options, absent.clone(), &request.budget.share(share), watcher) {
                Ok(Some(answer)) => answer,
                Ok(None) => break,
                Err(error) if error.lost_run().is_some() => break,
                Err(error) => return Err(error),
            };
            self.show_races(&mut answer)?;
            self.note_misuse(&answer);
            self.note_leaks(&answer);
            let is_new = |failure: &Failure, known: &Failure| {
                let places = |failure: &Failure| failure.involved.iter().map(|i| i.site).collect::<BTreeSet<_>>();
                (failure.kind, &failure.message) != (known.kind, &known.message) || places(failure) != places(known)
            };
            for failure in answer.failures {
                let mut known = first.failures.iter().chain(self.failures.iter().map(|(_, known)| known));
                if known.all(|known| is_new(&failure, known)) {
                    self.failures.push((Some(other), failure));
                }
            }
            first.figures.statistics.executions += answer.figures.statistics.executions;
            if self.covered && answer.gaps.is_empty() {
                self.team_sizes.insert(other);
                first.assumptions.extend(answer.assumptions);
                let known: BTreeSet<Pair> = first.verdicts.iter().map(|settled| settled.pair).collect();
                first.verdicts.extend(answer.verdicts.into_iter().filter(|settled| !known.contains(&settled.pair)));
            }
        }
        let races: BTreeSet<Pair> = self.ledger.races().map(|(pair, ..)| pair).collect();
        first.verdicts.retain(|settled| !races.contains(&settled.pair));
        if !self.covered {
            // What the report says of its limits is shown by runs of the first search.
            document::show_new(self)?;
            self.use_teams_of(size);
            let limits = self.limits();
            self.subject.running(&limits)?;
        }
        Ok(())
    }

    fn use_teams_of(&mut self, size: Option<u32>) {
        self.team_size = size;
        self.witnesses.set_team_size(size);
    }

    /// The sizes to try after the first.
    fn other_sizes(&self) -> Vec<u32> {
        let given = &self.request.team_sizes;
        match (given.as_slice(), self.request.command) {
            ([_, others @ ..], _) => others.to_vec(),
            ([], Command::Check) => {
                let usual = TEAM_SIZES.into_iter().skip(1);
                usual.chain(suggested_sizes(self.subject.program())).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The part of the remaining time that a search with another size may take.
const SHARE: f64 = 0.4;

/// The same where the first search was not complete, so that only races are looked for; and its executions.
const BRIEF_SHARE: f64 = 0.2;
const BRIEF: u64 = 50;

/// How many sizes the program may suggest.
const SUGGESTED: usize = 2;

/// One more than numbers that regions compare with, or take remainders by: what is indexed by a thread's number collides, or
/// ends, there.
fn suggested_sizes(program: &Program) -> Vec<u32> {
    let mut sizes = BTreeSet::new();
    let regions = program.functions.iter().filter(|function| function.symbol.contains(".omp_outlined"));
    for statement in regions.flat_map(|function| &function.blocks).flat_map(|block| &block.statements) {
        let (left, right) = match &statement.stmt {
            Stmt::Assign { expr: Expr::Compare { left, right, .. }, .. } => (left, right),
            Stmt::Assign {
                expr: Expr::Binary { op: BinaryOp::SRem | BinaryOp::URem | BinaryOp::And, left, right, .. },
                ..
            } => (left, right),
            _ => continue,
        };
        for operand in [left, right] {
            if let Operand::Const(number) = operand {
                sizes.extend(u32::try_from(number + 1).ok().filter(|size| *size <= TeamSizes::MOST));
            }
        }
    }
    sizes.into_iter().filter(|size| *size > TEAM_SIZES[TEAM_SIZES.len() - 1]).take(SUGGESTED).collect()
}
