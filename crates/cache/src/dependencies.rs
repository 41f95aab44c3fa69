//! What something was made of: the content of files, and which of some names there were in some folders.
//!
//! The names stand for files that a compiler would have taken instead, had they been there: a header of the same name in a
//! folder that it looks into earlier.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Fact;

/// The hash of a file's content.
type Content = [u8; 32];

/// What something was made of. Paths are absolute.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Dependencies {
    /// Files with their content; none for those that were not there.
    files: BTreeMap<PathBuf, Option<Content>>,
    /// For each folder that was looked into, the names that mattered and were there; none where there was no folder.
    folders: BTreeMap<PathBuf, Option<BTreeSet<OsString>>>,
    /// All names that mattered.
    names: BTreeSet<OsString>,
    /// What else has to be as it was.
    facts: BTreeMap<Fact, String>,
}

impl Dependencies {
    /// Adds a file as it is now, or that there is none. Relative paths are those of the current folder.
    ///
    /// # Errors
    /// If it is there and cannot be read, or is no ordinary file.
    pub fn add_file(&mut self, path: &Path, looks: &mut Looks) -> io::Result<()> {
        let path = std::path::absolute(path)?;
        let content = looks.content(&path)?;
        self.files.insert(path, content);
        Ok(())
    }

    /// Adds that in these folders, as far as they are there, there are no other files and folders with these names than now.
    pub fn add_names(
        &mut self,
        folders: impl IntoIterator<Item = PathBuf>,
        names: BTreeSet<OsString>,
        looks: &mut Looks,
    ) {
        let folders: Vec<PathBuf> = folders.into_iter().chain(self.folders.keys().cloned()).collect();
        self.names.extend(names);
        self.folders = folders.into_iter().map(|folder| (folder.clone(), looks.names(&folder, &self.names))).collect();
    }

    /// Adds something that has to be as it is.
    pub fn add_fact(&mut self, fact: Fact) {
        let now = fact.now();
        self.facts.insert(fact, now);
    }

    /// Adds all that others have.
    pub fn add_all(&mut self, others: impl IntoIterator<Item = Self>, looks: &mut Looks) {
        let (mut all_folders, mut all_names) = (BTreeSet::new(), BTreeSet::new());
        for Self { files, folders, names, facts } in others {
            self.files.extend(files);
            self.facts.extend(facts);
            all_folders.extend(folders.into_keys());
            all_names.extend(names);
        }
        // What is in a folder has to be known for the names of all.
        self.add_names(all_folders, all_names, looks);
    }

    /// The files, whether they are there or not.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Whether every file was last changed before a moment, and the folder of every file that is not there. If not, it may have
    /// changed, or have gone, after it was used.
    pub fn are_older_than(&self, moment: SystemTime) -> bool {
        let is_older = |path: &Path| changed(path).is_ok_and(|at| at < moment);
        self.files.iter().all(|(path, content)| match content {
            Some(_) => is_older(path),
            None => path.ancestors().skip(1).find(|folder| folder.is_dir()).is_some_and(is_older),
        })
    }

    /// Whether everything is as it was.
    pub fn hold(&self, looks: &mut Looks) -> bool {
        self.facts.iter().all(|(fact, then)| fact.now() == *then)
            && self.folders.iter().all(|(folder, there)| looks.names(folder, &self.names) == *there)
            && self.files.iter().all(|(path, content)| looks.content(path).is_ok_and(|now| now == *content))
    }
}

/// What one command has seen of the disk: it looks at each file once.
#[derive(Default, Debug)]
pub struct Looks {
    contents: BTreeMap<PathBuf, Option<Content>>,
    listings: BTreeMap<PathBuf, Option<BTreeSet<OsString>>>,
}

impl Looks {
    fn content(&mut self, path: &Path) -> io::Result<Option<Content>> {
        if let Some(known) = self.contents.get(path) {
            return Ok(*known);
        }
        let content = match fs::metadata(path) {
            // A pipe can be read once only, and not by us.
            Ok(about) if !about.is_file() => return Err(io::ErrorKind::Unsupported.into()),
            Ok(_) => Some(content_of(&mut fs::File::open(path)?)?),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(error) => return Err(error),
        };
        self.contents.insert(path.to_owned(), content);
        Ok(content)
    }

    /// Which of the names a folder has.
    fn names(&mut self, folder: &Path, names: &BTreeSet<OsString>) -> Option<BTreeSet<OsString>> {
        let listing = self.listings.entry(folder.to_owned()).or_insert_with(|| {
            let entries = fs::read_dir(folder).ok()?;
            Some(entries.flatten().map(|entry| entry.file_name()).collect())
        });
        listing.as_ref().map(|there| there.intersection(names).cloned().collect())
    }
}

/// When a file was last written, renamed or otherwise changed. A file that takes the place of another keeps the time at which
/// it was written, so that alone does not tell.
fn changed(path: &Path) -> io::Result<SystemTime> {
    let about = fs::metadata(path)?;
    let since_1970 = Duration::new(u64::try_from(about.ctime()).unwrap_or_default(), about.ctime_nsec() as u32);
    Ok(about.modified()?.max(SystemTime::UNIX_EPOCH + since_1970))
}

fn content_of(file: &mut fs::File) -> io::Result<Content> {
    let mut hasher = Sha256::new();
    let mut room = vec![0; 1 << 16];
    loop {
        match file.read(&mut room)? {
            0 => return Ok(hasher.finalize().into()),
            read => hasher.update(&room[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<OsString> {
        names.iter().map(OsString::from).collect()
    }

    fn hold(dependencies: &Dependencies) -> bool {
        dependencies.hold(&mut Looks::default())
    }

    #[test]
    fn they_hold_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, gone) = (folder.path().join("f"), folder.path().join("g/h"));
        fs::write(&file, "x").unwrap();
        let mut made_of = Dependencies::default();
        for path in [&file, &gone] {
            made_of.add_file(path, &mut Looks::default()).unwrap();
        }
        assert!(hold(&made_of));
        fs::write(&file, "y").unwrap();
        assert!(!hold(&made_of));
        fs::write(&file, "x").unwrap();
        assert!(hold(&made_of), "only the content counts");
        fs::create_dir(folder.path().join("g")).unwrap();
        assert!(hold(&made_of));
        fs::write(&gone, "").unwrap();
        assert!(!hold(&made_of), "a file that was not there");
        assert!(made_of.add_file(folder.path(), &mut Looks::default()).is_err(), "no ordinary file");
    }

    #[test]
    fn they_hold_until_a_name_appears_that_matters() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        fs::create_dir(&first).unwrap();
        let mut made_of = Dependencies::default();
        made_of.add_names([first.clone(), second.clone()], names(&["a.h", "sys"]), &mut Looks::default());
        assert!(hold(&made_of));
        fs::write(first.join("b.h"), "").unwrap();
        assert!(hold(&made_of), "nobody looks for it");
        fs::write(first.join("a.h"), "").unwrap();
        assert!(!hold(&made_of));
        fs::remove_file(first.join("a.h")).unwrap();
        fs::create_dir(&second).unwrap();
        assert!(!hold(&made_of), "a folder that was not there");
    }

    #[test]
    fn those_of_two_parts_are_those_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        fs::create_dir(&first).unwrap();
        fs::create_dir(&second).unwrap();
        let part = |folder: &PathBuf, name: &str| {
            let mut part = Dependencies::default();
            part.add_names([folder.clone()], names(&[name]), &mut Looks::default());
            part
        };
        let mut whole = part(&first, "a.h");
        whole.add_all([part(&second, "b.h")], &mut Looks::default());
        whole.add_fact(Fact::Program(second.join("c.h").to_string_lossy().into_owned()));
        assert!(hold(&whole));
        fs::write(second.join("b.h"), "").unwrap();
        assert!(!hold(&whole));
        fs::remove_file(second.join("b.h")).unwrap();
        assert!(hold(&whole));
        fs::write(second.join("c.h"), "").unwrap();
        assert!(!hold(&whole));
    }

    #[test]
    fn what_changed_after_a_moment_is_not_older() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "x").unwrap();
        let mut made_of = Dependencies::default();
        made_of.add_file(&file, &mut Looks::default()).unwrap();
        let at = changed(&file).unwrap();
        assert!(!made_of.are_older_than(at));
        assert!(made_of.are_older_than(at + Duration::from_nanos(1)));
    }

    #[test]
    fn what_took_a_place_or_left_it_after_a_moment_is_not_older() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other, gone] = ["f", "g", "h"].map(|name| folder.path().join(name));
        [&file, &other, &gone].into_iter().for_each(|path| fs::write(path, "x").unwrap());
        std::thread::sleep(Duration::from_millis(30));
        let moment = SystemTime::now() - Duration::from_millis(10);
        let of = |path: &Path| {
            let mut made_of = Dependencies::default();
            made_of.add_file(path, &mut Looks::default()).unwrap();
            made_of
        };
        assert!(of(&file).are_older_than(moment));
        fs::rename(&other, &file).unwrap();
        assert!(!of(&file).are_older_than(moment), "written before, but not there");
        fs::remove_file(&gone).unwrap();
        assert!(!of(&gone).are_older_than(moment), "there until now");
    }
}
