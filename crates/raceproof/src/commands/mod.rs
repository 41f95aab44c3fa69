//! One file per subcommand.

pub(crate) mod cc;
pub(crate) mod cover;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod replay;
pub(crate) mod verify;
