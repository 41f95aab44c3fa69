//! Response files: `@file` on a command line stands for the arguments in the file.

use std::path::Path;

/// Limit on nested response files: one that names itself would never end.
const DEPTH: u32 = 16;

/// Replaces response files by their arguments. As in compilers, `@file` stays as it is if there is no such file.
pub(crate) fn expand(arguments: &[String]) -> Vec<String> {
    let mut expanded = Vec::new();
    expand_into(arguments, DEPTH, &mut expanded);
    expanded
}

fn expand_into(arguments: &[String], depth: u32, expanded: &mut Vec<String>) {
    for argument in arguments {
        let file = argument.strip_prefix('@').filter(|_| depth > 0);
        match file.and_then(|file| std::fs::read_to_string(Path::new(file)).ok()) {
            Some(text) => expand_into(&split(&text), depth - 1, expanded),
            None => expanded.push(argument.clone()),
        }
    }
}

/// Splits as GNU tools do: at white space, with quotes of both kinds and backslash escapes.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (c, Some(q)) if c == q => quote = None,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_quotes_and_backslashes() {
        assert_eq!(split("-c  a.c\n-DX=\\\"y\\\" '-I a b' \"\""), ["-c", "a.c", "-DX=\"y\"", "-I a b", ""]);
    }

    #[test]
    fn nested_files_and_files_that_are_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("inner"), "-O2").expect("written");
        std::fs::write(path("outer"), format!("-c '@{}' @{}", path("inner"), path("outer"))).expect("written");
        let expanded = expand(&[format!("@{}", path("outer")), "@nowhere".into()]);
        assert_eq!(expanded[..2], ["-c", "-O2"]);
        assert_eq!(expanded.last().map(String::as_str), Some("@nowhere"));
    }
}
