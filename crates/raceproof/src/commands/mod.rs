//! One file per subcommand.

pub(crate) mod build;
pub(crate) mod cc;
pub(crate) mod check;
pub(crate) mod cover;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod flags;
pub(crate) mod lsp;
pub(crate) mod predict;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod schema;
#[path = "static.rs"]
pub(crate) mod static_;
pub(crate) mod target;
pub(crate) mod test;
pub(crate) mod verify;
