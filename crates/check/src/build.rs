//! From sources to an instrumented executable.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exec::format::ProgramIdentity;
use exec::format::identity::hash_file;
use program::Program;

use crate::Error;

/// The program and its input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildOptions {
    /// Sources or bitcode, as the user spelled them.
    pub inputs: Vec<String>,
    /// Extra compiler flags.
    pub cflags: Vec<String>,
    /// External functions assumed to touch no shared memory.
    pub assume_pure: BTreeSet<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// A file to give it as standard input.
    pub stdin: Option<String>,
}

/// An instrumented program, ready to run. Its files are deleted with it.
#[derive(Debug)]
pub struct Built {
    /// The program in the small language, with its sites.
    pub program: Program,
    /// What witness files say of it.
    pub identity: ProgramIdentity,
    /// How long it took.
    pub time: Duration,
    folder: tempfile::TempDir,
}

impl Built {
    /// The executable.
    pub fn executable(&self) -> PathBuf {
        self.folder.path().join("program")
    }
}

impl BuildOptions {
    fn compiler_options(&self, folder: &Path) -> llvm::Options {
        llvm::Options {
            inputs: self.inputs.iter().map(PathBuf::from).collect(),
            cflags: self.cflags.clone(),
            assume_pure: self.assume_pure.clone(),
            work_dir: folder.to_owned(),
        }
    }
}

fn work_folder() -> Result<tempfile::TempDir, Error> {
    tempfile::Builder::new().prefix("raceproof-").tempdir().map_err(Error::WorkFolder)
}

/// Compiles to the small language only. The sources need no `main`.
pub fn lower(options: &BuildOptions) -> Result<Program, Error> {
    let folder = work_folder()?;
    Ok(llvm::lower_only(&options.compiler_options(folder.path()))?)
}

/// Compiles, instruments and links.
pub fn build(options: &BuildOptions) -> Result<Built, Error> {
    let start = Instant::now();
    let folder = work_folder()?;
    let compiled = llvm::compile(&options.compiler_options(folder.path()))?;
    let archive = folder.path().join("libraceproof_runtime.a");
    std::fs::write(&archive, exec::runtime_archive()).map_err(Error::WorkFolder)?;
    let executable = folder.path().join("program");
    llvm::link(&compiled, &archive, &exec::link_args(), &executable)?;
    let stdin_hash = options.stdin.as_deref().map(|file| hash_input(Path::new(file))).transpose()?;
    let identity = ProgramIdentity {
        hash: hash_file(&executable).map_err(Error::WorkFolder)?,
        inputs: options.inputs.clone(),
        cflags: options.cflags.clone(),
        assume_pure: options.assume_pure.iter().cloned().collect(),
        args: options.args.clone(),
        stdin: options.stdin.clone(),
        stdin_hash,
    };
    Ok(Built { program: compiled.program, identity, time: start.elapsed(), folder })
}

fn hash_input(path: &Path) -> Result<String, Error> {
    hash_file(path).map_err(|cause| Error::Stdin { path: path.to_owned(), cause })
}
