//! Stand-in until facts are shared.
use facts::touches::Meeting;
use model::{Budget, Spent};
use program::Program;
use std::sync::{Arc, OnceLock};
pub(crate) struct Facts {
    program: Arc<Program>,
    options: facts::Options,
    budget: Budget,
    meetings: OnceLock<Vec<Meeting>>,
    obstacles: OnceLock<Vec<cover::Obstacle>>,
}
impl Facts {
    pub(crate) fn new(program: Arc<Program>, options: facts::Options, budget: Budget) -> Self {
        Self { program, options, budget, meetings: OnceLock::new(), obstacles: OnceLock::new() }
    }
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.program
    }
    pub(crate) fn options(&self) -> &facts::Options {
        &self.options
    }
    pub(crate) fn meetings(&self) -> Result<&[Meeting], Spent> {
        Ok(self.meetings.get_or_init(|| facts::touches::meetings(&self.program)))
    }
    pub(crate) fn obstacles(&self) -> Result<&[cover::Obstacle], Spent> {
        Ok(self.obstacles.get_or_init(|| cover::obstacles(&self.program, &self.cover_options(&self.budget))))
    }
    fn cover_options(&self, budget: &Budget) -> cover::Options {
        cover::Options {
            assume_pure: self.options.assume_pure.clone(),
            deadline: budget.deadline(),
            interrupt: budget.interrupt().clone(),
            ..cover::Options::default()
        }
    }
}
pub(crate) fn analyse(facts: &Arc<Facts>) -> Result<lockset::Analysis, Spent> {
    Ok(lockset::analyse(&facts.program, &facts.options))
}
pub(crate) fn verify(
    facts: &Facts,
    pairs: &[model::Pair],
    options: cover::Options,
    budget: &Budget,
) -> (Vec<(model::Pair, cover::Result)>, cover::Counters) {
    let limits = facts.cover_options(budget);
    cover::verify::counted(
        &facts.program,
        pairs,
        &cover::Options { nodes: options.nodes, pruning: options.pruning, ..limits },
    )
}
pub(crate) fn net(facts: &Facts, pair: model::Pair, budget: &Budget) -> Option<petri::Net> {
    cover::verify::net(&facts.program, pair, &facts.cover_options(budget))
}
pub(crate) fn summary(
    facts: &Arc<Facts>,
    absent: &std::collections::BTreeSet<model::Pair>,
) -> Option<outlook::Summary> {
    outlook::Summary::if_modelled(&facts.program, &facts.options.assume_pure, absent)
}
