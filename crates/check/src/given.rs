//! What a program is given from outside, but for its arguments and files: its standard input, and the peers at the other ends
//! of its connections. It is read once, when the program is built.

use std::io::Read;
use std::path::Path;

use crate::{BuildOptions, Error, peers};

/// What a program is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// The content of the file for standard input.
    pub(crate) stdin: Option<Vec<u8>>,
    /// The script for its peers, as the runtime reads it; empty without any.
    pub(crate) peers: Vec<u8>,
}

impl Given {
    /// Reads the files.
    pub(crate) fn read(options: &BuildOptions) -> Result<Self, Error> {
        let stdin = options.stdin.as_deref().map(|file| read_input(Path::new(file))).transpose()?;
        let peers = options.peers.as_deref().map(|file| peers::read(Path::new(file))).transpose()?;
        Ok(Self { stdin, peers: peers.map_or_else(Vec::new, |peers| wire::peers::encode(&peers)) })
    }

    /// A hash of the script for peers.
    pub(crate) fn peers_hash(&self) -> Option<String> {
        (!self.peers.is_empty()).then(|| files::hash(&self.peers))
    }
}

/// What standard input holds; `-` is that of the command itself.
fn read_input(path: &Path) -> Result<Vec<u8>, Error> {
    let read = |path: &Path| match path.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        _ => std::fs::read(path),
    };
    read(path).map_err(|cause| Error::Stdin { path: path.to_owned(), cause })
}
