//! Which files a compilation read, and which it would have read instead, had they been there.
//!
//! clang writes the first down as a rule of make, and says where it looks for headers. A header that appears in a folder
//! which clang looks into earlier, or one that the text asks for with `__has_include`, changes what is compiled, too.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use cache::{Dependencies, Looks};

/// What a compilation that ran in `folder` depends on, by the rule that clang wrote and what it said of itself. Files below
/// `own` are ours.
pub(crate) fn dependencies(
    folder: &Path,
    rule: &str,
    said: &str,
    own: &Path,
    looks: &mut Looks,
) -> io::Result<Dependencies> {
    let folder = std::path::absolute(folder)?;
    let files: Vec<PathBuf> =
        prerequisites(rule).into_iter().map(|file| folder.join(file)).filter(|file| !file.starts_with(own)).collect();
    let configured = said.lines().filter_map(|line| line.strip_prefix("Configuration file: "));
    let files: Vec<PathBuf> = files.into_iter().chain(configured.map(PathBuf::from)).collect();
    let searched: BTreeSet<PathBuf> =
        searched(said).map(|path| folder.join(path)).filter(|path| !path.starts_with(own)).collect();
    let mut made_of = Dependencies::default();
    let mut names = BTreeSet::new();
    for file in &files {
        made_of.add_file(file, looks)?;
        names.extend(file.file_name().map(OsString::from));
        let text = std::fs::read(file)?;
        let text = String::from_utf8_lossy(&text);
        if text.contains(".incbin") {
            // The assembler names no files.
            return Err(io::ErrorKind::Unsupported.into());
        }
        for asked in asked_for(&text) {
            names.extend(Path::new(&asked).components().filter_map(name_of));
        }
    }
    // Below which of the searched folders headers were found.
    let below: BTreeSet<&Path> = files
        .iter()
        .flat_map(|file| searched.iter().filter_map(|path| file.strip_prefix(path).ok()?.parent()))
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    names.extend(below.iter().flat_map(|path| path.components().filter_map(name_of)));
    // Headers in quotes are looked for beside the file that includes them first.
    let beside = files.iter().filter_map(|file| file.parent()).map(Path::to_owned);
    let first: BTreeSet<PathBuf> = searched.into_iter().chain(beside).collect();
    // A folder that is missing below one of these would appear there by a name.
    let further = first.iter().flat_map(|path| below.iter().map(|below| path.join(below))).filter(|path| path.is_dir());
    let folders: BTreeSet<PathBuf> = further.chain(first.iter().cloned()).collect();
    made_of.add_names(folders, names, looks);
    Ok(made_of)
}

fn name_of(component: Component<'_>) -> Option<OsString> {
    if let Component::Normal(name) = component { Some(name.to_owned()) } else { None }
}

/// The files that the target of a rule of make depends on.
pub(crate) fn prerequisites(rule: &str) -> Vec<String> {
    let joined = rule.replace("\\\n", " ");
    let Some((_, list)) = joined.split_once(": ") else { return Vec::new() };
    let mut files = Vec::new();
    let mut file = String::new();
    let mut rest = list.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => file.extend(rest.next()),
            (c, _) if c.is_whitespace() => files.extend((!file.is_empty()).then(|| std::mem::take(&mut file))),
            (c, _) => file.push(c),
        }
    }
    files.extend((!file.is_empty()).then_some(file));
    files
}

/// The folders in which clang says that it looks for headers, and those that it does not find.
fn searched(said: &str) -> impl Iterator<Item = &str> {
    let start = "search starts here:";
    let list =
        said.split_once(start).map_or("", |(_, list)| list).split("End of search list.").next().unwrap_or_default();
    let there = list.lines().filter_map(|line| line.strip_prefix(' '));
    let missing =
        said.lines().filter_map(|line| line.strip_prefix("ignoring nonexistent directory \"")?.strip_suffix('"'));
    there.chain(missing)
}

/// The headers that a text asks for without including them.
fn asked_for(text: &str) -> impl Iterator<Item = String> {
    let questions = text.split("__has_include").skip(1);
    questions.filter_map(|rest| {
        let rest = rest.strip_prefix("_next").unwrap_or(rest).trim_start().strip_prefix('(')?.trim_start();
        let end = match rest.chars().next()? {
            '<' => '>',
            '"' => '"',
            _ => return None,
        };
        Some(rest[1..].split_once(end)?.0.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_make() {
        let rule = "a.o: a.c b\\ c.h \\\n  d$$.h \\\n  /usr/include/stdio.h\n";
        assert_eq!(prerequisites(rule), ["a.c", "b c.h", "d$.h", "/usr/include/stdio.h"]);
        assert_eq!(prerequisites("a.o:"), Vec::<String>::new());
    }

    #[test]
    fn folders_with_headers() {
        let said = "clang version\nignoring nonexistent directory \"/none\"\n#include \"...\" search starts here:\n quoted\n\
                    #include <...> search starts here:\n /usr/include\nEnd of search list.\nwarning\n";
        assert_eq!(searched(said).collect::<Vec<_>>(), ["quoted", "/usr/include", "/none"]);
    }

    #[test]
    fn headers_that_are_asked_for() {
        let text =
            "#if __has_include(<a/b.h>) || __has_include_next( \"c.h\" )\n#ifdef __has_include\n__has_include(X)";
        assert_eq!(asked_for(text).collect::<Vec<_>>(), ["a/b.h", "c.h"]);
    }
}
