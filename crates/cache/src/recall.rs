//! Entries that hold while what they were made of has not changed.
//!
//! Under one key there may be several, made of different contents of the same files: those of two branches of a repository,
//! for example.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{Cache, Dependencies, Looks, hash};

/// Most entries under one key.
const VARIANTS: usize = 8;

/// What an entry was made of.
const MADE_OF: &str = "made-of";

/// An entry whose dependencies hold.
#[derive(Debug)]
pub struct Remembered {
    /// Its folder.
    pub folder: PathBuf,
    /// What it was made of.
    pub made_of: Dependencies,
}

impl Cache {
    /// The time now, by the clock that changes of files are dated by. `None` if the folder cannot be written to.
    pub fn now(&self) -> Option<SystemTime> {
        tempfile::tempfile_in(self.folder()).ok()?.metadata().ok()?.modified().ok()
    }

    /// An entry under the key that holds.
    pub fn recall(&self, key: &str, looks: &mut Looks) -> Option<Remembered> {
        let variants = fs::read_dir(self.get(key)?).ok()?.flatten().map(|entry| entry.path());
        let mut read = variants.filter_map(|folder| {
            let made_of = postcard::from_bytes(&fs::read(folder.join(MADE_OF)).ok()?).ok()?;
            Some(Remembered { folder, made_of })
        });
        read.find(|entry| entry.made_of.hold(looks))
    }

    /// Keeps what `fill` puts into a new folder as an entry under the key, which holds while the dependencies do. They must be
    /// those of what was made since the moment `began`. Returns whether it is kept; if not, nothing is lost.
    pub fn remember(
        &self,
        key: &str,
        began: SystemTime,
        made_of: &Dependencies,
        fill: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> bool {
        let Ok(text) = postcard::to_stdvec(made_of) else { return false };
        if !made_of.are_older_than(began) {
            return false;
        }
        let variant = hash(&text);
        let all = match self.get(key) {
            Some(all) => Some(all),
            None => self.put(key, |_| Ok(())),
        };
        let Some(all) = all else { return false };
        make_room(&all);
        self.replace(&format!("{key}/{variant}"), |new| fill(new).and_then(|()| fs::write(new.join(MADE_OF), text)))
            .is_some()
    }
}

/// Deletes the oldest entries under a key where there are too many.
fn make_room(all: &Path) {
    let folders =
        fs::read_dir(all).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let mut dated: Vec<(Option<SystemTime>, PathBuf)> =
        folders.map(|path| (fs::metadata(&path).and_then(|about| about.modified()).ok(), path)).collect();
    dated.sort();
    let surplus = (dated.len() + 1).saturating_sub(VARIANTS);
    for (_, path) in dated.into_iter().take(surplus) {
        // What stays in spite of this goes with the key.
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recalled(cache: &Cache, key: &str) -> Option<String> {
        let entry = cache.recall(key, &mut Looks::default())?;
        Some(fs::read_to_string(entry.folder.join("f")).unwrap())
    }

    #[test]
    fn an_entry_is_found_while_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let source = folder.path().join("source");
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let keep = |text: &str| {
            fs::write(&source, text).unwrap();
            let mut made_of = Dependencies::default();
            made_of.add_file(&source, &mut Looks::default()).unwrap();
            cache.remember("k", later, &made_of, |new| fs::write(new.join("f"), text))
        };
        assert_eq!(recalled(&cache, "k"), None);
        assert!(keep("one") && keep("two"));
        assert_eq!(recalled(&cache, "k").as_deref(), Some("two"));
        fs::write(&source, "one").unwrap();
        assert_eq!(recalled(&cache, "k").as_deref(), Some("one"));
        assert_eq!(recalled(&cache, "l"), None);
        fs::write(&source, "three").unwrap();
        assert_eq!(recalled(&cache, "k"), None);
        for number in 0..2 * VARIANTS {
            assert!(keep(&number.to_string()));
        }
        let kept = fs::read_dir(cache.get("k").unwrap()).unwrap().flatten().filter(|entry| entry.path().is_dir());
        assert_eq!(kept.count(), VARIANTS);
    }

    #[test]
    fn what_may_have_changed_while_it_was_used_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        let began = cache.now().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(folder.path().join("f"), "x").unwrap();
        let mut made_of = Dependencies::default();
        made_of.add_file(&folder.path().join("f"), &mut Looks::default()).unwrap();
        assert!(!cache.remember("k", began, &made_of, |_| Ok(())));
        assert_eq!(recalled(&cache, "k"), None);
    }
}
