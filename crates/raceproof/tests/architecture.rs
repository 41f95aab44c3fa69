//! ARCHITECTURE.md's table of crates is the truth about who may use whom. Decisions can be told apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Crate → crates it may use, from the table.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').map(str::trim).collect();
            let [name, _holds, uses, _ignores, ..] = cells[..] else { return None };
            let uses = uses.split(',').map(|u| u.trim().to_owned()).filter(|u| !u.is_empty()).collect();
            Some((name.trim_end_matches('`').to_owned(), uses))
        })
        .collect()
}

/// Crate → crates of this workspace it uses, leaving out uses in tests.
fn actual() -> BTreeMap<String, BTreeSet<String>> {
    let short = |name: &str| name.trim_start_matches("raceproof-").to_owned();
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().expect("metadata");
    let members: BTreeSet<String> = metadata.packages.iter().map(|p| p.name.to_string()).collect();
    metadata
        .packages
        .iter()
        .map(|package| {
            let uses = package
                .dependencies
                .iter()
                .filter(|d| d.kind != DependencyKind::Development && members.contains(&d.name))
                .map(|d| short(&d.name))
                .collect();
            (short(&package.name), uses)
        })
        .collect()
}

#[test]
fn every_crate_is_in_the_table_and_uses_only_what_it_may() {
    let (documented, actual) = (documented(), actual());
    let names = |m: &BTreeMap<String, BTreeSet<String>>| m.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&documented), names(&actual), "the table in ARCHITECTURE.md and crates/ list different crates");
    for (name, uses) in &actual {
        let extra: Vec<_> = uses.difference(&documented[name]).collect();
        assert!(extra.is_empty(), "`{name}` uses {extra:?}, which ARCHITECTURE.md does not allow");
    }
}

#[test]
fn testkit_is_never_shipped() {
    // The driver of the benchmarks is not shipped either.
    for (name, uses) in actual().into_iter().filter(|(name, _)| name != "bench") {
        assert!(!uses.contains("testkit"), "`{name}` uses testkit outside its tests");
    }
}

/// Crates whose sources must not mention some words, because the table says they do not know the thing.
#[test]
fn crates_do_not_know_what_they_must_not_know() {
    let forbidden: &[(&str, &[&str])] = &[
        ("model", &["std::fs", "std::process", "inkwell"]),
        ("program", &["inkwell", "llvm_sys", "std::process"]),
        ("explore", &["std::process", "std::fs", "memmap2"]),
        ("report", &["std::process", "inkwell"]),
        ("llvm", &["explore::", "exec::"]),
        ("runtime", &["use std::"]),
    ];
    for (name, words) in forbidden {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let text = std::fs::read_to_string(&file).expect("source file");
            let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
            for word in *words {
                assert!(!shipped.contains(word), "{} mentions `{word}`", file.display());
            }
        }
    }
}

fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("source folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

/// A decision is known by its number.
#[test]
fn decisions_have_numbers_of_their_own() {
    let mut numbers = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("docs/decisions")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let number: u32 = name[..4].parse().unwrap_or_else(|_| panic!("{name} has no number"));
        assert!(numbers.insert(number), "there is another decision {number} than {name}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("# {number}. ")), "{name} has another number in its title");
    }
}
