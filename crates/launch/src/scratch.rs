//! Folders for files that live as long as the process that made them, even if that is killed: what it could not delete, the
//! next process does.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// Begins the names of all such folders.
const PREFIX: &str = "raceproof-";

/// A file in the folder that its owner keeps locked.
const LOCK: &str = ".owner";

/// A folder that is deleted with its owner.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Locked; closing it gives the folder up.
    _owned: File,
}

impl Scratch {
    /// Makes a folder among the system's temporary ones, and deletes there what processes of the same user left behind that
    /// were killed.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn new(kind: &str) -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir(), kind)
    }

    fn new_in(parent: &Path, kind: &str) -> io::Result<Self> {
        sweep(parent);
        let folder = tempfile::Builder::new().prefix(&format!("{PREFIX}{kind}")).tempdir_in(parent)?;
        // Nobody may see the file before it is locked.
        let new = folder.path().join(".new");
        let owned = File::create_new(&new)?;
        if !lock(&owned) {
            return Err(io::Error::last_os_error());
        }
        fs::rename(new, folder.path().join(LOCK))?;
        alive().push(folder.path().to_owned());
        Ok(Self { folder, _owned: owned })
    }

    /// Deletes all folders of this process, which is about to end without its destructors.
    pub fn remove_all() {
        for folder in alive().drain(..) {
            let _ = fs::remove_dir_all(folder);
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Folders of this process.
fn alive() -> MutexGuard<'static, Vec<PathBuf>> {
    static ALIVE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        alive().retain(|folder| folder != self.path());
    }
}

/// Locks a file that nobody else has locked.
fn lock(file: &File) -> bool {
    // SAFETY: the call takes numbers only; the descriptor is open.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Deletes folders whose owner is gone. What cannot be read or deleted stays.
fn sweep(parent: &Path) {
    // SAFETY: takes nothing and changes nothing.
    let user = unsafe { libc::geteuid() };
    let Ok(entries) = fs::read_dir(parent) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
            && fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user);
        if is_ours && File::open(path.join(LOCK)).is_ok_and(|owned| lock(&owned)) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Scratch::new_in(parent.path(), "a-").unwrap();
        // As a killed process leaves it.
        let dead = parent.path().join("raceproof-dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join("program"), "").unwrap();
        let foreign = parent.path().join("raceproof-notes");
        fs::create_dir(&foreign).unwrap();
        let path = alive.path().to_owned();
        let next = Scratch::new_in(parent.path(), "").unwrap();
        assert!(path.exists() && next.path().exists() && foreign.exists() && !dead.exists());
        drop(alive);
        assert!(!path.exists());
    }
}
