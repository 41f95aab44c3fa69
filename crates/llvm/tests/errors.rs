//! What is wrong with the inputs is said with the file and the remedy.

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::{error, folder, options};
use llvm::{Error, Options};
use model::{Budget, Interrupt, Spent};

#[test]
fn a_source_that_does_not_compile() {
    let text = error(&[("a.c", "int main(void) { return undeclared; }")]).to_string();
    assert!(text.contains("a.c` does not compile:"), "{text}");
    assert!(text.contains("use of undeclared identifier 'undeclared'"), "{text}");
}

#[test]
fn inputs_that_are_no_sources() {
    assert!(matches!(error(&[("a.txt", "")]), Error::UnknownKind { .. }));
    let directory = folder(&[]);
    let missing = llvm::compile(&options(directory.path(), &["missing.c"])).unwrap_err();
    assert!(missing.to_string().contains("missing.c` cannot be read"), "{missing}");
    assert!(matches!(llvm::compile(&Options::default()), Err(Error::NoInput)));
}

#[test]
fn programs_without_or_with_two_mains() {
    assert!(matches!(error(&[("a.c", "int x;")]), Error::NoMain));
    let main = "int main(void) { return 0; }";
    let text = error(&[("a.c", main), ("b.c", main)]).to_string();
    assert!(text.starts_with("`main` is defined in `") && text.contains("b.c`"), "{text}");
}

#[test]
fn sources_without_main_can_be_lowered() {
    let directory = folder(&[("a.c", "int x; void f(void) { x = 1; }")]);
    let program = llvm::lower_only(&options(directory.path(), &["a.c"])).unwrap();
    assert_eq!(program.main, None);
    assert_eq!(program.sites.len(), 1);
}

#[test]
fn bitcode_must_be_readable_and_have_debug_information() {
    assert!(matches!(error(&[("a.bc", "not bitcode")]), Error::Bitcode { .. }));
    let directory = folder(&[("a.c", "int x; int main(void) { return x; }")]);
    let compile = |flags: &[&str], out: &str| {
        let status = Command::new("clang-19")
            .current_dir(directory.path())
            .args(["-c", "-emit-llvm", "a.c", "-o", out])
            .args(flags)
            .status();
        assert!(status.unwrap().success());
        llvm::compile(&options(directory.path(), &[out]))
    };
    assert!(matches!(compile(&["-O0"], "plain.bc"), Err(Error::NoDebugInfo { .. })));
    assert_eq!(compile(&["-g"], "good.bc").unwrap().program.unmodelled, []);
    let optimised = compile(&["-g", "-O2"], "optimised.bc").unwrap().program.unmodelled.clone();
    assert!(optimised.iter().any(|u| u.what.contains("optimised")), "{optimised:?}");
    assert!(matches!(compile(&["-g", "--target=aarch64-linux-gnu"], "arm.bc"), Err(Error::Target { .. })));
}

#[test]
fn the_user_s_flags_reach_the_compiler_but_do_not_optimise() {
    let directory = folder(&[("a.c", "int x; int main(void) { x = VALUE; x = VALUE; return 0; }")]);
    let mut options = options(directory.path(), &["a.c"]);
    options.cflags = ["-DVALUE=3", "-O3", "-lm"].map(String::from).into();
    let compiled = llvm::compile(&options).unwrap();
    assert_eq!(compiled.link_flags, ["-lm"]);
    assert_eq!(common::text_of(&compiled.bitcode).matches("call void @__rp_write_unless_quiet").count(), 2);
}

/// A source that clang works on for minutes.
const ENDLESS: &str = "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(A(x))))))))\nint x;\nint main(void) { B(x = x * 3 + 1;) return 0; }\n";

#[test]
fn a_compiler_that_runs_past_the_deadline_is_ended() {
    let directory = folder(&[("a.c", ENDLESS)]);
    let start = Instant::now();
    let budget = Budget::new(Some(Duration::from_millis(300)), None, Interrupt::new());
    let result = llvm::compile(&Options { budget, ..options(directory.path(), &["a.c"]) });
    assert!(matches!(result, Err(Error::Spent(Spent::Time))), "{:?}", result.err());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn an_interrupted_program_is_not_linked() {
    let directory = folder(&[("a.c", "int main(void) { return 0; }")]);
    let mut compiled = llvm::compile(&options(directory.path(), &["a.c"])).unwrap();
    compiled.budget = Budget::default();
    compiled.budget.interrupt().set();
    let result = llvm::link(&compiled, &directory.path().join("none.a"), &[], &directory.path().join("program"));
    assert!(matches!(result, Err(Error::Spent(Spent::Interrupt))), "{result:?}");
}
