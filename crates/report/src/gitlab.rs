//! GitLab's code-quality report, for the widget of merge requests: one JSON array.
//!
//! GitLab wants paths relative to the project without a leading `./`, a line for each finding, and fingerprints that no two
//! findings share. What has no place in the project cannot be shown there and is left out.

use serde_json::{Value, json};

use crate::diagnostics::{self, About, Diagnostic, Severity};
use crate::document::Report;
use crate::fingerprint::{self, Fingerprints};

/// The report as one indented array with a final newline. `project` is the folder that GitLab's paths are relative to, for
/// files with absolute names.
pub fn render(report: &Report, project: &str) -> String {
    let mut prints = Fingerprints::default();
    let findings = diagnostics::list(report);
    let issues: Vec<Value> = findings.iter().filter_map(|finding| issue(finding, project, &mut prints)).collect();
    format!("{:#}\n", json!(issues))
}

fn issue(finding: &Diagnostic<'_>, project: &str, prints: &mut Fingerprints) -> Option<Value> {
    let (file, line, _) = finding.place();
    let path = in_project(file?, project)?;
    let other = match finding.about {
        About::Pair(pair) => match pair.accesses[1].own_place() {
            (Some(file), line, _) => {
                format!("; other access at {file}:{line}: {}", diagnostics::told(&pair.accesses[1]))
            }
            (None, ..) => format!("; other access: {}", diagnostics::told(&pair.accesses[1])),
        },
        About::Error(_) | About::Unknown(_) => String::new(),
    };
    let print = match finding.about {
        About::Pair(pair) => fingerprint::of_pair(pair),
        About::Error(error) => fingerprint::of_error(error),
        About::Unknown(unknown) => {
            format!("{}|{}|{}", unknown.code.name(), unknown.reason, unknown.file.as_deref().unwrap_or_default())
        }
    };
    // The code keeps a race apart from a prediction of it.
    let print = format!("{}|{print}", finding.code.name());
    Some(json!({
        "description": format!("{}{other}", finding.message()),
        "check_name": finding.code.name(),
        "fingerprint": prints.unique(print),
        "severity": match finding.severity {
            Severity::Error => "critical",
            Severity::Warning => "minor",
        },
        "location": { "path": path, "lines": { "begin": line.max(1) } },
    }))
}

/// A file's name as GitLab wants it; `None` for what is not in the project.
fn in_project(file: &str, project: &str) -> Option<String> {
    let inside = match file.strip_prefix('/') {
        Some(_) => file.strip_prefix(project.trim_end_matches('/'))?.strip_prefix('/')?,
        None => file,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in inside.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::in_project;

    #[test]
    fn paths_are_relative_to_the_project() {
        let in_project = |file| in_project(file, "/builds/me/it/");
        assert_eq!(in_project("./src/../a b.c").as_deref(), Some("a b.c"));
        assert_eq!(in_project("/builds/me/it/src/a.c").as_deref(), Some("src/a.c"));
        assert_eq!(in_project("/builds/me/italics/a.c"), None);
        assert_eq!(in_project("/usr/include/c++/12/thread"), None);
        assert_eq!(in_project("../outside.c"), None);
    }
}
