//! A compiler's command line, classified: the requested stage, the inputs, and which flags are for the compiler or the
//! linker.

use std::path::Path;

/// The language of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C, preprocessed or not.
    C,
    /// C++, preprocessed or not.
    Cxx,
}

impl Language {
    /// The language by file name, as compilers decide it; `None` if the file is not a C or C++ source.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" | "i" => Some(Self::C),
            "cc" | "cpp" | "cxx" | "C" | "c++" | "cp" | "CPP" | "ii" => Some(Self::Cxx),
            _ => None,
        }
    }

    /// The language by its name for `-x`.
    fn named(name: &str) -> Option<Self> {
        match name {
            "c" | "cpp-output" | "c-cpp-output" => Some(Self::C),
            "c++" | "c++-cpp-output" => Some(Self::Cxx),
            _ => None,
        }
    }

    /// The name to pass with `-x` for this file.
    pub(crate) fn name(self, path: &Path) -> &'static str {
        let preprocessed = matches!(path.extension().and_then(|e| e.to_str()), Some("i" | "ii"));
        match (self, preprocessed) {
            (Self::C, false) => "c",
            (Self::C, true) => "cpp-output",
            (Self::Cxx, false) => "c++",
            (Self::Cxx, true) => "c++-cpp-output",
        }
    }
}

/// One argument, with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    /// A C or C++ source.
    Source(String, Language),
    /// Any other input: an object, an archive, a library, assembler, standard input.
    Other(String),
    /// `-l`, `-L`, `-Wl,…` and similar, in their position among the inputs.
    Linker(Vec<String>),
    /// `-o`.
    Output(String),
    /// Flags for dependency files.
    Dependencies(Vec<String>),
    /// Any other flag.
    Flag(Vec<String>),
}

/// What the command line requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Objects: `-c`.
    Compile,
    /// An executable or a shared library.
    Link,
    /// Something without code to embed: preprocessed text, assembler, a version, a partial link.
    Neither,
}

/// A command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommandLine {
    pub(crate) arguments: Vec<Argument>,
    pub(crate) stage: Stage,
}

/// Flags whose value is the next argument.
const WITH_VALUE: [&str; 31] = [
    "-D",
    "-U",
    "-I",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "--sysroot",
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-target",
    "--param",
    "-B",
    "-arch",
    "-A",
    "-aux-info",
    "-ftemplate-depth",
    "-mllvm",
    "-dumpdir",
    "-dumpbase",
    "-meabi",
    "-mthread-model",
    "-isystem-after",
    "-cxx-isystem",
    "-resource-dir",
];

/// The same for the linker.
const LINKER_WITH_VALUE: [&str; 7] = ["-l", "-L", "-Xlinker", "-u", "-T", "-z", "-e"];

/// The same for dependency files.
const DEPENDENCIES_WITH_VALUE: [&str; 3] = ["-MF", "-MT", "-MQ"];

impl CommandLine {
    /// Classifies the arguments of a compiler.
    pub(crate) fn new(arguments: &[String]) -> Self {
        let mut sorted = Vec::new();
        let mut language: Option<&str> = None;
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut with_value = || std::iter::once(argument.clone()).chain(rest.next().cloned()).collect::<Vec<_>>();
            let flag = argument.as_str();
            sorted.push(match flag {
                "-o" => match rest.next() {
                    Some(output) => Argument::Output(output.clone()),
                    None => Argument::Flag(vec![argument.clone()]),
                },
                "-x" => {
                    language = rest.next().map(String::as_str).filter(|name| *name != "none");
                    continue;
                }
                "-" => Argument::Other(argument.clone()),
                _ if DEPENDENCIES_WITH_VALUE.contains(&flag) => Argument::Dependencies(with_value()),
                "-MD" | "-MMD" | "-MP" | "-MG" => Argument::Dependencies(vec![argument.clone()]),
                _ if LINKER_WITH_VALUE.contains(&flag) => Argument::Linker(with_value()),
                _ if is_for_linker(flag) => Argument::Linker(vec![argument.clone()]),
                _ if WITH_VALUE.contains(&flag) => Argument::Flag(with_value()),
                _ if flag.starts_with("-o") && flag.len() > 2 && !flag.starts_with("-object") => {
                    Argument::Output(flag[2..].to_owned())
                }
                _ if flag.starts_with("-x") && flag.len() > 2 => {
                    language = Some(&flag[2..]).filter(|name| *name != "none");
                    continue;
                }
                _ if flag.starts_with('-') => Argument::Flag(vec![argument.clone()]),
                _ => match language.map_or_else(|| Language::of(Path::new(flag)), Language::named) {
                    Some(language) => Argument::Source(argument.clone(), language),
                    None => Argument::Other(argument.clone()),
                },
            });
        }
        // Once the `-x` flag is removed, such inputs would be classified by their file names.
        let renamed = language.is_some_and(|name| Language::named(name).is_none());
        let stage = if renamed { Stage::Neither } else { stage(&sorted) };
        Self { arguments: sorted, stage }
    }

    /// The sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, Language)> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Source(path, language) => Some((path.as_str(), *language)),
            _ => None,
        })
    }

    /// The requested output file.
    pub(crate) fn output(&self) -> Option<&str> {
        self.arguments.iter().rev().find_map(|argument| match argument {
            Argument::Output(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// The flags for the compiler itself.
    pub(crate) fn flags(&self) -> Vec<String> {
        let flags = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Flag(words) => Some(words.as_slice()),
            _ => None,
        });
        flags.flatten().cloned().collect()
    }
}

fn is_for_linker(flag: &str) -> bool {
    ["-l", "-L", "-Wl,"].iter().any(|prefix| flag.starts_with(prefix))
        || matches!(flag, "-rdynamic" | "-s" | "-static-libgcc" | "-static-libstdc++" | "-export-dynamic")
}

fn stage(arguments: &[Argument]) -> Stage {
    let mut stage = Stage::Link;
    let mut inputs = false;
    for argument in arguments {
        match argument {
            // What standard input is can be read once only.
            Argument::Other(file) if file == "-" => return Stage::Neither,
            Argument::Source(..) | Argument::Other(_) => inputs = true,
            Argument::Flag(words) => match words[0].as_str() {
                "-E" | "-S" | "-M" | "-MM" | "-r" | "-fsyntax-only" | "-###" | "--version" | "--help"
                | "-emit-llvm" | "-dumpversion" | "-dumpmachine" | "--precompile" => return Stage::Neither,
                flag if flag.starts_with("-print-") || flag.starts_with("--print-") => return Stage::Neither,
                "-c" => stage = Stage::Compile,
                _ => {}
            },
            Argument::Output(_) | Argument::Linker(_) | Argument::Dependencies(_) => {}
        }
    }
    if inputs { stage } else { Stage::Neither }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(line: &str) -> CommandLine {
        CommandLine::new(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_compile_as_make_writes_it() {
        let line = sorted("-g -O2 -I include -DX=1 -MD -MP -MF .deps/a.Po -MT a.o -c -o a.o ../src/a.c");
        assert_eq!(line.stage, Stage::Compile);
        assert_eq!(line.sources().collect::<Vec<_>>(), [("../src/a.c", Language::C)]);
        assert_eq!(line.output(), Some("a.o"));
        assert_eq!(line.flags(), ["-g", "-O2", "-I", "include", "-DX=1", "-c"]);
    }

    #[test]
    fn a_link_keeps_the_order_of_its_inputs() {
        let line = sorted("main.o -Wl,--start-group liba.a -lz -L lib -Wl,--end-group -oprog -pthread");
        assert_eq!(line.stage, Stage::Link);
        assert_eq!(line.output(), Some("prog"));
        let linker = line.arguments.iter().filter(|a| matches!(a, Argument::Linker(_) | Argument::Other(_)));
        assert_eq!(linker.count(), 6);
    }

    #[test]
    fn languages_given_by_name() {
        let line = sorted("-x c++ a.c -x none b.c -c");
        assert_eq!(line.sources().collect::<Vec<_>>(), [("a.c", Language::Cxx), ("b.c", Language::C)]);
        assert_eq!(sorted("-c -x assembler-with-cpp a.c").stage, Stage::Neither);
    }

    #[test]
    fn queries_embed_nothing() {
        for line in [
            "--version",
            "-E a.c",
            "-print-search-dirs",
            "-v",
            "-MM a.c",
            "-S a.c -o a.s",
            "-r a.o -o b.o",
            "-x c - -o p",
        ] {
            assert_eq!(sorted(line).stage, Stage::Neither, "{line}");
        }
    }
}
