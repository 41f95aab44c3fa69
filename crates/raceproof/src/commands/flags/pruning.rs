//! What a search for coverability may leave out.

use petri::backward::Pruning;

/// What a search for coverability may leave out.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum PruningFlag {
    /// Nothing: the algorithm as it was published
    Plain,
    /// What a place that is never marked or an invariant excludes
    #[default]
    Invariants,
}

impl From<PruningFlag> for Pruning {
    fn from(flag: PruningFlag) -> Self {
        match flag {
            PruningFlag::Plain => Self::Plain,
            PruningFlag::Invariants => Self::Invariants,
        }
    }
}
