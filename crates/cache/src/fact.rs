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
    /// Which program the shell finds by this name, by its file's path, size and time.
    Program(String),
    /// The user, the machine's name, the kernel and the number of processors.
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
            Self::Program(name) => {
                let file = found(name);
                let about = file.as_deref().and_then(|file| std::fs::metadata(file).ok());
                format!("{file:?} {:?}", about.map(|about| (about.len(), about.mtime(), about.mtime_nsec())))
            }
            Self::System => {
                let user = std::fs::metadata("/proc/self").map(|about| (about.uid(), about.gid())).ok();
                let about =
                    ["/proc/sys/kernel/hostname", "/proc/version"].map(|file| std::fs::read_to_string(file).ok());
                format!("{user:?} {about:?} {:?}", std::thread::available_parallelism().ok())
            }
        }
    }
}

/// The file of a program, as the shell finds it.
fn found(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file());
    std::fs::canonicalize(found?).ok()
}
