//! Which functions of a program are lock functions, said by the user: for kernels and systems with locks of their own.
//!
//! A specification is applied before anything else looks at the program: calls of the functions it names become lock
//! operations of the language, whether they have a body or not. What it says is taken for granted; a wrong one makes
//! wrong proofs, as a wrong `--assume-pure` does.
//!
//! ```toml
//! harmless = ["os_yield"]          # touch nothing that threads share, and release no lock
//!
//! [[lock]]
//! acquire = ["os_mutex_poll"]
//! release = ["os_mutex_give"]      # may be left out where another entry has it
//! mode = "exclusive"               # or "shared"
//! succeeds = "nonzero"             # or "zero"; "always" if left out: which results mean that the lock is held
//! argument = 1                     # which argument is the lock; 0: the functions without an argument are one lock
//! ```

use std::collections::{BTreeMap, BTreeSet};

use model::LockMode;
use model::index::IndexVec;
use program::{
    Callee, CompareOp, Expr, Function, Global, GlobalId, Local, LocalId, Operand, Program, Statement, Stmt, SyncOp,
    TryMode,
};
use serde::Deserialize;

/// The lock functions of a system.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    #[serde(default)]
    harmless: BTreeSet<String>,
    #[serde(default, rename = "lock")]
    locks: Vec<Entry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    acquire: OneOrMore,
    #[serde(default)]
    release: OneOrMore,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    succeeds: Succeeds,
    #[serde(default = "first")]
    argument: usize,
}

fn first() -> usize {
    1
}

/// One name or several.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMore {
    fn iter(&self) -> impl Iterator<Item = &String> {
        match self {
            Self::One(name) => std::slice::from_ref(name).iter(),
            Self::Many(names) => names.iter(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Succeeds {
    #[default]
    Always,
    Zero,
    Nonzero,
}

/// A specification that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unreadable {
    /// Not of the form that is described above.
    #[error("{0}")]
    Form(String),
    /// A function with two meanings.
    #[error("`{0}` is named twice")]
    Twice(String),
    /// An entry that says nothing.
    #[error("a `[[lock]]` has neither `acquire` nor `release`")]
    Empty,
}

/// What a call of a function means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Acquire { mode: LockMode, succeeds: Succeeds, argument: usize },
    Release { argument: usize },
    Harmless,
}

impl Specification {
    /// The locks of the Linux kernel. The panic would be a bug of ours.
    pub fn linux() -> Self {
        let preset = Self::parse(include_str!("presets/linux.toml"));
        preset.unwrap_or_else(|error| panic!("raceproof bug: preset: {error}"))
    }

    /// Reads a specification.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let this: Self = toml::from_str(text).map_err(|error| Unreadable::Form(error.to_string()))?;
        if this.locks.iter().any(|lock| lock.acquire.iter().chain(lock.release.iter()).next().is_none()) {
            return Err(Unreadable::Empty);
        }
        this.meanings()?;
        Ok(this)
    }

    fn meanings(&self) -> Result<BTreeMap<&str, Meaning>, Unreadable> {
        let mut meanings: BTreeMap<&str, Meaning> =
            self.harmless.iter().map(|name| (name.as_str(), Meaning::Harmless)).collect();
        let mut add = |name, meaning| match meanings.insert(name, meaning) {
            Some(other) if other != meaning => Err(Unreadable::Twice(String::from(name))),
            _ => Ok(()),
        };
        for Entry { acquire, release, mode, succeeds, argument } in &self.locks {
            let mode = if *mode == Mode::Shared { LockMode::Shared } else { LockMode::Exclusive };
            for name in acquire.iter() {
                add(name, Meaning::Acquire { mode, succeeds: *succeeds, argument: *argument })?;
            }
            for name in release.iter() {
                add(name, Meaning::Release { argument: *argument })?;
            }
        }
        Ok(meanings)
    }

    /// Makes lock operations of the calls that this specification names. Functions without an argument are one lock, for
    /// all entries together that have no argument and share a release function.
    pub fn apply(&self, program: &mut Program) {
        let Ok(meanings) = self.meanings() else { return };
        let known = |name: &str| meanings.get(name).copied();
        program.unmodelled.retain(|u| u.function.as_deref().and_then(known).is_none());
        let mut own = OwnLocks { groups: self.groups(), globals: BTreeMap::new() };
        let symbols: Vec<String> = program.functions.iter().map(|f| f.symbol.clone()).collect();
        let Program { functions, globals, .. } = program;
        for Function { locals, blocks, .. } in functions.iter_mut() {
            for block in blocks.iter_mut() {
                let mut statements = Vec::with_capacity(block.statements.len());
                for statement in block.statements.drain(..) {
                    let (dst, name, args) = match &statement.stmt {
                        Stmt::Call { dst, callee: Callee::Direct(callee), args } => {
                            (*dst, symbols[callee.0 as usize].as_str(), args)
                        }
                        Stmt::Library { dst, function, args } => (*dst, function.as_str(), args),
                        _ => {
                            statements.push(statement);
                            continue;
                        }
                    };
                    let Some(meaning) = known(name) else {
                        statements.push(statement);
                        continue;
                    };
                    let fresh = || locals.push(Local::default());
                    let lock = |argument: usize| match argument.checked_sub(1) {
                        Some(index) => args.get(index).copied().unwrap_or(Operand::Any),
                        None => own.of(name, globals),
                    };
                    let at = |stmt| {
                        let site = statement.site.filter(|_| matches!(stmt, Stmt::Sync { .. }));
                        Statement { site, stmt }
                    };
                    statements.extend(replace(meaning, dst, lock, fresh).into_iter().map(at));
                }
                block.statements = statements;
            }
        }
    }

    /// The functions that belong together, each by the first release function of its group.
    fn groups(&self) -> BTreeMap<String, String> {
        let mut groups = BTreeMap::new();
        for lock in self.locks.iter().filter(|lock| lock.argument == 0) {
            let names = || lock.acquire.iter().chain(lock.release.iter());
            let known = names().find_map(|name| groups.get(name).cloned());
            let Some(group) = known.or_else(|| lock.release.iter().chain(names()).next().cloned()) else { continue };
            for name in names() {
                groups.insert(name.clone(), group.clone());
            }
        }
        groups
    }
}

/// The locks that are functions without an argument.
struct OwnLocks {
    groups: BTreeMap<String, String>,
    globals: BTreeMap<String, GlobalId>,
}

impl OwnLocks {
    fn of(&mut self, name: &str, globals: &mut IndexVec<GlobalId, Global>) -> Operand {
        let group = self.groups.get(name).cloned().unwrap_or_else(|| name.to_owned());
        let id = *self.globals.entry(group).or_insert_with_key(|group| {
            globals.push(Global {
                symbol: format!("{group}()"),
                name: format!("{group}()"),
                size: 1,
                ty: None,
                init: Vec::new(),
                relocations: Vec::new(),
                thread_local: false,
                constant: false,
            })
        });
        Operand::Global(id, 0)
    }
}

fn replace(
    meaning: Meaning,
    dst: Option<LocalId>,
    lock: impl FnOnce(usize) -> Operand,
    fresh: impl FnOnce() -> LocalId,
) -> Vec<Stmt> {
    let any = dst.map(|dst| Stmt::Assign { dst, expr: Expr::Use(Operand::Any) });
    match meaning {
        Meaning::Harmless => any.into_iter().collect(),
        Meaning::Release { argument } => {
            let release = Stmt::Sync { dst: None, op: SyncOp::Unlock { lock: lock(argument) } };
            [release].into_iter().chain(any).collect()
        }
        Meaning::Acquire { mode, succeeds, argument } => {
            let lock = lock(argument);
            let take = |dst, wait| Stmt::Sync { dst, op: SyncOp::Lock { lock, mode, wait } };
            match (succeeds, dst) {
                (Succeeds::Always, _) => [take(None, TryMode::Wait)].into_iter().chain(any).collect(),
                (Succeeds::Zero, _) | (Succeeds::Nonzero, None) => vec![take(dst, TryMode::Try)],
                (Succeeds::Nonzero, Some(dst)) => {
                    let failed = fresh();
                    let (left, right) = (Operand::Local(failed), Operand::Const(0));
                    let held = Expr::Compare { op: CompareOp::Eq, bits: 32, left, right };
                    vec![take(Some(failed), TryMode::Try), Stmt::Assign { dst, expr: held }]
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
harmless = [\"rest\"]
[[lock]]
acquire = \"take\"
release = [\"give\"]
[[lock]]
acquire = \"poll\"
succeeds = \"nonzero\"
[[lock]]
acquire = \"stop\"
release = \"go\"
argument = 0
";

    #[test]
    fn calls_become_lock_operations() {
        let mut program = Program::parse(
            "global m: 4
extern fn take(%0)
extern fn give(%0)
extern fn poll(%0)
extern fn stop()
extern fn go()
extern fn rest()
fn f() {
b:
  call take(@m)
  call rest()
  call give(@m)
  %1 = call poll(@m)
  call stop()
  call go()
  return %1
}
unmodelled \"calls take\" at #0 function \"take\"
",
        )
        .expect("a program");
        Specification::parse(TEXT).expect("a specification").apply(&mut program);
        program.validate().expect("the rules of the language");
        let text = program.to_string();
        assert!(program.unmodelled.is_empty());
        for line in ["lock @m", "unlock @m", "= trylock @m", "= eq 32 ", "lock @\"go()\"", "unlock @\"go()\""] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        assert!(!text.contains("call "), "{text}");
    }

    #[test]
    fn presets_and_mistakes() {
        assert!(Specification::linux().meanings().is_ok_and(|m| m.contains_key("spin_lock_irqsave")));
        let twice = "[[lock]]\nacquire = \"a\"\n[[lock]]\nacquire = \"a\"\nmode = \"shared\"\n";
        assert_eq!(Specification::parse(twice), Err(Unreadable::Twice("a".into())));
        assert_eq!(Specification::parse("[[lock]]\nargument = 1\n"), Err(Unreadable::Empty));
        assert!(matches!(Specification::parse("[[lock]]\naquire = \"a\"\n"), Err(Unreadable::Form(_))));
    }
}
