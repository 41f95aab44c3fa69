//! An earlier revision of the sources, from the git repository of the current folder.
//!
//! Its files are unpacked into the user's cache, where they stay for the next command about the same revision. The repository
//! itself is only read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cache::Cache;
use check::{BuildOptions, Request};
use report::Report;

use crate::commands::flags::cache_folder;
use crate::failure::Failure;
use crate::output;

/// The folder of an entry that has the files.
const TREE: &str = "tree";

/// A revision whose files are there.
pub(crate) struct Revision {
    /// As the user calls it.
    name: String,
    /// The repository's folder.
    root: PathBuf,
    /// Where the revision's files are.
    tree: PathBuf,
    /// Where the current folder is below the repository's.
    below: PathBuf,
}

impl Revision {
    /// Unpacks a revision, if that is not done yet.
    pub(crate) fn find(name: &str) -> Result<Self, Failure> {
        let root = PathBuf::from(git(&["rev-parse", "--show-toplevel"]).map_err(|why| {
            Failure::new(format!("`--since {name}` needs a git repository: {why}"), "call it from a folder of one")
        })?);
        let below = PathBuf::from(git(&["rev-parse", "--show-prefix"]).unwrap_or_default());
        let commit = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
            .map_err(|_| {
                Failure::new(
                    format!("there is no revision `{name}` in `{}`", root.display()),
                    "see `git log` and `git branch`",
                )
            })?;
        let cache = cache_folder().and_then(|folder| Cache::open(&folder)).ok_or_else(|| {
            Failure::new("an earlier revision needs a folder to be unpacked in", "set HOME or XDG_CACHE_HOME")
        })?;
        let key = format!("tree-{}", cache::hash(format!("{commit} {}", root.display()).as_bytes()));
        let entry = cache.get(&key).or_else(|| cache.put(&key, |new| unpack(&root, &commit, &new.join(TREE))));
        let entry = entry.ok_or_else(|| {
            Failure::new(
                format!("cannot unpack the revision `{name}`"),
                "make room in the cache's folder; `git archive` must work",
            )
        })?;
        Ok(Self { name: name.to_owned(), root, tree: entry.join(TREE), below })
    }

    /// The answer to a request about the program of this revision. Without an answer, everything is new: what that is due to
    /// is said as a warning.
    pub(crate) fn report(&self, request: &Request) -> Result<Report, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::new(format!("cannot find out the current folder: {error}"), "go to one that exists")
        })?;
        let there = self.tree.join(&self.below);
        let go = |to: &Path| {
            std::env::set_current_dir(to).map_err(|error| {
                Failure::new(
                    format!("cannot go to `{}`: {error}", to.display()),
                    "name a revision that has this folder",
                )
            })
        };
        go(&there)?;
        let earlier = Request {
            build: self.moved(&request.build),
            witness_dir: self.tree.with_file_name("witnesses"),
            bundle_dir: self.tree.with_file_name("bundles"),
            ..request.clone()
        };
        let answer = check::run(&earlier, &mut ());
        go(&here)?;
        Ok(answer.unwrap_or_else(|error| {
            output::warn(&format!(
                "the program of `{}` cannot be checked, so all findings are new: {error}",
                self.name
            ));
            check::nothing_known(request)
        }))
    }

    /// The same inputs and flags, where they name the repository's folder.
    fn moved(&self, build: &BuildOptions) -> BuildOptions {
        let moved = |text: &String| text.replace(&*self.root.to_string_lossy(), &self.tree.to_string_lossy());
        BuildOptions {
            inputs: build.inputs.iter().map(moved).collect(),
            cflags: build.cflags.iter().map(moved).collect(),
            ..build.clone()
        }
    }
}

/// What git prints, without the end of the line; or what it complains of.
fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("git cannot be started: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Writes the files of a commit into a new folder.
fn unpack(root: &Path, commit: &str, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir(folder)?;
    let mut archive = Command::new("git")
        .args([OsStr::new("-C"), root.as_os_str()])
        .args(["archive", "--format=tar", commit])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = archive.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let unpacked = Command::new("tar").args(["-x", "-C"]).arg(folder).stdin(stdout).status()?;
    let archived = archive.wait()?;
    if archived.success() && unpacked.success() { Ok(()) } else { Err(std::io::ErrorKind::Other.into()) }
}
