//! Accesses to memory that threads share, each with the locks held and the thread and moment it happens in.
//!
//! What differs in nothing but the site and the memory is one [`Way`] of accessing; a [`Class`] is a way at a piece of
//! memory, with the sites where it occurs. Ways and sets of sites are kept once and known by number: an access through a
//! pointer with many targets is many classes, but one way and one set, and pairs are judged way by way.

use std::collections::{BTreeMap, BTreeSet};

use facts::accesses::{Access, Designator, accesses};
use facts::invocations::ProgramPoint;
use facts::order::{Binding, Context, ContextId, MomentId, ThreadId};
use facts::spot::{ObjectId, Origin, Shift, Spot};
use facts::{FromArgument, address::Address, address::Base};
use facts::{Rounds, Solved};
use model::index::{IndexVec, index_type};
use model::{AccessKind, LockMode, SiteId, Spent};
use program::members::{Content, may_be_same};
use program::{FunctionId, Lvalue, Site};
use rustc_hash::FxHashMap;

use crate::effects::{Effects, LocksetState};
use crate::entries::{Entries, Holding};
use crate::fresh::Fresh;
use crate::interner::Interner;
use crate::lock::Lock;
use crate::publication::passes_weakly;
use crate::stripe::Stripe;
use crate::verdict::is_crowd;
use crate::whens::Whens;

index_type! {
    /// A way of accessing.
    pub(crate) struct WayId("w");
    /// A set of sites.
    pub(crate) struct SitesId("s");
    /// A set of spots.
    struct SpotsId("p");
}

/// How memory is accessed; many sites may do it the same way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Way {
    /// Bytes; `None` if not known.
    pub(crate) len: Option<u64>,
    pub(crate) kind: AccessKind,
    pub(crate) atomic: bool,
    /// An address may be passed on there without an order between the two who do.
    pub(crate) weak: bool,
    /// Locks held that are known by name.
    pub(crate) locks: Vec<(Lock, LockMode)>,
    /// Locks held at a fixed distance from the accessed byte.
    pub(crate) beside: Vec<(i64, LockMode)>,
    /// Locks held that are chosen by the index of the accessed element.
    pub(crate) stripes: Vec<Stripe>,
    /// Acquisition histories of the named locks.
    pub(crate) histories: Vec<(Lock, Vec<Lock>)>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) moment: MomentId,
    /// How the address is made of the thread's argument.
    pub(crate) own: Option<FromArgument>,
    /// It is so far from the argument of this thread, and no running one has that argument.
    pub(crate) unclaimed: Option<(ThreadId, i64)>,
    /// It is to a new block that nobody else knows yet.
    pub(crate) fresh: bool,
    /// Nothing is known about where the access goes.
    pub(crate) wild: bool,
    /// Several lanes of a loop may make it at the same time.
    pub(crate) lanes: bool,
    /// As what, where one of very many objects may be meant.
    pub(crate) lvalue: Option<Lvalue>,
}

impl Way {
    /// The way as it is at a spot, where that says more: a lock beside a byte that is known by name is known by name, and
    /// one with a name in the same object is beside it.
    pub(crate) fn at(&self, facts: &Solved<'_>, spot: Spot) -> Option<Self> {
        let in_object = |lock: &Lock| matches!(lock, Lock::At(at) if at.object == spot.object);
        let concerned = !self.beside.is_empty() || self.locks.iter().any(|(lock, _)| in_object(lock));
        if !concerned || spot.stride > 0 || !facts.is_unique(spot.object) {
            return None;
        }
        let mut way = self.clone();
        for (lock, mode) in &self.locks {
            if let Lock::At(at) = lock
                && at.object == spot.object
            {
                way.beside.push((i64::from(at.offset) - i64::from(spot.offset), *mode));
            }
        }
        way.beside.sort_unstable();
        way.beside.dedup();
        for (distance, mode) in &way.beside {
            let lock = Lock::At(spot.shifted(Shift { offset: *distance, stride: 0 }));
            if !way.locks.iter().any(|(l, _)| *l == lock) {
                way.locks.push((lock, *mode));
            }
        }
        way.locks.sort_unstable();
        Some(way)
    }
}

/// Whether types may decide about an access to an object: where it may be to very many, or one to very many may be to it.
fn may_be_told_by_type(facts: &Solved<'_>, object: ObjectId, is_to_crowd: bool) -> bool {
    facts.points_to.uses_types() && (is_to_crowd || facts.points_to.collapsed_node(object).is_some())
}

/// The way as it is where the object is known.
fn without_lvalue(ways: &mut Interner<WayId, Way>, way: WayId) -> WayId {
    match ways.get(way).lvalue {
        Some(_) => ways.id(Way { lvalue: None, ..ways.get(way).clone() }),
        None => way,
    }
}

/// A way of accessing a piece of memory, with the sites where it occurs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Class {
    pub(crate) spot: Spot,
    pub(crate) way: WayId,
    pub(crate) sites: SitesId,
}

/// The accesses of a program.
pub(crate) struct Events {
    /// In order.
    pub(crate) ways: IndexVec<WayId, Way>,
    /// Sorted each.
    pub(crate) sites: IndexVec<SitesId, Vec<SiteId>>,
    /// Classes by object, sorted.
    pub(crate) classes: BTreeMap<ObjectId, Vec<Class>>,
}

impl Events {
    /// All classes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Class> + '_ {
        self.classes.values().flatten()
    }
}

/// As what an access touches memory: what its statement says, or what its site does. Blocks are freed as whatever they are.
fn lvalue(access: &Access, site: &Site) -> Option<Lvalue> {
    let of_site = if access.is_source { site.source } else { site.lvalue };
    let bytes = Some(Content::Bytes).filter(|_| access.kind != AccessKind::Free);
    access.content.map(Lvalue::Scalar).or(of_site).or(bytes.map(Lvalue::Scalar))
}

/// An access that may be to shared memory, as it is in every context of its function.
struct Interesting {
    place: ProgramPoint,
    site: SiteId,
    access: Access,
    address: Option<Address>,
    /// Where it goes, unless a context knows better.
    spots: SpotsId,
    /// Nothing is known about where it goes.
    wild: bool,
    fresh: bool,
    weak: bool,
    lvalue: Option<Lvalue>,
}

/// Collects the accesses of all contexts.
pub(crate) fn events(facts: &Solved<'_>, effects: &Effects, entries: &Entries, whens: &Whens) -> Result<Events, Spent> {
    let mut rounds = Rounds::new(facts.budget, 16);
    let mut collector = Collector {
        facts,
        fresh: Fresh::new(facts),
        whens,
        lanes: facts.program.lanes(),
        ways: Interner::default(),
        spots: Interner::default(),
        found: FxHashMap::default(),
    };
    let mut known: FxHashMap<FunctionId, Vec<Interesting>> = FxHashMap::default();
    for (id, context) in facts.order.contexts.iter_enumerated() {
        rounds.begin()?;
        let list = known.entry(context.function).or_insert_with(|| collector.interesting(context.function));
        // Points between which nothing changes have one state.
        let mut last: Option<(*const LocksetState, Holding)> = None;
        for item in list.iter() {
            let Some(state) = effects.at(item.place) else { continue };
            let state: *const LocksetState = state;
            if last.as_ref().is_none_or(|(known, _)| *known != state) {
                let Some(holding) = entries.at(facts, effects, id, item.place) else { break };
                last = Some((state, holding));
            }
            if let Some((_, holding)) = &last {
                collector.collect(id, context, item, holding);
            }
        }
    }
    Ok(collector.finish())
}

struct Collector<'a, 'p> {
    facts: &'a Solved<'p>,
    fresh: Fresh,
    whens: &'a Whens,
    lanes: BTreeSet<SiteId>,
    ways: Interner<WayId, Way>,
    spots: Interner<SpotsId, Vec<Spot>>,
    found: FxHashMap<(SpotsId, WayId), Vec<SiteId>>,
}

impl Collector<'_, '_> {
    /// The accesses of a function that may be to shared memory.
    fn interesting(&mut self, function: FunctionId) -> Vec<Interesting> {
        let facts = self.facts;
        let mut found = Vec::new();
        for (block_id, block) in facts.program.functions[function].blocks.iter_enumerated() {
            for (index, statement) in block.statements.iter().enumerate() {
                let Some(site) = statement.site else { continue };
                let place = (function, block_id, index);
                for access in accesses(facts.program, function, &statement.stmt) {
                    let (address, spots) = match access.designator {
                        Designator::Library(state) => {
                            let spot = facts.points_to.object(Origin::Library(state)).map(Spot::start);
                            (None, spot.into_iter().collect())
                        }
                        Designator::Behind(operand, times) => (None, facts.points_to.behind(function, &operand, times)),
                        Designator::BehindLibrary(state) => (None, facts.points_to.behind_library(state)),
                        Designator::Linked(node, links) => (None, facts.points_to.linked(function, &node, links)),
                        Designator::List(list) => (None, facts.points_to.listed(function, &list)),
                        Designator::Pointer(operand) => {
                            let address = facts.points_to.addresses.of(function, &operand);
                            (Some((address, operand)), facts.points_to.spots(function, &address))
                        }
                    };
                    let wild = address.is_some_and(|(_, operand)| {
                        !access.perhaps && facts.points_to.is_wild(function, &operand) && spots.is_empty()
                    });
                    let address = address.map(|(address, _)| address);
                    let lvalue = lvalue(&access, &facts.program.sites[site]);
                    let is_stream = |spot: &Spot| matches!(facts.points_to.origin(spot.object), Origin::Stream(_));
                    let mut spots: Vec<Spot> = spots;
                    // Nothing is freed when one of the C library's own streams is closed, and what may be to other memory as
                    // well is no access to one.
                    let elsewhere = facts.points_to.uses_types() && !spots.iter().all(is_stream);
                    let into_streams = !elsewhere || self.touches_streams(lvalue);
                    spots.retain(|spot| !is_stream(spot) || access.kind != AccessKind::Free && into_streams);
                    // A variable is never freed.
                    let is_variable = |spot: &Spot| {
                        matches!(facts.points_to.origin(spot.object), Origin::Global(_) | Origin::Stack(..))
                    };
                    spots.retain(|spot| access.kind != AccessKind::Free || !is_variable(spot));
                    let spots = if wild { self.anywhere() } else { self.under_all_names(&spots) };
                    if !self.spots.get(spots).is_empty() {
                        let fresh = address.as_ref().is_some_and(|a| self.fresh.is_fresh(place, a));
                        let weak = access.atomic && passes_weakly(facts, function, &statement.stmt);
                        found.push(Interesting { place, site, access, address, spots, wild, fresh, weak, lvalue });
                    }
                }
            }
        }
        found
    }

    /// Whether an access as this may be to a stream of the C library.
    fn touches_streams(&self, lvalue: Option<Lvalue>) -> bool {
        let stream = Lvalue::Scalar(Content::Stream);
        lvalue.is_none_or(|lvalue| may_be_same(&self.facts.program.records, lvalue, stream))
    }

    /// Those of the spots that threads may share, under all their names.
    fn under_all_names(&mut self, spots: &[Spot]) -> SpotsId {
        let mut all = Vec::new();
        for spot in spots.iter().filter(|s| self.facts.is_exposed(s.object)) {
            all.push(*spot);
            all.extend(self.facts.points_to.clones(spot.object).iter().map(|clone| Spot { object: *clone, ..*spot }));
        }
        self.spots.id(all)
    }
    /// Where an access goes of which nothing is known.
    fn anywhere(&mut self) -> SpotsId {
        let outside = self.facts.points_to.object(Origin::Outside);
        self.spots.id(outside.map(|outside| Spot::new(outside, Shift::ANYWHERE)).into_iter().collect())
    }

    fn collect(&mut self, id: ContextId, context: &Context, item: &Interesting, holding: &Holding) {
        let facts = self.facts;
        let address = item.address.as_ref();
        let is_bound = |address: &&Address| match address.base {
            Base::Local(local) => matches!(context.bindings.get(local.0 as usize), Some(Binding::Spot(_))),
            _ => false,
        };
        let (spots, wild) = match address.filter(is_bound) {
            Some(address) => (self.under_all_names(&facts.spots(context, address)), false),
            None => (item.spots, item.wild),
        };
        let mut locks: Vec<(Lock, LockMode)> = Vec::new();
        let (mut beside, mut stripes) = (Vec::new(), Vec::new());
        for (lock, held) in &holding.locks {
            match (lock, address) {
                (Lock::Symbol(symbol), Some(address)) => match address.distance(symbol) {
                    Some(distance) => beside.push((distance, held.mode)),
                    None => stripes.extend(Stripe::new(facts, context, address, symbol, held.mode)),
                },
                (Lock::Symbol(_), None) => {}
                (other, _) => locks.push((*other, held.mode)),
            }
        }
        beside.sort_unstable();
        stripes.sort_unstable();
        let named = |lock: &Lock| matches!(lock, Lock::At(_));
        let histories = holding.histories.iter().filter(|(lock, history)| !history.is_empty() && named(lock));
        let own = address.and_then(|a| facts.from_argument(context, a));
        let unclaimed = address.and_then(|a| facts.order.unclaimed(id, item.place, a));
        let when = (context.thread, context.moment_at(item.place.1, item.place.2));
        // Who it is matters where arguments tell threads apart.
        let whole = own.is_some() || unclaimed.is_some();
        let (thread, moment) = if whole { when } else { self.whens.of(when) };
        let way = self.ways.id(Way {
            len: item.access.len,
            kind: item.access.kind,
            atomic: item.access.atomic,
            weak: item.weak,
            locks,
            beside,
            stripes,
            histories: histories.map(|(lock, h)| (*lock, h.iter().copied().filter(named).collect())).collect(),
            thread,
            moment,
            own,
            unclaimed,
            fresh: item.fresh,
            wild,
            lanes: self.lanes.contains(&item.site),
            lvalue: item.lvalue,
        });
        self.found.entry((spots, way)).or_default().push(item.site);
    }

    /// Brings ways, sets and classes in order.
    fn finish(self) -> Events {
        let Self { facts, mut ways, spots, found, .. } = self;
        let mut at: FxHashMap<(Spot, WayId), Vec<SiteId>> = FxHashMap::default();
        let mut by_object: BTreeMap<ObjectId, Vec<(Spot, WayId)>> = BTreeMap::new();
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by_key(|(key, _)| *key);
        for ((targets, way), mut sites) in found {
            sites.sort_unstable();
            sites.dedup();
            let is_to_crowd = spots.get(targets).iter().any(|spot| is_crowd(facts, spot.object));
            for spot in spots.get(targets) {
                let way = ways.get(way).at(facts, *spot).map_or(way, |refined| ways.id(refined));
                let is_typed = may_be_told_by_type(facts, spot.object, is_to_crowd);
                let way = if is_typed { way } else { without_lvalue(&mut ways, way) };
                let known = at.entry((*spot, way)).or_default();
                if known.is_empty() {
                    by_object.entry(spot.object).or_default().push((*spot, way));
                }
                known.extend_from_slice(&sites);
            }
        }
        // Numbers in the order of what they stand for.
        let (ways, ranks) = ways.sorted();
        let mut sites = Interner::<SitesId, Vec<SiteId>>::default();
        let mut classes: BTreeMap<ObjectId, Vec<Class>> = BTreeMap::new();
        for (object, list) in by_object {
            let mut of_object: Vec<Class> = Vec::with_capacity(list.len());
            for (spot, way) in list {
                let mut set = at.remove(&(spot, way)).unwrap_or_default();
                set.sort_unstable();
                set.dedup();
                of_object.push(Class { spot, way: ranks[way], sites: sites.id(set) });
            }
            of_object.sort_unstable();
            classes.insert(object, of_object);
        }
        Events { ways, sites: sites.into_values(), classes }
    }
}
