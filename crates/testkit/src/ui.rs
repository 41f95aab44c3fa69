//! Blessed outputs: output for users is compared byte for byte with a file in the repository.
//!
//! `BLESS=1 cargo test` rewrites the files; read the difference as a user would. [`normalise`] first replaces
//! everything that changes between runs or machines.

use std::path::Path;

use snapbox::Data;
use snapbox::assert::Action;

/// A kind of text to replace. `length` returns how many leading bytes of the text are of this kind.
struct Rule {
    placeholder: &'static str,
    length: fn(&str) -> usize,
}

const RULES: &[Rule] = &[
    Rule { placeholder: "[ADDRESS]", length: address },
    Rule { placeholder: "[TIME]", length: duration },
    Rule { placeholder: "[HASH]", length: hash },
];

/// `0x7ffe12`.
fn address(text: &str) -> usize {
    let digits = text.strip_prefix("0x").map_or(0, |rest| leading(rest, |c| c.is_ascii_hexdigit()));
    if digits == 0 { 0 } else { 2 + digits }
}

/// `12 ms`, `1.5s`, `3 µs`.
fn duration(text: &str) -> usize {
    let number = leading(text, |c| c.is_ascii_digit() || c == '.');
    if number == 0 || text.starts_with('.') {
        return 0;
    }
    let space = leading(&text[number..], |c| c == ' ').min(1);
    let rest = &text[number + space..];
    let unit = ["ms", "µs", "us", "ns", "s"].into_iter().find(|unit| {
        rest.strip_prefix(unit).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    unit.map_or(0, |unit| number + space + unit.len())
}

/// 64 hexadecimal digits.
fn hash(text: &str) -> usize {
    if leading(text, |c| c.is_ascii_hexdigit()) == 64 { 64 } else { 0 }
}

fn leading(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

/// Replaces what differs between runs: addresses, times, hashes, and these directories by their placeholders.
pub fn normalise(text: &str, directories: &[(&Path, &str)]) -> String {
    let mut text = text.to_owned();
    for (directory, placeholder) in directories {
        text = text.replace(&*directory.to_string_lossy(), placeholder);
    }
    let mut normal = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let rule = RULES.iter().map(|r| (r.placeholder, (r.length)(rest))).find(|(_, length)| *length > 0 && !in_word);
        match rule {
            Some((placeholder, length)) => {
                normal.push_str(placeholder);
                rest = &rest[length..];
            }
            None => {
                normal.push(c);
                in_word = c.is_alphanumeric() || c == '_' || c == '.';
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    normal
}

/// Compares an output with the file of expected output, or rewrites the file if `BLESS` is set.
///
/// # Panics
/// When they differ, with the difference.
pub fn assert_blessed(actual: &str, expected: &Path, directories: &[(&Path, &str)]) {
    let action = if std::env::var_os("BLESS").is_some() { Action::Overwrite } else { Action::Verify };
    let expected = Data::read_from(expected, Some(snapbox::data::DataFormat::Text));
    let actual = Data::text(normalise(actual, directories));
    snapbox::Assert::new().action(action).eq(actual, expected.raw());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_output_is_machine_independent() {
        let text = "t1 at 0x7f00 took 12 ms (1.5s, 3 µs) in /tmp/a/b.c:3 x86 v0.1 10 seconds 2s.";
        let normal = normalise(text, &[(Path::new("/tmp/a"), "[DIR]")]);
        let expected = "t1 at [ADDRESS] took [TIME] ([TIME], [TIME]) in [DIR]/b.c:3 x86 v0.1 10 seconds [TIME].";
        assert_eq!(normal, expected);
    }

    #[test]
    fn equal_output_passes_and_different_output_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.txt");
        std::fs::write(&file, "done in [TIME] [..]\n").unwrap();
        assert_blessed("done in 7 ms [..]\n", &file, &[]);
        let different = std::panic::catch_unwind(|| assert_blessed("done in 7 ms, all\n", &file, &[]));
        assert!(different.is_err(), "brackets in expected files are text, not patterns");
    }
}
