//! Stage II: warnings in the order in which they are worth reading.
//!
//! A warning is *covered* when another one implies it: the access comes after another of the same function on every
//! way, to the same memory, with no fewer locks, and the other conflicts with the same partner (the weaker-than relation
//! of section 4.1, with the covers of its section "Acquisition History-based Covers" by dominators). Nothing is
//! dropped for that: covered warnings come last. Before those come further warnings about a variable: the best one
//! about each is worth more than the second about any.

use std::collections::{BTreeMap, BTreeSet};

use facts::Solved;
use model::{AccessKind, Pair, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::events::{Events, Way};
use crate::lock::Lock;
use crate::names;
use crate::verdict::{Answer, Finding, Ground};

/// Puts warnings in order and says which locks other accesses hold.
pub(crate) fn ranked(facts: &Solved<'_>, unknown: BTreeMap<Pair, Finding>, events: &Events) -> Vec<Finding> {
    let listed: FxHashSet<SiteId> = unknown.keys().flat_map(|pair| pair.sites()).collect();
    let covers = Covers::new(facts, events, &listed);
    let usual = usual_locks(facts, events);
    let pairs: FxHashSet<Pair> = unknown.keys().copied().collect();
    let mut findings: Vec<Finding> = unknown.into_values().collect();
    for finding in &mut findings {
        let [a, b] = finding.pair.sites();
        let implied = covers.of(a).any(|c| c != a && pairs.contains(&Pair::new(c, b)))
            || covers.of(b).any(|c| c != b && pairs.contains(&Pair::new(a, c)));
        let lock = usual.get(&a).or_else(|| usual.get(&b)).cloned();
        if let Answer::Unknown { usual_lock, covered, .. } = &mut finding.answer {
            *covered = implied;
            *usual_lock = lock;
        }
    }
    findings.sort_by_key(|finding| {
        let [a, b] = &finding.sides;
        let (last, strays) = match &finding.answer {
            Answer::Unknown { usual_lock, doubts, .. } => {
                // A variable that is otherwise protected is the best sign of a mistake.
                let strays = usual_lock.as_ref().map_or(0, |(_, held, all)| held * 100 / all.max(&1));
                (class(finding), (strays + 1).checked_shr(*doubts as u32).unwrap_or(0))
            }
            Answer::Absent(_) => (class(finding), 0),
        };
        let writes = usize::from(a.kind.writes()) + usize::from(b.kind.writes());
        (last, std::cmp::Reverse(strays), std::cmp::Reverse(writes), finding.pair)
    });
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let again: Vec<bool> = findings.iter().map(|finding| !seen.insert(without_indices(&finding.variable))).collect();
    let mut numbered: Vec<(Finding, bool)> = findings.into_iter().zip(again).collect();
    numbered.sort_by_key(|(finding, again)| (class(finding), *again));
    numbered.into_iter().map(|(finding, _)| finding).collect()
}

/// What warnings are sorted by first: what they rest on, and whether others imply them.
fn class(finding: &Finding) -> (Ground, bool) {
    match &finding.answer {
        Answer::Unknown { covered, ground, .. } => (*ground, *covered),
        Answer::Absent(_) => (Ground::Hindered, true),
    }
}

/// A name that is the same for all elements of an array.
fn without_indices(name: &str) -> String {
    let mut depth = 0;
    let mut outside = |c: char| {
        depth += usize::from(c == '[');
        let keeps = depth == 0;
        depth -= usize::from(c == ']' && depth > 0);
        keeps
    };
    name.chars().filter(|c| outside(*c)).collect()
}

/// Accesses that are weaker than others.
struct Covers {
    weaker: BTreeMap<SiteId, BTreeSet<SiteId>>,
}

impl Covers {
    /// Compares those that are listed.
    fn new(facts: &Solved<'_>, events: &Events, listed: &FxHashSet<SiteId>) -> Self {
        let mut place_of = FxHashMap::default();
        for (id, function) in facts.program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    if let Some(site) = statement.site {
                        place_of.entry(site).or_insert((id, block_id, index));
                    }
                }
            }
        }
        let mut weaker: BTreeMap<SiteId, BTreeSet<SiteId>> = BTreeMap::new();
        for classes in events.classes.values() {
            // Only classes of the same bytes and thread are compared.
            let mut groups: FxHashMap<_, Vec<(&Way, SiteId)>> = FxHashMap::default();
            for class in classes {
                let way = &events.ways[class.way];
                let sites = events.sites[class.sites].iter().filter(|site| listed.contains(site) && !way.wild);
                for site in sites.take(64) {
                    let Some(place) = place_of.get(site) else { continue };
                    groups.entry((class.spot, way.thread, place.0)).or_default().push((way, *site));
                }
            }
            for group in groups.values().filter(|g| g.len() > 1 && g.len() <= 64) {
                for (way, site) in group {
                    for (other, earlier) in group {
                        if site != earlier && is_weaker(other, way) && before(facts, place_of[earlier], place_of[site])
                        {
                            weaker.entry(*site).or_default().insert(*earlier);
                        }
                    }
                }
            }
        }
        Self { weaker }
    }
    fn of(&self, site: SiteId) -> impl Iterator<Item = SiteId> + '_ {
        self.weaker.get(&site).into_iter().flatten().copied()
    }
}

/// Whether every way to the second leads through the first.
fn before(facts: &Solved<'_>, one: facts::invocations::ProgramPoint, other: facts::invocations::ProgramPoint) -> bool {
    if one.0 != other.0 {
        return false;
    }
    if one.1 == other.1 { one.2 < other.2 } else { facts.graphs[one.0].dominates(one.1, other.1) }
}

/// Whether an access protects itself no better than another (Definition 9).
fn is_weaker(one: &Way, other: &Way) -> bool {
    let locks = one.locks.iter().all(|lock| other.locks.contains(lock));
    let history = |way: &Way, lock: &Lock| {
        way.histories.iter().find(|(l, _)| l == lock).map(|(_, taken)| taken.clone()).unwrap_or_default()
    };
    let histories = one.histories.iter().all(|(lock, taken)| {
        let there = history(other, lock);
        taken.iter().all(|t| there.contains(t))
    });
    locks && histories && (one.kind == other.kind || one.kind == AccessKind::Write)
}

/// For each access, the lock that most accesses of the same bytes hold.
fn usual_locks(facts: &Solved<'_>, events: &Events) -> BTreeMap<SiteId, (String, usize, usize)> {
    let mut usual = BTreeMap::new();
    for classes in events.classes.values() {
        // Sorted, so that those of a spot follow each other.
        for list in classes.chunk_by(|a, b| a.spot == b.spot) {
            let known = || list.iter().filter(|class| !events.ways[class.way].wild);
            let all: usize = known().map(|class| events.sites[class.sites].len()).sum();
            let mut held: BTreeMap<Lock, usize> = BTreeMap::new();
            for class in known() {
                for (lock, _) in events.ways[class.way].locks.iter().filter(|(lock, _)| lock.is_lock()) {
                    *held.entry(*lock).or_default() += events.sites[class.sites].len();
                }
            }
            let Some((lock, count)) = held.into_iter().max_by_key(|(_, count)| *count) else { continue };
            let name = names::lock(facts, &lock);
            for site in known().flat_map(|class| &events.sites[class.sites]) {
                usual.insert(*site, (name.clone(), count, all));
            }
        }
    }
    usual
}
