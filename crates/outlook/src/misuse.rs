//! Where the thread API may be misused: an object is made, destroyed or freed while others may use it, a thread is joined
//! twice, a lock is released or kept by a thread that may not hold it.

use facts::accesses::{Designator, accesses};
use facts::address::Base;
use facts::invocations::ProgramPoint;
use facts::objects::Key;
use facts::values::{Root, Roots};
use model::AccessKind;
use program::{BlockId, Operand, Stmt, SyncOp};

use crate::failures::{Danger, Knowledge};
use crate::flow::{Beginning, Sites};

/// What a statement does with an object of synchronisation, or with its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Uses it, as a lock if it is one.
    Uses,
    /// Makes it ready.
    Makes,
    /// Ends its life.
    Ends,
}

/// A use of an object.
struct Used {
    place: ProgramPoint,
    roots: Roots,
    role: Role,
}

/// The statement of a function that created a thread.
type Creation = Option<(BlockId, u32)>;

/// How statements are kept apart.
pub(crate) struct Apart<'a> {
    knowledge: &'a Knowledge<'a>,
    uses: Vec<Used>,
    /// Objects that are made before there are other threads.
    ready: Vec<Key>,
    /// Joins and detachments, with the statement that created the thread where that is known.
    reaping: Vec<(ProgramPoint, Creation)>,
    /// Waits: the condition variable and the lock.
    waits: Vec<(Roots, Option<Key>)>,
    /// Some semaphore may start near its largest value.
    large: bool,
}

impl<'a> Apart<'a> {
    pub(crate) fn new(knowledge: &'a Knowledge<'a>) -> Self {
        let Knowledge { program, invocations, flow, .. } = knowledge;
        let beginning = Beginning::new(program, invocations, flow);
        let (uses, ready, reaping, waits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut apart = Self { knowledge, uses, ready, reaping, waits, large: false };
        for (function, body) in program.functions.iter_enumerated() {
            for (block, code) in body.blocks.iter_enumerated() {
                for (index, statement) in code.statements.iter().enumerate() {
                    let place = (function, block, index);
                    let early = beginning.contains(function, statement.site);
                    apart.add(place, &statement.stmt, early);
                }
            }
        }
        apart
    }

    fn add(&mut self, place: ProgramPoint, stmt: &Stmt, early: bool) {
        let touched = accesses(self.knowledge.program, place.0, stmt);
        for access in touched.into_iter().filter(|access| access.kind == AccessKind::Free) {
            if let Designator::Pointer(address) = access.designator {
                let roots = self.knowledge.values.of(place.0, &address).into_keys().map(|root| (root, None)).collect();
                self.uses.push(Used { place, roots, role: Role::Ends });
            }
        }
        let Stmt::Sync { op, .. } = stmt else { return };
        for (object, role) in objects_of(op) {
            self.uses.push(Used { place, roots: self.knowledge.values.of(place.0, &object), role });
            if role == Role::Makes && early {
                self.ready.extend(self.knowledge.objects.exact(place.0, &object));
            }
        }
        match op {
            SyncOp::Join { handle, .. } | SyncOp::Detach { handle } => {
                self.reaping.push((place, self.created_at(place, handle)));
            }
            SyncOp::CondWait { cond, lock, .. } => {
                self.waits.push((self.knowledge.values.of(place.0, cond), self.knowledge.objects.exact(place.0, lock)));
            }
            SyncOp::SemInit { value, .. } => {
                self.large |= !matches!(value, Operand::Const(n) if *n < 1 << 20);
            }
            _ => {}
        }
    }

    /// The statement of the same function that created the thread with this handle, if it surely is one.
    fn created_at(&self, place: ProgramPoint, handle: &Operand) -> Creation {
        let Base::Local(local) = self.knowledge.addresses.of(place.0, handle).base else { return None };
        let creation = self.knowledge.addresses.definition(self.knowledge.program, place.0, local)?;
        let creates = matches!(creation, Stmt::Sync { op: SyncOp::Create { .. }, .. });
        self.knowledge.addresses.defined_at(place.0, local).filter(|_| creates)
    }

    /// Whether two operands may be the same object.
    fn may_be_same(&self, one: &Roots, other: &Roots) -> bool {
        let values = self.knowledge.values;
        let escaped = |root: &Root| values.is_escaped(*root) && values.is_shared(*root);
        one.iter().any(|(a, at)| {
            other.iter().any(|(b, other_at)| {
                if a == b {
                    values.is_shared(*a) && (at.is_none() || other_at.is_none() || at == other_at)
                } else {
                    (*a == Root::Unknown || *b == Root::Unknown) && escaped(a) && escaped(b)
                }
            })
        })
    }

    /// What the statement may do wrong.
    pub(crate) fn misuse(&self, place: ProgramPoint, stmt: &Stmt) -> Danger {
        let own = || self.uses.iter().filter(|used| used.place == place && used.role != Role::Uses);
        let meets = |used: &Used| {
            let others = self.uses.iter().filter(|other| self.may_be_same(&used.roots, &other.roots));
            others.into_iter().any(|other| self.knowledge.parallel.may(place, other.place))
        };
        let mut danger = match own().next() {
            None => Danger::None,
            Some(_) if own().any(meets) => Danger::Open,
            Some(_) => self.knowledge.given(place, &stmt.operands()),
        };
        let Stmt::Sync { op, .. } = stmt else { return danger };
        let unready = |object: &Operand, always: bool| {
            let key = self.knowledge.objects.exact(place.0, object);
            let global = matches!(key, Some((Root::Global(_), _))) && !always;
            let is_ready = global || key.is_some_and(|key| self.ready.contains(&key));
            if is_ready { Danger::None } else { self.knowledge.given(place, &[*object]) }
        };
        let held = |lock: &Operand| {
            let key = self.knowledge.objects.exact(place.0, lock);
            let held = key.is_some_and(|key| self.knowledge.locks.held(place).contains_key(&key));
            if held { Danger::None } else { Danger::Open }
        };
        danger = danger.max(match op {
            SyncOp::Unlock { lock } => held(lock).max(unready(lock, false)),
            SyncOp::Lock { lock, .. } => unready(lock, false),
            SyncOp::CondWait { cond, lock, .. } => {
                let (roots, with) =
                    (self.knowledge.values.of(place.0, cond), self.knowledge.objects.exact(place.0, lock));
                let other = |(others, lock): &(Roots, Option<Key>)| {
                    (with.is_none() || *lock != with) && self.may_be_same(&roots, others)
                };
                let mixed = if self.waits.iter().any(other) { Danger::Open } else { Danger::None };
                mixed.max(held(lock)).max(unready(cond, false)).max(unready(lock, false))
            }
            SyncOp::Signal { cond } | SyncOp::Broadcast { cond } => unready(cond, false),
            SyncOp::BarrierWait { barrier } => unready(barrier, true),
            SyncOp::SemPost { sem } if self.large => unready(sem, true).max(Danger::Steady),
            SyncOp::SemPost { sem } | SyncOp::SemWait { sem, .. } | SyncOp::SemGet { sem } => unready(sem, true),
            SyncOp::Join { handle, .. } | SyncOp::Detach { handle } => {
                let created = self.created_at(place, handle);
                let same = |(other, theirs): &&(ProgramPoint, Creation)| {
                    let distinct = created.is_some() && theirs.is_some() && (place.0, created) != (other.0, *theirs);
                    !distinct && self.knowledge.parallel.may(place, *other)
                };
                if self.reaping.iter().any(|other| same(&other)) {
                    Danger::Open
                } else {
                    self.knowledge.given(place, &[*handle])
                }
            }
            _ => Danger::None,
        });
        danger
    }
}

/// All sites of threads that may end while they hold a lock.
pub(crate) fn held_at_the_end(knowledge: &Knowledge<'_>) -> Vec<usize> {
    let threads = knowledge.locks.left_held.iter().filter(|(_, held)| !held.is_empty());
    let mut sites = Sites::with_capacity(knowledge.program.sites.len());
    threads.for_each(|(start, _)| sites.union_with(knowledge.flow.body(*start)));
    sites.ones().collect()
}

/// The objects of synchronisation of an operation.
fn objects_of(op: &SyncOp) -> Vec<(Operand, Role)> {
    match op {
        SyncOp::LockInit { lock: object, .. }
        | SyncOp::CondInit { cond: object }
        | SyncOp::BarrierInit { barrier: object, .. }
        | SyncOp::SemInit { sem: object, .. } => vec![(*object, Role::Makes)],
        SyncOp::LockDestroy { lock: object }
        | SyncOp::CondDestroy { cond: object }
        | SyncOp::BarrierDestroy { barrier: object }
        | SyncOp::SemDestroy { sem: object } => vec![(*object, Role::Ends)],
        SyncOp::Lock { lock: object, .. }
        | SyncOp::Unlock { lock: object }
        | SyncOp::Signal { cond: object }
        | SyncOp::Broadcast { cond: object }
        | SyncOp::BarrierWait { barrier: object }
        | SyncOp::SemPost { sem: object }
        | SyncOp::SemWait { sem: object, .. }
        | SyncOp::SemGet { sem: object }
        | SyncOp::Once { control: object, .. } => vec![(*object, Role::Uses)],
        SyncOp::CondWait { cond, lock, .. } => vec![(*cond, Role::Uses), (*lock, Role::Uses)],
        _ => Vec::new(),
    }
}
