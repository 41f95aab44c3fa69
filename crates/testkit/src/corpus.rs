//! The corpus: small text programs with known answers, annotated line by line, and former regressions.
//!
//! A case is a file `crates/testkit/corpus/<construct>/<name>.rp`: a text program whose lines carry the marks of
//! [`annotations`](crate::annotations). Racy and race-free twins are next to each other. The marks are exact: what is
//! not marked does not happen.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use model::SiteId;
use program::{ParseError, Program};

use crate::annotations::{Annotations, Lines};

/// One program of the corpus.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `construct/name`.
    pub name: String,
    /// The text, with annotations.
    pub text: String,
    /// The program; the lines of its sites are those of the text.
    pub program: Program,
    /// Its marks.
    pub annotations: Annotations,
}

/// Why the corpus cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not a program.
    #[error("{name}: {source}")]
    Invalid {
        /// Which.
        name: String,
        /// What is wrong with it.
        source: ParseError,
    },
}

/// The folder of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// All entries, by name.
pub fn load() -> Result<Vec<Entry>, CorpusError> {
    let mut entries = Vec::new();
    for construct in listed(&folder())? {
        for path in listed(&construct)? {
            let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{}/{}", stem(&construct), stem(&path));
            let text = std::fs::read_to_string(&path)
                .map_err(|source| CorpusError::Unreadable { path: path.clone(), source })?;
            let program = Program::parse_named(&format!("{name}.rp"), &text)
                .map_err(|source| CorpusError::Invalid { name: name.clone(), source })?;
            entries.push(Entry { annotations: Annotations::parse(&text), name, text, program });
        }
    }
    Ok(entries)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let unreadable = |source| CorpusError::Unreadable { path: folder.to_owned(), source };
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

impl Entry {
    /// The lines of these sites.
    pub fn lines<'a>(&self, sites: impl IntoIterator<Item = &'a SiteId>) -> Lines {
        sites.into_iter().filter_map(|site| self.program.sites[*site].location).map(|l| l.line).collect()
    }

    /// The lines that take part in these pairs.
    pub fn lines_of_pairs(&self, pairs: &BTreeSet<(SiteId, SiteId)>) -> Lines {
        self.lines(pairs.iter().flat_map(|(a, b)| [a, b]))
    }
}
