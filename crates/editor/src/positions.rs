//! Places as the protocol has them: files as URIs, columns in units of UTF-16, lines from 0.

use std::path::{Path, PathBuf};

use lsp_types::{Position, Range, Uri};

/// The URI of a file with an absolute name.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    format!("file://{}", report::uri::of_path(&path.to_string_lossy())).parse().ok()
}

/// The file of a URI; `None` for what is no file here.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // Some clients write the name of the machine.
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    rest.starts_with('/').then(|| PathBuf::from(report::uri::path_of(rest)))
}

/// The token at a line and column as reports have them, from 1 and in bytes. The start of the file where there is none.
pub(crate) fn range_at(text: &str, line: u32, column: u32) -> Range {
    match report::source::token(text, line, column) {
        Some(bytes) => Range::new(position(text, bytes.start), position(text, bytes.end)),
        None => Range::default(),
    }
}

/// The position of a byte of a text.
pub(crate) fn position(text: &str, byte: usize) -> Position {
    let before = text.get(..byte).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    Position::new(line as u32, before[start..].encode_utf16().count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in ["/a b/ü %41#?.c", "/x/𝄞.c"] {
            let uri = uri_of(Path::new(name)).unwrap();
            assert!(uri.as_str().is_ascii());
            assert_eq!(path_of(&uri).unwrap(), Path::new(name));
        }
        let path = |uri: &str| path_of(&uri.parse().unwrap());
        assert_eq!(path("file://localhost/a%20b.c"), Some(PathBuf::from("/a b.c")));
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("file://elsewhere/a.c"), None);
    }

    #[test]
    fn columns_are_counted_in_utf16() {
        let text = "int a;\n/* ü 𝄞 */ a = 1;\n";
        let range = range_at(text, 2, 16);
        assert_eq!(range, Range::new(Position::new(1, 12), Position::new(1, 13)));
        assert_eq!(range_at(text, 99, 1), Range::default());
    }
}
