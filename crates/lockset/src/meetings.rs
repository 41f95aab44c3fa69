//! Pairs of classes that conflict, and what keeps each from being a race.
//!
//! An object may have very many classes, so what most pairs end with is decided by small tables: whether the two
//! conflict, and whether they may be at the same time.

use facts::spot::{ObjectId, Spot};
use facts::{Rounds, Solved};
use model::Spent;
use model::index::IndexVec;
use rustc_hash::FxHashMap;

use crate::events::{Class, Events, Way, WayId};
use crate::reasons::{Cause, Reasons};

/// What keeps two accesses apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    /// This does.
    Absent(Cause),
    /// One is to a new block, and its address has to be passed on without a race.
    Publication,
    /// Nothing.
    Nothing,
}

/// What decides most pairs.
#[derive(Clone, Copy)]
struct Brief {
    writes: bool,
    atomic: bool,
    fresh: bool,
    lanes: bool,
    /// Whether there is a lock or the like.
    guarded: bool,
    /// Thread and moment.
    when: u32,
}

/// Classes of an object with the same bytes, by their numbers.
struct Cell {
    spot: Spot,
    len: Option<u64>,
    classes: std::ops::Range<usize>,
}

/// All pairs.
pub(crate) struct Meetings<'a, 'p> {
    pub(crate) facts: &'a Solved<'p>,
    pub(crate) events: &'a Events,
    pub(crate) reasons: Reasons<'a, 'p>,
    briefs: IndexVec<WayId, Brief>,
    /// Which of the `whens` may be at the same time, row by row.
    parallel: Vec<bool>,
    whens: usize,
}

impl<'a, 'p> Meetings<'a, 'p> {
    pub(crate) fn new(facts: &'a Solved<'p>, events: &'a Events, reasons: Reasons<'a, 'p>) -> Self {
        let mut numbers = FxHashMap::default();
        let mut whens = Vec::new();
        let mut briefs = IndexVec::new();
        for way in events.ways.iter() {
            let when = *numbers.entry((way.thread, way.moment)).or_insert_with(|| {
                whens.push((way.thread, way.moment));
                whens.len() as u32 - 1
            });
            let guarded = !way.locks.is_empty()
                || !way.beside.is_empty()
                || !way.stripes.is_empty()
                || !way.histories.is_empty()
                || way.own.is_some()
                || way.unclaimed.is_some();
            let Way { atomic, fresh, lanes, .. } = *way;
            briefs.push(Brief { writes: way.kind.writes(), atomic, fresh, lanes, guarded, when });
        }
        let pairs = whens.iter().flat_map(|a| whens.iter().map(move |b| (*a, *b)));
        let parallel = pairs.map(|(a, b)| facts.order.parallel(a, b)).collect();
        Self { facts, events, reasons, briefs, parallel, whens: whens.len() }
    }

    /// Acts on all pairs of an object's classes that conflict, and on those of its own with its collapsed node's.
    pub(crate) fn of(&self, object: ObjectId, mut act: impl FnMut(&Class, &Class, Between)) -> Result<(), Spent> {
        let mut rounds = Rounds::new(self.facts.budget, 256);
        let classes = self.known(object);
        let cells = self.cells(&classes, None);
        for (number, cell) in cells.iter().enumerate() {
            let met: Vec<&Cell> = cells[number..].iter().filter(|other| meet(cell, other)).collect();
            for at in cell.classes.clone() {
                rounds.begin()?;
                for other in &met {
                    let from = if other.classes == cell.classes { at } else { other.classes.start };
                    for there in from..other.classes.end {
                        let (one, other) = (&classes[at], &classes[there]);
                        if let Some(between) = self.between(one, other, None) {
                            act(one, other, between);
                        }
                    }
                }
            }
        }
        // Pointers to the whole collapsed node may point to this member of it.
        let Some(collapsed) = self.facts.points_to.collapsed_node(object) else { return Ok(()) };
        let of_node = self.known(collapsed);
        let node_cells = self.cells(&of_node, Some(object));
        let members: Vec<Option<(Way, Spot)>> = of_node
            .iter()
            .map(|class| {
                let spot = Spot { object, ..class.spot };
                self.events.ways[class.way].at(self.facts, spot).map(|way| (way, spot))
            })
            .collect();
        for cell in &cells {
            let met: Vec<&Cell> = node_cells.iter().filter(|other| meet(cell, other)).collect();
            for at in cell.classes.clone() {
                rounds.begin()?;
                for there in met.iter().flat_map(|other| other.classes.clone()) {
                    let (one, other) = (&classes[at], &of_node[there]);
                    if let Some(between) = self.between(one, other, members[there].as_ref()) {
                        act(one, other, between);
                    }
                }
            }
        }
        Ok(())
    }

    /// Acts on all pairs with an access that may go anywhere, and of such accesses. Where the other goes is of no
    /// importance, so ways and sites decide.
    pub(crate) fn wild(&self, mut act: impl FnMut(&Class, &Class, Between)) -> Result<(), Spent> {
        let mut rounds = Rounds::new(self.facts.budget, 16);
        let mut seen = rustc_hash::FxHashSet::default();
        let distinct: Vec<&Class> = self.events.all().filter(|class| seen.insert((class.way, class.sites))).collect();
        let (wild, known): (Vec<&Class>, Vec<&Class>) =
            distinct.into_iter().partition(|class| self.events.ways[class.way].wild);
        for (number, one) in wild.iter().enumerate() {
            rounds.begin()?;
            for other in known.iter().chain(&wild[number..]) {
                if let Some(between) = self.between(other, one, None) {
                    act(other, one, between);
                }
            }
        }
        Ok(())
    }

    /// Whether some access may go anywhere.
    pub(crate) fn any_wild(&self) -> bool {
        self.events.ways.iter().any(|way| way.wild)
    }

    /// The classes of an object, as far as it is known that they go there.
    fn known(&self, object: ObjectId) -> Vec<Class> {
        self.events.of(object).iter().filter(|class| !self.events.ways[class.way].wild).copied().collect()
    }

    fn cells(&self, classes: &[Class], member: Option<ObjectId>) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for (number, class) in classes.iter().enumerate() {
            let spot = Spot { object: member.unwrap_or(class.spot.object), ..class.spot };
            let len = self.events.ways[class.way].len;
            match cells.last_mut() {
                Some(last) if last.spot == spot && last.len == len => last.classes.end = number + 1,
                _ => cells.push(Cell { spot, len, classes: number..number + 1 }),
            }
        }
        cells
    }

    /// What keeps two classes apart that touch the same memory; `None` if they do not conflict. The second is as it is
    /// for a member of its collapsed node, if that is given.
    fn between(&self, one: &Class, other: &Class, member: Option<&(Way, Spot)>) -> Option<Between> {
        let (a, b) = (self.briefs[one.way], self.briefs[other.way]);
        if !(a.writes || b.writes) || a.atomic && b.atomic {
            return None;
        }
        if a.lanes && b.lanes {
            return Some(Between::Nothing);
        }
        if !self.parallel[a.when as usize * self.whens + b.when as usize] {
            return Some(Between::Absent(Cause::NeverParallel));
        }
        if a.guarded && (b.guarded || member.is_some()) || a.fresh && b.fresh {
            let there = member.map_or((&self.events.ways[other.way], other.spot), |(way, spot)| (way, *spot));
            if let Some(cause) = self.reasons.of((&self.events.ways[one.way], one.spot), there) {
                return Some(Between::Absent(cause));
            }
        }
        let wild = |class: &Class| self.events.ways[class.way].wild;
        let publication = (a.fresh || b.fresh) && !wild(one) && !wild(other);
        Some(if publication { Between::Publication } else { Between::Nothing })
    }
}

fn meet(one: &Cell, other: &Cell) -> bool {
    one.spot.overlaps(one.len, other.spot, other.len)
}
