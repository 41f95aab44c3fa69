//! Folders with a `compile_commands.json`: which sources are compiled, and with which flags.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::command::{CommandLine, Language};
use crate::error::{Error, FileAction};
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
}

/// An entry as in the JSON file.
#[derive(Deserialize)]
struct Written {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// The C and C++ sources of the database in a folder. A source that is compiled several times counts once, with its
/// first entry.
pub fn database(folder: &Path) -> Result<Vec<Entry>, Error> {
    let path = folder.join(DATABASE);
    let text = std::fs::read_to_string(&path).map_err(|cause| Error::File {
        action: FileAction::Read,
        path: path.clone(),
        cause,
    })?;
    let wrong = |message: String| Error::Database { path: path.clone(), message };
    let written: Vec<Written> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let mut entries: Vec<Entry> = Vec::new();
    for Written { directory, file, command, arguments } in written {
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
        if !entries.iter().any(|entry| entry.source == source) {
            entries.push(Entry { source, language, directory, flags: bitcode_flags(&line.flags()) });
        }
    }
    if entries.is_empty() {
        return Err(wrong("it names no C or C++ source".into()));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Entry>, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(DATABASE), text).expect("written");
        database(folder.path())
    }

    #[test]
    fn commands_and_arguments() {
        let entries = read(
            r#"[{"directory": "/p/b", "file": "../a.c", "command": "cc -DX='a b' -O2 -MD -o a.o -c ../a.c"},
                {"directory": "/p/b", "file": "b.cc", "arguments": ["c++", "-Iinc", "-c", "b.cc"], "output": "b.o"},
                {"directory": "/p/b", "file": "c.S", "command": "cc -c c.S"},
                {"directory": "/p/b", "file": "b.cc", "command": "c++ -c b.cc"}]"#,
        )
        .expect("a database");
        let flags: Vec<_> = entries.iter().map(|entry| entry.flags.join(" ")).collect();
        assert_eq!(flags, ["-DX=a b -O2", "-Iinc"]);
        assert_eq!(entries[1].language, Language::Cxx);
        assert_eq!(entries[0].source, Path::new("/p/b/../a.c"));
    }

    #[test]
    fn errors_name_the_problem() {
        for (text, expected) in [
            ("[{", "EOF"),
            (r#"[{"directory": "/", "file": "a.c"}]"#, "neither"),
            (r#"[{"directory": "/", "file": "a.c", "command": "cc 'x"}]"#, "unclosed quote"),
            ("[]", "no C or C++ source"),
        ] {
            let error = read(text).expect_err("wrong").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
