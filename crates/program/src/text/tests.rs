use super::*;
use crate::Architecture;
use crate::ir::{Operand, Stmt};

/// The example of the module's documentation.
const EXAMPLE: &str = r#"
file "a.c"
type int = scalar "int" 4
type node = struct "struct node" 8 { "id" 0 int, "next" 4 int }
type nodes = array node stride 8 count 4
global x: 4 as int
global m "the mutex": 40
global table: 32 as nodes = 0a00 { 8: @x+4, 16: &worker }
thread_local constant global "odd name": 2 = ff
extern fn puts(%0)

fn worker(%arg) {
entry:
  lock @m                     !a.c:11:3 "m"
  %0 = load 4, @x             !a.c:12:5 "x" in "inlined" from "worker" !a.c:30:3
  %c = eq 32 %0, 7
  branch %c, set, end
set:
  store 4 release, @x, 1      !a.c:13:5#2
  goto end
end:
  %v = phi [entry: %0, set: 1]
  %o, %ok = cas 4 acq_rel acquire, @x, %v, ?
  unlock @m                   !#2
  %r = call puts(@"odd name"+1) !"my file.c":1:2
  return
}

fn main "int main()"() {
  %h = create &worker, 0
  join %h !none
  return 0
}
unmodelled "inline assembly" at #2 function "f"
"#;

fn parse(text: &str) -> Program {
    Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn example_survives_a_round_trip() {
    let program = parse(EXAMPLE);
    assert_eq!(parse(&program.to_string()), program, "{program}");
    assert_eq!(program.functions[program.main.unwrap()].name, "int main()");
    assert_eq!(program.sites.len(), 6);
    let site = &program.sites[model::SiteId(1)];
    assert_eq!((site.source_function.as_str(), site.inlined_at.len()), ("inlined", 1));
    assert_eq!(program.globals[crate::GlobalId(2)].relocations[1], (16, Operand::Function(crate::FunctionId(1))));
}

#[test]
fn printed_text_is_readable() {
    let program = parse("global x: 4\nfn main() {\n%0 = load 4, @x !a.c:3:4 \"x\"\nreturn %0 }");
    let text = format!("  {:44} !a.c:3:4 \"x\"", "%0 = load 4, @x");
    assert_eq!(
        program.to_string(),
        format!("file \"a.c\"\nglobal x: 4\n\nfn main() {{\nb0:\n{text}\n  return %0\n}}\n\nentry main\n")
    );
}

#[test]
fn omitted_sites_point_into_the_text() {
    let program =
        Program::parse_named("p.txt", "global x: 4\nfn main() {\n  store 4, @x, 1\n  %a = 3\n  return }").unwrap();
    let statements = &program.functions[crate::FunctionId(0)].blocks[crate::BlockId(0)].statements;
    let location = program.sites[statements[0].site.unwrap()].location.unwrap();
    assert_eq!((program.files[location.file].as_str(), location.line, location.column), ("p.txt", 3, 3));
    assert!(matches!(statements[1].stmt, Stmt::Assign { .. }) && statements[1].site.is_none());
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("fn main() {\n  store 4, @y, 1\n return }", (2, 12), "there is no global `y`"),
        ("fn main() {\n  goto end\n}", (2, 8), "there is no block `end` in this function"),
        ("fn main() {\n  %x = 1\n  %x = 2\n return }", (3, 3), "`%x` of this function is assigned twice"),
        ("fn main() {\n  lock\n}", (3, 1), "expected a value, found `}`"),
        ("fn main() {\n  %a = 1\n}", (3, 1), "expected a statement, found `}`"),
        ("fn main() {\n  %a = load 4 fast, 0\n return }", (2, 15), "expected a memory order, found `fast`"),
        ("fn main() {\n  %a = frob 1\n return }", (2, 13), "`frob` gives no result"),
        ("fn main() {\n  return %q\n}", (2, 10), "there is no local `%q`"),
        ("fn main() {\n  fence seq_cst !a.c:x\n return }", (2, 23), "expected a site"),
        ("globl x: 4", (1, 1), "expected an item, found `globl`"),
        ("global x 4", (1, 10), "expected `:`, found `4`"),
        ("global x: 1 = 0", (1, 15), "expected initial bytes, found `0`"),
        ("global x: \"", (1, 11), "this text has no closing quote"),
        ("fn main() {\n yield !a.c:1:1#4\n return }", (2, 8), "the number #4 is taken or leaves a gap"),
        ("fn main() {\n yield !#0\n return }", (2, 8), "no site has this number"),
        (
            "\nfn main() {\n a: %p = phi [b: 1]\n return\n b: return }",
            (2, 1),
            "function `main`, b0: a phi names b1, from which control does not come",
        ),
    ];
    for (text, place, message) in cases {
        let error = Program::parse(text).expect_err(text);
        assert_eq!(((error.line, error.column), error.message.as_str()), (place, message), "{text}");
    }
}

#[test]
fn numbers_out_of_order_and_repeated_names_come_back() {
    let text = r##"
global x: 1
global x "other": 1
extern fn f(%a#1, %a#0)
fn f() {
  %"1"#1 = load 1, @x#1 !?#3 "e"
  %#0 = add 8 %"1"#1, 1
  yield !#3
  yield !a.c:1:1#0
  return %#0
}
fn main() {
  call f#1()
  library "f g"(&f#0)
  return
}
site f#0 !b.c:2:2#2 in ""
entry main
"##;
    let program = parse(text);
    assert_eq!(parse(&program.to_string()), program, "{program}");
    assert_eq!(program.sites[model::SiteId(2)].source_function, "");
    assert_eq!(program.functions[crate::FunctionId(1)].locals[crate::LocalId(1)].name.as_deref(), Some("1"));
}

#[test]
fn the_architecture_is_written_unless_it_is_the_usual_one() {
    let text = |architecture: &str| format!("{architecture}fn main() {{ return 0 }}");
    assert_eq!(parse(&text("")).architecture, Architecture::X86_64);
    assert!(!parse(&text("architecture x86_64\n")).to_string().contains("architecture"));
    for (name, architecture) in [
        ("aarch64", Architecture::Aarch64),
        ("other", Architecture::Other),
        ("other32", Architecture::Other32),
        ("other16", Architecture::Other16),
    ] {
        let program = parse(&text(&format!("architecture {name}\n")));
        assert_eq!(program.architecture, architecture);
        assert_eq!(parse(&program.to_string()), program);
    }
    let error = Program::parse("architecture pdp11").unwrap_err().to_string();
    assert!(error.contains("expected an architecture, found `pdp11`"), "{error}");
}
