//! The patches that break the code one place at a time (`make mutants`) still fit the sources, and the table in the
//! documentation names them all.

use std::path::{Path, PathBuf};

/// One change of a patch: the file, and its lines before and after.
struct Hunk {
    file: String,
    before: Vec<String>,
    after: Vec<String>,
}

fn hunks(patch: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut file = String::new();
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            file = name.to_owned();
        } else if line.starts_with("@@") {
            hunks.push(Hunk { file: file.clone(), before: Vec::new(), after: Vec::new() });
        } else if let Some(hunk) = hunks.last_mut().filter(|_| !line.starts_with("---") && !line.starts_with("diff")) {
            let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            if kind != "+" {
                hunk.before.push(text.to_owned());
            }
            if kind != "-" {
                hunk.after.push(text.to_owned());
            }
        }
    }
    hunks
}

/// Whether the test that a patch names exists: `-p PACKAGE [--test FILE] [PATH::]NAME`.
fn is_there(root: &Path, caught: &str) -> bool {
    let words: Vec<&str> = caught.split(' ').collect();
    let after = |option: &str| words.iter().skip_while(|word| **word != option).nth(1).copied();
    let package = after("-p").map(|package| package.strip_prefix("raceproof-").unwrap_or(package));
    let name = words.last().and_then(|path| path.rsplit("::").next()).unwrap_or_default();
    let folder = root.join("crates").join(package.unwrap_or_default());
    match after("--test") {
        Some(file) => has_function(&folder.join("tests").join(file).with_extension("rs"), name),
        None => files_below(&folder.join("src")).iter().any(|file| has_function(file, name)),
    }
}

fn has_function(file: &Path, name: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains(&format!("fn {name}(")))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { files_below(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

#[test]
fn every_mutant_still_applies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/mutants.md")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("tests/mutants")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|extension| extension != "patch") {
            continue;
        }
        count += 1;
        let patch = std::fs::read_to_string(&path).unwrap();
        let header = |word: &str| patch.lines().find_map(|line| line.strip_prefix(word));
        let (breaks, caught) =
            header("Breaks: ").zip(header("Caught by: ")).unwrap_or_else(|| panic!("{name}: header"));
        let test = caught.split(' ').next_back().unwrap();
        assert!(is_there(&root, caught), "{name}: there is no test {caught}");
        let row = format!("| {name} | {breaks} | `{test}` |");
        assert!(page.contains(&row), "docs/mutants.md should have this line:\n{row}");
        let hunks = hunks(&patch);
        assert!(!hunks.is_empty(), "{name} changes nothing");
        for hunk in hunks {
            assert_ne!(hunk.before, hunk.after, "{name}");
            let source =
                std::fs::read_to_string(root.join(&hunk.file)).unwrap_or_else(|e| panic!("{}: {e}", hunk.file));
            let lines: Vec<&str> = source.lines().collect();
            let places = lines.windows(hunk.before.len()).filter(|window| window.iter().eq(&hunk.before)).count();
            assert_eq!(places, 1, "{name}: the lines to be changed are in {} this often", hunk.file);
        }
    }
    assert!(count >= 60, "{count} mutants");
}
