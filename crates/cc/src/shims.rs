//! Programs that stand for the compilers on PATH, for `raceproof build`.
//!
//! A shim is a script of two lines that calls `raceproof cc --as NAME`, which finds the real compiler of this name, lets it
//! do what is asked, and embeds the bitcode in what it made. A folder of shims stays where it is, since build systems keep
//! the paths of compilers.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Language;
use crate::error::{Error, FileAction};

/// The second line of every shim, by which it is known.
const MARK: &str = "# A compiler of `raceproof build`.";

/// A file in every folder of shims, by which that is known.
const FOLDER_MARK: &str = ".raceproof-compilers";

/// A variable that is set for all that a shim starts: a compiler that starts another one is captured once.
pub const INSIDE_VARIABLE: &str = "RACEPROOF_INSIDE_COMPILER";

/// Programs that are put before a compiler to make it faster.
const LAUNCHERS: [&str; 4] = ["ccache", "distcc", "icecc", "sccache"];

/// What a program is, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// A compiler.
    Compiler {
        /// What it compiles if nothing else is said.
        language: Language,
        /// The machine that it compiles for, where its name says so.
        target: Option<String>,
    },
    /// A program that starts the compiler in its arguments.
    Launcher,
}

impl Role {
    /// What a program with this name is; `None` if it is neither a compiler of C or C++ nor a launcher.
    pub fn of(name: &str) -> Option<Self> {
        if LAUNCHERS.contains(&name) {
            return Some(Self::Launcher);
        }
        let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let stem = name.rsplit_once('-').filter(|(_, last)| is_version(last)).map_or(name, |(stem, _)| stem);
        let (target, stem) = match stem.rsplit_once('-') {
            // `x86_64-linux-gnu-gcc`, and not `musl-gcc`.
            Some((target, stem)) if target.contains('-') => (Some(target.to_owned()), stem),
            Some(_) => return None,
            None => (None, stem),
        };
        let language = match stem {
            "cc" | "gcc" | "clang" | "c89" | "c99" => Language::C,
            "c++" | "g++" | "clang++" => Language::Cxx,
            _ => return None,
        };
        Some(Self::Compiler { language, target })
    }
}

/// A folder of shims.
#[derive(Clone, Debug)]
pub struct Shims {
    folder: PathBuf,
    /// The program that they call.
    raceproof: PathBuf,
}

impl Shims {
    /// Makes shims in a folder below `parent` for all compilers on a PATH.
    pub fn write(parent: &Path, raceproof: &Path, path: &OsStr) -> Result<Self, Error> {
        let folders = std::env::split_paths(path);
        let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let names: BTreeSet<String> = files
            .filter(|file| is_executable(&file.path()))
            .filter_map(|file| file.file_name().into_string().ok())
            .filter(|name| Role::of(name).is_some())
            .collect();
        // Another set of compilers is another folder: none vanishes under a build that knows its path.
        let digest = Sha256::digest(names.iter().map(|name| format!("{name}\n")).collect::<String>());
        let shims = Self { folder: parent.join(in_hex(&digest)), raceproof: raceproof.to_owned() };
        for name in &names {
            shims.add(&shims.folder, name, name)?;
        }
        Ok(shims)
    }

    /// The folder, to be put in front of PATH.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The shim of a compiler that a variable such as `CC` names.
    pub fn of(&self, compiler: &str) -> Result<PathBuf, Error> {
        let name = Path::new(compiler).file_name().and_then(OsStr::to_str).unwrap_or(compiler);
        if name == compiler && self.folder.join(name).is_file() {
            return Ok(self.folder.join(name));
        }
        let folder = self.folder.join(in_hex(&Sha256::digest(compiler)));
        self.add(&folder, name, compiler)?;
        Ok(folder.join(name))
    }

    /// Writes one shim, unless it is there.
    fn add(&self, folder: &Path, name: &str, stands_for: &str) -> Result<(), Error> {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let raceproof = quoted(&self.raceproof.to_string_lossy());
        let text = format!("#!/bin/sh\n{MARK}\nexec {raceproof} cc --as {} \"$@\"\n", quoted(stands_for));
        let path = folder.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|present| present == text) {
            return Ok(());
        }
        let write = || {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(FOLDER_MARK), "")?;
            // A build may be calling it.
            let mut file =
                tempfile::Builder::new().permissions(std::fs::Permissions::from_mode(0o755)).tempfile_in(folder)?;
            std::io::Write::write_all(&mut file, text.as_bytes())?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|cause| Error::File { action: FileAction::Write, path: path.clone(), cause })
    }
}

/// The first digits of a digest: enough to tell folders apart.
fn in_hex(digest: &[u8]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Whether a program is one of ours.
fn is_shim(path: &Path) -> bool {
    let mut head = [0; 64];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
    read.is_ok_and(|read| String::from_utf8_lossy(&head[..read]).lines().nth(1) == Some(MARK))
}

/// The program that a shim stands for: an absolute path, or the first on PATH that is neither a shim nor, for a compiler,
/// a launcher under its name.
pub fn real(stands_for: &str, path: &OsStr) -> Option<PathBuf> {
    if stands_for.contains('/') {
        return Some(PathBuf::from(stands_for)).filter(|path| is_executable(path));
    }
    let is_launcher = |path: &Path| {
        let real = path.canonicalize().ok();
        real.and_then(|path| path.file_name()?.to_str().map(|name| LAUNCHERS.contains(&name))).unwrap_or(false)
    };
    let fits = |path: &PathBuf| {
        is_executable(path) && !is_shim(path) && (LAUNCHERS.contains(&stands_for) || !is_launcher(path))
    };
    std::env::split_paths(path).map(|folder| folder.join(stands_for)).find(fits)
}

/// A PATH without folders of shims, for all that compilers and raceproof start themselves.
pub fn without_shims(path: &OsStr) -> OsString {
    let kept = std::env::split_paths(path).filter(|folder| !folder.join(FOLDER_MARK).exists());
    std::env::join_paths(kept).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_names() {
        let compiler =
            |language, target: Option<&str>| Some(Role::Compiler { language, target: target.map(str::to_owned) });
        for (name, expected) in [
            ("cc", compiler(Language::C, None)),
            ("gcc-12", compiler(Language::C, None)),
            ("clang++-19", compiler(Language::Cxx, None)),
            ("x86_64-linux-gnu-g++-12", compiler(Language::Cxx, Some("x86_64-linux-gnu"))),
            ("aarch64-linux-gnu-gcc", compiler(Language::C, Some("aarch64-linux-gnu"))),
            ("ccache", Some(Role::Launcher)),
            ("gcc-ar", None),
            ("gcc-ar-12", None),
            ("musl-gcc", None),
            ("clang-format-19", None),
            ("ccmake", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(Role::of(name), expected, "{name}");
        }
    }

    /// A file that can be executed.
    fn program(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn shims_stand_for_what_is_behind_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        program(&at("bin/gcc"), "");
        program(&at("bin/ccache"), "");
        program(&at("it's/mycc"), "");
        std::fs::create_dir(at("masquerade")).unwrap();
        std::os::unix::fs::symlink(at("bin/ccache"), at("masquerade/gcc")).unwrap();
        let path = std::env::join_paths([at("masquerade"), at("bin"), at("nowhere")]).unwrap();
        let shims = Shims::write(&at("shims"), Path::new("/opt/race proof"), &path).unwrap();
        let text = std::fs::read_to_string(shims.folder().join("gcc")).unwrap();
        assert!(text.ends_with("exec '/opt/race proof' cc --as 'gcc' \"$@\"\n"), "{text}");

        let with = std::env::join_paths([shims.folder().to_owned(), at("masquerade"), at("bin")]).unwrap();
        assert_eq!(real("gcc", &with), Some(at("bin/gcc")), "neither the shim nor the launcher");
        assert_eq!(real("ccache", &with), Some(at("bin/ccache")));
        assert_eq!(real("clang", &with), None);
        assert_eq!(without_shims(&with), std::env::join_paths([at("masquerade"), at("bin")]).unwrap());

        assert_eq!(shims.of("gcc").unwrap(), shims.folder().join("gcc"));
        let other = shims.of(at("it's/mycc").to_str().unwrap()).unwrap();
        assert!(other.file_name().is_some_and(|name| name == "mycc") && is_shim(&other));
        let again = Shims::write(&at("shims"), Path::new("/opt/race proof"), &with).unwrap();
        assert_eq!(again.folder(), shims.folder(), "the same compilers, the same folder");
    }
}
