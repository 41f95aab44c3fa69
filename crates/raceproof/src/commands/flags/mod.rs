//! Flags that several commands share, each concept once.

mod again;
mod limits;
mod pragmas;
mod program;
mod pruning;
mod reporting;
mod search;

pub(crate) use again::AgainFlags;
pub(crate) use limits::{BudgetFlags, RunFlags, seconds, size, unlimited};
pub(crate) use program::{ProgramFlags, cache_folder, find_target, split};
pub(crate) use pruning::PruningFlag;
pub(crate) use reporting::ReportFlags;
pub(crate) use search::SearchFlags;
