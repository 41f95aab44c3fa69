//! Source texts for excerpts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Source files, read once, by the spelling used in reports.
#[derive(Debug, Default)]
pub struct Sources {
    /// Folder that relative names are relative to; the current one when empty.
    folder: PathBuf,
    texts: BTreeMap<String, Option<String>>,
}

impl Sources {
    /// Files relative to the current folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Files relative to `folder`.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), texts: BTreeMap::new() }
    }

    /// Reads a file unless it was read before.
    pub(crate) fn load(&mut self, file: &str) {
        if !self.texts.contains_key(file) {
            let bytes = std::fs::read(self.folder.join(file)).ok();
            self.texts.insert(file.to_owned(), bytes.map(|b| String::from_utf8_lossy(&b).into_owned()));
        }
    }

    /// A loaded file's text.
    pub(crate) fn text(&self, file: &str) -> Option<&str> {
        self.texts.get(file)?.as_deref()
    }

    /// A line of a file, without surrounding blanks.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        self.whole_line(file, line).map(str::trim)
    }

    /// A line of a file.
    pub(crate) fn whole_line(&mut self, file: &str, line: u32) -> Option<&str> {
        self.load(file);
        let index = (line as usize).checked_sub(1)?;
        self.text(file)?.lines().nth(index)
    }
}

/// The bytes of the token at a line and column (in bytes, from 1, as clang counts) of a text; the whole line
/// when there is no column. `None` when the text has no such line.
pub fn token(text: &str, line: u32, column: u32) -> Option<Range<usize>> {
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    for _ in 1..line.max(1) {
        start += lines.next()?.len();
    }
    let content = lines.next()?.trim_end();
    let indent = content.len() - content.trim_start().len();
    if line == 0 {
        return None;
    }
    let offset = (column as usize).wrapping_sub(1);
    let rest = match content.get(offset..) {
        Some(rest) if !rest.is_empty() => rest,
        _ => return Some(start + indent..start + content.len()),
    };
    let first = rest.chars().next()?;
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let operator = |c: char| "+-*/%=<>!&|^".contains(c);
    let len = if word(first) {
        rest.find(|c| !word(c)).unwrap_or(rest.len())
    } else if operator(first) {
        rest.find(|c| !operator(c)).unwrap_or(rest.len())
    } else {
        first.len_utf8()
    };
    Some(start + offset..start + offset + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let text = "int x;\n  counter += y[3];\n\n";
        let at = |line, column| token(text, line, column).map(|span| &text[span]);
        assert_eq!(at(2, 3), Some("counter"));
        assert_eq!(at(2, 11), Some("+="));
        assert_eq!(at(2, 15), Some("["));
        assert_eq!(at(2, 0), Some("counter += y[3];"));
        assert_eq!(at(2, 99), Some("counter += y[3];"));
        assert_eq!(at(3, 1), Some(""));
        assert_eq!((at(0, 1), at(9, 1)), (None, None));
    }
}
