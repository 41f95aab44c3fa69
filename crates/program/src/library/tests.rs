//! What every row must satisfy.

use super::*;

#[test]
fn groups_are_sorted_without_duplicates() {
    for (group, rows) in GROUPS {
        for pair in rows.windows(2) {
            assert!(pair[0].name < pair[1].name, "{group}: `{}` before `{}`", pair[0].name, pair[1].name);
        }
    }
    for pair in threads::functions().windows(2) {
        assert!(pair[0].name < pair[1].name, "threads: `{}` before `{}`", pair[0].name, pair[1].name);
    }
}
