//! One file per subcommand.

pub(crate) mod cc;
pub(crate) mod cover;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod replay;
#[path = "static.rs"]
pub(crate) mod static_;
pub(crate) mod verify;
