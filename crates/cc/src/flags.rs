//! Which flags bitcode is compiled with.

/// Flags after the user's, so that these decide: without optimisation, which would merge racy accesses, and with debug
/// information.
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

/// The same on x86_64 alone: with `-mcx16`, atomics of 16 bytes are instructions rather than calls of a library.
pub const X86_64_BITCODE_FLAGS: &[&str] = &["-mcx16"];

/// The flags of a build that its bitcode is compiled with: all but those that make further files, instrument the code,
/// or fail on warnings that only come without optimisation.
pub fn bitcode_flags(flags: &[String]) -> Vec<String> {
    flags.iter().filter(|flag| !is_left_out(flag)).cloned().collect()
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
    fn what_changes_the_code_stays() {
        let flags = ["-O2", "-DNDEBUG", "-fsanitize=thread", "-std=c11", "-Werror=format", "-flto=thin", "-Iinc"];
        assert_eq!(bitcode_flags(&flags.map(String::from)), ["-O2", "-DNDEBUG", "-std=c11", "-Iinc"]);
    }
}
