//! The documentation holds together: every file under `docs/` is reachable from its index, and relative links in all
//! Markdown files of the repository lead to existing files and headings. So do the paths that the pages for contributors name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All files below a folder, without build output and hidden folders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !name.starts_with("target") {
                found.extend(files(&path));
            }
        } else {
            found.push(path);
        }
    }
    found
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The text of a page without code blocks and inline code, where brackets are not links.
fn prose(page: &Path) -> String {
    let text = std::fs::read_to_string(page).unwrap();
    let mut prose = String::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            prose.extend(line.split('`').step_by(2));
        }
        prose.push('\n');
    }
    prose
}

/// The relative links of a page: the file and, if the link has one, the heading's anchor.
fn links(page: &Path) -> Vec<(PathBuf, Option<String>)> {
    let text = prose(page);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    let folder = page.parent().unwrap();
    let resolve = |target: &str| match target.split_once('#') {
        Some(("", anchor)) => (page.to_owned(), Some(anchor.to_owned())),
        Some((file, anchor)) => (folder.join(file), Some(anchor.to_owned())),
        None => (folder.join(target), None),
    };
    relative.map(resolve).collect()
}

/// Whether a page has a heading with this anchor, formed as GitHub does.
fn has_heading(page: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(page).unwrap();
    let slug = |heading: &str| -> String {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings.map(|heading| slug(heading.trim_start_matches('#'))).any(|found| found == anchor)
}

#[test]
fn relative_links_lead_somewhere() {
    let mut checked = 0;
    for page in files(&root()).into_iter().filter(|path| is_markdown(path)) {
        for (file, anchor) in links(&page) {
            assert!(file.exists(), "{} links to {}, which does not exist", page.display(), file.display());
            let found = anchor.as_deref().is_none_or(|anchor| !is_markdown(&file) || has_heading(&file, anchor));
            assert!(found, "{} links to {}#{}, a missing heading", page.display(), file.display(), anchor.unwrap());
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} links");
}

#[test]
fn every_page_is_reachable_from_the_index() {
    let docs = root().join("docs");
    let mut reached = BTreeSet::new();
    let mut open = vec![docs.join("README.md")];
    while let Some(page) = open.pop() {
        let page = page.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        if reached.insert(page.clone()) && is_markdown(&page) {
            open.extend(links(&page).into_iter().map(|(file, _)| file).filter(|file| file.is_file()));
        }
    }
    let lost: Vec<PathBuf> = files(&docs).into_iter().filter(|file| !reached.contains(file)).collect();
    assert!(lost.is_empty(), "not reachable from docs/README.md: {lost:?}");
}

/// Only paths from the root count (`crates/…`, `tests/…`), without placeholders such as `NAME`.
#[test]
fn named_paths_exist() {
    let is_path = |name: &&str| {
        let from_root = ["crates/", "docs/", "examples/", "scripts/", "tests/"].iter().any(|top| name.starts_with(top));
        from_root && !["*", "NAME", "nnnn", "…", " "].iter().any(|placeholder| name.contains(placeholder))
    };
    let mut checked = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for name in text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(is_path) {
            assert!(root().join(name).exists(), "{page} names `{name}`, which does not exist");
            checked += 1;
        }
    }
    assert!(checked > 60, "only {checked} paths");
}
