//! The library table against the library: a C program calls functions with memory that is watched, and whatever a
//! function was seen to do has to be in its row. The other direction is not checked: a row may say more than one call
//! shows.
#![allow(clippy::print_stdout, reason = "prints which rows it does not cover")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use program::Architecture;
use program::library::{self, Effect, FormatArgs, Role, Size, StateAccess, threads};

/// What the probe saw of one function, over all its calls.
#[derive(Default)]
struct Seen {
    /// Arguments that are numbers.
    args: BTreeMap<u8, i64>,
    result: Option<i64>,
    reads: BTreeSet<u8>,
    /// Bytes written, by argument.
    writes: BTreeMap<u8, (i64, i64)>,
    variables: BTreeSet<String>,
    /// Two threads got a pointer to the same memory.
    is_static: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe")
}

/// Compiles and runs the probe.
fn observe() -> BTreeMap<String, Seen> {
    let target = tempfile::tempdir().expect("temporary folder");
    let probe = target.path().join("probe");
    let mut compiler = Command::new("clang-19");
    compiler.args(["-O0", "-fno-builtin", "-w", "-pthread"]).arg(folder().join("probe.c")).arg("-o").arg(&probe);
    let built = compiler.arg("-lm").output().expect("clang-19 is installed by scripts/setup");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(&probe).current_dir(target.path()).output().expect("the probe runs");
    assert!(run.status.success(), "{}: {}", run.status, String::from_utf8_lossy(&run.stderr));
    parse(&String::from_utf8(run.stdout).expect("text"))
}

fn parse(output: &str) -> BTreeMap<String, Seen> {
    let mut all: BTreeMap<String, Seen> = BTreeMap::new();
    for line in output.lines() {
        let (name, what) = line.split_once('\t').unwrap_or_else(|| panic!("`{line}` has no tab"));
        let seen = all.entry(name.to_owned()).or_default();
        let words: Vec<&str> = what.split(' ').collect();
        let number = |i: usize| words[i].parse::<i64>().unwrap_or_else(|_| panic!("a number in `{line}`"));
        let index = |i: usize| u8::try_from(number(i)).expect("the number of an argument");
        match words[0] {
            "arg" => drop(seen.args.insert(index(1), number(2))),
            "result" => seen.result = Some(number(1)),
            "read" => drop(seen.reads.insert(index(1))),
            "write" => {
                let (from, to) = seen.writes.entry(index(1)).or_insert((number(2), number(3)));
                (*from, *to) = ((*from).min(number(2)), (*to).max(number(3)));
            }
            "variable" => drop(seen.variables.insert(words[1].to_owned())),
            "static" => seen.is_static = true,
            "own" => {}
            other => panic!("`{other}` in `{line}`"),
        }
    }
    all
}

impl Seen {
    /// At most so many bytes, where the size depends on nothing but numbers.
    fn bytes(&self, size: Size) -> Option<i64> {
        let arg = |i: u8| self.args.get(&i).copied();
        let of = |ty: library::CType| ty.size(Architecture::X86_64).and_then(|bytes| i64::try_from(bytes).ok());
        match size {
            Size::Arg(i) => arg(i),
            Size::Scaled(i, ty) => Some(arg(i)? * of(ty)?),
            Size::Product(i, j) => Some(arg(i)? * arg(j)?),
            Size::Result => self.result,
            Size::ResultTimes(i) => Some(self.result? * arg(i)?),
            size => size.fixed(Architecture::X86_64).and_then(|bytes| i64::try_from(bytes).ok()),
        }
    }

    /// Whether an effect accounts for what was written to an argument.
    fn explains_write(&self, effect: &Effect, arg: u8, to: i64) -> bool {
        match effect {
            Effect::Write(i, size) | Effect::WriteAfter(i, size) => {
                *i == arg && self.bytes(*size).is_none_or(|bytes| to <= bytes)
            }
            // `tmpnam` returns what it was given.
            Effect::WriteResult(size) => self.bytes(*size).is_none_or(|bytes| to <= bytes),
            Effect::Computed(c) | Effect::ComputedAfter(c) => c.writes.contains(&arg),
            Effect::Stream(i) | Effect::UnlockedStream(i) => *i == arg,
            Effect::Opaque(_) => true,
            _ => false,
        }
    }

    /// What the row lacks.
    fn missing(&self, effects: &[Effect], role: Role) -> Vec<String> {
        let mut missing = Vec::new();
        for arg in &self.reads {
            let explains = |effect: &Effect| match effect {
                Effect::Read(i, _) | Effect::ReadAfter(i, _) | Effect::Stream(i) | Effect::UnlockedStream(i) => {
                    i == arg
                }
                Effect::Computed(c) | Effect::ComputedAfter(c) => c.reads.contains(arg),
                Effect::Format(f) => f.format == *arg || f.args == FormatArgs::List(*arg),
                // The callback of the probe reads, too, and is the program's own code.
                Effect::Opaque(_) | Effect::Calls(_) => true,
                _ => false,
            };
            if !effects.iter().any(explains) {
                missing.push(format!("reads argument {arg}"));
            }
        }
        for (arg, (from, to)) in &self.writes {
            let allocates = matches!(role, Role::AllocateInto { pointer, .. } if pointer == *arg) && *to <= 8;
            if *from < 0 || !(allocates || effects.iter().any(|e| self.explains_write(e, *arg, *to))) {
                missing.push(format!("writes bytes {from} to {to} of argument {arg}"));
            }
        }
        let written = effects.iter().filter_map(|effect| match effect {
            Effect::State(state, StateAccess::Write) | Effect::StateWithout(_, state, StateAccess::Write) => {
                Some(*state)
            }
            _ => None,
        });
        let written: Vec<_> = written.collect();
        for variable in &self.variables {
            if !written.iter().any(|state| state.variables().iter().any(|(symbol, _)| symbol == variable)) {
                missing.push(format!("writes the variable `{variable}`"));
            }
        }
        let returned = |state| effects.contains(&Effect::ReturnsState(state));
        if self.is_static && !written.iter().any(|state| !state.is_locked() && returned(*state)) {
            missing.push("returns memory that all threads share".to_owned());
        }
        missing
    }
}

/// The effects and the role of a function's row.
fn row(name: &str) -> (&'static [Effect], Role) {
    let library = library::lookup(name).map(|row| (row.effects, row.role));
    let known = library.or_else(|| threads::lookup(name).map(|row| (row.effects, Role::Ordinary)));
    known.unwrap_or_else(|| panic!("`{name}` has no row"))
}

#[test]
fn rows_say_what_functions_do() {
    let all = observe();
    let complaints: Vec<String> = all
        .iter()
        .flat_map(|(name, seen)| {
            let (effects, role) = row(name);
            seen.missing(effects, role).into_iter().map(move |what| format!("`{name}` {what}"))
        })
        .collect();
    assert!(complaints.is_empty(), "the table lacks what was seen:\n{}", complaints.join("\n"));
    let quiet = all.iter().filter(|(_, seen)| seen.reads.is_empty() && seen.writes.is_empty()).count();
    assert!(all.len() - quiet >= 280, "only {} functions were seen to touch memory", all.len() - quiet);
    let touches = |f: &&library::LibraryFunction| !f.is_pure() && !f.name.starts_with('_');
    let names: Vec<&str> = library::functions().filter(touches).map(|f| f.name).collect();
    let open: Vec<&str> = names.iter().copied().filter(|name| !all.contains_key(*name)).collect();
    println!("{} rows that touch memory are not probed: {}", open.len(), open.join(" "));
}

#[test]
fn an_effect_that_a_row_lacks_is_noticed() {
    let output = "f\targ 2 4\nf\tread 1\nf\twrite 0 0 4\nf\tvariable optind\nf\tstatic\nf\tresult 0\n";
    let seen = &parse(output)["f"];
    let (read, write) = (Effect::Read(1, Size::String), Effect::Write(0, Size::Arg(2)));
    let getopt = library::LibraryState::Getopt;
    let rest = [Effect::State(getopt, StateAccess::Write), Effect::ReturnsState(getopt)];
    let complete = [read, write, rest[0], rest[1]];
    assert_eq!(seen.missing(&complete, Role::Ordinary), Vec::<String>::new());
    for left_out in 0..complete.len() {
        let lacking: Vec<Effect> = (0..complete.len()).filter(|i| *i != left_out).map(|i| complete[i]).collect();
        assert!(!seen.missing(&lacking, Role::Ordinary).is_empty(), "without {:?}", complete[left_out]);
    }
    let short = [read, Effect::Write(0, Size::Bytes(3)), rest[0], rest[1]];
    assert_eq!(seen.missing(&short, Role::Ordinary), ["writes bytes 0 to 4 of argument 0"]);
}
