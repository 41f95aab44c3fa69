//! Pairs of bundles that conflict, and what keeps each from being a race.

use facts::spot::{ObjectId, Spot};
use facts::{Rounds, Solved};
use model::index::IndexVec;
use model::{SiteId, Spent};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bundles::{Brief, BriefId, Bundle, Bundler, Bundles, Cell};
use crate::declared::Declared;
use crate::events::{Class, Events, SitesId, Way};
use crate::lvalues::Lvalues;
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

/// All pairs.
pub(crate) struct Meetings<'a, 'p> {
    pub(crate) facts: &'a Solved<'p>,
    pub(crate) events: &'a Events,
    pub(crate) reasons: Reasons<'a, 'p>,
    /// The sets of sites that bundles have.
    pub(crate) sites: IndexVec<SitesId, Vec<SiteId>>,
    briefs: IndexVec<BriefId, Brief>,
    of_object: FxHashMap<ObjectId, Bundles>,
    /// Accesses that may go anywhere.
    wild: Vec<Bundle>,
    /// All others, wherever they go.
    known: Vec<Bundle>,
    /// For each brief its thread and moment, by number.
    whens: IndexVec<BriefId, usize>,
    /// Which of these may be at the same time, row by row.
    parallel: Vec<bool>,
    when_count: usize,
    lvalues: Lvalues,
    declared: Declared,
}

impl<'a, 'p> Meetings<'a, 'p> {
    pub(crate) fn new(facts: &'a Solved<'p>, events: &'a Events, reasons: Reasons<'a, 'p>) -> Result<Self, Spent> {
        let mut rounds = Rounds::new(facts.budget, 64);
        let mut bundler = Bundler::new(events);
        let is_wild = |class: &Class| events.ways[class.way].wild;
        let mut of_object = FxHashMap::default();
        for (object, classes) in &events.classes {
            rounds.begin()?;
            let known: Vec<Class> = classes.iter().filter(|class| !is_wild(class)).copied().collect();
            of_object.insert(*object, bundler.of(&known));
        }
        let (mut wild, mut known) = (Vec::new(), Vec::new());
        if events.all().any(is_wild) {
            // Where the other goes is of no importance, so ways and sites decide.
            let mut seen = FxHashSet::default();
            let distinct: Vec<Class> =
                events.all().filter(|class| seen.insert((class.way, class.sites))).copied().collect();
            wild = bundler.by_way(distinct.iter().filter(|class| is_wild(class)).copied());
            known = bundler.by_way(distinct.iter().filter(|class| !is_wild(class)).copied());
        }
        let Bundler { briefs, sites, .. } = bundler;
        let briefs = briefs.into_values();
        let mut numbers = FxHashMap::default();
        let mut all_whens = Vec::new();
        let mut whens = IndexVec::new();
        for brief in &briefs {
            whens.push(*numbers.entry(brief.when).or_insert_with(|| {
                all_whens.push(brief.when);
                all_whens.len() - 1
            }));
        }
        let mut parallel = Vec::with_capacity(all_whens.len() * all_whens.len());
        for one in &all_whens {
            rounds.begin()?;
            parallel.extend(all_whens.iter().map(|other| facts.order.parallel(*one, *other)));
        }
        let sites = sites.into_values();
        let when_count = all_whens.len();
        let lvalues = Lvalues::new(&facts.program.records, &briefs, &mut rounds)?;
        let declared = Declared::new(facts, lvalues.all());
        Ok(Self {
            facts,
            events,
            reasons,
            sites,
            briefs,
            of_object,
            wild,
            known,
            whens,
            parallel,
            when_count,
            lvalues,
            declared,
        })
    }

    /// Acts on all pairs of an object's bundles that conflict, and on those of its own with its collapsed node's.
    pub(crate) fn of(&self, object: ObjectId, mut act: impl FnMut(&Bundle, &Bundle, Between)) -> Result<(), Spent> {
        let Some(own) = self.of_object.get(&object) else { return Ok(()) };
        let mut rounds = Rounds::new(self.facts.budget, 256);
        let is_member = self.facts.points_to.collapsed_node(object).is_some();
        let known = if is_member { Known::Object } else { Known::Crowd };
        let mut judge = |one: &Bundle, other: &Bundle| {
            if let Some(between) = self.between(one, other, known) {
                act(one, other, between);
            }
        };
        for (number, one) in own.anywhere.iter().enumerate() {
            rounds.begin()?;
            own.anywhere[number..].iter().chain(&own.elsewhere).for_each(|other| judge(one, other));
        }
        let mut cells = own.cells();
        while let Some((cell, bundles)) = cells.next() {
            rounds.begin()?;
            for (number, one) in at_bytes(bundles).enumerate() {
                at_bytes(bundles).skip(number).for_each(|other| judge(one, other));
            }
            for (_, others) in cells.clone().filter(|(other, _)| cell.meets(other)) {
                at_bytes(bundles).for_each(|one| at_bytes(others).for_each(|other| judge(one, other)));
            }
        }
        // Pointers to the whole collapsed node may point to this member of it.
        let collapsed = self.facts.points_to.collapsed_node(object);
        let Some(node) = collapsed.and_then(|node| self.of_object.get(&node)) else { return Ok(()) };
        self.with_node(object, own, node, act)
    }

    /// Acts on the pairs of a member's bundles with its collapsed node's.
    fn with_node(
        &self,
        object: ObjectId,
        own: &Bundles,
        node: &Bundles,
        mut act: impl FnMut(&Bundle, &Bundle, Between),
    ) -> Result<(), Spent> {
        let mut rounds = Rounds::new(self.facts.budget, 256);
        let mut judge = |one: &Bundle, other: &Bundle, at: Option<&(Way, Spot)>| {
            let Some(between) = self.between(one, other, at.map_or(Known::Crowd, Known::Member)) else { return };
            let is_elsewhere = between != Between::Absent(Cause::OtherType) && self.is_elsewhere(object, other.brief);
            act(one, other, if is_elsewhere { Between::Absent(Cause::OtherType) } else { between });
        };
        let all = || node.anywhere.iter().chain(&node.elsewhere);
        let unique = self.facts.is_unique(object);
        let concerned: FxHashSet<BriefId> =
            all().map(|bundle| bundle.brief).filter(|brief| unique && self.briefs[*brief].concerns(object)).collect();
        let plain = |bundle: &&Bundle| !concerned.contains(&bundle.brief);
        for one in &own.anywhere {
            rounds.begin()?;
            all().filter(plain).for_each(|other| judge(one, other, None));
        }
        for one in &own.elsewhere {
            rounds.begin()?;
            node.anywhere.iter().filter(plain).for_each(|other| judge(one, other, None));
        }
        let exact: Vec<(&Cell, &[Bundle])> =
            node.cells().filter(|(_, others)| at_bytes(others).any(|other| plain(&other))).collect();
        for (cell, bundles) in own.cells().filter(|(_, bundles)| at_bytes(bundles).next().is_some()) {
            rounds.begin()?;
            for (_, others) in exact.iter().filter(|(other, _)| cell.meets(other)) {
                at_bytes(bundles)
                    .for_each(|one| at_bytes(others).filter(plain).for_each(|other| judge(one, other, None)));
            }
        }
        // What more is known of locks where the object is this member depends on the bytes.
        for (there, others) in node.cells().filter(|_| !concerned.is_empty()) {
            for other in others.iter().filter(|other| !plain(other)) {
                rounds.begin()?;
                let spot = Spot { object, ..there.spot };
                let way = &self.events.ways[other.classes[0].way];
                let at = way.at(self.facts, spot).map(|way| (way, spot));
                for (_, bundles) in own.cells().filter(|(cell, _)| cell.meets(there)) {
                    bundles.iter().for_each(|one| judge(one, other, at.as_ref()));
                }
            }
        }
        Ok(())
    }

    /// Whether an access to any of very many objects cannot be to this one, because of what it is.
    fn is_elsewhere(&self, object: ObjectId, brief: BriefId) -> bool {
        let brief_is = &self.briefs[brief];
        if brief_is.lanes || !self.declared.is_variable(object) {
            return false;
        }
        let lvalue = self.lvalues.of(brief);
        brief_is.frees || lvalue.is_some_and(|at| self.declared.without(object).is_some_and(|none| none.contains(at)))
    }

    /// Acts on all pairs with an access that may go anywhere, and of such accesses.
    pub(crate) fn wild(&self, mut act: impl FnMut(&Bundle, &Bundle, Between)) -> Result<(), Spent> {
        let mut rounds = Rounds::new(self.facts.budget, 16);
        for (number, one) in self.wild.iter().enumerate() {
            rounds.begin()?;
            for other in self.known.iter().chain(&self.wild[number..]) {
                if let Some(between) = self.between(other, one, Known::Crowd) {
                    act(other, one, between);
                }
            }
        }
        Ok(())
    }

    /// Whether some access may go anywhere.
    pub(crate) fn any_wild(&self) -> bool {
        !self.wild.is_empty()
    }

    /// What keeps two bundles apart that touch the same memory; `None` if they do not conflict.
    fn between(&self, one: &Bundle, other: &Bundle, known: Known<'_>) -> Option<Between> {
        let (a, b) = (&self.briefs[one.brief], &self.briefs[other.brief]);
        if !(a.writes || b.writes) || a.atomic && b.atomic {
            return None;
        }
        if a.lanes && b.lanes {
            return Some(Between::Nothing);
        }
        if known != Known::Object && self.lvalues.are_apart(one.brief, other.brief) {
            return Some(Between::Absent(Cause::OtherType));
        }
        if !self.parallel[self.whens[one.brief] * self.when_count + self.whens[other.brief]] {
            return Some(Between::Absent(Cause::NeverParallel));
        }
        let member = if let Known::Member(way) = known { Some(way) } else { None };
        if a.is_guarded() && (b.is_guarded() || member.is_some()) || a.fresh && b.fresh {
            // Any two classes of theirs will do.
            let (here, there) = (one.classes[0], other.classes[0]);
            let way = |class: Class| (&self.events.ways[class.way], class.spot);
            let there = member.map_or(way(there), |(way, spot)| (way, *spot));
            if let Some(cause) = self.reasons.of(way(here), there) {
                return Some(Between::Absent(cause));
            }
        }
        let publication = (a.fresh || b.fresh) && !a.wild && !b.wild;
        Some(if publication { Between::Publication } else { Between::Nothing })
    }
}

/// What is known of the object that two accesses meet at.
#[derive(Clone, Copy, PartialEq)]
enum Known<'k> {
    /// Which member of a collapsed node it is, for both.
    Object,
    /// One of the accesses may be to any of very many, or neither says as what it is made.
    Crowd,
    /// The same; the second is as it is where it is to this object.
    Member(&'k (Way, Spot)),
}

/// Bundles of a cell that its bytes may matter for.
fn at_bytes(bundles: &[Bundle]) -> impl Iterator<Item = &Bundle> + Clone + '_ {
    bundles.iter().filter(|bundle| !bundle.anywhere)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use facts::Facts;
    use program::Program;
    use program::members::may_be_same;
    use testkit::Limits;
    use testkit::generator::{Case, Feature};

    use super::*;
    use crate::effects::Effects;
    use crate::entries::Entries;
    use crate::events::events;
    use crate::semaphores::Semaphores;
    use crate::whens::Whens;

    /// Verdicts of single pairs of classes, with how many there are of each.
    type Verdicts = BTreeMap<([Class; 2], String), u64>;

    fn note(verdicts: &mut Verdicts, one: &Class, other: &Class, between: Between) {
        let mut classes = [*one, *other];
        classes.sort();
        *verdicts.entry((classes, format!("{between:?}"))).or_default() += 1;
    }

    /// What keeps two classes apart, class by class and without briefs.
    fn naive(m: &Meetings<'_, '_>, one: &Class, other: &Class, member: Option<ObjectId>) -> Option<Between> {
        let (a, b) = (&m.events.ways[one.way], &m.events.ways[other.way]);
        let there = Spot { object: member.unwrap_or(other.spot.object), ..other.spot };
        let conflict = (a.kind.writes() || b.kind.writes()) && !(a.atomic && b.atomic);
        if a.wild || b.wild || !conflict || !one.spot.overlaps(a.len, there, b.len) {
            return None;
        }
        if a.lanes && b.lanes {
            return Some(Between::Nothing);
        }
        let is_crowd = member.is_some() || m.facts.points_to.collapsed_node(one.spot.object).is_none();
        let is_apart = |(one, other)| !may_be_same(&m.facts.program.records, one, other);
        if is_crowd && a.lvalue.zip(b.lvalue).is_some_and(is_apart) {
            return Some(Between::Absent(Cause::OtherType));
        }
        if !m.facts.order.parallel((a.thread, a.moment), (b.thread, b.moment)) {
            return Some(Between::Absent(Cause::NeverParallel));
        }
        let refined = member.and_then(|_| b.at(m.facts, there));
        let spot = if refined.is_some() { there } else { other.spot };
        let cause = m.reasons.of((a, one.spot), (refined.as_ref().unwrap_or(b), spot));
        let open = if a.fresh || b.fresh { Between::Publication } else { Between::Nothing };
        Some(cause.map_or(open, Between::Absent))
    }

    /// Compares all pairs of a program; how many there are, and how many of those with a collapsed node.
    fn compare(program: Program) -> (usize, usize) {
        let facts = Facts::of(program);
        let solved = facts.solved().unwrap();
        let effects = Effects::new(&solved).unwrap();
        let entries = Entries::new(&solved, &effects).unwrap();
        let semaphores = Semaphores::new(&solved, &effects, &entries);
        let events = events(&solved, &effects, &entries, &Whens::merged(&solved)).unwrap();
        let meetings = Meetings::new(&solved, &events, Reasons { facts: &solved, semaphores }).unwrap();
        let (mut compared, mut with_node) = (0, 0);
        for (object, classes) in &events.classes {
            let (mut slow, mut fast) = (Verdicts::new(), Verdicts::new());
            for (number, one) in classes.iter().enumerate() {
                for other in &classes[number..] {
                    naive(&meetings, one, other, None).into_iter().for_each(|b| note(&mut slow, one, other, b));
                }
                let node = solved.points_to.collapsed_node(*object);
                for other in node.and_then(|node| events.classes.get(&node)).into_iter().flatten() {
                    let between = naive(&meetings, one, other, Some(*object));
                    with_node += usize::from(between.is_some());
                    between.into_iter().for_each(|b| note(&mut slow, one, other, b));
                }
            }
            let expand = |one: &Bundle, other: &Bundle, between| {
                one.each_pair(other).for_each(|(a, b)| note(&mut fast, a, b, between));
                assert_eq!(one.each_pair(other).count() as u64, one.pairs(other));
            };
            meetings.of(*object, expand).unwrap();
            // Which of several causes is found depends on the order of the two.
            let kinds = |verdicts: Verdicts| {
                let mut kinds: BTreeMap<([Class; 2], String), u64> = BTreeMap::new();
                for ((classes, name), count) in verdicts {
                    let kind = if name.starts_with("Absent") { "Absent".to_owned() } else { name };
                    *kinds.entry((classes, kind)).or_default() += count;
                }
                kinds
            };
            compared += slow.len();
            assert_eq!(kinds(slow), kinds(fast), "object {object:?}\n{}", facts.program());
        }
        (compared, with_node)
    }

    #[test]
    fn bundles_say_what_their_classes_say() {
        let mut compared = 0;
        for seed in 0..testkit::programs(300) {
            let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
            compared += compare(case.program()).0;
        }
        assert!(compared > 1_000, "{compared}");
    }

    /// Very many blocks behind one pointer, some of them written under their own name, with and without locks.
    #[test]
    fn so_do_those_of_collapsed_nodes() {
        let blocks = 40;
        let globals: String = (0..blocks).map(|n| format!("global x{n}: 48\n")).collect();
        let chosen = |n: u32| format!("  %q{n} = select %c, @x{n}, %q{}\n", n.wrapping_sub(1));
        let choice: String = (1..blocks).map(chosen).collect();
        let text = format!(
            "record \"a\" {{ pointer 0 8, integer 40 8 }}\nrecord \"b\" {{ integer 0 4, integer 4 4 }}\n{globals}\
             global m: 40\nfn worker(%c) {{\nentry:\n  %q0 = select %c, @x0, @x0\n{choice}  \
             lock %q{last}\n  %f = offset %q{last}, 1, 40, 0\n  store 8, %f, 1 !a.c:1:1 member 0 40 48\n  \
             unlock %q{last}\n  lock @x7\n  store 4, @x7+40, 1\n  unlock @x7\n  %e = offset %q{last}, %c, 1, 0\n  \
             store 1, %e, 1\n  store 4, %q{last}, 1 !a.c:2:1 integer\n  lock @m\n  \
             store 4, @x3+4, 1 !a.c:3:1 member 1 4 8\n  unlock @m\n  \
             return 0\n}}\nfn main(%c) {{\nentry:\n  %t = create &worker, %c\n  %u = create &worker, %c\n  store 4, @x3+4, 1\n  \
             return 0\n}}\nentry main\n",
            last = blocks - 1,
        );
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(compare(program).1 > 8);
        assert!(Facts::of(Program::parse(&text).unwrap()).points_to().unwrap().uses_types());
    }
}
