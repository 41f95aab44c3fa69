//! What pointers may point to, on every way they get there.

use facts::Facts;
use facts::values::{Root, Roots};
use program::{GlobalId, Program, Stmt};

const X: Root = Root::Global(GlobalId(0));
const Y: Root = Root::Global(GlobalId(1));

/// A program with this `main`, whose parameter is a number that is not known.
fn facts(body: &str) -> Facts {
    let text = format!(
        "global x: 16\nglobal y: 16\nglobal p: 32\nglobal q: 32\n\
         fn main(%n) {{\nentry:\n{body}\n  return 0\n}}\n\
         fn other(%arg) {{\nentry:\n  return %arg\n}}\nentry main\n"
    );
    Facts::of(Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// What the address of the last store in `main` may point to.
fn last_store(body: &str) -> Roots {
    let facts = facts(body);
    let main = facts.program().main.unwrap();
    let statements = facts.program().functions[main].blocks.iter().flat_map(|block| &block.statements);
    let mut addresses =
        statements.filter_map(|s| if let Stmt::Store { address, .. } = s.stmt { Some(address) } else { None });
    let address = addresses.next_back().unwrap();
    facts.values().unwrap().of(main, &address)
}

#[test]
fn every_way_into_a_pointer_is_followed() {
    let both = [(X, Some(0)), (Y, Some(0))];
    let ways = [
        // Stored at different places of one object, loaded from some place of it.
        "store 8, @p, @x\nstore 8, @p+16, @y\n%at = offset @p, %n, 8, 0\n%v = load 8, %at\nstore 4, %v, 1",
        // Stored at some place, loaded from one of those that were stored to before.
        "store 8, @p, @x\n%at = offset @p, %n, 8, 0\nstore 8, %at, @y\n%v = load 8, @p\nstore 4, %v, 1",
        // Loaded before it is stored, in a loop.
        "goto again\nagain:\n%v = load 8, @p\nstore 8, @q, %v\nstore 8, @p, @x\n%w = load 8, @q\nstore 8, @p, @y\n\
         branch %n, again, end\nend:\nstore 4, %w, 1",
        // Loaded through a pointer that is itself loaded.
        "store 8, @p, @x\nstore 8, @q, @p\n%a = load 8, @q\n%b = load 8, %a\n%v = select %n, %b, @y\nstore 4, %v, 1",
        // Copied with the bytes around it, into an object that is read elsewhere.
        "store 8, @p+8, @x\nstore 8, @q+8, @y\ncopy @q, @p, 32\n%v = load 8, @q+8\nstore 4, %v, 1",
        // Meeting where two ways join.
        "branch %n, one, two\none:\ngoto end\ntwo:\ngoto end\nend:\n%v = phi [one: @x, two: @y]\nstore 4, %v, 1",
        // Through a function that two calls share.
        "%a = call other(@x)\n%b = call other(@y)\nstore 4, %a, 1\nstore 4, %b, 1",
    ];
    for way in ways {
        let found: Vec<(Root, Option<i64>)> = last_store(way).into_iter().collect();
        assert_eq!(found, both, "{way}");
    }
}

#[test]
fn offsets_that_differ_are_not_known() {
    let of = |body: &str| last_store(body).into_iter().collect::<Vec<_>>();
    assert_eq!(of("%v = select %n, @x, @x+8\nstore 4, %v, 1"), [(X, None)]);
    assert_eq!(of("%v = select %n, @x+8, @x+8\nstore 4, %v, 1"), [(X, Some(8))]);
    assert_eq!(of("%v = select %n, @x+4, @y+8\nstore 4, %v, 1"), [(X, Some(4)), (Y, Some(8))]);
}

#[test]
fn what_is_in_memory_or_returned_by_a_thread_escapes() {
    let escaped = |body: &str| {
        let facts = facts(body);
        let values = facts.values().unwrap();
        [X, Y].map(|root| values.is_escaped(root))
    };
    assert_eq!(escaped("%v = load 4, @x\nstore 4, @y, %v"), [false, false]);
    assert_eq!(escaped("store 8, @p, @x"), [true, false]);
    assert_eq!(escaped("%h = create &other, @y"), [false, true]);
}

/// What the address of the last store may point to, in a `main` that is given arguments.
fn last_store_with_arguments(body: &str) -> Vec<Root> {
    let text = format!(
        "global x: 16\nglobal y: 16\nglobal p: 32\nglobal optarg: 8 {{ 0: ? }}\nglobal optind: 8 {{ 0: ? }}\n\
         fn main(%argc, %argv) {{\nentry:\n{body}\n  return 0\n}}\nentry main\n"
    );
    let facts = Facts::of(Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let main = facts.program().main.unwrap();
    let statements = facts.program().functions[main].blocks.iter().flat_map(|block| &block.statements);
    let stored = |stmt: &Stmt| if let Stmt::Store { address, .. } = stmt { Some(*address) } else { None };
    let last = statements.rev().find_map(|statement| stored(&statement.stmt));
    facts.values().unwrap().of(main, &last.unwrap()).into_keys().collect()
}

#[test]
fn arguments_are_texts_without_pointers() {
    let of = last_store_with_arguments;
    assert_eq!(of("%t = load 8, %argv\nstore 1, %t, 0"), [Root::Outside]);
    assert_eq!(of("%t = load 8, %argv\n%v = load 8, %t\nstore 1, %v, 0"), [Root::Unknown]);
    // But for those that the program puts there.
    assert_eq!(of("store 8, %argv, @x\n%t = load 8, %argv\nstore 1, %t, 0"), [X, Root::Outside]);
    assert_eq!(of("%t = load 8, %argv\nstore 8, %t, @x\n%v = load 8, %t\nstore 1, %v, 0"), [X]);
}

#[test]
fn an_option_is_one_of_the_words_given() {
    let of = last_store_with_arguments;
    assert_eq!(of("%c = library getopt(%argc, %argv, @y)\n%v = load 8, @optarg\nstore 1, %v, 0"), [Root::Outside]);
    let own = "store 8, @p+8, @x\n%c = library getopt(2, @p, @y)\n%v = load 8, @optarg\nstore 1, %v, 0";
    assert_eq!(of(own), [X]);
    let later = "%v = load 8, @optarg\nstore 8, @p, @x\n%c = library getopt(1, @p, @y)\nstore 1, %v, 0";
    assert_eq!(of(later), [X], "whenever it is asked");
}
