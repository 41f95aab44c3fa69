//! Which memory a statement touches, and which sites may touch the same.

use std::collections::{BTreeMap, BTreeSet};

use model::{Pair, SiteId};
use program::library::{self, Effect, FormatArgs, LibraryState, Role, Size, StateAccess};
use program::{FunctionId, Operand, Program, Stmt};

use crate::invocations::Invocations;
use crate::values::{Root, Values};

/// One piece of memory touched by a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Touch {
    root: Root,
    /// First byte and number of bytes; `None` for the whole object.
    bytes: Option<(i64, u64)>,
    writes: bool,
    atomic: bool,
}

/// Whether a statement touches memory at all.
pub(crate) fn touches_memory(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Rmw { .. }
            | Stmt::CompareExchange { .. }
            | Stmt::Copy { .. }
            | Stmt::Fill { .. }
            | Stmt::Free { .. }
            | Stmt::Library { .. }
    )
}

/// Every pair of sites that may touch the same memory from different threads, at least one writing and one plain. Only
/// code that can run is looked at, and all code where something is not modelled. Never misses a pair that can race, if
/// pointer arithmetic stays inside objects.
pub fn pairs(program: &Program) -> Vec<Pair> {
    let values = Values::new(program);
    let invocations = Invocations::new(program, &values);
    let mut by_root: BTreeMap<Root, BTreeSet<(SiteId, Touch)>> = BTreeMap::new();
    let everything = invocations.obstacle(&BTreeSet::new()).is_some();
    let functions = program.functions.ids().filter(|f| everything || invocations.is_reachable(*f));
    for function in functions {
        for block in &program.functions[function].blocks {
            for statement in &block.statements {
                let Some(site) = statement.site else { continue };
                for touch in touches(&values, function, &statement.stmt) {
                    by_root.entry(touch.root).or_default().insert((site, touch));
                }
            }
        }
    }
    let nothing = BTreeSet::new();
    let unknown = by_root.get(&Root::Unknown).unwrap_or(&nothing);
    let mut pairs = BTreeSet::new();
    for (root, touched) in &by_root {
        let escaped = *root == Root::Unknown || values.escaped.contains(root);
        if escaped || is_shared(program, &values, *root) {
            for one in touched {
                let others = touched.iter().chain(unknown.iter().filter(|_| escaped));
                let meeting = others.filter(|other| meet(&one.1, &other.1));
                pairs.extend(meeting.map(|other| Pair::new(one.0, other.0)));
            }
        }
    }
    pairs.into_iter().collect()
}

/// Whether threads can touch the object through names of their own.
fn is_shared(program: &Program, values: &Values, root: Root) -> bool {
    match root {
        Root::Global(global) => !program.globals[global].thread_local || values.handed_over.contains(&root),
        Root::Stack(..) | Root::Heap(..) => values.handed_over.contains(&root),
        Root::Library(_) | Root::Unknown => true,
        Root::Function(_) => false,
    }
}

fn meet(one: &Touch, other: &Touch) -> bool {
    let overlap = match (one.bytes, other.bytes) {
        (Some((a, len_a)), Some((b, len_b))) if one.root == other.root => {
            let end = |start: i64, len: u64| i128::from(start) + i128::from(len);
            i128::from(a) < end(b, len_b) && i128::from(b) < end(a, len_a)
        }
        _ => true,
    };
    (one.writes || other.writes) && !(one.atomic && other.atomic) && overlap
}

fn touches(values: &Values, function: FunctionId, stmt: &Stmt) -> Vec<Touch> {
    let mut found = Found { values, function, touches: Vec::new() };
    match stmt {
        Stmt::Load { address, size, atomic, .. } => {
            found.add(address, Some(u64::from(*size)), false, atomic.is_some());
        }
        Stmt::Store { address, size, atomic, .. } => found.add(address, Some(u64::from(*size)), true, atomic.is_some()),
        Stmt::Rmw { address, size, .. } | Stmt::CompareExchange { address, size, .. } => {
            found.add(address, Some(u64::from(*size)), true, true);
        }
        Stmt::Copy { to, from, len } => {
            found.add(from, constant(len), false, false);
            found.add(to, constant(len), true, false);
        }
        Stmt::Fill { to, len, .. } => found.add(to, constant(len), true, false),
        Stmt::Free { address } => found.add(address, None, true, false),
        Stmt::Library { function: name, args, .. } => found.library(name, args),
        _ => {}
    }
    found.touches
}

fn constant(operand: &Operand) -> Option<u64> {
    if let Operand::Const(n) = operand { u64::try_from(*n).ok() } else { None }
}

struct Found<'a> {
    values: &'a Values,
    function: FunctionId,
    touches: Vec<Touch>,
}

impl Found<'_> {
    fn add(&mut self, address: &Operand, len: Option<u64>, writes: bool, atomic: bool) {
        for (root, offset) in self.values.of(self.function, address) {
            let bytes = offset.and_then(|offset| Some((offset, len?)));
            self.touches.push(Touch { root, bytes, writes, atomic });
        }
    }

    fn library(&mut self, name: &str, args: &[Operand]) {
        let arg = |n: u8| args.get(usize::from(n)).copied().unwrap_or(Operand::Any);
        let Some(row) = library::lookup(name) else { return };
        for effect in row.effects {
            let size = |size: &Size| match size {
                Size::Bytes(n) => Some(*n),
                Size::Arg(n) => constant(&arg(*n)),
                _ => None,
            };
            match effect {
                Effect::Read(n, len) | Effect::ReadAfter(n, len) => self.add(&arg(*n), size(len), false, false),
                Effect::Write(n, len) | Effect::WriteAfter(n, len) => self.add(&arg(*n), size(len), true, false),
                Effect::Computed(computed) | Effect::ComputedAfter(computed) => {
                    computed.reads.iter().for_each(|n| self.add(&arg(*n), None, false, false));
                    computed.writes.iter().for_each(|n| self.add(&arg(*n), None, true, false));
                }
                Effect::Stream(n) => self.add(&arg(*n), None, true, true),
                Effect::State(state, access) => self.state(*state, *access),
                Effect::Format(format) => {
                    self.add(&arg(format.format), None, false, false);
                    match format.args {
                        FormatArgs::From(first) => {
                            let rest = args.iter().skip(usize::from(first));
                            // `%n` writes in `printf` too.
                            rest.for_each(|arg| self.add(arg, None, true, false));
                        }
                        FormatArgs::List(_) => self.add(&Operand::Any, None, true, false),
                    }
                }
                Effect::Returns(_)
                | Effect::ReturnsState(_)
                | Effect::StoresPointer(..)
                | Effect::Calls(_)
                | Effect::Keeps(_)
                | Effect::Opaque(_) => {}
            }
        }
        match row.role {
            Role::Reallocate { .. } | Role::Free(0) => self.add(&arg(0), None, true, false),
            Role::Free(n) => self.add(&arg(n), None, true, false),
            Role::AllocateInto { pointer, .. } => self.add(&arg(pointer), Some(8), true, false),
            _ => {}
        }
    }

    fn state(&mut self, state: LibraryState, access: StateAccess) {
        // A state that the library locks is accessed by relaxed atomics.
        let atomic = state.code(access) >> 16 != 0;
        let writes = access == StateAccess::Write;
        self.touches.push(Touch { root: Root::Library(state), bytes: None, writes, atomic });
    }
}
