//! The links of a build folder that CMake made for `make`: one `link.txt` for each target.

use std::path::Path;

use super::{Step, Word, normal};
use crate::response;

/// Where CMake lists the folders of its targets.
const TARGETS: &str = "CMakeFiles/TargetDirectories.txt";

/// The links of a build folder; none if CMake did not make it.
pub(super) fn steps(folder: &Path) -> Vec<Step> {
    let targets = std::fs::read_to_string(folder.join(TARGETS)).unwrap_or_default();
    let mut steps = Vec::new();
    for target in targets.lines().map(Path::new) {
        // The commands are for the folder that has `CMakeFiles`.
        let Some(directory) = target.parent().and_then(Path::parent) else { continue };
        let commands = std::fs::read_to_string(target.join("link.txt")).unwrap_or_default();
        steps.extend(commands.lines().filter_map(|command| step(command, directory)));
    }
    steps
}

/// The link that a command makes.
fn step(command: &str, directory: &Path) -> Option<Step> {
    // Lists of objects that are too long for a command line are in files.
    let words = shlex::split(command)?.into_iter().map(|word| absolute_response(word, directory)).collect::<Vec<_>>();
    let words = response::expand(&words);
    let (program, arguments) = words.split_first()?;
    let program = Path::new(program).file_name()?.to_str()?;
    if program.ends_with("ranlib") {
        return None;
    }
    let is_archiver = program.ends_with("ar") || program.contains("-ar-");
    let (output, inputs) = if is_archiver {
        // `ar qc libx.a a.o b.o`
        (arguments.get(1)?, arguments.get(2..)?)
    } else {
        let at = arguments.iter().position(|argument| argument == "-o")?;
        (arguments.get(at + 1)?, arguments)
    };
    Some(Step { output: normal(&directory.join(output)), words: Word::all_of(inputs.iter().cloned(), directory) })
}

/// A response file as it is named from anywhere.
fn absolute_response(word: String, directory: &Path) -> String {
    match word.strip_prefix('@') {
        Some(file) => format!("@{}", directory.join(file).display()),
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_archives() {
        let at = Path::new("/b/sub");
        let link = step("/usr/bin/cc -g -rdynamic CMakeFiles/app.dir/a.c.o -o ../bin/app  ../libx.a -lm ", at).unwrap();
        assert_eq!(link.output, Path::new("/b/bin/app"));
        let files = [Word::File("/b/sub/CMakeFiles/app.dir/a.c.o".into()), Word::File("/b/libx.a".into())];
        assert_eq!(link.words, [&files[..], &[Word::Flag("-lm".to_owned())]].concat());
        let archive = step("/usr/bin/llvm-ar-19 qc libx.a x.o \"with space.o\"", at).unwrap();
        assert_eq!(archive.output, Path::new("/b/sub/libx.a"));
        assert_eq!(archive.words.len(), 2);
        assert_eq!(step("/usr/bin/ranlib libx.a", at), None);
        assert_eq!(step("/usr/bin/cc 'unclosed", at), None);
        assert_eq!(step("", at), None);
    }
}
