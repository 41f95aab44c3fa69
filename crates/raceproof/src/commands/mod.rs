//! One file per subcommand.

pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod replay;
