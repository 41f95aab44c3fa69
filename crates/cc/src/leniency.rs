//! Sources and flags that gcc accepts and clang refuses: what to change so that clang takes them, too.

/// Warnings of gcc that are errors of clang: warnings here, too.
pub const LENIENT_FLAGS: [&str; 9] = [
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=return-mismatch",
    "-Wno-error=return-type",
    "-Wno-error=c++11-narrowing",
    "-Wno-error=register",
    "-Wno-error=reserved-user-defined-literal",
];

/// What a `main` is called whose parameters clang does not allow.
pub const OTHER_MAIN: &str = "__rp_other_main";

/// Options of gcc for this machine that choose among instructions of the same meaning.
const CODE_OPTIONS: [&str; 8] = [
    "-mtune=",
    "-mpreferred-stack-boundary=",
    "-mindirect-branch",
    "-mfunction-return=",
    "-mskip-rax-setup",
    "-maccumulate-outgoing-args",
    "-mno-fp-ret-in-387",
    "-minline-",
];

/// Whether a program means the same without a flag that clang does not know. Other flags for the machine may change sizes
/// and layouts, so they are left to clang's error.
fn does_not_matter(flag: &str) -> bool {
    ["-f", "-W", "--param"].iter().chain(&CODE_OPTIONS).any(|start| flag.starts_with(start))
}

/// The flag that a line of clang's refuses.
fn refused_flag(line: &str) -> Option<String> {
    let quoted_after = |start: &str| line.split_once(start).and_then(|(_, rest)| rest.split('\'').next());
    let starts = ["unknown argument: '", "unknown argument '", "unsupported option '", "unsupported argument '"];
    let flag = starts.iter().find_map(|start| quoted_after(start))?;
    // An argument may be named without its option: `unsupported argument 'x' to option '-fy='`.
    Some(quoted_after("to option '").map_or_else(|| flag.to_owned(), |option| format!("{option}{flag}")))
}

/// What was changed about a call of clang.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Leniency {
    /// Flags that clang does not know.
    left_out: Vec<String>,
    /// Whether `main` gets another name.
    renames_main: bool,
}

impl Leniency {
    /// Changes the call so that what clang refused, and said so, is accepted. `false` if nothing helps.
    pub fn adapt(&mut self, diagnostics: &str) -> bool {
        let before = self.clone();
        for line in diagnostics.lines().filter(|line| line.contains("error:")) {
            for flag in refused_flag(line).into_iter().filter(|flag| does_not_matter(flag)) {
                if !self.left_out.contains(&flag) {
                    self.left_out.push(flag);
                }
            }
            self.renames_main |= line.contains("parameter of 'main'");
        }
        *self != before
    }

    /// Whether a flag is passed on.
    pub fn keeps(&self, flag: &str) -> bool {
        !self.left_out.iter().any(|left_out| left_out == flag)
    }

    /// Flags that are not passed on.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Further flags.
    pub fn flags(&self) -> impl Iterator<Item = String> + use<> {
        self.renames_main.then(|| format!("-Dmain={OTHER_MAIN}")).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_changed() {
        let mut leniency = Leniency::default();
        assert!(leniency.adapt("clang: error: unknown argument: '-fno-such-thing'\n"));
        assert!(!leniency.keeps("-fno-such-thing") && leniency.keeps("-O2"));
        assert!(!leniency.adapt("clang: error: unknown argument: '-fno-such-thing'\n"), "that was all");
        assert!(
            leniency.adapt("a.c:1:5: error: second parameter of 'main' (argument array) must be of type 'char **'")
        );
        assert_eq!(leniency.flags().collect::<Vec<_>>(), ["-Dmain=__rp_other_main"]);
        assert!(!leniency.adapt("a.c:3:1: error: expected ';'"));
        assert!(leniency.adapt("clang: error: unsupported argument 'x' to option '-fy='"));
        assert!(!leniency.keeps("-fy=x"));
        assert!(leniency.adapt("clang: error: unknown argument: '-mpreferred-stack-boundary=3'"));
    }

    #[test]
    fn flags_that_change_meaning_are_kept() {
        let mut leniency = Leniency::default();
        assert!(!leniency.adapt("clang: error: unsupported argument 'x' to option '-mabi='"));
        assert!(!leniency.adapt("clang: error: unsupported option '-mhard-float' for target 'x86_64'"));
        assert!(!leniency.adapt("clang: error: unknown argument: '-mno-such-thing'"));
        assert!(leniency.left_out().is_empty());
    }
}
