//! Files with embedded bitcode: objects, archives, shared libraries, executables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::read::archive::ArchiveFile;
use object::{
    Architecture, BinaryFormat, Endianness, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionKind, SymbolKind,
    write,
};

use crate::embedded::{Embedded, Link, Unit, Unreadable, VERSION};
use crate::error::{Error, FileAction};
use crate::libtool::{Wrapped, wrapped};

/// The section's name.
const SECTION: &str = ".raceproof";

/// The bitcode and link arguments embedded in a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EmbeddedContents {
    /// Sources, in the order of the linker; those of shared libraries built the same way follow the file's own.
    pub units: Vec<Unit>,
    /// Linker arguments, with absolute paths, for everything that was not compiled with `raceproof cc`.
    pub linker_arguments: Vec<String>,
    /// Whether it was linked by `c++`.
    pub cplusplus: bool,
}

/// Whether a file is of a kind that can contain embedded bitcode.
pub fn is_container(path: &Path) -> bool {
    let mut magic = [0; 8];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
    read.is_ok() && (magic.starts_with(b"\x7fELF") || magic == *b"!<arch>\n")
}

/// The bitcode embedded in a file and in the libraries it was linked with.
pub fn embedded_contents(path: &Path) -> Result<EmbeddedContents, Error> {
    let mut contents = EmbeddedContents::default();
    if let Some(Wrapped { executable, libraries }) = wrapped(path) {
        collect(&executable, &mut vec![executable.clone()], &mut contents)?;
        // Libraries that are linked as they are have to be found when the program starts.
        let found = libraries.iter().map(|folder| format!("-Wl,-rpath,{}", folder.display()));
        contents.linker_arguments.extend(found);
    } else {
        collect(path, &mut vec![path.to_owned()], &mut contents)?;
    }
    if contents.units.is_empty() {
        return Err(Error::NoBitcode { path: path.to_owned() });
    }
    Ok(contents)
}

fn collect(path: &Path, seen: &mut Vec<PathBuf>, contents: &mut EmbeddedContents) -> Result<(), Error> {
    let mut links = Vec::new();
    for entry in entries(path)? {
        match entry {
            Embedded::Unit(unit) => contents.units.push(unit),
            Embedded::Link(link) => links.push(link),
        }
    }
    for link in &links {
        contents.cplusplus |= link.cplusplus;
        for argument in Linked::of(link)? {
            match argument {
                Linked::Whole(argument) => contents.linker_arguments.push(argument),
                Linked::Container(library) if seen.contains(&library) => {}
                Linked::Container(library) => {
                    seen.push(library.clone());
                    collect(&library, seen, contents)?;
                }
            }
        }
    }
    Ok(())
}

/// One argument of a link, independent of the working directory.
enum Linked {
    /// An argument to pass to the linker again.
    Whole(String),
    /// A shared library with embedded bitcode.
    Container(PathBuf),
}

impl Linked {
    fn of(link: &Link) -> Result<Vec<Self>, Error> {
        let directory = Path::new(&link.directory);
        let absolute = |path: &str| directory.join(path);
        let mut folders = Vec::new();
        let mut linked = Vec::new();
        let mut rest = link.arguments.iter();
        let mut whole = false;
        while let Some(argument) = rest.next() {
            let joined = |flag: &str| argument.strip_prefix(flag).filter(|value| !value.is_empty());
            if let Some(folder) = joined("-L").or_else(|| value_after(argument, "-L", &mut rest)) {
                linked.push(Self::Whole(format!("-L{}", absolute(folder).display())));
                folders.push(absolute(folder));
            } else if let Some(name) = joined("-l").or_else(|| value_after(argument, "-l", &mut rest)) {
                let library = folders.iter().map(|folder| folder.join(format!("lib{name}.so"))).find(|f| f.exists());
                match library {
                    Some(library) if contains_units(&library)? => linked.push(Self::Container(library)),
                    _ => linked.push(Self::Whole(format!("-l{name}"))),
                }
            } else if argument.starts_with('-') {
                for word in argument.split(',') {
                    match word {
                        "--whole-archive" | "-whole-archive" => whole = true,
                        "--no-whole-archive" | "-no-whole-archive" => whole = false,
                        _ => {}
                    }
                }
                linked.push(Self::Whole(argument.clone()));
                if matches!(argument.as_str(), "-Xlinker" | "-u" | "-T" | "-z" | "-e") {
                    linked.extend(rest.next().cloned().map(Self::Whole));
                }
            } else {
                let file = absolute(argument);
                let archive = file.extension().is_some_and(|e| e == "a");
                if archive && whole && contains_units(&file)? {
                    // The linker took all members, so their bitcode is in the file itself; what has none has to be there.
                    members_without_units(&file)?;
                } else if archive || !contains_units(&file)? {
                    linked.push(Self::Whole(file.to_string_lossy().into_owned()));
                } else if file.extension().is_none_or(|e| e != "o") {
                    linked.push(Self::Container(file));
                }
            }
        }
        Ok(linked)
    }
}

fn value_after<'a>(argument: &str, flag: &str, rest: &mut std::slice::Iter<'a, String>) -> Option<&'a str> {
    (argument == flag).then(|| rest.next()).flatten().map(String::as_str)
}

/// Whether a file contains embedded sources; false if the file is missing.
fn contains_units(path: &Path) -> Result<bool, Error> {
    if !is_container(path) {
        return Ok(false);
    }
    Ok(entries(path)?.iter().any(|entry| matches!(entry, Embedded::Unit(_))))
}

/// Checks that every object in an archive contains embedded sources.
fn members_without_units(path: &Path) -> Result<(), Error> {
    let bytes = read(path)?;
    let wrong = |error: object::Error| Error::Object { path: path.to_owned(), message: error.to_string() };
    let archive = ArchiveFile::parse(&*bytes).map_err(wrong)?;
    let mut without = Vec::new();
    for member in archive.members() {
        let member = member.map_err(wrong)?;
        if let Ok(file) = object::File::parse(member.data(&*bytes).map_err(wrong)?)
            && in_object(&file, path)?.is_empty()
        {
            without.push(String::from_utf8_lossy(member.name()).into_owned());
        }
    }
    if without.is_empty() { Ok(()) } else { Err(Error::Mixed { path: path.to_owned(), parts: without.join("`, `") }) }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|cause| Error::File { action: FileAction::Read, path: path.to_owned(), cause })
}

/// The embedded entries of one file.
fn entries(path: &Path) -> Result<Vec<Embedded>, Error> {
    let bytes = read(path)?;
    let wrong = |error: object::Error| Error::Object { path: path.to_owned(), message: error.to_string() };
    let Ok(archive) = ArchiveFile::parse(&*bytes) else {
        return in_object(&object::File::parse(&*bytes).map_err(wrong)?, path);
    };
    let mut entries = Vec::new();
    for member in archive.members() {
        // Archive members that are not objects contain nothing.
        if let Ok(file) = object::File::parse(member.map_err(wrong)?.data(&*bytes).map_err(wrong)?) {
            entries.extend(in_object(&file, path)?);
        }
    }
    Ok(entries)
}

fn in_object(file: &object::File<'_>, path: &Path) -> Result<Vec<Embedded>, Error> {
    let mut entries = Vec::new();
    // Relocatable files may have several sections with the same name.
    for section in file.sections().filter(|section| section.name() == Ok(SECTION)) {
        let data = section.data().map_err(|e| Error::Object { path: path.to_owned(), message: e.to_string() })?;
        entries.extend(Embedded::read_all(data).map_err(|unreadable| match unreadable {
            Unreadable::Damaged { offset } => Error::Damaged { path: path.to_owned(), offset },
            Unreadable::Version { found } => {
                Error::Version { path: path.to_owned(), found: found.into(), known: VERSION.into() }
            }
        })?);
    }
    let units = entries.iter().filter(|entry| matches!(entry, Embedded::Unit(_))).count();
    if file.kind() == ObjectKind::Relocatable && units > 0 {
        check_unmixed(file, units, path)?;
    }
    Ok(entries)
}

/// Checks that an object has no code besides that of its embedded sources: `ld -r` merges objects, and the code of those
/// that have no bitcode would be lost. Every compiler names the source of an object in its table of symbols.
fn check_unmixed(file: &object::File<'_>, units: usize, path: &Path) -> Result<(), Error> {
    let sources = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::File);
    let sources: Vec<&str> = sources.filter_map(|symbol| symbol.name().ok()).collect();
    if sources.len() > units {
        return Err(Error::Mixed { path: path.to_owned(), parts: sources.join("`, `") });
    }
    Ok(())
}

/// Embeds an entry into an object atomically: the object is replaced as a whole.
pub(crate) fn attach(entry: &Embedded, object: &Path, objcopy: &str, folder: &Path) -> Result<(), Error> {
    let content = folder.join("entry");
    write(&content, &entry.to_bytes())?;
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

/// Writes an object that contains only an embedded entry.
pub(crate) fn write_object(entry: &Embedded, path: &Path) -> Result<(), Error> {
    let architecture = if cfg!(target_arch = "aarch64") { Architecture::Aarch64 } else { Architecture::X86_64 };
    let mut object = write::Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    let section = object.add_section(Vec::new(), SECTION.into(), SectionKind::Metadata);
    object.append_section_data(section, &entry.to_bytes(), 1);
    // Without this section, linkers make the stack of the whole program executable.
    object.add_section(Vec::new(), b".note.GNU-stack".into(), SectionKind::Other);
    let bytes = object.write().map_err(|e| Error::Object { path: path.to_owned(), message: e.to_string() })?;
    write(path, &bytes)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|cause| Error::File { action: FileAction::Write, path: path.to_owned(), cause })
}
