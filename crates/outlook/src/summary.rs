//! The outlook of a program: futures by origin and next site, made when they are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use explore::{FutureId, Next, Origin, Outlook, Settled, Standing, Threats};
use facts::Facts;
use facts::teams::Teams;
use model::dependence::Use;
use model::{Event, Op, Pair, SiteId, Spent};
use program::library::{self, Effect};
use program::{Program, Stmt};

use crate::closed;
use crate::failures::{Failures, Knowledge};
use crate::flow::{Flow, Sites, bit};
use crate::interference::{Interference, Rival};
use crate::locks::Locks;
use crate::memory::Memory;
use crate::pairs::Pairs;
use crate::parallel::Parallel;
use crate::steady::Steady;
use crate::waits::Waits;

/// What is known of a program before it runs.
pub struct Summary {
    facts: Arc<Facts>,
    /// What is not modelled: nothing is closed then.
    obstacle: Option<String>,
    pub(crate) flow: Flow,
    pub(crate) pairs: Pairs,
    pub(crate) waits: Waits,
    pub(crate) failures: Failures,
    interference: Interference,
    known: Mutex<Known>,
}

/// A future.
pub(crate) struct Future {
    pub(crate) sites: Sites,
    /// Creations in it, with the futures of the threads they create and what may follow in the thread that creates.
    pub(crate) creations: Vec<(usize, FutureId, Arc<Sites>)>,
}

#[derive(Default)]
struct Known {
    numbers: BTreeMap<(Origin, Next), FutureId>,
    futures: Vec<Option<Arc<Future>>>,
    interfering: BTreeMap<SiteId, Arc<BTreeSet<(Use, Rival)>>>,
    threats: BTreeMap<(SiteId, FutureId), Threats>,
    meeting: BTreeMap<(FutureId, FutureId), bool>,
}

impl Summary {
    /// The outlook of a program; `absent` are pairs that are known not to race. An error if the budget of the facts is
    /// spent before they are known.
    pub fn new(facts: Arc<Facts>, absent: &BTreeSet<Pair>) -> Result<Self, Spent> {
        let program = facts.program();
        let (values, objects, invocations) = (&facts.values()?, &facts.objects()?, facts.invocations()?);
        let obstacle = facts.obstacles()?.first().map(|obstacle| obstacle.describe(program));
        let obstacle = obstacle.or_else(|| kept(program));
        let flow = Flow::new(program, invocations);
        let locks = Locks::new(program, objects, invocations);
        let parallel = Parallel::new(facts.order()?);
        let teams = Teams::new(&facts)?;
        let pairs = (facts.meetings()?, teams.as_ref(), absent);
        let pairs = Pairs::new(program, values, objects, invocations, &flow, (&locks, &parallel), pairs);
        let memory = Memory::new(program, values, &parallel);
        let steady = Steady::new(program, invocations, memory.as_ref());
        let same = |place| memory.as_ref().is_some_and(|memory| steady.place(place) && steady.reads(memory, place));
        let waits = Waits::new(program, objects, invocations, &flow, &locks, &same);
        let interference = Interference::new(program, values, &flow);
        let failures = {
            let knowledge = Knowledge {
                program,
                values,
                objects,
                invocations,
                addresses: &facts.points_to()?.addresses,
                flow: &flow,
                locks: &locks,
                parallel: &parallel,
                memory: memory.as_ref(),
                steady: &steady,
            };
            Failures::new(&knowledge)
        };
        let known = Mutex::new(Known::default());
        Ok(Self { facts, obstacle, flow, pairs, waits, failures, interference, known })
    }

    /// The outlook of a program in which everything that runs is modelled; of others nothing would be closed.
    pub fn if_modelled(facts: &Arc<Facts>, absent: &BTreeSet<Pair>) -> Result<Option<Self>, Spent> {
        let modelled = facts.obstacles()?.is_empty() && kept(facts.program()).is_none();
        modelled.then(|| Self::new(Arc::clone(facts), absent)).transpose()
    }

    /// What keeps every state open, if something is not modelled.
    pub fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A future by its number.
    pub(crate) fn get(&self, id: FutureId) -> Option<Arc<Future>> {
        self.known().futures.get(id.0 as usize).cloned().flatten()
    }

    fn make(&self, origin: Origin, next: Next) -> Future {
        let sites = self.flow.future(self.facts.program(), origin, next);
        let mut creations = Vec::new();
        for (number, creation) in self.flow.creations.iter().enumerate() {
            if sites.contains(bit(creation.site)) {
                let child = self.future(Origin::Created(Some(creation.site)), Next::Start);
                let since = self.flow.since(self.facts.program(), creation.site);
                creations.push((number, child, Arc::new(since)));
            }
        }
        Future { sites, creations }
    }

    /// The sites that may interfere with a site, by the ways in which they do.
    fn interfering(&self, site: SiteId) -> Arc<BTreeSet<(Use, Rival)>> {
        if let Some(sites) = self.known().interfering.get(&site) {
            return Arc::clone(sites);
        }
        let sites = Arc::new(self.interference.of(site, &self.pairs));
        self.known().interfering.insert(site, Arc::clone(&sites));
        sites
    }

    /// Calls `meets` for the future and those of all threads that it may create, until one does.
    fn any_below(&self, future: FutureId, mut meets: impl FnMut(&Future) -> bool) -> bool {
        let mut seen = BTreeSet::from([future]);
        let mut open = vec![future];
        while let Some(id) = open.pop() {
            let Some(future) = self.get(id) else { return true };
            if meets(&future) {
                return true;
            }
            open.extend(future.creations.iter().map(|(_, child, _)| *child).filter(|child| seen.insert(*child)));
        }
        false
    }
}

impl Outlook for Summary {
    fn future(&self, origin: Origin, next: Next) -> FutureId {
        {
            let mut known = self.known();
            if let Some(id) = known.numbers.get(&(origin, next)) {
                return *id;
            }
            let id = FutureId(known.futures.len() as u32);
            known.numbers.insert((origin, next), id);
            known.futures.push(None);
        }
        let id = self.known().numbers[&(origin, next)];
        let future = Arc::new(self.make(origin, next));
        self.known().futures[id.0 as usize] = Some(future);
        id
    }

    fn may_race(&self, site: SiteId) -> bool {
        self.pairs.partners(site).next().is_some()
    }

    fn is_closed(&self, threads: &[Standing], settled: &Settled) -> bool {
        self.obstacle.is_none() && closed::is_closed(self, threads, settled)
    }

    fn threats(&self, event: &Event, future: FutureId) -> Threats {
        let reaps = || self.any_below(future, |f| f.sites.intersection(self.interference.reaps()).next().is_some());
        let site = match (&event.op, event.site) {
            (Op::Start | Op::Create { .. } | Op::Fence(_) | Op::Choose(_) | Op::Yield, _) => {
                return Threats::By(Vec::new());
            }
            (Op::Exit, _) => return if reaps() { Threats::Any } else { Threats::By(Vec::new()) },
            (Op::TryJoin { .. } | Op::Detach { .. } | Op::Cancel { .. } | Op::Cancelled, _)
            | (Op::Section { .. } | Op::Await { .. }, _)
            | (_, None) => return Threats::Any,
            (_, Some(site)) => site,
        };
        if let Some(known) = self.known().threats.get(&(site, future)) {
            return known.clone();
        }
        let mut ways: Vec<Use> = Vec::new();
        for (how, rival) in self.interfering(site).iter() {
            // They are in the order of the ways.
            if ways.last() != Some(how) && self.any_below(future, |f| self.interference.is_among(*rival, &f.sites)) {
                ways.push(*how);
            }
        }
        let threats = Threats::By(ways);
        self.known().threats.insert((site, future), threats.clone());
        threats
    }

    fn may_meet(&self, one: FutureId, other: FutureId) -> bool {
        let key = (one.min(other), one.max(other));
        if let Some(meet) = self.known().meeting.get(&key) {
            return *meet;
        }
        let mut rivals: BTreeSet<Rival> = BTreeSet::new();
        self.any_below(one, |f| {
            for site in f.sites.ones() {
                rivals.extend(self.interfering(SiteId(site as u32)).iter().map(|(_, rival)| *rival));
            }
            false
        });
        let meet = self.any_below(other, |f| rivals.iter().any(|rival| self.interference.is_among(*rival, &f.sites)));
        self.known().meeting.insert(key, meet);
        meet
    }
}

impl fmt::Debug for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summary").field("obstacle", &self.obstacle).finish_non_exhaustive()
    }
}

/// A function given to the library to call when the program does not see it.
fn kept(program: &Program) -> Option<String> {
    let statements = program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
    let names =
        statements.filter_map(|s| if let Stmt::Library { function, .. } = &s.stmt { Some(function) } else { None });
    let keeps = |name: &&String| {
        library::lookup(name).is_some_and(|row| row.effects.iter().any(|e| matches!(e, Effect::Keeps(_))))
    };
    names.into_iter().find(keeps).map(|name| format!("`{name}` keeps what it is given"))
}
