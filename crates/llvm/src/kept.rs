//! Bitcode of sources that were compiled before, kept in the user's cache.
//!
//! What an entry's key does not say, its dependencies do: the source and all headers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use cache::{Cache, Dependencies, Fact, Looks};

use crate::included;

/// The file of an entry.
const BITCODE: &str = "bitcode";

/// Variables of the environment that the compiler reads.
const VARIABLES: [&str; 6] =
    ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS", "SDKROOT", "SOURCE_DATE_EPOCH"];

/// Bitcode that is kept, and what the sources of this command depend on.
pub(crate) struct KeptUnits {
    cache: Arc<Cache>,
    /// When the command began to compile.
    began: SystemTime,
    /// The compiler's name.
    compiler: String,
    looks: Mutex<Looks>,
    /// By the number of the input; none where it is not known.
    made_of: Mutex<BTreeMap<usize, Option<Dependencies>>>,
}

/// A source that was compiled.
#[derive(Clone, Copy)]
pub(crate) struct Compilation<'a> {
    /// Where the compiler was called.
    pub(crate) folder: &'a Path,
    /// The file with clang's rule of make.
    pub(crate) rule: &'a Path,
    /// What clang said.
    pub(crate) said: &'a str,
    /// The folder of our own headers.
    pub(crate) own: &'a Path,
    /// The result.
    pub(crate) bitcode: &'a Path,
}

impl KeptUnits {
    /// Nothing is asked for yet. `None` if nothing can be kept.
    pub(crate) fn new(cache: &Arc<Cache>, clang: &str) -> Option<Self> {
        let (began, compiler) = (cache.now()?, clang.to_owned());
        let (looks, made_of) = (Mutex::default(), Mutex::default());
        Some(Self { cache: Arc::clone(cache), began, compiler, looks, made_of })
    }

    /// The key of what is compiled in a folder with such arguments.
    pub(crate) fn key(&self, folder: &Path, arguments: &str) -> String {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        format!("unit-{}", cache::hash(format!("{} {folder:?} {arguments}", cache::tool()).as_bytes()))
    }

    /// Copies what was compiled before to `bitcode`, if it still is what would be compiled now.
    pub(crate) fn find(&self, key: &str, input: usize, bitcode: &Path) -> bool {
        let Some(entry) = self.cache.recall(key, &mut self.looks()) else { return false };
        if std::fs::copy(entry.folder.join(BITCODE), bitcode).is_err() {
            return false;
        }
        self.note(input, Some(entry.made_of));
        true
    }

    /// Keeps what was compiled.
    pub(crate) fn keep(&self, key: &str, input: usize, compilation: &Compilation<'_>) {
        let Compilation { folder, rule, said, own, bitcode } = *compilation;
        let read = || {
            let rule = std::fs::read_to_string(rule)?;
            let mut made_of = included::dependencies(folder, &rule, said, own, &mut self.looks())?;
            VARIABLES.into_iter().for_each(|name| made_of.add_fact(Fact::Variable(name.to_owned())));
            made_of.add_fact(Fact::Program(self.compiler.clone()));
            std::io::Result::Ok(made_of)
        };
        let Ok(made_of) = read() else { return self.note(input, None) };
        self.cache.remember(key, self.began, &made_of, |entry| std::fs::copy(bitcode, entry.join(BITCODE)).map(drop));
        self.note(input, Some(made_of));
    }

    /// Notes what an input depends on; none if nobody knows.
    pub(crate) fn note(&self, input: usize, made_of: Option<Dependencies>) {
        self.made_of.lock().unwrap_or_else(PoisonError::into_inner).insert(input, made_of);
    }

    /// What the inputs depend on together, if that is known of all.
    pub(crate) fn made_of(&self) -> Option<Dependencies> {
        let all = std::mem::take(&mut *self.made_of.lock().unwrap_or_else(PoisonError::into_inner));
        let mut whole = Dependencies::default();
        whole.add_all(all.into_values().collect::<Option<Vec<_>>>()?, &mut self.looks());
        Some(whole)
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
