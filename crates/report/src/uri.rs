//! Paths in URIs.

/// A path with everything but unreserved characters and slashes percent-encoded.
pub fn of_path(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The path that [`of_path`] was given.
pub fn path_of(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(of_path("a b/ü.c"), "a%20b/%C3%BC.c");
        for path in ["a b/ü.c", "100%.c", "%41"] {
            assert_eq!(path_of(&of_path(path)), path);
        }
        assert_eq!(path_of("50%"), "50%");
        assert_eq!(path_of("%zz%C3"), "%zz\u{fffd}");
    }
}
