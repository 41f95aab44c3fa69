//! `docs/library.md` is made from the library table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use model::AccessKind;
use program::library::threads::{self, ThreadFunction};
use program::library::{self, Effect, FileUse, FormatArgs, LibraryFunction, LibraryState, Role, Size, StateAccess};

const HEAD: &str = "\
# Library functions

What raceproof knows of the functions of the C library, the C++ library and POSIX: which memory a call touches, what it
frees, keeps and returns, and which state of the library it uses. All engines read the same table, from which this page
is made: `BLESS=1 cargo test -p raceproof-program --test page` writes it. A function that is not here has unknown
effects, which a report names; `--assume-pure NAME` declares that it touches nothing that threads share.

- Arguments are counted from 1. A null pointer stands for nothing.
- *measured*: a test calls the function in watched memory, and the row has all that was seen
  (`crates/program/tests/probe`).
- *by the runtime*: in runs, raceproof's own version of the function is called.
- *opaque*: the call does more than the row says, and is named in the report.

## States of the library

Two calls that use a state, one of them changing it, depend on each other. If the library does not lock the state, they
are a data race unless something orders them. Which functions these are follows POSIX (2.9.1) and the attributes of
thread safety in the manual of the GNU C library. Variables that show a state are used together with it: a program
that reads `timezone` itself takes no lock of the library's.

| state | locked by the library | variables | changed by | only read by |
|---|---|---|---|---|
";

/// The number of an argument as people count.
fn arg(i: u8) -> String {
    format!("argument {}", i + 1)
}

fn size(size: Size) -> String {
    match size {
        Size::Bytes(1) => "1 byte".to_owned(),
        Size::Bytes(n) => format!("{n} bytes"),
        Size::Of(ty) => format!("a `{}`", ty.spelling()),
        Size::IfZero(ty) => format!("a `{}` if it returns 0", ty.spelling()),
        Size::Array(ty, n) => format!("{n} of `{}`", ty.spelling()),
        Size::Arg(i) => format!("as many bytes as {} says", arg(i)),
        Size::Scaled(i, ty) => format!("as many `{}` as {} says", ty.spelling(), arg(i)),
        Size::Product(i, j) => format!("{} times {} bytes", arg(i), arg(j)),
        Size::String => "a string".to_owned(),
        Size::StringMax(i) => format!("a string of at most {} bytes", arg(i)),
        Size::WideString => "a wide string".to_owned(),
        Size::WideStringMax(i) => format!("a wide string of at most {} characters", arg(i)),
        Size::Result => "as many bytes as it returns".to_owned(),
        Size::ResultTimes(i) => format!("its result times {} bytes", arg(i)),
    }
}

fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write | AccessKind::ReadModifyWrite => "writes",
        AccessKind::Free => "frees",
    }
}

fn list(args: &[u8]) -> String {
    args.iter().map(|i| arg(*i)).collect::<Vec<_>>().join(", ")
}

/// An effect as a sentence without its subject; `None` for what the columns of states say.
fn effect(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Read(i, n) | Effect::ReadAfter(i, n) => format!("reads {} at {}", size(*n), arg(*i)),
        Effect::Write(i, n) | Effect::WriteAfter(i, n) => format!("writes {} at {}", size(*n), arg(*i)),
        Effect::Computed(c) | Effect::ComputedAfter(c) => match (c.reads, c.writes) {
            ([], []) => return None,
            (reads, []) => format!("reads what it needs of {}", list(reads)),
            ([], writes) => format!("writes what it produces to {}", list(writes)),
            (reads, writes) => format!("reads what it needs of {}, writes to {}", list(reads), list(writes)),
        },
        Effect::Stream(i) => format!("uses the stream in {}", arg(*i)),
        Effect::UnlockedStream(i) => format!("uses the stream in {} without its lock", arg(*i)),
        Effect::State(..) => return None,
        Effect::File(i, FileUse::Number) => format!("uses the descriptor in {}", arg(*i)),
        Effect::File(i, FileUse::Description(StateAccess::Read)) => {
            format!("asks for flags of the open file in {}", arg(*i))
        }
        Effect::File(i, FileUse::Description(StateAccess::Write)) => {
            format!("changes flags of the open file in {}", arg(*i))
        }
        Effect::File(i, FileUse::Content(StateAccess::Read)) => {
            format!("asks for content of the open file in {}", arg(*i))
        }
        Effect::File(i, FileUse::Content(StateAccess::Write)) => format!("changes the open file in {}", arg(*i)),
        Effect::StateWithout(i, state, _) => format!("uses {} if {} is null", state.name(), arg(*i)),
        Effect::Format(f) => {
            let conversions = if f.scan { "writes" } else { "reads" };
            let from = match f.args {
                FormatArgs::From(_) => "the arguments behind it".to_owned(),
                FormatArgs::List(i) => format!("the list in {}", arg(i)),
            };
            format!("reads the format in {}, {conversions} what its conversions say of {from}", arg(f.format))
        }
        Effect::Returns(i) => format!("returns a pointer into {}", arg(*i)),
        Effect::ReturnsState(state) => format!("returns a pointer to {}", state.name()),
        Effect::ReturnsBehind(i) => format!("returns a pointer into what {} points to by another pointer", arg(*i)),
        Effect::ReturnsKept(state) => format!("returns a pointer that was left in {}", state.name()),
        Effect::WriteResult(n) => format!("writes {} at its result", size(*n)),
        Effect::StoresPointer(to, from) => format!("stores a pointer into {} at {}", arg(*from), arg(*to)),
        Effect::StoresBlock(i) => format!("stores a pointer to a new block at {}", arg(*i)),
        Effect::Advances(i) => format!("moves the pointer at {}", arg(*i)),
        Effect::Behind(i, kind) => format!("{} what pointers at {} point to", verb(*kind), arg(*i)),
        Effect::Links(nodes, _) => {
            let nodes: Vec<String> = nodes.iter().map(|i| arg(*i)).collect();
            format!("links the nodes {} and all that are linked with them", nodes.join(", "))
        }
        Effect::ReturnsLinked(i, _) => format!("returns a node that is linked with {}", arg(*i)),
        Effect::Copies(to, from) => format!("copies pointers from {} to {}", arg(*from), arg(*to)),
        Effect::Passes(p) => {
            let (way, state) = (if p.out { "gets" } else { "puts" }, p.state.name());
            format!("{way} bytes of {} through {state}", arg(p.arg))
        }
        Effect::Calls(i) => format!("calls the function in {}", arg(*i)),
        Effect::Keeps(i) => format!("keeps {} and uses it later", arg(*i)),
        Effect::KeepsIn(i, state) => format!("leaves {} in {}", arg(*i), state.name()),
        Effect::Kept(state, kind) => {
            format!("{} what pointers point to that were left in {}", verb(*kind), state.name())
        }
        Effect::Opaque(why) => format!("*opaque*: {why}"),
        Effect::Unproved(why) => format!("*opaque to proofs*: {why}"),
    })
}

fn role(role: Role) -> Option<String> {
    Some(match role {
        Role::Ordinary => return None,
        Role::Allocate { size: n, zeroed } => {
            format!("returns a new block: {}{}", size(n), if zeroed { ", zeroed" } else { "" })
        }
        Role::Reallocate { size: n } => format!("frees {}, returns a new block: {}", arg(0), size(n)),
        Role::Free(i) => format!("frees {}", arg(i)),
        Role::AllocateInside => "returns a new block".to_owned(),
        Role::AllocateInto { pointer, size: n } => {
            format!("stores a pointer to a new block at {}: {}", arg(pointer), size(n))
        }
        Role::Errno => "returns the address of the thread's error number".to_owned(),
        Role::SetJump => "returns twice".to_owned(),
        Role::LongJump => "continues after a `setjmp`".to_owned(),
        Role::Exit(i) => format!("ends the process with the status in {}", arg(i)),
        Role::Abort => "ends the process".to_owned(),
        Role::AssertionFailed => "ends the process: an assertion failed".to_owned(),
        Role::Throws => "throws an exception".to_owned(),
    })
}

/// The states that effects use, with how.
fn states(effects: &[Effect]) -> BTreeMap<LibraryState, StateAccess> {
    let mut used = BTreeMap::new();
    for effect in effects {
        if let Effect::State(state, access) | Effect::StateWithout(_, state, access) = effect
            && used.get(state) != Some(&StateAccess::Write)
        {
            used.insert(*state, *access);
        }
    }
    used
}

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The names of functions that the probe calls.
fn measured() -> BTreeSet<String> {
    let source = include_str!("probe/probe.c");
    let by_name = source.split("P(\"").skip(1).filter_map(|rest| rest.split('"').next());
    by_name.map(str::to_owned).collect()
}

fn row(page: &mut String, name: &str, what: Vec<String>, used: &BTreeMap<LibraryState, StateAccess>) {
    let of_states = |(state, access): (&LibraryState, &StateAccess)| {
        let how = if *access == StateAccess::Write { "changes" } else { "reads" };
        format!("{how} {}", state.name())
    };
    let used: Vec<String> = used.iter().map(of_states).collect();
    writeln!(page, "| `{name}` | {} | {} |", cell(&what.join("; ")), cell(&used.join("; "))).expect("text");
}

fn library_row(page: &mut String, function: &LibraryFunction, measured: &BTreeSet<String>) {
    let mut what: Vec<String> = function.effects.iter().filter_map(effect).chain(role(function.role)).collect();
    what.dedup();
    if function.by_runtime {
        what.push("*by the runtime*".to_owned());
    }
    if measured.contains(function.name) {
        what.push("*measured*".to_owned());
    }
    row(page, function.name, what, &states(function.effects));
}

fn thread_row(page: &mut String, function: &ThreadFunction, measured: &BTreeSet<String>) {
    let mut what: Vec<String> = function.effects.iter().filter_map(effect).collect();
    if measured.contains(function.name) {
        what.push("*measured*".to_owned());
    }
    row(page, function.name, what, &states(function.effects));
}

/// The names of functions whose rows use a state so.
fn users(state: LibraryState, access: StateAccess) -> String {
    let uses = |f: &&LibraryFunction| states(f.effects).get(&state) == Some(&access);
    let mut names: Vec<String> = library::functions().filter(uses).map(|f| format!("`{}`", f.name)).collect();
    let count = names.len();
    if count > 12 {
        names.truncate(12);
        names.push(format!("and {} others", count - 12));
    }
    names.join(", ")
}

fn page() -> String {
    let measured = measured();
    let mut page = HEAD.to_owned();
    for state in LibraryState::ALL {
        let variables: Vec<String> = state.variables().iter().map(|(symbol, _)| format!("`{symbol}`")).collect();
        let (changed, read) = (users(*state, StateAccess::Write), users(*state, StateAccess::Read));
        let locked = if state.is_locked() { "yes" } else { "no" };
        writeln!(page, "| {} | {locked} | {} | {changed} | {read} |", state.name(), variables.join(", "))
            .expect("text");
    }
    for (group, rows) in library::groups() {
        writeln!(page, "\n## Group `{group}`\n\n| function | what it does | states |\n|---|---|---|").expect("text");
        let silent = |f: &&LibraryFunction| f.effects.is_empty() && f.role == Role::Ordinary && !f.by_runtime;
        // Hooks of our own are nobody's to call.
        let shown = rows.iter().filter(|f| !silent(f) && !f.name.starts_with("__rp_"));
        shown.for_each(|function| library_row(&mut page, function, &measured));
        let names: Vec<String> = rows.iter().filter(silent).map(|f| format!("`{}`", f.name)).collect();
        if !names.is_empty() {
            writeln!(page, "\nThese touch nothing that threads share: {}.", names.join(", ")).expect("text");
        }
    }
    page.push_str(
        "\n## Thread functions that touch ordinary memory\n\n| function | what it does | states |\n|---|---|---|\n",
    );
    let touching = threads::functions().iter().filter(|f| !f.effects.is_empty());
    touching.for_each(|function| thread_row(&mut page, function, &measured));
    page.push_str("\n## Other names\n\n");
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    library::aliases().for_each(|(alias, name)| names.entry(name).or_default().push(alias));
    for (name, aliases) in names {
        let aliases: Vec<String> = aliases.iter().map(|alias| format!("`{alias}`")).collect();
        writeln!(page, "- `{name}`: {}", aliases.join(", ")).expect("text");
    }
    page
}

#[test]
fn the_page_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/library.md");
    testkit::ui::assert_blessed(page(), &path);
}
