//! Classes that every verdict is the same for, so that verdicts are given to pairs of bundles and not to pairs of classes.
//!
//! What decides about a pair is the [`Brief`] of either way and, where both have something that depends on the accessed
//! bytes (a lock beside them, a slot of the thread's own), the bytes. So the classes of one brief that may be anywhere in
//! an object are one bundle, and the others are one for each brief and cell. A pair of bundles stands for all pairs of
//! their classes, exactly: nothing is merged that could be told apart. An object has few briefs, whatever the number of
//! sites that access it.

use std::ops::Range;

use facts::order::{MomentId, ThreadId};
use facts::spot::{ObjectId, Spot};
use model::index::{IndexVec, index_type};
use model::{AccessKind, LockMode, SiteId};
use program::Lvalue;
use rustc_hash::FxHashMap;

use crate::events::{Class, Events, SitesId, Way, WayId};
use crate::interner::Interner;
use crate::lock::Lock;
use crate::stripe::Stripe;

index_type! {
    /// A brief.
    pub(crate) struct BriefId("b");
}

/// What of a way decides verdicts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Brief {
    pub(crate) writes: bool,
    pub(crate) frees: bool,
    pub(crate) atomic: bool,
    pub(crate) fresh: bool,
    pub(crate) wild: bool,
    pub(crate) lanes: bool,
    pub(crate) when: (Option<ThreadId>, MomentId),
    locks: Vec<(Lock, LockMode)>,
    beside: Vec<(i64, LockMode)>,
    stripes: Vec<Stripe>,
    histories: Vec<(Lock, Vec<Lock>)>,
    own: Option<facts::FromArgument>,
    unclaimed: Option<(ThreadId, i64)>,
    pub(crate) lvalue: Option<Lvalue>,
}

impl Brief {
    fn new(way: &Way) -> Self {
        Self {
            writes: way.kind.writes(),
            frees: way.kind == AccessKind::Free,
            atomic: way.atomic,
            fresh: way.fresh,
            wild: way.wild,
            lanes: way.lanes,
            when: (way.thread, way.moment),
            locks: way.locks.clone(),
            beside: way.beside.clone(),
            stripes: way.stripes.clone(),
            histories: way.histories.clone(),
            own: way.own,
            unclaimed: way.unclaimed,
            lvalue: way.lvalue,
        }
    }
    /// Whether there is a lock or the like.
    pub(crate) fn is_guarded(&self) -> bool {
        !self.locks.is_empty() || !self.histories.is_empty() || self.is_placed()
    }
    /// Whether verdicts may depend on the accessed bytes, where those of the other do, too.
    fn is_placed(&self) -> bool {
        !self.beside.is_empty() || !self.stripes.is_empty() || self.own.is_some() || self.unclaimed.is_some()
    }
    /// Whether more may be known of the locks where the accessed object is known to be this one ([`Way::at`]).
    pub(crate) fn concerns(&self, object: ObjectId) -> bool {
        let in_object = |(lock, _): &(Lock, LockMode)| matches!(lock, Lock::At(at) if at.object == object);
        !self.beside.is_empty() || self.locks.iter().any(in_object)
    }
}

/// Classes of one brief.
pub(crate) struct Bundle {
    /// Which one it is of all.
    pub(crate) number: u32,
    pub(crate) brief: BriefId,
    pub(crate) classes: Vec<Class>,
    /// The sites of all of them.
    pub(crate) sites: SitesId,
    /// They may be anywhere in the object, and no verdict depends on where.
    pub(crate) anywhere: bool,
}

impl Bundle {
    /// How many pairs of classes it has with another, or with itself.
    pub(crate) fn pairs(&self, other: &Self) -> u64 {
        let (here, there) = (self.classes.len() as u64, other.classes.len() as u64);
        if self.number == other.number { here * (here + 1) / 2 } else { here * there }
    }
    /// Those pairs.
    pub(crate) fn each_pair<'b>(&'b self, other: &'b Self) -> impl Iterator<Item = (&'b Class, &'b Class)> + 'b {
        let same = self.number == other.number;
        let from = move |at: usize| if same { at } else { 0 };
        self.classes.iter().enumerate().flat_map(move |(at, a)| other.classes[from(at)..].iter().map(move |b| (a, b)))
    }
}

/// Bundles with the same bytes.
pub(crate) struct Cell {
    pub(crate) spot: Spot,
    pub(crate) len: Option<u64>,
    /// Their numbers in [`Bundles::by_cell`].
    bundles: Range<usize>,
}

impl Cell {
    /// Whether some bytes of the cell are some of the other, both being of one object.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let there = Spot { object: self.spot.object, ..other.spot };
        self.spot.overlaps(self.len, there, other.len)
    }
    /// Whether its bytes may be any of the object's.
    fn is_anywhere(&self) -> bool {
        self.len.is_none() || self.spot.stride == 1 && self.len != Some(0)
    }
}

/// The bundles of an object.
#[derive(Default)]
pub(crate) struct Bundles {
    /// One for each brief of what may be anywhere and depends on no bytes.
    pub(crate) anywhere: Vec<Bundle>,
    /// One for each brief of everything else.
    pub(crate) elsewhere: Vec<Bundle>,
    /// All of it, cell by cell.
    cells: Vec<Cell>,
    by_cell: Vec<Bundle>,
}

impl Bundles {
    /// Cells with bundles.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&Cell, &[Bundle])> + Clone + '_ {
        self.cells.iter().map(|cell| (cell, &self.by_cell[cell.bundles.clone()]))
    }
}

/// Makes bundles.
pub(crate) struct Bundler<'a> {
    events: &'a Events,
    pub(crate) briefs: Interner<BriefId, Brief>,
    pub(crate) of_way: IndexVec<WayId, BriefId>,
    pub(crate) sites: Interner<SitesId, Vec<SiteId>>,
    made: u32,
}

impl<'a> Bundler<'a> {
    pub(crate) fn new(events: &'a Events) -> Self {
        let mut briefs = Interner::default();
        let mut of_way = IndexVec::new();
        for way in &events.ways {
            of_way.push(briefs.id(Brief::new(way)));
        }
        Self { events, briefs, of_way, sites: Interner::default(), made: 0 }
    }

    /// The bundles of an object's classes, which are sorted.
    pub(crate) fn of(&mut self, classes: &[Class]) -> Bundles {
        let mut found = Bundles::default();
        let mut anywhere: FxHashMap<BriefId, Vec<Class>> = FxHashMap::default();
        let mut elsewhere: FxHashMap<BriefId, Vec<Class>> = FxHashMap::default();
        let len = |class: &Class| self.events.ways[class.way].len;
        for same in classes.chunk_by(|a, b| a.spot == b.spot && len(a) == len(b)) {
            let at = found.by_cell.len();
            let mut cell = Cell { spot: same[0].spot, len: len(&same[0]), bundles: at..at };
            for (brief, of_brief) in self.by_brief(same.iter().copied(), |_| None) {
                let is_anywhere = cell.is_anywhere() && !self.briefs.get(brief).is_placed();
                let all = if is_anywhere { &mut anywhere } else { &mut elsewhere };
                all.entry(brief).or_default().extend_from_slice(&of_brief);
                found.by_cell.push(self.bundle(brief, of_brief, is_anywhere));
            }
            cell.bundles.end = found.by_cell.len();
            found.cells.push(cell);
        }
        found.anywhere = self.in_order(anywhere, true);
        found.elsewhere = self.in_order(elsewhere, false);
        found
    }

    /// Bundles of classes of which nothing but their way matters.
    pub(crate) fn by_way(&mut self, classes: impl Iterator<Item = Class>) -> Vec<Bundle> {
        let events = self.events;
        let found = self.by_brief(classes, |class| events.ways[class.way].len);
        found.into_iter().map(|(brief, classes)| self.bundle(brief, classes, false)).collect()
    }

    /// Classes by brief, in the order of the first of each; and by what more matters where verdicts depend on bytes.
    fn by_brief(
        &self,
        classes: impl Iterator<Item = Class>,
        more: impl Fn(&Class) -> Option<u64>,
    ) -> Vec<(BriefId, Vec<Class>)> {
        let mut numbers: FxHashMap<(BriefId, Option<u64>), usize> = FxHashMap::default();
        let mut found: Vec<(BriefId, Vec<Class>)> = Vec::new();
        for class in classes {
            let brief = self.of_way[class.way];
            let more = if self.briefs.get(brief).is_placed() { more(&class) } else { None };
            let number = *numbers.entry((brief, more)).or_insert_with(|| {
                found.push((brief, Vec::new()));
                found.len() - 1
            });
            found[number].1.push(class);
        }
        found
    }
    fn in_order(&mut self, all: FxHashMap<BriefId, Vec<Class>>, anywhere: bool) -> Vec<Bundle> {
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_unstable();
        all.into_iter().map(|(brief, classes)| self.bundle(brief, classes, anywhere)).collect()
    }
    fn bundle(&mut self, brief: BriefId, classes: Vec<Class>, anywhere: bool) -> Bundle {
        let sites = match &classes[..] {
            [only] => self.events.sites[only.sites].clone(),
            _ => {
                let mut sets: Vec<SitesId> = classes.iter().map(|class| class.sites).collect();
                sets.sort_unstable();
                sets.dedup();
                let mut all: Vec<SiteId> = sets.into_iter().flat_map(|set| &self.events.sites[set]).copied().collect();
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        self.made += 1;
        Bundle { number: self.made, brief, classes, sites: self.sites.id(sites), anywhere }
    }
}
