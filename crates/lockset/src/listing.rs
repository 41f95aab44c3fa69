//! Pairs of sites with their answers, from what is known of pairs of classes.
//!
//! The same two sets of sites meet at many objects and in many ways; what they have to be listed for, they are listed for
//! once.

use std::collections::BTreeMap;

use facts::order::ThreadId;
use facts::spot::Spot;
use model::index::IndexVec;
use model::{Pair, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};

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
/// Most absent pairs that are listed one by one.
const MOST_ABSENT: usize = 5_000;

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
    pairs: FxHashSet<(SitesId, SitesId)>,
    /// The sets that a site is in.
    sets: FxHashMap<SiteId, Vec<SitesId>>,
}

impl Warned {
    fn new(sites: &IndexVec<SitesId, Vec<SiteId>>) -> Self {
        let mut sets: FxHashMap<SiteId, Vec<SitesId>> = FxHashMap::default();
        for (id, set) in sites.iter_enumerated() {
            set.iter().for_each(|site| sets.entry(*site).or_default().push(id));
        }
        Self { pairs: FxHashSet::default(), sets }
    }
    fn insert(&mut self, one: SitesId, other: SitesId) -> bool {
        self.pairs.insert((one.min(other), one.max(other)))
    }
    /// Whether a pair of sites is among them.
    pub(crate) fn contains(&self, pair: Pair) -> bool {
        let of = |site: SiteId| self.sets.get(&site).map_or(&[][..], Vec::as_slice);
        let [one, other] = pair.sites().map(of);
        one.iter().any(|a| other.iter().any(|b| self.pairs.contains(&(*a.min(b), *a.max(b)))))
    }
}

/// What was found.
pub(crate) struct Listing<'a, 'p> {
    meetings: &'a Meetings<'a, 'p>,
    /// Memory with warnings, members of collapsed nodes as their collapsed node.
    pub(crate) dirty: Dirty,
    /// What was added to it last.
    last: Option<(Spot, Spot)>,
    pub(crate) unknown: BTreeMap<Pair, Finding>,
    pub(crate) absent: BTreeMap<Pair, Finding>,
    pub(crate) more_warnings: u64,
    pub(crate) more_absent: u64,
    /// Sets that were warned about: each site of one may race with each of the other.
    pub(crate) warned: Warned,
    /// How many pairs of classes there are.
    pub(crate) classes: ClassPairs,
    /// Sets that were found apart, and whether for the weakest of reasons only.
    apart: FxHashSet<(SitesId, SitesId, bool)>,
}

impl<'a, 'p> Listing<'a, 'p> {
    pub(crate) fn new(meetings: &'a Meetings<'a, 'p>) -> Self {
        Self {
            meetings,
            dirty: Dirty::default(),
            last: None,
            unknown: BTreeMap::new(),
            absent: BTreeMap::new(),
            more_warnings: 0,
            more_absent: 0,
            warned: Warned::new(&meetings.events.sites),
            classes: ClassPairs::default(),
            apart: FxHashSet::default(),
        }
    }

    fn sites(&self, class: &Class) -> &'a [SiteId] {
        &self.meetings.events.sites[class.sites]
    }
    fn way(&self, class: &Class) -> &'a Way {
        &self.meetings.events.ways[class.way]
    }

    /// Lists absent pairs that are no warnings.
    pub(crate) fn absent(&mut self, one: &Class, other: &Class, cause: Cause) {
        self.classes.absent += 1;
        if !self.apart.insert((one.sites, other.sites, cause == Cause::NeverParallel)) {
            return;
        }
        let reason = cause.reason(self.meetings.facts);
        let (sites, there) = (self.sites(one), self.sites(other));
        for (number, (pair, a, b)) in pairs(sites, there).enumerate() {
            if self.absent.len() >= MOST_ABSENT {
                self.more_absent += (sites.len() * there.len() - number) as u64;
                return;
            }
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
            let finding = self.finding(pair, (one, a), (other, b), Answer::Absent(reason.clone()));
            self.absent.insert(pair, finding);
        }
    }

    /// Lists warnings; what would be absent but for something that is not modelled says so.
    pub(crate) fn warn(&mut self, one: &Class, other: &Class, hindered: Option<(&str, Cause)>) {
        self.classes.open += 1;
        let facts = self.meetings.facts;
        // Classes of the same bytes come together.
        if self.last.replace((one.spot, other.spot)) != Some((one.spot, other.spot)) {
            for spot in [one.spot, other.spot].map(|spot| publication::at_home(facts, spot)) {
                self.dirty.entry(spot.object).or_default().insert(spot);
            }
        }
        if !self.warned.insert(one.sites, other.sites) {
            return;
        }
        let (sites, there) = (self.sites(one), self.sites(other));
        for (number, (pair, a, b)) in pairs(sites, there).enumerate() {
            // Counted set by set, not one by one: some may be listed already.
            if self.unknown.len() >= MOST_WARNINGS || number >= MOST_OF_SETS {
                self.more_warnings += (sites.len() * there.len() - number) as u64;
                return;
            }
            if self.unknown.contains_key(&pair) {
                continue;
            }
            let why = match hindered {
                Some((obstacle, cause)) => format!("{obstacle}; but for that, {}", cause.reason(facts)),
                None => self.why(one, other),
            };
            let ground = match hindered {
                Some(_) => Ground::Hindered,
                None if self.way(one).wild || self.way(other).wild => Ground::Wild,
                None if [one, other].iter().any(|class| is_crowd(facts, class.spot.object)) => Ground::Crowd,
                None => Ground::Memory,
            };
            let answer = Answer::Unknown { why, usual_lock: None, covered: false, ground };
            let finding = self.finding(pair, (one, a), (other, b), answer);
            self.unknown.insert(pair, finding);
        }
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
