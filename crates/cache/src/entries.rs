//! Entries by name: folders that are complete or not there.
//!
//! An entry gets its name when it is complete. When the folder of all has grown too large, the entries go that were not used
//! for longest.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// Most bytes of all entries together.
const MOST: u64 = 2 << 30;

/// So many entries are made between two looks at all of them.
const SELDOM: usize = 64;

/// Marks an entry as used.
const USED: &str = "used";

/// A folder of entries.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// How many entries were made.
    puts: AtomicUsize,
}

impl Cache {
    /// The cache in a folder, which is made if need be. `None` if it cannot be, or if others may write there.
    pub fn open(folder: &Path) -> Option<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        let about = fs::metadata(folder).ok()?;
        // What lies there is executed.
        let is_own = about.uid() == fs::metadata("/proc/self").ok()?.uid() && about.mode() & 0o022 == 0;
        is_own.then(|| Self { folder: folder.to_owned(), puts: AtomicUsize::new(0) })
    }

    /// The folder of an entry, if there is one.
    pub fn get(&self, key: &str) -> Option<PathBuf> {
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
    pub fn put(&self, key: &str, fill: impl FnOnce(&Path) -> std::io::Result<()>) -> Option<PathBuf> {
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

    /// The same in place of an entry that may be there.
    pub fn replace(&self, key: &str, fill: impl FnOnce(&Path) -> std::io::Result<()>) -> Option<PathBuf> {
        // If it is not there, there is nothing to delete; if it stays, the new one is not kept.
        let _ = fs::remove_dir_all(self.folder.join(key));
        self.put(key, fill)
    }

    /// Where the entries are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Deletes what was not used for longest, but not `newest`. That takes a look at all entries, so it is done with some of
    /// many.
    fn trim(&self, newest: &Path) {
        if !self.puts.fetch_add(1, Ordering::Relaxed).is_multiple_of(SELDOM) {
            return;
        }
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut known: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter(|path| !newest.starts_with(path))
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
    let of = |file: fs::DirEntry| {
        file.metadata().map_or(0, |about| if about.is_dir() { size(&file.path()) } else { about.len() })
    };
    files.map(of).sum()
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
