//! From the command of a test to the program that can be checked.

use std::path::{Path, PathBuf};

use crate::variables::set;
use crate::{Subject, Test};

/// Takes the program, its arguments and its variables from the words of a command. A relative path is one from `folder`.
pub(crate) fn of_command(test: &mut Test, words: &[String], folder: &Path) {
    let words = without_env(test, words, folder);
    let Some((program, args)) = words.split_first() else {
        test.subject = Subject::Other("it has no command".to_owned());
        return;
    };
    test.args = args.to_vec();
    test.subject = match why_not(&folder.join(program)) {
        _ if test.variables.get("LD_PRELOAD").is_some_and(Option::is_some) => {
            Subject::Other("it loads a library into the program (LD_PRELOAD)".to_owned())
        }
        None => Subject::Program(vec![folder.join(program).to_string_lossy().into_owned()]),
        Some(why) => Subject::Other(why),
    };
}

/// Why a file is no program that can be checked.
fn why_not(program: &Path) -> Option<String> {
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let is_program = |kind: cc::InputKind| kind == cc::InputKind::Container;
    match cc::InputKind::of(program) {
        Some(kind) if is_program(kind) => match cc::embedded_contents(program) {
            Ok(_) => None,
            Err(cc::Error::NoBitcode { .. }) => Some(format!("`{name}` was not built with raceproof")),
            Err(error) => Some(error.to_string()),
        },
        _ if !program.exists() => Some(format!("its program `{name}` is not there: build it first")),
        _ => Some(format!("`{name}` is no program that was compiled")),
    }
}

/// The words after `env NAME=VALUE` and `cmake -E env NAME=VALUE`, whose variables are those of the test.
fn without_env<'w>(test: &mut Test, words: &'w [String], folder: &Path) -> &'w [String] {
    let name = |word: &String| Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned());
    let mut rest = match words {
        [cmake, e, env, rest @ ..] if e == "-E" && env == "env" && name(cmake).is_some_and(|n| n == "cmake") => rest,
        // A program of the project may be called so, too.
        [env, rest @ ..] if name(env).is_some_and(|name| name == "env") && why_not(&folder.join(env)).is_some() => rest,
        _ => return words,
    };
    let before = test.variables.clone();
    while let Some((word, after)) = rest.split_first() {
        match (word.as_str(), word.strip_prefix("--unset=")) {
            ("--", _) => return without_env(test, after, folder),
            ("-u" | "--unset", _) => {
                let Some((removed, after)) = after.split_first() else { break };
                test.variables.insert(removed.clone(), None);
                rest = after;
                continue;
            }
            (_, Some(removed)) => {
                test.variables.insert(removed.to_owned(), None);
            }
            (option, _) if option.starts_with('-') => {
                // What it does is not known here, so the command is taken as it is.
                test.variables = before;
                return words;
            }
            (assignment, _) if assignment.contains('=') => set(&mut test.variables, assignment),
            _ => return without_env(test, rest, folder),
        }
        rest = after;
    }
    rest
}

/// A path in a folder, unless it is absolute.
pub(crate) fn inside(folder: &Path, path: impl AsRef<Path>) -> PathBuf {
    // The current folder needs no name.
    if folder == Path::new(".") || folder.as_os_str().is_empty() { path.as_ref().to_owned() } else { folder.join(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Test {
        let mut test = Test::new("t".to_owned(), Subject::Other(String::new()));
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        of_command(&mut test, &words, Path::new("/nowhere"));
        test
    }

    #[test]
    fn variables_in_front_of_a_program() {
        for words in [
            &["/usr/bin/cmake", "-E", "env", "A=1", "--unset=B", "prog", "x=y"][..],
            &["env", "-u", "B", "A=1", "--", "prog", "x=y"],
        ] {
            let test = of(words);
            assert_eq!(test.args, ["x=y"]);
            assert_eq!(test.variables, [("A".to_owned(), Some("1".to_owned())), ("B".to_owned(), None)].into());
            assert_eq!(test.subject, Subject::Other("its program `prog` is not there: build it first".to_owned()));
        }
        let other = of(&["env", "A=1", "-i", "prog"]);
        assert!(other.variables.is_empty() && other.args == ["A=1", "-i", "prog"], "{other:?}");
    }

    #[test]
    fn what_is_no_program_is_told() {
        let why = |words: &[&str]| match of(words).subject {
            Subject::Other(why) => why,
            Subject::Program(inputs) => panic!("{inputs:?}"),
        };
        assert!(why(&["/bin/true"]).contains("`true` was not built with raceproof"));
        assert!(why(&["/etc/passwd"]).contains("no program that was compiled"));
        assert!(why(&[]).contains("no command") && why(&["env"]).contains("no command"));
        assert!(why(&["env", "LD_PRELOAD=x.so", "/bin/true"]).contains("LD_PRELOAD"));
    }
}
