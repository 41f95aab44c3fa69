//! ARCHITECTURE.md's table of crates is the truth about who uses whom and who must not know what. Decisions can be told
//! apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A row of the table.
struct Row {
    name: String,
    uses: BTreeSet<String>,
    /// Words that the crate's sources must not contain; `None` if the table does not say.
    unknown_words: Option<Vec<String>>,
}

/// The table, in its order.
fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    assert!(!rows.is_empty(), "ARCHITECTURE.md has no table of crates");
    rows
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').map(str::trim).collect();
    let [name, _holds, uses, ignores, ""] = cells[..] else { panic!("a row without four columns: {line}") };
    let uses = uses.split(',').map(|u| u.trim().to_owned()).filter(|u| !u.is_empty()).collect();
    let words: Vec<String> = ignores.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let unknown_words = (ignores == "-" || !words.is_empty()).then_some(words);
    Some(Row { name: name.trim_end_matches('`').to_owned(), uses, unknown_words })
}

fn packages() -> Vec<Package> {
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().expect("metadata");
    metadata.packages
}

fn short(name: &str) -> String {
    name.trim_start_matches("raceproof-").to_owned()
}

fn folder(package: &Package) -> PathBuf {
    package.manifest_path.parent().expect("a folder").as_std_path().to_owned()
}

/// Crate → crates of this workspace it uses, leaving out uses in tests.
fn actual() -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages();
    let members: BTreeSet<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    let uses = |package: &Package| {
        let shipped = package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
        shipped.filter(|d| members.contains(&*d.name)).map(|d| short(&d.name)).collect()
    };
    packages.iter().map(|package| (short(&package.name), uses(package))).collect()
}

/// Rust files of a folder and the folders in it; none if there is no such folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// What is shipped of a crate: its files under `src`, without tests.
fn shipped(folder: &Path) -> Vec<(PathBuf, String)> {
    let folder = folder.join("src");
    let is_test = |file: &PathBuf| {
        let inside = file.strip_prefix(&folder).expect("a file of the folder");
        inside.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
    };
    let files: Vec<PathBuf> = sources(&folder).into_iter().filter(|file| !is_test(file)).collect();
    assert!(!files.is_empty(), "{} has no sources", folder.display());
    let text = |file: &Path| read(file).split("#[cfg(test)]").next().unwrap_or_default().to_owned();
    files.into_iter().map(|file| (file.clone(), text(&file))).collect()
}

#[test]
fn the_table_says_exactly_who_uses_whom() {
    let actual = actual();
    let documented: BTreeMap<String, BTreeSet<String>> = table().into_iter().map(|row| (row.name, row.uses)).collect();
    let names = |m: &BTreeMap<String, BTreeSet<String>>| m.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&documented), names(&actual), "the table in ARCHITECTURE.md and crates/ list different crates");
    for (name, uses) in &actual {
        assert_eq!(uses, &documented[name], "`{name}` uses the crates on the left; ARCHITECTURE.md says the right");
    }
}

#[test]
fn arrows_point_up_in_the_table() {
    let mut above = BTreeSet::new();
    for row in table() {
        let below: Vec<_> = row.uses.difference(&above).collect();
        assert!(below.is_empty(), "`{}` uses {below:?}, which are not above it in the table", row.name);
        assert!(above.insert(row.name.clone()), "`{}` has two rows", row.name);
    }
}

#[test]
fn testkit_is_never_shipped() {
    // The driver of the benchmarks is not shipped either.
    for (name, uses) in actual().into_iter().filter(|(name, _)| name != "bench") {
        assert!(!uses.contains("testkit"), "`{name}` uses testkit outside its tests");
    }
}

#[test]
fn crates_do_not_know_what_they_must_not_know() {
    let mut found = Vec::new();
    for row in table() {
        let Some(words) = row.unknown_words else {
            found.push(format!("ARCHITECTURE.md does not say which words `{}` must not contain", row.name));
            continue;
        };
        for (file, text) in shipped(&root().join("crates").join(&row.name)) {
            let mentioned = words.iter().filter(|word| text.contains(*word));
            found.extend(mentioned.map(|word| format!("{} mentions `{word}`", file.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whether a text names a crate: as the start of a path, or in a `use`; or by a macro of ours whose expansion does.
fn names_crate(text: &str, name: &str) -> bool {
    if name == "serde" && text.contains("index_type!") {
        return true;
    }
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let starts_word = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let after = &text[at + name.len()..];
        starts_word && (after.starts_with("::") || after.starts_with(';') || after.starts_with(" as "))
    })
}

/// Every dependency is used by what its kind says: by what is shipped, by tests, by the build script.
#[test]
fn no_dependency_is_unused() {
    let mut unused = Vec::new();
    for package in packages() {
        let folder = folder(&package);
        let shipped: String = shipped(&folder).into_iter().map(|(_, text)| text).collect();
        let tests: String = ["tests", "benches", "examples", "src"]
            .map(|part| sources(&folder.join(part)))
            .concat()
            .iter()
            .map(|f| read(f))
            .collect();
        let script = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
            let text = match dependency.kind {
                DependencyKind::Development => &tests,
                DependencyKind::Build => &script,
                _ => &shipped,
            };
            if !names_crate(text, &name) {
                unused.push(format!("`{}` does not use `{name}` ({} dependency)", package.name, dependency.kind));
            }
        }
    }
    assert!(unused.is_empty(), "{}", unused.join("\n"));
}

/// A file belongs to one crate: no module is taken from another one by `#[path]`.
#[test]
fn no_path_leads_out_of_a_crate() {
    let mut outside = Vec::new();
    for package in packages() {
        let folder = folder(&package).canonicalize().expect("a folder");
        for file in sources(&folder) {
            for line in read(&file).lines().map(str::trim) {
                let Some(path) = line.strip_prefix("#[path = \"").and_then(|rest| rest.split('"').next()) else {
                    continue;
                };
                let target = file.parent().expect("a folder").join(path).canonicalize();
                if !target.is_ok_and(|target| target.starts_with(&folder)) {
                    outside.push(format!("{}: {line}", file.display()));
                }
            }
        }
    }
    assert!(outside.is_empty(), "modules from outside their crate:\n{}", outside.join("\n"));
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
    assert!(!numbers.is_empty(), "docs/decisions is empty");
}

/// What is made in one place only: the document, the ids of its pairs, the facts, the points-to solution. A document about many
/// programs is made of theirs, in a place of its own.
#[test]
fn what_everybody_shares_is_made_once() {
    const DOCUMENTS: [&str; 2] = ["crates/check/src/document/mod.rs", "crates/report/src/merge.rs"];
    let made_in: [(&str, &[&str]); 4] = [
        ("    Report {\n", &DOCUMENTS),
        ("format!(\"P{", &DOCUMENTS),
        ("Facts::new(", &["crates/check/src/subject.rs"]),
        ("PointsTo::new(", &["crates/facts/src/facts.rs"]),
    ];
    let root = root().canonicalize().expect("a folder");
    for (maker, files) in made_in {
        let mut makers = Vec::new();
        for package in packages() {
            let texts = shipped(&folder(&package).canonicalize().expect("a folder"));
            let times = |text: &str| text.matches(maker).count();
            makers.extend(texts.iter().flat_map(|(file, text)| std::iter::repeat_n(file.clone(), times(text))));
        }
        makers.sort();
        let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
        assert_eq!(makers, files, "`{}` is made there, once", maker.trim());
    }
}

/// A binary file has no names of fields, so a field that is left out shifts all that follow it. Types with such fields are parts
/// of JSON documents; a new one is listed here after a look at who writes it.
#[test]
fn only_parts_of_json_documents_leave_out_fields() {
    const JSON: [&str; 5] = [
        "crates/files/src/witness.rs",
        "crates/model/src/verdict.rs",
        "crates/report/src/document.rs",
        "crates/report/src/run.rs",
        "crates/report/src/suite.rs",
    ];
    let leaves_out = |file: &PathBuf| read(file).contains("skip_serializing");
    let found = packages().into_iter().flat_map(|package| sources(&folder(&package).join("src"))).filter(leaves_out);
    let root = root().canonicalize().expect("a folder");
    let names: BTreeSet<String> = found
        .map(|file| file.canonicalize().expect("a file").strip_prefix(&root).expect("inside").display().to_string())
        .collect();
    assert_eq!(names, JSON.map(str::to_owned).into());
}
