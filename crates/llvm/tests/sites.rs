//! Sites: where in the source they are, and that their numbers depend on the source alone.

mod common;

use common::{c, cxx, folder, options};
use program::{Program, Site};

fn place(program: &Program, site: &Site) -> (String, u32, u32) {
    let location = site.location.expect("a location");
    let file = program.files[location.file].rsplit('/').next().unwrap().to_owned();
    (file, location.line, location.column)
}

fn in_function<'p>(program: &'p Program, name: &str) -> Vec<&'p Site> {
    program.sites.iter().filter(|s| s.source_function == name).collect()
}

#[test]
fn sites_have_line_and_column() {
    let s = c("int x, y;\nvoid f(void) {\n  x = y;\n  f();\n}\nint main(void) { return 0; }\n");
    let program = s.program();
    let places: Vec<_> = in_function(program, "f").iter().map(|s| place(program, s)).collect();
    let at = |line, column| ("snippet.c".to_owned(), line, column);
    assert_eq!(places, [at(3, 7), at(3, 5), at(4, 3)]);
}

#[test]
fn inlined_code_has_its_chain() {
    let s = c("int x;
static inline __attribute__((always_inline)) void inner(void) { x = 1; }
static inline __attribute__((always_inline)) void outer(void) { inner(); }
int main(void) {
  outer();
  return 0;
}");
    let program = s.program();
    let [site] = in_function(program, "inner")[..] else { panic!("{:#?}", program.sites) };
    assert_eq!(program.functions[site.function].symbol, "main");
    assert_eq!(place(program, site).1, 2);
    let chain: Vec<_> = site.inlined_at.iter().map(|f| (f.function.as_str(), f.location.unwrap().line)).collect();
    assert_eq!(chain, [("outer", 3), ("main", 5)]);
}

#[test]
fn functions_are_named_as_in_the_source() {
    let s = cxx("namespace n { template <class T> struct box { T v; void put(T t) { v = t; } }; }
n::box<int> b;
namespace { void hidden() { b.put(1); } }
int main() { hidden(); auto f = [] { b.v = 2; }; f(); return 0; }");
    let names: Vec<_> = s.program().sites.iter().map(|s| s.source_function.as_str()).collect();
    assert!(names.contains(&"n::box<int>::put"), "{names:?}");
    assert!(names.contains(&"(anonymous namespace)::hidden"), "{names:?}");
    assert!(names.contains(&"main::lambda#1"), "{names:?}");
}

#[test]
fn files_are_spelled_as_given_and_linked_in_order() {
    let directory = folder(&[
        ("a.c", "#include \"h.h\"\nint main(void) { set(); return other(); }"),
        ("b.c", "int other(void) { static int n; return n++; }"),
        ("h.h", "int other(void); int g;\nstatic void set(void) { g = 1; }"),
    ]);
    let mut options = options(directory.path(), &["a.c", "b.c"]);
    // An odd spelling of the second.
    options.inputs[1] = directory.path().join(".").join("..").join(directory.path().file_name().unwrap()).join("b.c");
    let program = llvm::compile(&options).unwrap().program;
    for input in &options.inputs {
        assert!(program.files.iter().any(|f| *f == input.display().to_string()), "{:?}", program.files);
    }
    let [site] = in_function(&program, "set")[..] else { panic!("one store in `set`") };
    assert_eq!(place(&program, site), ("h.h".into(), 2, 27));
    assert_eq!(program.sites.iter().filter(|s| s.source_function == "other").count(), 2);
}

#[test]
fn the_same_source_has_the_same_sites() {
    let source = "#include <pthread.h>\nint x; void *f(void *p) { x++; return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, &t); return x; }";
    let (first, second) = (c(source), c(source));
    assert_eq!(first.program().sites, second.program().sites);
    let strip = |s: &common::Snippet| s.ir().lines().filter(|l| l.contains("__rp_")).collect::<Vec<_>>().join("\n");
    assert_eq!(strip(&first), strip(&second));
}
