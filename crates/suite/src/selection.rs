//! Which tests are meant: patterns of names, in which `*` stands for anything.

use crate::{Error, Test};

/// Which tests are meant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Those whose names match one of these; all if there is none.
    pub only: Vec<String>,
    /// But for those whose names match one of these.
    pub exclude: Vec<String>,
}

/// Names that a message lists.
const LISTED: usize = 30;

impl Selection {
    /// Leaves out what is not meant. A pattern that is in vain is an error: it is misspelled.
    pub fn apply(&self, tests: Vec<Test>) -> Result<Vec<Test>, Error> {
        let in_vain = |pattern: &&String| !tests.iter().any(|test| matches(pattern, &test.name));
        if let Some(pattern) = self.only.iter().chain(&self.exclude).find(in_vain) {
            let mut names: Vec<String> = tests.iter().take(LISTED).map(|test| format!("`{}`", test.name)).collect();
            names.extend(tests.len().checked_sub(LISTED).filter(|more| *more > 0).map(|more| format!("{more} more")));
            return Err(Error::NoSuchTest { pattern: pattern.clone(), names: names.join(", ") });
        }
        let fits = |patterns: &[String], test: &Test| patterns.iter().any(|pattern| matches(pattern, &test.name));
        let is_meant = |test: &Test| (self.only.is_empty() || fits(&self.only, test)) && !fits(&self.exclude, test);
        Ok(tests.into_iter().filter(is_meant).collect())
    }
}

/// Whether a name is as a pattern has it, from its start to its end.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subject;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("ä*ü", "äöü", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_in_vain_are_errors() {
        let tests = || ["one", "two"].map(|name| Test::new(name.to_owned(), Subject::Other(String::new()))).into();
        let select = |only: &[&str], exclude: &[&str]| {
            let of = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
            Selection { only: of(only), exclude: of(exclude) }.apply(tests())
        };
        let names = |only: &[&str], exclude: &[&str]| {
            select(only, exclude).unwrap().into_iter().map(|test| test.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&[], &[]), ["one", "two"]);
        assert_eq!(names(&["t*"], &[]), ["two"]);
        assert_eq!(names(&[], &["t*"]), ["one"]);
        assert!(select(&["three"], &[]).unwrap_err().to_string().contains("`one`, `two`"));
    }
}
