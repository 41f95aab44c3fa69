//! Where a thread may fail: crash, fail an assertion, or misuse the thread API.
//!
//! A failure that happens under every schedule shows in whichever execution reaches it; the search needs those that
//! happen in some schedules only. So for each kind of failure there are two sets of sites: at the *open* ones shared
//! data decides whether a thread fails; at the [steady](crate::steady) ones it fails in every schedule of a state's
//! future or in none, provided that no thread stops or blocks before. A state stays open if an open site is ahead, or
//! if a steady one is ahead and a thread may stop or block for ever.
//!
//! *Never wrong*: a statement that is at none of these sites does not fail. An address is good if it is surely inside of
//! an object; a lock is released by its holder if it is surely held; an object is made, destroyed and freed in order if
//! no other thread may use it at the same time.

use std::collections::BTreeSet;

use facts::accesses::{Designator, accesses};
use facts::address::Addresses;
use facts::invocations::{How, Invocations, ProgramPoint, ends_thread};
use facts::objects::Objects;
use facts::values::Values;
use model::SiteId;
use program::library::{self, Effect, Role};
use program::openmp;
use program::{BinaryOp, Callee, Expr, FunctionId, Operand, Program, Statement, Stmt, SyncOp, Terminator};

use crate::flow::{Flow, Sites, bit};
use crate::good;
use crate::iterations::Iterations;
use crate::locks::Locks;
use crate::memory::Memory;
use crate::misuse::{self, Apart};
use crate::parallel::Parallel;
use crate::steady::Steady;

/// Sites where a thread may fail.
pub(crate) struct Risk {
    /// Depending on shared data.
    pub(crate) open: Sites,
    /// Under every schedule or none, if no thread stops or blocks for ever.
    pub(crate) steady: Sites,
}

impl Risk {
    fn new(program: &Program) -> Self {
        let none = || Sites::with_capacity(program.sites.len());
        Self { open: none(), steady: none() }
    }
}

/// Where threads may fail, by what is looked for.
pub(crate) struct Failures {
    pub(crate) assertions: Risk,
    pub(crate) crashes: Risk,
    pub(crate) misuses: Risk,
    /// Sites where a thread may stop for good, depending on shared data.
    pub(crate) stops: Sites,
}

/// What is known of the program.
pub(crate) struct Knowledge<'a> {
    pub(crate) program: &'a Program,
    pub(crate) values: &'a Values<'a>,
    pub(crate) objects: &'a Objects<'a>,
    pub(crate) invocations: &'a Invocations,
    pub(crate) addresses: &'a Addresses,
    pub(crate) flow: &'a Flow,
    pub(crate) locks: &'a Locks,
    pub(crate) parallel: &'a Parallel<'a>,
    pub(crate) memory: Option<&'a Memory>,
    pub(crate) steady: &'a Steady,
}

/// What may go wrong at a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Danger {
    /// Nothing.
    None,
    /// The same in every schedule, if the statement is executed equally often.
    Steady,
    /// Depending on shared data.
    Open,
}

/// Whether a statement in a function of the program is one of our library for OpenMP, which is inlined there: an access
/// without a site.
fn is_of_library(statement: &Statement) -> bool {
    let is_access =
        matches!(statement.stmt, Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Copy { .. } | Stmt::Fill { .. });
    is_access && statement.site.is_none()
}

impl Failures {
    pub(crate) fn new(knowledge: &Knowledge<'_>) -> Self {
        let apart = Apart::new(knowledge);
        let Knowledge { program, steady, .. } = knowledge;
        let risk = || Risk::new(program);
        let stops = Sites::with_capacity(program.sites.len());
        let mut failures = Self { assertions: risk(), crashes: risk(), misuses: risk(), stops };
        let iterations = knowledge.memory.map(|memory| Iterations::new(program, memory, steady));
        let decided = |place: ProgramPoint| iterations.as_ref().is_some_and(|iterations| iterations.decide(place));
        let mut add = |place: ProgramPoint, what: fn(&mut Self) -> &mut Risk, danger: Danger| {
            let sites = match danger {
                Danger::None => return,
                Danger::Steady if steady.place(place) => &mut what(&mut failures).steady,
                _ if decided(place) => &mut what(&mut failures).steady,
                Danger::Steady | Danger::Open => &mut what(&mut failures).open,
            };
            sites.extend(knowledge.sites_before(place).into_iter().map(bit));
        };
        let invoked = program.functions.ids().flat_map(|f| knowledge.invocations.of(f));
        let started = invoked.filter(|i| i.how == How::Create).map(|i| i.callee);
        let roots: BTreeSet<FunctionId> = started.chain(program.main).collect();
        let mut stopping = BTreeSet::new();
        for (function, body) in program.functions.iter_enumerated() {
            // What the library does with its own memory and objects is in order. Where it refuses to go on, a run says so,
            // and whatever would follow is in the futures of the others.
            let own = openmp::is_own(program, body);
            for (block, code) in body.blocks.iter_enumerated() {
                for (index, statement) in code.statements.iter().enumerate() {
                    let place = (function, block, index);
                    if own || openmp::reads_number(body, &statement.stmt) || is_of_library(statement) {
                        continue;
                    }
                    let assertion = knowledge.assertion(place, &statement.stmt);
                    add(place, |f| &mut f.assertions, assertion);
                    add(place, |f| &mut f.crashes, knowledge.crash(place, &statement.stmt));
                    add(place, |f| &mut f.misuses, apart.misuse(place, &statement.stmt));
                    let differs = assertion == Danger::Open || !steady.place(place);
                    let ends = ends_thread(&statement.stmt) || matches!(statement.stmt, Stmt::Assert { .. });
                    if differs && ends {
                        stopping.extend(knowledge.sites_before(place));
                    }
                }
                // What is never reached, and exceptions that nothing catches.
                let ends = code.statements.iter().any(|s| ends_thread(&s.stmt));
                let uncaught = code.terminator == Terminator::Resume && roots.contains(&function);
                if uncaught || code.terminator == Terminator::Unreachable && !ends && !own {
                    add((function, block, code.statements.len()), |f| &mut f.crashes, Danger::Steady);
                }
            }
        }
        for site in misuse::held_at_the_end(knowledge) {
            failures.misuses.open.insert(site);
        }
        failures.stops.extend(stopping.into_iter().map(bit));
        failures.stops.union_with(&failures.crashes.open);
        failures
    }
}

impl Knowledge<'_> {
    /// [`Danger::Steady`] if all the values are the same in every schedule.
    pub(crate) fn given(&self, place: ProgramPoint, values: &[Operand]) -> Danger {
        let same = values.iter().all(|value| self.steady.value(place.0, value));
        if same { Danger::Steady } else { Danger::Open }
    }

    /// The site of a statement; for one that has none, the sites that may come right before it in its thread.
    fn sites_before(&self, place: ProgramPoint) -> BTreeSet<SiteId> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([place]);
        let mut open = vec![place];
        while let Some((function, block, index)) = open.pop() {
            let code = &self.program.functions[function].blocks;
            if let Some(site) = code[block].statements.get(index).and_then(|s| s.site) {
                found.insert(site);
                continue;
            }
            if index > 0 {
                open.extend(Some((function, block, index - 1)).filter(|p| seen.insert(*p)));
                continue;
            }
            let sources = code.iter_enumerated().filter(|(_, b)| b.terminator.targets().contains(&block));
            let sources = sources.map(|(id, b)| (function, id, b.statements.len()));
            open.extend(sources.filter(|p| seen.insert(*p)));
            if code.ids().next() == Some(block) {
                let everywhere = self.program.functions.ids().flat_map(|f| self.invocations.of(f));
                let invoked = everywhere.filter(|i| i.callee == function).map(|i| i.place);
                open.extend(invoked.filter(|p| seen.insert(*p)));
            }
        }
        found
    }

    /// Assertions, and deliberate ends like `abort`.
    fn assertion(&self, place: ProgramPoint, stmt: &Stmt) -> Danger {
        match stmt {
            Stmt::Assert { condition: Operand::Const(n) } if *n != 0 => Danger::None,
            Stmt::Assert { condition } => self.given(place, &[*condition]),
            Stmt::Library { function, .. } => match library::lookup(function).map(|row| row.role) {
                Some(Role::AssertionFailed | Role::Abort) => Danger::Steady,
                _ => Danger::None,
            },
            _ => Danger::None,
        }
    }

    fn crash(&self, place: ProgramPoint, stmt: &Stmt) -> Danger {
        match stmt {
            Stmt::Assign { expr: Expr::Binary { op, left, right, .. }, .. } => match (op, right) {
                (BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem, Operand::Const(n)) if *n > 0 => {
                    Danger::None
                }
                (BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::URem, _) => {
                    self.given(place, &[*left, *right])
                }
                _ => Danger::None,
            },
            Stmt::Alloca { size: Operand::Const(_), .. } => Danger::None,
            Stmt::Alloca { size, .. } => self.given(place, &[*size]),
            Stmt::Call { callee, .. } => {
                let calls = self.invocations.at(place).filter(|i| i.how == How::Call);
                let again = calls.into_iter().any(|i| self.invocations.is_recursive(i.callee));
                match callee {
                    Callee::Indirect(pointer) if !matches!(pointer, Operand::Function(_)) => {
                        self.given(place, &[*pointer])
                    }
                    _ if again => Danger::Steady,
                    _ => Danger::None,
                }
            }
            Stmt::Sync { op, .. } => self.operation(place, op),
            Stmt::Library { function, args, .. } => self.library(place, stmt, function, args),
            _ => self.touching(place, stmt),
        }
    }

    /// The memory that a statement touches.
    fn touching(&self, place: ProgramPoint, stmt: &Stmt) -> Danger {
        let touched = accesses(self.program, place.0, stmt).into_iter().map(|access| match access.designator {
            Designator::Pointer(address) => {
                let good = match access.len {
                    Some(len) => good::address(self.program, self.addresses, place.0, &address, len),
                    // To free what cannot be freed is a misuse.
                    None => matches!(stmt, Stmt::Free { .. }),
                };
                let values = if access.len.is_some() { vec![address] } else { stmt.operands() };
                if good { Danger::None } else { self.given(place, &values) }
            }
            Designator::Library(_)
            | Designator::BehindLibrary(_)
            | Designator::List(_)
            | Designator::Linked(..)
            | Designator::Behind(..) => Danger::None,
        });
        touched.max().unwrap_or(Danger::None)
    }

    /// The objects of a thread operation, and the function that a thread starts in.
    fn operation(&self, place: ProgramPoint, op: &SyncOp) -> Danger {
        let pointers = match op {
            SyncOp::Create { function, .. } => vec![*function],
            SyncOp::Once { control, function } => vec![*control, *function],
            SyncOp::Join { .. } | SyncOp::Detach { .. } | SyncOp::Cancel { .. } => Vec::new(),
            SyncOp::Choose { .. } | SyncOp::Assume { .. } | SyncOp::Round { .. } => Vec::new(),
            SyncOp::BarrierInit { barrier, .. } => vec![*barrier],
            SyncOp::SemInit { sem, .. } => vec![*sem],
            op => op.operands(),
        };
        let is_good = |pointer: &Operand| {
            matches!(pointer, Operand::Function(_)) || good::address(self.program, self.addresses, place.0, pointer, 1)
        };
        let bad: Vec<Operand> = pointers.into_iter().filter(|pointer| !is_good(pointer)).collect();
        if bad.is_empty() { Danger::None } else { self.given(place, &bad) }
    }

    /// What a library function does with what it is given.
    fn library(&self, place: ProgramPoint, stmt: &Stmt, name: &str, args: &[Operand]) -> Danger {
        let Some(row) = library::lookup(name) else { return Danger::Open };
        if row.role == Role::Throws {
            return Danger::Steady;
        }
        let numbers = row.effects.iter().any(|effect| match effect {
            Effect::Format(format) => {
                !format.scan
                    && args.get(usize::from(format.format)).is_some_and(|f| good::prints_numbers(self.program, f))
            }
            _ => false,
        });
        let is_good = |designator: Designator, len: Option<u64>, perhaps: bool| match designator {
            Designator::Pointer(_) if perhaps && numbers => true,
            Designator::Pointer(address) => match len {
                Some(len) => good::address(self.program, self.addresses, place.0, &address, len),
                None => good::is_text(self.program, &address),
            },
            Designator::Library(_) | Designator::BehindLibrary(_) => true,
            Designator::List(_) | Designator::Linked(..) | Designator::Behind(..) => false,
        };
        let touched = accesses(self.program, place.0, stmt);
        if touched.iter().all(|access| is_good(access.designator, access.len, access.perhaps)) {
            return Danger::None;
        }
        // How far it reads or writes may depend on what it finds.
        let same = self.memory.is_some_and(|memory| self.steady.reads(memory, place));
        if same { self.given(place, args) } else { Danger::Open }
    }
}
