//! What something depends on that is not the content of a file.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::hash;

/// Something that can be found out at any time, and has to be as it was.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Fact {
    /// A variable of the environment.
    Variable(String),
    /// All variables of the environment.
    Environment,
    /// Which file this is, by size and time: for programs, which are too large to be read each time.
    File(PathBuf),
    /// The user, the name of the machine and the number of its processors.
    System,
}

impl Fact {
    /// How it is now.
    pub(crate) fn now(&self) -> String {
        match self {
            Self::Variable(name) => format!("{:?}", std::env::var_os(name)),
            Self::Environment => {
                let mut variables: Vec<_> = std::env::vars_os().collect();
                variables.sort();
                hash(format!("{variables:?}").as_bytes())
            }
            Self::File(path) => {
                let about = std::fs::metadata(path).map(|about| (about.len(), about.mtime(), about.mtime_nsec()));
                format!("{:?}", about.ok())
            }
            Self::System => {
                let user = std::fs::metadata("/proc/self").map(|about| (about.uid(), about.gid())).ok();
                let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
                format!("{user:?} {name:?} {:?}", std::thread::available_parallelism().ok())
            }
        }
    }
}
