//! Changes to the environment, as CTest's property ENVIRONMENT_MODIFICATION writes them.

use crate::Variables;

/// Adds `NAME=VALUE`, or removes `NAME`. As in CTest, what has no name changes nothing.
pub(crate) fn set(variables: &mut Variables, text: &str) {
    match text.split_once('=') {
        Some(("", _)) => None,
        None if text.is_empty() => None,
        Some((name, value)) => variables.insert(name.to_owned(), Some(value.to_owned())),
        None => variables.insert(text.to_owned(), None),
    };
}

/// Applies `NAME=operation:value`. `around` gives the environment of the command itself. `false` for an operation that is
/// not known.
pub(crate) fn modify(variables: &mut Variables, text: &str, around: impl Fn(&str) -> Option<String>) -> bool {
    let Some((name, change)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else { return false };
    let (operation, value) = change.split_once(':').unwrap_or((change, ""));
    let before = variables.get(name).cloned().unwrap_or_else(|| around(name));
    let joined = |separator: char, in_front: bool| {
        let Some(before) = before.clone().filter(|before| !before.is_empty()) else { return value.to_owned() };
        if in_front { format!("{value}{separator}{before}") } else { format!("{before}{separator}{value}") }
    };
    let after = match operation {
        "set" => Some(value.to_owned()),
        "unset" => None,
        "reset" => {
            variables.remove(name);
            return true;
        }
        "string_append" => Some(before.unwrap_or_default() + value),
        "string_prepend" => Some(value.to_owned() + &before.unwrap_or_default()),
        "path_list_append" => Some(joined(':', false)),
        "path_list_prepend" => Some(joined(':', true)),
        "cmake_list_append" => Some(joined(';', false)),
        "cmake_list_prepend" => Some(joined(';', true)),
        _ => return false,
    };
    variables.insert(name.to_owned(), after);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_ctest() {
        let around = |name: &str| (name == "PATH").then(|| "/bin".to_owned());
        for (text, expected) in [
            ("PATH=path_list_prepend:/opt", Some("/opt:/bin")),
            ("PATH=path_list_append:/opt", Some("/bin:/opt")),
            ("NEW=path_list_append:/opt", Some("/opt")),
            ("PATH=set:a:b", Some("a:b")),
            ("PATH=unset:", None),
            ("PATH=string_append:!", Some("/bin!")),
            ("PATH=string_prepend:!", Some("!/bin")),
            ("PATH=cmake_list_append:x", Some("/bin;x")),
            ("PATH=cmake_list_prepend:x", Some("x;/bin")),
        ] {
            let mut variables = Variables::new();
            assert!(modify(&mut variables, text, around), "{text}");
            let name = text.split('=').next().unwrap();
            assert_eq!(variables[name].as_deref(), expected, "{text}");
        }
        let mut variables = Variables::new();
        ["", "=x"].iter().for_each(|nameless| set(&mut variables, nameless));
        assert!(variables.is_empty() && !modify(&mut variables, "=set:x", around));
        set(&mut variables, "A=b=c");
        assert!(modify(&mut variables, "A=string_append:d", around));
        assert_eq!(variables["A"].as_deref(), Some("b=cd"));
        assert!(modify(&mut variables, "A=reset:", around) && variables.is_empty());
        assert!(!modify(&mut variables, "A=other:x", around) && !modify(&mut variables, "A", around));
    }
}
