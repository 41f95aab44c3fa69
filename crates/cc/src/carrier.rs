//! Files that carry keepsakes: objects, archives, shared libraries, executables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::read::archive::ArchiveFile;
use object::{Architecture, BinaryFormat, Endianness, Object, ObjectSection, SectionKind, write};

use crate::error::Error;
use crate::keepsake::{Keepsake, Link, Unit, Unreadable, VERSION};

/// The section's name.
const SECTION: &str = ".raceproof";

/// What a file carries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Carried {
    /// Sources, in the order the linker put them; of shared libraries of the same making after the file's own.
    pub units: Vec<Unit>,
    /// How it was linked: arguments for a linker that stand for all that was not compiled here, with whole paths.
    pub linker_arguments: Vec<String>,
    /// Whether it was linked by `c++`.
    pub cplusplus: bool,
}

/// Whether a file is of a kind that can carry keepsakes.
pub fn is_carrier(path: &Path) -> bool {
    let mut magic = [0; 8];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
    read.is_ok() && (magic.starts_with(b"\x7fELF") || magic == *b"!<arch>\n")
}

/// What a file carries, with what the libraries it was linked with carry.
pub fn carried(path: &Path) -> Result<Carried, Error> {
    let mut carried = Carried::default();
    collect(path, &mut vec![path.to_owned()], &mut carried)?;
    if carried.units.is_empty() {
        return Err(Error::NothingKept { path: path.to_owned() });
    }
    Ok(carried)
}

fn collect(path: &Path, seen: &mut Vec<PathBuf>, carried: &mut Carried) -> Result<(), Error> {
    let mut links = Vec::new();
    for keepsake in keepsakes(path)? {
        match keepsake {
            Keepsake::Unit(unit) => carried.units.push(unit),
            Keepsake::Link(link) => links.push(link),
        }
    }
    for link in &links {
        carried.cplusplus |= link.cplusplus;
        for argument in Linked::of(link)? {
            match argument {
                Linked::Whole(argument) => carried.linker_arguments.push(argument),
                Linked::Carrier(library) if seen.contains(&library) => {}
                Linked::Carrier(library) => {
                    seen.push(library.clone());
                    collect(&library, seen, carried)?;
                }
            }
        }
    }
    Ok(())
}

/// One argument of a link, seen from anywhere.
enum Linked {
    /// To be given to the linker again.
    Whole(String),
    /// A shared library that carries keepsakes.
    Carrier(PathBuf),
}

impl Linked {
    fn of(link: &Link) -> Result<Vec<Self>, Error> {
        let directory = Path::new(&link.directory);
        let absolute = |path: &str| directory.join(path);
        let mut folders = Vec::new();
        let mut linked = Vec::new();
        let mut rest = link.arguments.iter();
        while let Some(argument) = rest.next() {
            let joined = |flag: &str| argument.strip_prefix(flag).filter(|value| !value.is_empty());
            if let Some(folder) = joined("-L").or_else(|| value_after(argument, "-L", &mut rest)) {
                linked.push(Self::Whole(format!("-L{}", absolute(folder).display())));
                folders.push(absolute(folder));
            } else if let Some(name) = joined("-l").or_else(|| value_after(argument, "-l", &mut rest)) {
                let library = folders.iter().map(|folder| folder.join(format!("lib{name}.so"))).find(|f| f.exists());
                match library {
                    Some(library) if carries_units(&library)? => linked.push(Self::Carrier(library)),
                    _ => linked.push(Self::Whole(format!("-l{name}"))),
                }
            } else if argument.starts_with('-') {
                linked.push(Self::Whole(argument.clone()));
                if matches!(argument.as_str(), "-Xlinker" | "-u" | "-T" | "-z" | "-e") {
                    linked.extend(rest.next().cloned().map(Self::Whole));
                }
            } else {
                let file = absolute(argument);
                let archive = file.extension().is_some_and(|e| e == "a");
                if archive || !carries_units(&file)? {
                    linked.push(Self::Whole(file.to_string_lossy().into_owned()));
                } else if file.extension().is_none_or(|e| e != "o") {
                    linked.push(Self::Carrier(file));
                }
            }
        }
        Ok(linked)
    }
}

fn value_after<'a>(argument: &str, flag: &str, rest: &mut std::slice::Iter<'a, String>) -> Option<&'a str> {
    (argument == flag).then(|| rest.next()).flatten().map(String::as_str)
}

/// Whether a file that may be gone carries sources.
fn carries_units(path: &Path) -> Result<bool, Error> {
    if !is_carrier(path) {
        return Ok(false);
    }
    Ok(keepsakes(path)?.iter().any(|keepsake| matches!(keepsake, Keepsake::Unit(_))))
}

/// The keepsakes of one file.
fn keepsakes(path: &Path) -> Result<Vec<Keepsake>, Error> {
    let bytes =
        std::fs::read(path).map_err(|cause| Error::File { what: "cannot read", path: path.to_owned(), cause })?;
    let wrong = |error: object::Error| Error::Object { path: path.to_owned(), message: error.to_string() };
    let Ok(archive) = ArchiveFile::parse(&*bytes) else {
        return in_object(&object::File::parse(&*bytes).map_err(wrong)?, path);
    };
    let mut keepsakes = Vec::new();
    for member in archive.members() {
        // Members that are no objects carry nothing.
        if let Ok(file) = object::File::parse(member.map_err(wrong)?.data(&*bytes).map_err(wrong)?) {
            keepsakes.extend(in_object(&file, path)?);
        }
    }
    Ok(keepsakes)
}

fn in_object(file: &object::File<'_>, path: &Path) -> Result<Vec<Keepsake>, Error> {
    let mut keepsakes = Vec::new();
    // Relocatable files may have several sections of one name.
    for section in file.sections().filter(|section| section.name() == Ok(SECTION)) {
        let data = section.data().map_err(|e| Error::Object { path: path.to_owned(), message: e.to_string() })?;
        keepsakes.extend(Keepsake::read_all(data).map_err(|unreadable| match unreadable {
            Unreadable::Damaged { offset } => Error::Damaged { path: path.to_owned(), offset },
            Unreadable::Version { found } => {
                Error::Version { path: path.to_owned(), found: found.into(), known: VERSION.into() }
            }
        })?);
    }
    Ok(keepsakes)
}

/// Puts a keepsake into an object, in one step: the object is replaced as a whole.
pub(crate) fn attach(keepsake: &Keepsake, object: &Path, objcopy: &str, folder: &Path) -> Result<(), Error> {
    let content = folder.join("keepsake");
    write(&content, &keepsake.to_bytes())?;
    let mut add = OsString::from(format!("{SECTION}="));
    add.push(&content);
    let output = Command::new(objcopy)
        .arg("--add-section")
        .arg(add)
        .arg("--set-section-flags")
        .arg(format!("{SECTION}=readonly"))
        .arg(object)
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| Error::Start { program: objcopy.to_owned(), cause })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(Error::Object { path: object.to_owned(), message })
}

/// Writes an object that has nothing but a keepsake.
pub(crate) fn write_object(keepsake: &Keepsake, path: &Path) -> Result<(), Error> {
    let architecture = if cfg!(target_arch = "aarch64") { Architecture::Aarch64 } else { Architecture::X86_64 };
    let mut object = write::Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    let section = object.add_section(Vec::new(), SECTION.into(), SectionKind::Metadata);
    object.append_section_data(section, &keepsake.to_bytes(), 1);
    // Without this one, linkers take the stack of the whole program to be executable.
    object.add_section(Vec::new(), b".note.GNU-stack".into(), SectionKind::Other);
    let bytes = object.write().map_err(|e| Error::Object { path: path.to_owned(), message: e.to_string() })?;
    write(path, &bytes)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|cause| Error::File { what: "cannot write", path: path.to_owned(), cause })
}
