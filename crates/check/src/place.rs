//! Where in the source a site is.

use model::SiteId;
use program::Program;

/// A site's place in a person's words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Place {
    /// As the source names it; empty when there is no site.
    pub(crate) function: String,
    /// As the user spelled it.
    pub(crate) file: Option<String>,
    /// From 1; 0 when not known.
    pub(crate) line: u32,
    /// From 1; 0 when not known.
    pub(crate) column: u32,
}

impl Place {
    /// The place of a site; of nothing where there is none.
    pub(crate) fn of(program: &Program, site: Option<SiteId>) -> Self {
        let Some(site) = site.and_then(|site| program.sites.get(site)) else { return Self::default() };
        let location = site.location;
        Self {
            function: site.source_function.clone(),
            file: location.and_then(|l| program.files.get(l.file)).cloned(),
            line: location.map_or(0, |l| l.line),
            column: location.map_or(0, |l| l.column),
        }
    }
}
