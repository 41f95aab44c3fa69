//! Compilation databases (`compile_commands.json`): which sources are compiled, and with which flags.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::command::{CommandLine, Language};
use crate::error::{Error, FileAction};
use crate::executables::{self, Executable};
use crate::{bitcode_flags, response};

/// The file's name.
pub const DATABASE: &str = "compile_commands.json";

/// One source of a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The absolute path.
    pub source: PathBuf,
    /// Its language.
    pub language: Language,
    /// The working directory of the compiler.
    pub directory: PathBuf,
    /// The flags for compiling it to bitcode.
    pub flags: Vec<String>,
    /// The absolute path of its object, where the database says it.
    pub object: Option<PathBuf>,
}

/// An entry as in the JSON file.
#[derive(Deserialize)]
struct Written {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
    output: Option<PathBuf>,
}

/// A source of a program, and when it belongs to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The source.
    pub entry: Entry,
    /// Whether the program has it only if something in the program refers to what it defines, as for members of archives.
    pub on_demand: bool,
}

/// The sources of a database that make up one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// In the order of the linker, or of the database.
    pub candidates: Vec<Candidate>,
    /// What else the program is linked with.
    pub linker_arguments: Vec<String>,
    /// Whether nothing says which sources are one program: then the sources with a `main` do.
    pub by_main: bool,
}

/// Whether a file can be a compilation database: a JSON file that has the usual name, or whose text begins with a list.
pub(crate) fn is_database(path: &Path) -> bool {
    let has_extension = path.extension().is_some_and(|extension| extension == "json");
    let begins_with_list = || {
        let mut head = [0; 64];
        let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
        read.is_ok_and(|read| head[..read].trim_ascii_start().starts_with(b"["))
    };
    has_extension && path.is_file() && (path.file_name().is_some_and(|name| name == DATABASE) || begins_with_list())
}

/// The sources of the program that a database describes, of the executable with this name if it describes several. The
/// database is a file or in a folder.
pub fn select(database: &Path, executable: Option<&str>) -> Result<Selection, Error> {
    let path = if database.is_dir() { database.join(DATABASE) } else { database.to_owned() };
    let entries = read(&path)?;
    let mut known = executables::known(&path, &entries);
    let names = || known.iter().map(|executable| executable.name.clone()).collect();
    let chosen = match (executable, known.len()) {
        (_, 0) => return Ok(everything(entries)),
        (None, 1) => 0,
        (None, _) => return Err(Error::SeveralExecutables { path, names: names() }),
        (Some(name), _) => match executables::position(&known, name) {
            Some(position) => position,
            None => return Err(Error::NoSuchExecutable { path, name: name.to_owned(), names: names() }),
        },
    };
    let Executable { members, linker_arguments, .. } = known.swap_remove(chosen);
    let candidates =
        members.into_iter().map(|(number, on_demand)| Candidate { entry: entries[number].clone(), on_demand });
    Ok(Selection { candidates: candidates.collect(), linker_arguments, by_main: false })
}

/// Every source, each with its first entry.
fn everything(entries: Vec<Entry>) -> Selection {
    let mut candidates: Vec<Candidate> = Vec::new();
    for entry in entries {
        if !candidates.iter().any(|known| known.entry.source == entry.source) {
            candidates.push(Candidate { entry, on_demand: false });
        }
    }
    Selection { candidates, linker_arguments: Vec::new(), by_main: true }
}

/// The C and C++ sources of a database, in its order. A source that is compiled several times has several entries.
fn read(path: &Path) -> Result<Vec<Entry>, Error> {
    let text = std::fs::read_to_string(path).map_err(|cause| Error::File {
        action: FileAction::Read,
        path: path.to_owned(),
        cause,
    })?;
    let wrong = |message: String| Error::Database { path: path.to_owned(), message };
    let written: Vec<Written> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    // The file may be a link to that of the build folder.
    let folder = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let mut entries: Vec<Entry> = Vec::new();
    for Written { directory, file, command, arguments, output } in written {
        let arguments = match (arguments, command) {
            (Some(arguments), _) => arguments,
            (None, Some(command)) => shlex::split(&command)
                .ok_or_else(|| wrong(format!("the command of `{}` has an unclosed quote", file.display())))?,
            (None, None) => return Err(wrong(format!("`{}` has neither `command` nor `arguments`", file.display()))),
        };
        let directory = folder.join(directory);
        let line = CommandLine::new(&response::expand(arguments.get(1..).unwrap_or_default()));
        let source = directory.join(&file);
        let named = line.sources().find(|(path, _)| directory.join(path) == source);
        let Some(language) = named.map(|(_, language)| language).or_else(|| Language::of(&file)) else { continue };
        let object = line.output().map(PathBuf::from).or(output).map(|object| directory.join(object));
        entries.push(Entry { source, language, directory, flags: bitcode_flags(&line.flags()), object });
    }
    if entries.is_empty() {
        return Err(wrong("it names no C or C++ source".into()));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Entry>, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(DATABASE), text).expect("written");
        read(&folder.path().join(DATABASE))
    }

    #[test]
    fn commands_and_arguments() {
        let entries = read_text(
            r#"[{"directory": "/p/b", "file": "../a.c", "command": "cc -DX='a b' -O2 -MD -o a.o -c ../a.c"},
                {"directory": "/p/b", "file": "b.cc", "arguments": ["c++", "-Iinc", "-c", "b.cc"], "output": "b.o"},
                {"directory": "/p/b", "file": "c.S", "command": "cc -c c.S"},
                {"directory": "/p/b", "file": "b.cc", "command": "c++ -c b.cc"}]"#,
        )
        .expect("a database");
        let flags: Vec<_> = entries.iter().map(|entry| entry.flags.join(" ")).collect();
        assert_eq!(flags, ["-DX=a b -O2", "-Iinc", ""]);
        assert_eq!(entries[1].language, Language::Cxx);
        assert_eq!(entries[0].source, Path::new("/p/b/../a.c"));
        let objects = entries.iter().map(|entry| entry.object.as_deref()).collect::<Vec<_>>();
        assert_eq!(objects, [Some(Path::new("/p/b/a.o")), Some(Path::new("/p/b/b.o")), None]);
        let selection = everything(entries);
        assert_eq!(selection.candidates.len(), 2, "a source that is compiled twice is there once");
    }

    #[test]
    fn errors_name_the_problem() {
        for (text, expected) in [
            ("[{", "EOF"),
            (r#"[{"directory": "/", "file": "a.c"}]"#, "neither"),
            (r#"[{"directory": "/", "file": "a.c", "command": "cc 'x"}]"#, "unclosed quote"),
            ("[]", "no C or C++ source"),
        ] {
            let error = read_text(text).expect_err("wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn lists_in_json_files_are_databases() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text, expected) in [
            (DATABASE, "{", true),
            ("debug.json", " \n [", true),
            ("result.json", "{}", false),
            ("list.txt", "[", false),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            assert_eq!(is_database(&path), expected, "{name}");
        }
    }
}
