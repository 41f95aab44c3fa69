//! Where in the source a site is.

use std::fmt;

use model::SiteId;
use program::{OwnPlace, Program};

/// A site's place in a person's words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Position {
    /// As the source names it; empty when there is no site.
    pub(crate) function: String,
    /// The function of a system header that is called there and holds the site.
    pub(crate) inside: Option<String>,
    /// As the user spelled it.
    pub(crate) file: Option<String>,
    /// From 1; 0 when not known.
    pub(crate) line: u32,
    /// From 1; 0 when not known.
    pub(crate) column: u32,
}

impl Position {
    /// The place of a site; of nothing where there is none.
    pub(crate) fn of(program: &Program, site: Option<SiteId>) -> Self {
        let Some(site) = site.and_then(|site| program.sites.get(site)) else { return Self::default() };
        let OwnPlace { function, location, called } = site.own_place(&program.files);
        Self {
            function: function.to_owned(),
            inside: called.map(str::to_owned),
            file: location.and_then(|l| program.files.get(l.file)).map(|file| tidy(file)),
            line: location.map_or(0, |l| l.line),
            column: location.map_or(0, |l| l.column),
        }
    }
}

/// `queue.c:12`; the function where the line is not known.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}:{}", self.line),
            None if self.function.is_empty() => f.write_str("an unknown place"),
            None => write!(f, "`{}`", self.function),
        }
    }
}

/// A file of the debug information as the user spelled it, if it is one of the program.
pub(crate) fn spelled<'p>(program: &'p Program, file: &str) -> Option<&'p str> {
    let same = |spelled: &&String| file == **spelled || file.ends_with(&format!("/{}", relative(spelled)));
    program.files.iter().find(same).map(String::as_str)
}

/// A relative name without what leads up and out: `../src/a.c` ends as `src/a.c` does.
fn relative(spelled: &str) -> &str {
    let mut rest = spelled;
    while let Some(shorter) = rest.strip_prefix("./").or_else(|| rest.strip_prefix("../")) {
        rest = shorter;
    }
    rest
}

/// An absolute name without `..`, as in the paths of a compiler's own headers; what the user spelled stays as it is.
pub(crate) fn tidy(file: &str) -> String {
    if !file.starts_with('/') {
        return file.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{relative, tidy};

    #[test]
    fn leading_dots_do_not_count() {
        assert_eq!(relative(".././../src/a.c"), "src/a.c");
        assert_eq!(relative("a.c"), "a.c");
    }

    #[test]
    fn absolute_names_are_tidied() {
        assert_eq!(tidy("/usr/lib/gcc/12/../../include/thread"), "/usr/lib/include/thread");
        assert_eq!(tidy("../src/./a.c"), "../src/./a.c");
    }
}
