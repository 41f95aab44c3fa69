//! The flags for compiling to bitcode.

/// Flags that follow the user's, so that they take precedence: no optimisation, which would merge racy accesses, and
/// debug information.
pub const BITCODE_FLAGS: [&str; 11] = [
    "-O0",
    "-g",
    "-Xclang",
    "-disable-O0-optnone",
    "-fno-common",
    "-fno-omit-frame-pointer",
    "-fno-discard-value-names",
    "-fno-color-diagnostics",
    "-fno-lto",
    "-emit-llvm",
    "-c",
];

/// The same on x86_64 only: with `-mcx16`, 16-byte atomics are instructions instead of library calls.
pub const X86_64_BITCODE_FLAGS: &[&str] = &["-mcx16"];

/// Notes in a module's debug information that memory in it may be used as several types at once.
const LOOSE_TYPES: [&str; 4] = ["-Xclang", "-dwarf-debug-flags", "-Xclang", "-fno-strict-aliasing"];

/// The user's flags that also apply to bitcode: all but those that create further files, instrument the code, or fail
/// on warnings that occur only without optimisation. That memory may be used as several types at once makes no difference
/// without optimisation, so the module is told.
pub fn bitcode_flags(flags: &[String]) -> Vec<String> {
    let kept = flags.iter().filter(|flag| !is_left_out(flag)).cloned();
    kept.chain(note_on_types(flags.iter()).iter().map(ToString::to_string)).collect()
}

/// The flags that tell a module what the user's flags say about types.
pub fn note_on_types<'a>(flags: impl DoubleEndedIterator<Item = &'a String>) -> &'static [&'static str] {
    let last = flags.rev().find(|flag| flag.ends_with("strict-aliasing"));
    if last.is_some_and(|flag| flag == "-fno-strict-aliasing") { &LOOSE_TYPES } else { &[] }
}

/// Whether flags ask for code of another processor than x86_64.
pub fn asks_for_other_processor<'a>(flags: impl IntoIterator<Item = &'a String>) -> bool {
    let mut flags = flags.into_iter().map(String::as_str);
    let is_other = |target: &str| !target.starts_with("x86_64") && !target.starts_with("amd64");
    while let Some(flag) = flags.next() {
        let target = match flag {
            "-m32" | "-m16" => return true,
            "-target" | "--target" => flags.next(),
            _ => flag.strip_prefix("--target="),
        };
        if target.is_some_and(is_other) {
            return true;
        }
    }
    false
}

fn is_left_out(flag: &str) -> bool {
    let exact = ["-c", "-pg", "-p", "-save-temps", "--coverage", "-coverage", "-ftest-coverage", "-gsplit-dwarf"];
    let start = ["-fsanitize", "-fno-sanitize", "-fprofile", "-save-temps=", "-flto", "-gz", "-Werror", "-ftime-trace"];
    exact.contains(&flag) || start.iter().any(|start| flag.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_processors_are_asked_for_in_several_ways() {
        let asks =
            |flags: &[&str]| asks_for_other_processor(&flags.iter().map(ToString::to_string).collect::<Vec<_>>());
        for other in [&["-g", "-m32"][..], &["--target=arm-none-eabi"], &["-target", "i386-pc-linux-gnu"]] {
            assert!(asks(other), "{other:?}");
        }
        for own in [&["-m64", "-mavx2"][..], &["--target=x86_64-linux-gnu"], &["-target", "x86_64-pc-linux-gnu", "-O2"]]
        {
            assert!(!asks(own), "{own:?}");
        }
    }

    #[test]
    fn flags_that_change_code_are_kept() {
        let flags = ["-O2", "-DNDEBUG", "-fsanitize=thread", "-std=c11", "-Werror=format", "-flto=thin", "-Iinc"];
        assert_eq!(bitcode_flags(&flags.map(String::from)), ["-O2", "-DNDEBUG", "-std=c11", "-Iinc"]);
    }

    #[test]
    fn the_last_word_about_aliasing_counts() {
        let (loose, strict) = ("-fno-strict-aliasing".to_owned(), "-fstrict-aliasing".to_owned());
        assert_eq!(bitcode_flags(&[strict.clone(), loose.clone()])[2..], LOOSE_TYPES);
        assert_eq!(bitcode_flags(&[loose.clone(), strict.clone()]), [loose, strict]);
    }
}
