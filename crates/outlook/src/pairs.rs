//! Pairs of sites that may race: they may touch the same memory, create and join do not order them, no lock surely held
//! at both keeps them apart, no region of OpenMP does, and no engine has proved before that they cannot.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::Invocations;
use facts::meetings::Meeting;
use facts::objects::{Key, Objects};
use facts::teams::Teams;
use facts::touches;
use facts::values::{Root, Values};
use model::{AccessKind, LockMode, Pair, SiteId};
use program::{Program, Stmt, SyncOp};

use crate::flow::{Beginning, Flow};
use crate::locks::{Held, Locks};
use crate::parallel::Parallel;

/// The pairs that may race.
#[derive(Default)]
pub(crate) struct Pairs {
    partners: BTreeMap<SiteId, BTreeSet<SiteId>>,
}

impl Pairs {
    pub(crate) fn new(
        program: &Program,
        values: &Values<'_>,
        objects: &Objects<'_>,
        invocations: &Invocations,
        flow: &Flow,
        (locks, parallel): (&Locks, &Parallel<'_>),
        (meetings, teams, absent): (&[Meeting], Option<&Teams<'_>>, &BTreeSet<Pair>),
    ) -> Self {
        let excluding = Excluding::new(program, values, objects, invocations, flow);
        let held: BTreeMap<SiteId, Vec<Held>> = program
            .sites
            .ids()
            .map(|site| (site, flow.places(site).iter().map(|place| locks.held(*place)).collect()))
            .collect();
        let mut pairs = Self::default();
        for pair in meetings.iter().map(|meeting| meeting.pair).filter(|pair| !absent.contains(pair)) {
            let [one, other] = pair.sites();
            let apart = |a: &Held, b: &Held| a.iter().any(|(key, mode)| excluding.apart(*key, *mode, b));
            let (ones, others) = (&held[&one], &held[&other]);
            let protected =
                !ones.is_empty() && !others.is_empty() && ones.iter().all(|a| others.iter().all(|b| apart(a, b)));
            let (ones, others) = (flow.places(one), flow.places(other));
            let together = || ones.iter().any(|a| others.iter().any(|b| parallel.may(*a, *b)));
            let separate = || teams.is_some_and(|teams| teams.separation(one, other).is_some());
            if !protected && together() && !separate() {
                pairs.partners.entry(one).or_default().insert(other);
                pairs.partners.entry(other).or_default().insert(one);
            }
        }
        pairs
    }

    /// The sites that may race with something, with those they may race with.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SiteId, &BTreeSet<SiteId>)> {
        self.partners.iter().map(|(site, partners)| (*site, partners))
    }

    /// The sites that this one may race with.
    pub(crate) fn partners(&self, site: SiteId) -> impl Iterator<Item = SiteId> {
        self.partners.get(&site).into_iter().flatten().copied()
    }
}

/// Locks that are what they seem: no thread initialises them again or destroys them while threads may use them.
struct Excluding {
    doubtful: BTreeSet<Key>,
    all_doubtful: bool,
    /// Memory that may be freed.
    freed: BTreeSet<Root>,
}

impl Excluding {
    fn new(
        program: &Program,
        values: &Values<'_>,
        objects: &Objects<'_>,
        invocations: &Invocations,
        flow: &Flow,
    ) -> Self {
        let mut excluding = Self { doubtful: BTreeSet::new(), all_doubtful: false, freed: BTreeSet::new() };
        let beginning = Beginning::new(program, invocations, flow);
        for (id, function) in program.functions.iter_enumerated() {
            for statement in function.blocks.iter().flat_map(|b| &b.statements) {
                let freed = touches::touches(program, values, id, &statement.stmt).into_iter();
                excluding.freed.extend(freed.filter(|t| t.kind == AccessKind::Free).map(|t| t.root));
                let Stmt::Sync { op: SyncOp::LockInit { lock, .. } | SyncOp::LockDestroy { lock }, .. } =
                    &statement.stmt
                else {
                    continue;
                };
                if beginning.contains(id, statement.site) {
                    continue;
                }
                match objects.exact(id, lock) {
                    Some(key) => drop(excluding.doubtful.insert(key)),
                    None => excluding.all_doubtful = true,
                }
            }
        }
        excluding
    }

    /// Whether a lock held in this mode keeps its holder apart from one that holds these.
    fn apart(&self, key: Key, mode: LockMode, others: &Held) -> bool {
        let excludes = |other: &LockMode| mode == LockMode::Exclusive || *other == LockMode::Exclusive;
        let on_heap = matches!(key.0, Root::Heap(..));
        let stays = !on_heap || !(self.freed.contains(&key.0) || self.freed.contains(&Root::Unknown));
        let sound = stays && !self.all_doubtful && !self.doubtful.contains(&key);
        sound && others.get(&key).is_some_and(excludes)
    }
}
