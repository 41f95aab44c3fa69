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
            let unknown =
                ["unknown argument: '", "unknown argument '", "unsupported option '", "unsupported argument '"];
            for start in unknown.iter().filter_map(|start| line.split_once(start)) {
                let flag = start.1.split('\'').next().unwrap_or_default();
                // An argument may be named without its option: `unsupported argument 'x' to option '-fy='`.
                let option = line.split_once("to option '").and_then(|(_, option)| option.split('\'').next());
                let flag = option.map_or_else(|| flag.to_owned(), |option| format!("{option}{flag}"));
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
        assert!(leniency.adapt("clang: error: unsupported argument 'x' to option '-mabi='"));
        assert!(!leniency.keeps("-mabi=x"));
    }
}
