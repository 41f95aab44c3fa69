//! Programs built before, kept in a folder of the user's by what they were made of.
//!
//! An entry is a folder. Its name is a hash of everything that its content depends on, so an entry is never out of date. It
//! gets its name when it is complete. When the folder has grown too large, the entries go that were not used for longest.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most bytes of all entries together.
const MOST: u64 = 2 << 30;

/// Marks an entry as used.
const USED: &str = "used";

/// A folder of entries.
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in a folder, which is made if need be. `None` if it cannot be, or if others may write there.
    pub(crate) fn open(folder: &Path) -> Option<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        let about = fs::metadata(folder).ok()?;
        // What lies there is executed.
        let is_own = about.uid() == fs::metadata("/proc/self").ok()?.uid() && about.mode() & 0o022 == 0;
        is_own.then(|| Self { folder: folder.to_owned() })
    }

    /// The folder of an entry, if there is one.
    pub(crate) fn get(&self, key: &str) -> Option<PathBuf> {
        let entry = self.folder.join(key);
        if !entry.is_dir() {
            return None;
        }
        // If the time of use cannot be kept, the entry goes earlier.
        let _ = fs::write(entry.join(USED), []);
        Some(entry)
    }

    /// Keeps what `fill` puts into a new folder as an entry, and returns its folder. `None` if that fails: then there is no
    /// entry, and nothing is lost.
    pub(crate) fn put(&self, key: &str, fill: impl FnOnce(&Path) -> std::io::Result<()>) -> Option<PathBuf> {
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.folder).ok()?;
        fill(new.path()).ok()?;
        fs::write(new.path().join(USED), []).ok()?;
        let entry = self.folder.join(key);
        // Somebody else may have made the same one in the meantime.
        if fs::rename(new.path(), &entry).is_ok() {
            let _ = new.keep();
        }
        self.trim(&entry);
        entry.is_dir().then_some(entry)
    }

    /// Deletes what was not used for longest, but not `newest`.
    fn trim(&self, newest: &Path) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut known: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter(|path| path != newest)
            .map(|path| (modified(&path.join(USED)).or_else(|| modified(&path)), size(&path), path))
            .filter_map(|(used, size, path)| Some((used?, size, path)))
            .collect();
        known.sort();
        let mut all = known.iter().map(|(_, size, _)| size).sum::<u64>() + size(newest);
        for (_, size, path) in known {
            if all <= MOST {
                break;
            }
            if fs::remove_dir_all(&path).is_ok() {
                all -= size;
            }
        }
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("a/b")).unwrap();
        assert_eq!(cache.get("k"), None);
        assert_eq!(cache.put("k", |_| Err(std::io::ErrorKind::Other.into())), None);
        let entry = cache.put("k", |new| fs::write(new.join("f"), "x")).unwrap();
        assert_eq!(fs::read_to_string(entry.join("f")).unwrap(), "x");
        // The first one stays.
        assert_eq!(cache.put("k", |new| fs::write(new.join("f"), "y")), Some(entry.clone()));
        assert_eq!(fs::read_to_string(cache.get("k").unwrap().join("f")).unwrap(), "x");
        assert_eq!(fs::read_dir(folder.path().join("a/b")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Cache::open(folder.path()).is_none());
    }
}
