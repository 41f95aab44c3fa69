//! Which program a file speaks of, and how to build it again.

use std::collections::{BTreeMap, BTreeSet};

use model::Trace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A program and its input, as the user gave them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramIdentity {
    /// SHA-256 of the program's bitcode, the flags and the numbers of its sites: changes with the sources, the flags and
    /// raceproof itself.
    pub hash: String,
    /// The source files, as the user spelled them.
    pub inputs: Vec<String>,
    /// Which executable of a compilation database, if it has several.
    #[serde(default)]
    pub executable: Option<String>,
    /// The folder that it runs in, as the user spelled it; the current one if `None`.
    #[serde(default)]
    pub folder: Option<String>,
    /// Variables of its environment that are set, or removed where there is no value.
    #[serde(default)]
    pub variables: BTreeMap<String, Option<String>>,
    /// Extra compiler flags.
    pub cflags: Vec<String>,
    /// External functions assumed to touch no shared memory.
    pub assume_pure: Vec<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The file given as standard input, as the user spelled it.
    pub stdin: Option<String>,
    /// SHA-256 of that file.
    pub stdin_hash: Option<String>,
    /// The script for the program's peers, as the user spelled it.
    pub peers: Option<String>,
    /// SHA-256 of that script and the files that it names.
    pub peers_hash: Option<String>,
}

impl ProgramIdentity {
    /// An input file that is not as `found` has it.
    pub fn other_input<'a>(&'a self, found: &'a Self) -> Option<&'a str> {
        let of = |program: &'a Self| {
            let Self { stdin, stdin_hash, peers, peers_hash, .. } = program;
            [(stdin, stdin_hash), (peers, peers_hash)]
        };
        let mut pairs = of(self).into_iter().zip(of(found));
        let changed = |((name, hash), (_, now)): ((&'a Option<String>, _), (_, _))| {
            (hash != now).then(|| name.as_deref().unwrap_or_default())
        };
        pairs.find_map(changed)
    }
}

/// SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    crate::hex(&Sha256::digest(bytes))
}

/// A file on disk that a run opened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DataFile {
    /// Its canonical name.
    pub name: String,
    /// SHA-256 of its content.
    pub hash: String,
}

impl DataFile {
    /// The files that a run opened, as they are now; without those that are no files on a disk.
    pub fn all_of(trace: &Trace) -> Vec<Self> {
        let is_kept = |name: &&str| !["/proc/", "/sys/", "/dev/"].iter().any(|folder| name.starts_with(folder));
        let names: BTreeSet<&str> = trace.opened.iter().map(|file| file.name.as_str()).filter(is_kept).collect();
        let of = |name: &str| Some(Self { name: name.to_owned(), hash: hash(&std::fs::read(name).ok()?) });
        names.into_iter().filter_map(of).collect()
    }

    /// Whether the file has another content now, or is gone.
    pub fn has_changed(&self) -> bool {
        std::fs::read(&self.name).map_or(true, |content| hash(&content) != self.hash)
    }
}
