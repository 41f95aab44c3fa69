//! Blessed outputs: what a user sees is compared byte for byte with a file in the repository, or with a text in a test.
//!
//! `BLESS=1 cargo test` rewrites whatever is blessed: expected outputs, pinned counts, tables in the documentation. Read
//! the difference as a user would. This is the only place that reads the variable.

use std::path::Path;

use snapbox::assert::Action;
use snapbox::{Data, IntoData};

/// Whether expected outputs are to be rewritten.
///
/// # Panics
/// When `BLESS` is set to something else than 1.
pub fn blesses() -> bool {
    match std::env::var_os("BLESS") {
        None => false,
        Some(value) => {
            assert!(value == "1", "BLESS is set to {value:?}; only `BLESS=1` has a meaning");
            true
        }
    }
}

/// Compares an output with the file that holds what is expected, byte for byte.
///
/// # Panics
/// When they differ, with the difference.
pub fn assert_blessed(actual: impl Into<String>, expected: &Path) {
    assert_text(actual, Data::read_from(expected, Some(snapbox::data::DataFormat::Text)));
}

/// Compares an output with what is expected, byte for byte: a file, or `snapbox::str!` in a test.
///
/// # Panics
/// When they differ, with the difference.
pub fn assert_text(actual: impl Into<String>, expected: impl IntoData) {
    let action = if blesses() { Action::Overwrite } else { Action::Verify };
    snapbox::Assert::new().action(action).eq(Data::text(actual.into()), expected.into_data().raw());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_output_passes_and_different_output_does_not() {
        if blesses() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.txt");
        std::fs::write(&file, "done [..]\n").unwrap();
        assert_blessed("done [..]\n", &file);
        let fails = |actual: &str, file: &Path| std::panic::catch_unwind(|| assert_blessed(actual, file)).is_err();
        assert!(fails("done, all\n", &file), "brackets in expected files are text, not patterns");
        assert!(fails("done [..]\n", &folder.path().join("missing.txt")), "a file that is missing is not as expected");
    }
}
