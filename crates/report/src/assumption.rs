//! The numbered assumptions, as the manual has them.

/// The page of the manual.
const PAGE: &str = include_str!("../../../docs/assumptions.md");

/// The text of an assumption by its name, e.g. `A4`: a title line, then what it says. `None` if there is none.
pub fn text(name: &str) -> Option<String> {
    let start = format!("**{}.", name.to_ascii_uppercase());
    let paragraph = PAGE.split("\n\n").find(|paragraph| paragraph.starts_with(&start))?;
    let (title, rest) = paragraph.trim_start_matches("**").split_once("**")?;
    let title = title.trim_end_matches('.').replacen(". ", ": ", 1);
    Some(format!("# {title}\n\n{}\n", rest.trim_start_matches([',', '.', ' ']).trim()))
}

/// All names with their titles, in the order of the manual.
pub fn all() -> Vec<(String, String)> {
    let title = |paragraph: &str| {
        let title = paragraph.strip_prefix("**A")?.split("**").next()?;
        let (number, title) = title.split_once(". ")?;
        number.parse::<u8>().ok()?;
        Some((format!("A{number}"), title.trim_end_matches('.').to_owned()))
    };
    let mut all: Vec<_> = PAGE.split("\n\n").filter_map(title).collect();
    all.sort_by_key(|(name, _)| name[1..].parse::<u8>().unwrap_or(u8::MAX));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assumption_has_a_text() {
        let all = all();
        let names: Vec<_> = all.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, (1..=24).map(|n| format!("A{n}")).collect::<Vec<_>>());
        for (name, title) in all {
            let text = text(&name.to_lowercase()).unwrap_or_else(|| panic!("{name} has no text"));
            assert!(text.starts_with(&format!("# {name}: {title}")) && text.lines().count() > 2, "{text}");
        }
        assert_eq!(text("A99"), None);
    }
}
