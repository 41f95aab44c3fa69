//! Which objects make up which executable, as the files of build systems say it.
//!
//! A compilation database says how sources are compiled and nothing about links. The build folders of CMake and Meson,
//! the two that write databases themselves, have the links beside it: `build.ninja`, or the `link.txt` of each target.

mod cmake;
mod ninja;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::database::Entry;

/// A word of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    /// A file, by its absolute path.
    File(PathBuf),
    /// A flag for the linker that does not name an object.
    Flag(String),
}

impl Word {
    /// The words of a link that is made in this folder. What only the compiler reads is left out.
    fn all_of(words: impl IntoIterator<Item = String>, directory: &Path) -> Vec<Self> {
        let mut found = Vec::new();
        let mut rest = words.into_iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-o" | "-x" | "-T" | "-z" | "-u" | "-Xlinker" | "-isystem" | "-I" | "-D" => {
                    let value = rest.next();
                    if matches!(word.as_str(), "-T" | "-z" | "-u" | "-Xlinker") {
                        found.extend([Some(word), value].into_iter().flatten().map(Self::Flag));
                    }
                }
                "-shared" | "-pthread" | "-fopenmp" => found.push(Self::Flag(word)),
                _ if word.strip_prefix("-L").is_some_and(|folder| !folder.is_empty()) => {
                    found.push(Self::Flag(format!("-L{}", directory.join(&word[2..]).display())));
                }
                _ if word.starts_with("-l") || (word.starts_with("-Wl,") && !is_about_output(&word)) => {
                    found.push(Self::Flag(word));
                }
                _ if word.starts_with('-') => {}
                _ => found.push(Self::File(normal(&directory.join(word)))),
            }
        }
        found
    }
}

/// Whether a flag says how the file that the build makes is written or found, which is not that of a check.
fn is_about_output(flag: &str) -> bool {
    ["-Wl,-soname", "-Wl,-rpath", "-Wl,--out-implib", "-Wl,-Map", "-Wl,--dependency-file", "-Wl,--gc-sections"]
        .iter()
        .any(|start| flag.starts_with(start))
}

/// One step of a build that makes an archive, a library or an executable.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Step {
    /// The absolute path of what it makes.
    output: PathBuf,
    /// What it makes it of, in the order of the linker.
    words: Vec<Word>,
}

impl Step {
    /// Whether it makes an executable.
    fn makes_executable(&self) -> bool {
        !is_part(&self.output) && !self.words.contains(&Word::Flag("-shared".to_owned()))
    }
}

/// Whether a file is, by its name, an object, an archive or a library.
fn is_part(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_library = path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so."));
    is_library || matches!(extension, Some("a" | "so" | "o" | "obj" | "lo" | "la" | "lib"))
}

/// The steps of a build, as far as its files say.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Links {
    /// The build folder.
    root: PathBuf,
    steps: Vec<Step>,
}

/// The executables of a database, if the files of the build say what is linked. They are beside the database, or beside what
/// it is a link to.
pub(crate) fn known(database: &Path, entries: &[Entry]) -> Vec<Executable> {
    let canonical = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let beside = canonical.parent().unwrap_or(Path::new("/"));
    // The database may be a copy. Then the compiler's working directories say where the build is.
    let directories: BTreeSet<&Path> = entries.iter().map(|entry| entry.directory.as_path()).collect();
    let links = std::iter::once(beside)
        .chain(directories)
        .map(|folder| Links { root: folder.to_owned(), steps: [ninja::steps(folder), cmake::steps(folder)].concat() });
    links.map(|links| find(&links, entries)).find(|executables| !executables.is_empty()).unwrap_or_default()
}

/// An executable and what it is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Executable {
    /// Its path, in the build folder a relative one.
    pub(crate) name: String,
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// Numbers of its entries in the database, and whether each is there on demand only.
    pub(crate) members: Vec<(usize, bool)>,
    /// What else it is linked with.
    pub(crate) linker_arguments: Vec<String>,
}

/// The executables that have sources of the database, in the order of their names.
fn find(links: &Links, entries: &[Entry]) -> Vec<Executable> {
    let objects = entries.iter().enumerate().filter_map(|(n, entry)| Some((normal(entry.object.as_deref()?), n)));
    let graph = Graph {
        objects: objects.collect(),
        steps: links.steps.iter().map(|step| (step.output.as_path(), step)).collect(),
    };
    let mut found = BTreeMap::new();
    for step in links.steps.iter().filter(|step| step.makes_executable()) {
        let mut walk = Walk::default();
        graph.follow(step, false, &mut walk);
        if !walk.members.is_empty() {
            let name = step.output.strip_prefix(&links.root).unwrap_or(&step.output).to_string_lossy().into_owned();
            let Walk { members, linker_arguments, .. } = walk;
            found.insert(name.clone(), Executable { name, path: step.output.clone(), members, linker_arguments });
        }
    }
    found.into_values().collect()
}

/// The executable with this name: its path in the build folder, the end of that path if only one has it, or its path from
/// the current folder.
pub(crate) fn position(known: &[Executable], name: &str) -> Option<usize> {
    let name = name.trim_start_matches("./");
    let path = std::path::absolute(name).map(|path| normal(&path)).ok();
    let is_exact = |executable: &Executable| executable.name == name || Some(&executable.path) == path.as_ref();
    if let Some(exact) = known.iter().position(is_exact) {
        return Some(exact);
    }
    let ends = |number: &usize| !name.is_empty() && Path::new(&known[*number].name).ends_with(name);
    let mut matching = (0..known.len()).filter(ends);
    matching.next().filter(|_| matching.next().is_none())
}

/// Who is made of what.
struct Graph<'a> {
    /// Objects of the database.
    objects: BTreeMap<PathBuf, usize>,
    steps: BTreeMap<&'a Path, &'a Step>,
}

/// What was found on the way through the graph.
#[derive(Default)]
struct Walk {
    members: Vec<(usize, bool)>,
    linker_arguments: Vec<String>,
    seen: BTreeSet<PathBuf>,
}

impl Graph<'_> {
    fn follow(&self, step: &Step, on_demand: bool, walk: &mut Walk) {
        for word in &step.words {
            match word {
                Word::Flag(flag) if flag == "-shared" => {}
                Word::Flag(flag) => walk.linker_arguments.push(flag.clone()),
                Word::File(path) if !walk.seen.insert(path.clone()) => {}
                Word::File(path) => match (self.objects.get(path), self.steps.get(path.as_path())) {
                    (Some(number), _) => walk.members.push((*number, on_demand)),
                    (None, Some(made)) if is_part(path) => {
                        let is_archive = path.extension().is_some_and(|extension| extension == "a");
                        self.follow(made, on_demand || is_archive, walk);
                    }
                    // What is made otherwise is linked as it is.
                    (None, _) if is_part(path) && path.is_file() => {
                        walk.linker_arguments.push(path.to_string_lossy().into_owned());
                    }
                    (None, _) => {}
                },
            }
        }
    }
}

/// A path without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Language;

    fn entry(object: &str) -> Entry {
        Entry {
            source: Path::new(object).with_extension("c"),
            language: Language::C,
            directory: "/b".into(),
            flags: Vec::new(),
            object: Some(object.into()),
        }
    }

    fn step(output: &str, words: &str) -> Step {
        let words = words.split_whitespace().map(str::to_owned);
        Step { output: output.into(), words: Word::all_of(words, Path::new("/b")) }
    }

    #[test]
    fn executables_have_the_members_of_their_archives() {
        let entries = ["/b/a.o", "/b/b.o", "/b/sub/../c.o", "/b/d.o"].map(entry);
        let steps = vec![
            step("/b/libc.a", "c.o"),
            step("/b/liball.a", "libc.a d.o"),
            step("/b/libs.so.1", "-shared d.o -Wl,-soname,libs.so.1 -lz"),
            step("/b/bin/one", "-O2 a.o liball.a -lm -L lib -Llib -Wl,--as-needed -o bin/one"),
            step("/b/two", "b.o libs.so.1"),
            step("/b/gone", "elsewhere.o"),
        ];
        let found = find(&Links { root: "/b".into(), steps }, &entries);
        let told: Vec<_> =
            found.iter().map(|e| (e.name.as_str(), e.members.clone(), e.linker_arguments.join(" "))).collect();
        assert_eq!(
            told[0],
            ("bin/one", vec![(0, false), (2, true), (3, true)], "-lm -L/b/lib -Wl,--as-needed".to_owned())
        );
        assert_eq!(told[1], ("two", vec![(1, false), (3, false)], "-lz".to_owned()));
        assert_eq!(told.len(), 2);
        for (name, expected) in [
            ("one", Some(0)),
            ("bin/one", Some(0)),
            ("./two", Some(1)),
            ("/b/bin/one", Some(0)),
            ("ne", None),
            ("", None),
            ("x/two", None),
        ] {
            assert_eq!(position(&found, name), expected, "{name}");
        }
    }

    #[test]
    fn names_that_several_executables_have_are_ambiguous() {
        let named = |name: &str| Executable {
            name: name.to_owned(),
            path: Path::new("/b").join(name),
            members: Vec::new(),
            linker_arguments: Vec::new(),
        };
        let known = [named("a/prog"), named("b/prog"), named("prog")];
        assert_eq!(position(&known[..2], "prog"), None);
        assert_eq!(position(&known, "prog"), Some(2));
        assert_eq!(position(&known, "b/prog"), Some(1));
    }
}
