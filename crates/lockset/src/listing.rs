//! Pairs of sites with their answers, from what is known of pairs of bundles.
//!
//! The same two sets of sites meet at many objects and in many ways; what they have to be listed for, they are listed for
//! once.

use std::collections::BTreeMap;

use facts::order::ThreadId;
use facts::spot::{ObjectId, Origin};
use model::index::IndexVec;
use model::{AccessKind, Pair, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::breakdown::Breakdown;
use crate::bundles::Bundle;
use crate::events::{Class, SitesId, Way};
use crate::lock::Lock;
use crate::meetings::Meetings;
use crate::names;
use crate::publication::{self, Dirty};
use crate::reasons::Cause;
use crate::verdict::{Answer, Finding, Ground, Reason, Side, is_crowd};

/// Most warnings that are listed one by one.
const MOST_WARNINGS: usize = 12_000;
/// Most warnings of two sets of sites that are listed one by one.
const MOST_OF_SETS: usize = 400;
/// Once so many warnings are listed, no object gets more than its share.
const MANY_WARNINGS: usize = 2_000;
/// That share.
const MOST_OF_OBJECT: usize = 100;
/// Most absent pairs that are listed one by one.
const MOST_ABSENT: usize = 5_000;
/// Most pairs that are looked at to list some of them.
const MOST_LOOKS: u64 = 1_000_000;

/// How many pairs of classes conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassPairs {
    /// Those that cannot race.
    pub absent: u64,
    /// Those that may.
    pub open: u64,
}

/// Which pairs of sites may race, as pairs of sets of sites.
#[derive(Default)]
pub(crate) struct Warned {
    /// For each set those with it whose number is no smaller.
    partners: FxHashMap<SitesId, FxHashSet<SitesId>>,
    /// All sets with partners.
    all: FxHashSet<SitesId>,
    /// The sets that a site is in, of those with partners; sorted.
    sets: FxHashMap<SiteId, Vec<SitesId>>,
}

impl Warned {
    fn insert(&mut self, one: SitesId, other: SitesId) -> bool {
        let new = self.partners.entry(one.min(other)).or_default().insert(one.max(other));
        if new {
            self.all.extend([one, other]);
        }
        new
    }
    fn are_partners(&self, one: SitesId, other: SitesId) -> bool {
        self.partners.get(&one.min(other)).is_some_and(|partners| partners.contains(&one.max(other)))
    }
    /// Makes it possible to ask about sites, when no more sets are coming.
    fn index(&mut self, sites: &IndexVec<SitesId, Vec<SiteId>>) {
        self.sets.clear();
        for (id, set) in sites.iter_enumerated().filter(|(id, _)| self.all.contains(id)) {
            set.iter().for_each(|site| self.sets.entry(*site).or_default().push(id));
        }
    }
    /// Whether a pair of sites is among them.
    pub(crate) fn contains(&self, pair: Pair) -> bool {
        let of = |site: SiteId| self.sets.get(&site).map_or(&[][..], Vec::as_slice);
        let [one, other] = pair.sites().map(of);
        one.iter().any(|set| other.iter().any(|partner| self.are_partners(*set, *partner)))
    }
}

/// What was found.
pub(crate) struct Listing<'a, 'p> {
    meetings: &'a Meetings<'a, 'p>,
    /// Memory with warnings, members of collapsed nodes as their collapsed node.
    pub(crate) dirty: Dirty,
    /// Bundles whose memory was added to it.
    dirtied: FxHashSet<u32>,
    pub(crate) unknown: BTreeMap<Pair, Finding>,
    pub(crate) absent: BTreeMap<Pair, Finding>,
    pub(crate) more_warnings: u64,
    pub(crate) more_absent: u64,
    /// Sets that were warned about: each site of one may race with each of the other.
    pub(crate) warned: Warned,
    /// How many pairs of classes there are.
    pub(crate) classes: ClassPairs,
    /// What keeps the open ones open.
    pub(crate) breakdown: Breakdown,
    /// Sets that were found apart, and whether for the weakest of reasons only.
    apart: FxHashSet<(SitesId, SitesId, bool)>,
    /// Sets of single classes that were gone through for warnings.
    gone_through: FxHashSet<(SitesId, SitesId)>,
    /// How many pairs may still be looked at to list them.
    looks: u64,
    /// For each site how many objects it may touch.
    targets: FxHashMap<SiteId, Targets>,
    /// How many warnings are listed about each object.
    of_object: FxHashMap<ObjectId, usize>,
}

/// What a site may touch.
#[derive(Default)]
struct Targets {
    last: Option<ObjectId>,
    count: usize,
    /// Among them is one that stands for very many.
    crowd: bool,
}

/// The objects that each site may touch.
fn targets(meetings: &Meetings<'_, '_>) -> FxHashMap<SiteId, Targets> {
    let mut found: FxHashMap<SiteId, Targets> = FxHashMap::default();
    for (object, classes) in &meetings.events.classes {
        for site in classes.iter().flat_map(|class| &meetings.events.sites[class.sites]) {
            let targets = found.entry(*site).or_default();
            targets.crowd |= is_crowd(meetings.facts, *object);
            targets.count += usize::from(targets.last.replace(*object) != Some(*object));
        }
    }
    found
}

impl<'a, 'p> Listing<'a, 'p> {
    pub(crate) fn new(meetings: &'a Meetings<'a, 'p>) -> Self {
        Self {
            meetings,
            dirty: Dirty::default(),
            dirtied: FxHashSet::default(),
            unknown: BTreeMap::new(),
            absent: BTreeMap::new(),
            more_warnings: 0,
            more_absent: 0,
            warned: Warned::default(),
            classes: ClassPairs::default(),
            breakdown: Breakdown::default(),
            apart: FxHashSet::default(),
            gone_through: FxHashSet::default(),
            looks: MOST_LOOKS,
            targets: targets(meetings),
            of_object: FxHashMap::default(),
        }
    }

    /// All warnings are known from now on.
    pub(crate) fn all_warned(&mut self) {
        self.warned.index(&self.meetings.sites);
        self.looks = MOST_LOOKS;
    }

    fn sites(&self, class: &Class) -> &'a [SiteId] {
        &self.meetings.events.sites[class.sites]
    }
    fn way(&self, class: &Class) -> &'a Way {
        &self.meetings.events.ways[class.way]
    }

    /// How many pairs of sites two bundles have.
    fn site_pairs(&self, one: &Bundle, other: &Bundle) -> u64 {
        let count = |bundle: &Bundle| self.meetings.sites[bundle.sites].len() as u64;
        count(one) * count(other)
    }

    /// Lists absent pairs that are no warnings.
    pub(crate) fn absent(&mut self, one: &Bundle, other: &Bundle, cause: Cause) {
        self.classes.absent += one.pairs(other);
        if cause == Cause::OtherType {
            // There are very many of these, and nothing to be said about one of them.
            self.more_absent += self.site_pairs(one, other);
            return;
        }
        if self.absent.len() >= MOST_ABSENT || self.looks == 0 {
            // Counted for each way in which they meet.
            self.more_absent += self.site_pairs(one, other);
            return;
        }
        if !self.apart.insert((one.sites, other.sites, cause == Cause::NeverParallel)) {
            return;
        }
        let reason = cause.reason(self.meetings.facts);
        let mut looked = 0;
        for (a, b) in one.each_pair(other) {
            for (pair, here, there) in pairs(self.sites(a), self.sites(b)) {
                if self.absent.len() >= MOST_ABSENT || self.looks == 0 {
                    self.more_absent += self.site_pairs(one, other).saturating_sub(looked).max(1);
                    return;
                }
                (looked, self.looks) = (looked + 1, self.looks - 1);
                if self.unknown.contains_key(&pair) || self.more_warnings > 0 && self.warned.contains(pair) {
                    continue;
                }
                // What keeps parallel ones apart says more than that others are not parallel.
                if let Some(known) = self.absent.get(&pair) {
                    let weak = known.answer == Answer::Absent(Reason::NeverParallel);
                    if !weak || reason == Reason::NeverParallel {
                        continue;
                    }
                }
                let finding = self.finding(pair, (a, here), (b, there), Answer::Absent(reason.clone()));
                self.absent.insert(pair, finding);
            }
        }
    }

    /// Lists warnings; what would be absent but for something that is not modelled says so.
    pub(crate) fn warn(&mut self, one: &Bundle, other: &Bundle, hindered: Option<(&str, Cause)>) {
        self.classes.open += one.pairs(other);
        let facts = self.meetings.facts;
        self.breakdown.add(facts, self.meetings.events, one, other);
        for bundle in [one, other] {
            if self.dirtied.insert(bundle.number) {
                for spot in bundle.classes.iter().map(|class| publication::at_home(facts, class.spot)) {
                    self.dirty.entry(spot.object).or_default().insert(spot);
                }
            }
        }
        if !self.warned.insert(one.sites, other.sites) {
            return;
        }
        let (mut looked, mut all) = (0, true);
        for (a, b) in one.each_pair(other) {
            if self.unknown.len() >= MOST_WARNINGS || self.looks == 0 || self.has_its_share(a.spot.object) {
                all = false;
                break;
            }
            self.looks -= 1;
            let sets = (a.sites.min(b.sites), a.sites.max(b.sites));
            let (here, there) = (self.sites(a), self.sites(b));
            if self.gone_through.insert(sets) {
                for (number, (pair, here, there)) in pairs(here, there).enumerate() {
                    let enough = self.has_its_share(a.spot.object);
                    if self.unknown.len() >= MOST_WARNINGS || number >= MOST_OF_SETS || enough {
                        all = false;
                        break;
                    }
                    self.list(pair, (a, here), (b, there), hindered);
                }
            }
            looked += (here.len() * there.len()).min(MOST_OF_SETS) as u64;
        }
        if !all {
            // Counted set by set, not one by one: some may be listed already.
            self.more_warnings += self.site_pairs(one, other).saturating_sub(looked).max(1);
        }
    }

    /// Lists a warning, unless it is listed already.
    fn list(&mut self, pair: Pair, one: (&Class, SiteId), other: (&Class, SiteId), hindered: Option<(&str, Cause)>) {
        if self.unknown.contains_key(&pair) {
            return;
        }
        let facts = self.meetings.facts;
        let why = match hindered {
            Some((obstacle, cause)) => format!("{obstacle}; but for that, {}", cause.reason(facts)),
            None => self.why(one.0, other.0),
        };
        let ground = match hindered {
            Some(_) => Ground::Hindered,
            None if self.way(one.0).wild || self.way(other.0).wild => Ground::Wild,
            None if [one, other].iter().any(|(_, site)| self.targets.get(site).is_some_and(|t| t.crowd)) => {
                Ground::Crowd
            }
            None => Ground::Memory,
        };
        let doubts = self.doubts(one) + self.doubts(other) + 2 * usize::from(self.is_made_once(one.0, other.0));
        let answer = Answer::Unknown { why, usual_lock: None, covered: false, ground, doubts };
        let finding = self.finding(pair, one, other, answer);
        self.unknown.insert(pair, finding);
        *self.of_object.entry(one.0.spot.object).or_default() += 1;
    }

    fn has_its_share(&self, object: ObjectId) -> bool {
        self.unknown.len() >= MANY_WARNINGS
            && self.of_object.get(&object).is_some_and(|listed| *listed >= MOST_OF_OBJECT)
    }

    /// How many things speak against a warning with an access: it is to one of several blocks or to a local, or ends its life, it is not
    /// known who makes it, the first thread makes it without a lock, perhaps before there are others, or it may be to
    /// something else.
    fn doubts(&self, (class, site): (&Class, SiteId)) -> usize {
        let (facts, way) = (self.meetings.facts, self.way(class));
        let is_first = way.thread.is_some_and(|thread| facts.order.threads[thread].made_at.is_none());
        let doubts = [
            !facts.is_unique(class.spot.object),
            way.kind == AccessKind::Free,
            way.thread.is_none_or(|thread| facts.order.threads[thread].any_time),
            is_first && way.locks.is_empty(),
            matches!(facts.points_to.origin(class.spot.object), Origin::Stack(..)),
            self.targets.get(&site).is_some_and(|targets| targets.count > 1),
            self.targets.get(&site).is_some_and(|targets| targets.count > 4),
        ];
        doubts.into_iter().filter(|doubt| *doubt).count()
    }

    /// Whether two accesses are made by threads of one statement that is in no loop: only who calls its function twice makes
    /// several of them.
    fn is_made_once(&self, one: &Class, other: &Class) -> bool {
        let facts = self.meetings.facts;
        let Some(thread) = self.way(one).thread.filter(|thread| self.way(other).thread == Some(*thread)) else {
            return false;
        };
        facts.order.threads[thread].made_at.is_some_and(|(_, (function, block, _))| {
            !facts.graphs[function].loops.iter().any(|around| around.contains(block))
        })
    }

    fn finding(&self, pair: Pair, one: (&Class, SiteId), other: (&Class, SiteId), answer: Answer) -> Finding {
        let facts = self.meetings.facts;
        let side = |(class, site): (&Class, SiteId)| {
            let way = self.way(class);
            let (locks, thread) = (self.lock_names(way), names::thread(facts, way.thread));
            Side { site, kind: way.kind, atomic: way.atomic, locks, thread }
        };
        let known = if self.way(one.0).wild { other } else { one };
        let variable = names::variable(facts, known.1, known.0.spot, self.way(known.0).len);
        let sides = if one.1 <= other.1 { [side(one), side(other)] } else { [side(other), side(one)] };
        Finding { pair, variable, sides, answer }
    }
    fn lock_names(&self, way: &Way) -> Vec<String> {
        let counts = |lock: &Lock| lock.is_lock() && self.meetings.reasons.counts(lock);
        let named = way.locks.iter().filter(|(lock, _)| counts(lock));
        let mut names: Vec<String> = named.map(|(lock, _)| names::lock(self.meetings.facts, lock)).collect();
        if names.is_empty() && !way.beside.is_empty() {
            names.push("a lock in the same object".to_owned());
        }
        names
    }

    fn why(&self, one: &Class, other: &Class) -> String {
        let (a, b) = (self.way(one), self.way(other));
        if a.lanes && b.lanes {
            return format!("each {}", program::Unmodelled::LANES);
        }
        if a.wild || b.wild {
            return "nothing is known about where one of the pointers points".to_owned();
        }
        let held = |way: &Way| {
            let names = self.lock_names(way);
            if names.is_empty() { "no lock".to_owned() } else { format!("`{}`", names.join("`, `")) }
        };
        let locks = match (held(a), held(b)) {
            (a, b) if a == b && a == "no lock" => "neither holds a lock".to_owned(),
            (a, b) => format!("one holds {a}, the other {b}"),
        };
        let parallel = match (a.thread, b.thread) {
            (Some(a), Some(b)) if a == b => format!("several threads run `{}`", self.start(a)),
            (Some(a), Some(b)) => {
                format!("threads of `{}` and `{}` may run at the same time", self.start(a), self.start(b))
            }
            _ => "it is not known which threads run them".to_owned(),
        };
        let meet = if one.spot == other.spot && one.spot.stride == 0 {
            "both touch the same memory"
        } else {
            "both may touch the same memory"
        };
        format!("{meet}; {locks}; {parallel}")
    }
    fn start(&self, thread: ThreadId) -> String {
        let facts = self.meetings.facts;
        let functions = &facts.order.threads[thread].functions;
        let names: Vec<&str> = functions.iter().map(|f| facts.program.functions[*f].name.as_str()).collect();
        names.join(" or ")
    }
}

/// The pairs of sites of two sets.
fn pairs<'s>(one: &'s [SiteId], other: &'s [SiteId]) -> impl Iterator<Item = (Pair, SiteId, SiteId)> + 's {
    one.iter().flat_map(move |a| other.iter().map(move |b| (Pair::new(*a, *b), *a, *b)))
}
