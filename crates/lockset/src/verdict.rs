//! Verdicts for pairs: why a pair cannot race, or why it may.
//!
//! Absence is claimed for pairs of classes (`crate::events`); a pair of sites is absent when all classes that its
//! sites are in are. Reasons, in the order they are tried:
//!
//! - *never parallel*: creation and join order the two;
//! - *common lock*: both surely hold it, not both shared: a lock known by name, or one at the same distance from the
//!   accessed byte (`p->lock` for `p->data`);
//! - *once*: one is in a once-routine, the other in the same or after it;
//! - *signal*: one comes before the only thread that posts a semaphore has done so, the other after waiting for it;
//! - *own slot*: each thread stays in the part of an object that its argument singles out;
//! - *before publication*: one touches a new block that only its maker knows, and every place that its address is stored
//!   in is itself free of races, so that whoever reads the address there comes later. The places are judged with the same
//!   right to this reason: a first race in time would have to be one of those without it;
//! - *acquisition histories* (section 4.1, Stage I): one holds `l1` and took `l2` since, the other holds `l2` and took
//!   `l1` since. Whichever section of `l1` comes first, a release and an acquisition order the two accesses, so this is a
//!   proof for any number of threads and any nesting as long as both hold what they hold without a gap, which surely
//!   held locks with sure histories do. (The paper's theorem needs two threads and nesting for the converse only.)

use std::collections::{BTreeMap, BTreeSet};

use facts::order::Argument;
use facts::{Facts, Options};
use model::{AccessKind, LockMode, Pair, SiteId};
use program::Program;

use crate::effects::Effects;
use crate::entries::Entries;
use crate::events::{Class, Events, Sites, events};
use crate::lock::Lock;
use crate::publication::{self, Dirty, Publication};
use crate::semaphores::Semaphores;
use crate::{names, obstacles, rank};

/// Most warnings that are listed one by one.
const MOST_WARNINGS: usize = 20_000;
/// Most absent pairs that are listed one by one.
const MOST_ABSENT: usize = 100_000;

/// Why a pair cannot race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The threads never run at the same time there.
    NeverParallel,
    /// Both hold this lock.
    CommonLock(String),
    /// Both hold the lock at this distance from the accessed byte.
    LockBeside(i64),
    /// A once-control runs one of them, and the other runs in it or after it.
    Once(String),
    /// One comes before this semaphore is posted, the other after waiting for it.
    Signal(String),
    /// Each thread stays in its own part.
    OwnSlot,
    /// One touches a block that nobody else knew yet, and its address was passed on without a race.
    BeforePublication,
    /// Each took the lock that the other holds while it held its own.
    Histories(String, String),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NeverParallel => f.write_str("the two never run in parallel: creation and join order them"),
            Self::CommonLock(lock) => write!(f, "both hold `{lock}`"),
            Self::LockBeside(_) => f.write_str("both hold the lock that belongs to the accessed object"),
            Self::Once(control) => write!(f, "`{control}` orders the two"),
            Self::Signal(semaphore) => {
                write!(f, "one comes before `{semaphore}` is posted, the other after waiting for it")
            }
            Self::OwnSlot => f.write_str("each thread stays in the part that its argument singles out"),
            Self::BeforePublication => f.write_str("one comes before the block is known to any other thread"),
            Self::Histories(one, other) => {
                write!(f, "one took `{other}` while it holds `{one}`, the other took `{one}` while it holds `{other}`")
            }
        }
    }
}

/// One side of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// The site.
    pub site: SiteId,
    /// What it does.
    pub kind: AccessKind,
    /// Whether atomically.
    pub atomic: bool,
    /// Locks surely held, by name.
    pub locks: Vec<String>,
    /// The thread that does it.
    pub thread: String,
}

/// What a warning rests on, the best ground first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ground {
    /// Both are known to touch memory that may be the same.
    Memory,
    /// Nothing is known about where one of them goes.
    Wild,
    /// Only something that is not modelled keeps it from being absent.
    Hindered,
}

/// The answer for a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It cannot race, for all inputs and any number of threads.
    Absent(Reason),
    /// It may race, or what stopped us.
    Unknown {
        /// Why it is reported, in words.
        why: String,
        /// The lock that most other accesses of the variable hold: its name, how many of how many.
        usual_lock: Option<(String, usize, usize)>,
        /// Another warning implies this one: it comes later on the same way with no fewer locks.
        covered: bool,
        /// What it rests on.
        ground: Ground,
    },
}

/// A pair with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The sites.
    pub pair: Pair,
    /// What a person calls the memory.
    pub variable: String,
    /// What each does there, in the order of the pair's sites.
    pub sides: [Side; 2],
    /// The answer.
    pub answer: Answer,
}

/// What the engine found.
pub struct Analysis {
    /// All pairs: warnings by rank, then absent ones by site.
    pub findings: Vec<Finding>,
    /// Warnings that are not listed one by one, because there are too many; pairs that meet in several ways count
    /// several times.
    pub more_warnings: u64,
    /// Absent pairs that are not listed one by one.
    pub more_absent: u64,
    /// What keeps anything from being absent.
    pub obstacles: Vec<String>,
    /// Functions without a body that are called, by name.
    pub outside: Vec<String>,
}

/// Answers for every pair of sites that may touch the same memory from different threads.
pub fn analyse(program: &Program, options: &Options) -> Analysis {
    let facts = Facts::new(program, options);
    analyse_facts(&facts)
}

/// The same, with facts that are known already.
pub fn analyse_facts(facts: &Facts<'_>) -> Analysis {
    let effects = Effects::new(facts);
    let entries = Entries::new(facts, &effects);
    let semaphores = Semaphores::new(facts, &effects, &entries);
    let events = events(facts, &effects, &entries);
    let obstacles = obstacles::obstacles(facts);
    let mut judge = Judge {
        facts,
        semaphores,
        obstacle: obstacles.first().cloned(),
        dubious: BTreeSet::new(),
        counted: BTreeSet::new(),
        dirty: Dirty::new(),
        unknown: BTreeMap::new(),
        absent: BTreeMap::new(),
        more_warnings: 0,
        more_absent: 0,
    };
    judge.all(&events);
    let Judge { unknown, absent, more_warnings, more_absent, .. } = judge;
    let mut findings = rank::ranked(facts, unknown, &events);
    findings.extend(absent.into_values());
    let outside: BTreeSet<String> = facts.points_to.calls_outside().iter().map(|(name, _)| name.clone()).collect();
    Analysis { findings, more_warnings, more_absent, obstacles, outside: outside.into_iter().collect() }
}

/// A class with the sites it occurs at.
type Group<'e> = (&'e Class, &'e Sites);

/// What was found out about pairs of classes, warnings apart.
#[derive(Default)]
struct Judged<'e> {
    absent: Vec<(Group<'e>, Group<'e>, Reason)>,
    /// Absent if the first one's block is published without a race.
    later: Vec<(Group<'e>, Group<'e>)>,
}

struct Judge<'a, 'p> {
    facts: &'a Facts<'p>,
    semaphores: Semaphores,
    obstacle: Option<String>,
    /// Sites of warnings that are only counted: no two of them are called absent.
    dubious: BTreeSet<SiteId>,
    /// Classes whose sites are in it.
    counted: BTreeSet<usize>,
    /// Memory with warnings, members of bunches as their bunch.
    dirty: Dirty,
    unknown: BTreeMap<Pair, Finding>,
    absent: BTreeMap<Pair, Finding>,
    more_warnings: u64,
    more_absent: u64,
}

impl Judge<'_, '_> {
    fn all(&mut self, events: &Events) {
        let wild: Vec<Group<'_>> = events.values().flatten().filter(|(class, _)| class.wild).collect();
        let mut judged = Judged::default();
        for (object, classes) in events {
            let known: Vec<Group<'_>> = classes.iter().filter(|(class, _)| !class.wild).collect();
            for (number, one) in known.iter().enumerate() {
                known[number..].iter().for_each(|other| self.judge(*one, *other, None, &mut judged));
            }
            // Pointers to the whole bunch may point to this member of it.
            let bunch = self.facts.points_to.bunch(*object).and_then(|bunch| events.get(&bunch));
            for (class, sites) in bunch.into_iter().flatten() {
                let member = class.at_member(self.facts, *object);
                for one in &known {
                    self.judge(*one, (class, sites), Some(&member), &mut judged);
                }
            }
        }
        // What rests on clean publication is given up until nothing changes.
        let publication = Publication::new(self.facts, events);
        let Judged { mut absent, mut later } = judged;
        loop {
            let before = later.len();
            let (clean, dirty): (Vec<_>, Vec<_>) = later
                .into_iter()
                .partition(|(one, _)| wild.is_empty() && publication.is_clean(one.0.spot.object, &self.dirty));
            dirty.iter().for_each(|(one, other)| self.warn(*one, *other, None));
            later = clean;
            if later.len() == before {
                break;
            }
        }
        absent.extend(later.into_iter().map(|(one, other)| (one, other, Reason::BeforePublication)));
        // Last, as there is least to say about it: what may go anywhere.
        let mut of_wild = Judged::default();
        for (number, one) in wild.iter().enumerate() {
            let known = events.values().flatten().filter(|(class, _)| !class.wild);
            known.chain(wild[number..].iter().copied()).for_each(|other| self.judge(other, *one, None, &mut of_wild));
        }
        absent.extend(of_wild.absent);
        for (one, other, reason) in absent {
            match self.obstacle.clone() {
                Some(obstacle) => self.warn(one, other, Some((&obstacle, &reason))),
                None => self.list_absent(one, other, &reason),
            }
        }
    }

    /// Judges two classes; the second as it is for a member of its bunch, if that is given.
    fn judge<'e>(&mut self, one: Group<'e>, other: Group<'e>, member: Option<&Class>, judged: &mut Judged<'e>) {
        let there = member.unwrap_or(other.0);
        if !meet(one.0, there) {
            return;
        }
        match self.reason(one.0, there) {
            Some(reason) => judged.absent.push((one, other, reason)),
            None if (one.0.fresh || there.fresh) && !one.0.wild && !there.wild => judged.later.push((one, other)),
            None => self.warn(one, other, None),
        }
    }

    fn list_absent(&mut self, one: Group<'_>, other: Group<'_>, reason: &Reason) {
        for (number, (pair, a, b)) in pairs(one.1, other.1).enumerate() {
            if self.absent.len() >= MOST_ABSENT {
                self.more_absent += (one.1.sites.len() * other.1.sites.len() - number) as u64;
                return;
            }
            let dubious = self.dubious.contains(&a) && self.dubious.contains(&b);
            if dubious || self.unknown.contains_key(&pair) {
                continue;
            }
            // What keeps parallel ones apart says more than that others are not parallel.
            if let Some(known) = self.absent.get(&pair) {
                let weak = known.answer == Answer::Absent(Reason::NeverParallel);
                if !weak || *reason == Reason::NeverParallel {
                    continue;
                }
            }
            let finding = self.finding(pair, (one.0, a), (other.0, b), Answer::Absent(reason.clone()));
            self.absent.insert(pair, finding);
        }
    }

    /// Lists warnings; what would be absent but for something that is not modelled says so.
    fn warn(&mut self, one: Group<'_>, other: Group<'_>, hindered: Option<(&str, &Reason)>) {
        let homes = [one.0, other.0].map(|class| publication::at_home(self.facts, class.spot));
        self.dirty.extend(homes.map(|spot| (spot.object, spot)));
        for (number, (pair, a, b)) in pairs(one.1, other.1).enumerate() {
            // Counted by ways of accessing, not one by one: some may be listed already.
            if self.unknown.len() >= MOST_WARNINGS {
                self.more_warnings += (one.1.sites.len() * other.1.sites.len() - number) as u64;
                for sites in [one.1, other.1] {
                    if self.counted.insert(std::ptr::from_ref(sites).addr()) {
                        self.dubious.extend(sites.sites.iter().copied());
                    }
                }
                return;
            }
            if self.unknown.contains_key(&pair) {
                continue;
            }
            let why = match hindered {
                Some((obstacle, reason)) => format!("{obstacle}; but for that, {reason}"),
                None => self.why(one.0, other.0),
            };
            let ground = match hindered {
                Some(_) => Ground::Hindered,
                None if one.0.wild || other.0.wild => Ground::Wild,
                None => Ground::Memory,
            };
            let answer = Answer::Unknown { why, usual_lock: None, covered: false, ground };
            let finding = self.finding(pair, (one.0, a), (other.0, b), answer);
            self.unknown.insert(pair, finding);
        }
    }

    fn finding(&self, pair: Pair, one: (&Class, SiteId), other: (&Class, SiteId), answer: Answer) -> Finding {
        let side = |(class, site): (&Class, SiteId)| Side {
            site,
            kind: class.kind,
            atomic: class.atomic,
            locks: self.lock_names(class),
            thread: names::thread(self.facts, class.thread),
        };
        let known = if one.0.wild { other } else { one };
        let variable = names::variable(self.facts, known.1, known.0.spot, known.0.len);
        let sides = if one.1 <= other.1 { [side(one), side(other)] } else { [side(other), side(one)] };
        Finding { pair, variable, sides, answer }
    }
    fn lock_names(&self, class: &Class) -> Vec<String> {
        let named = class.locks.iter().filter(|(lock, _)| lock.is_lock() && self.counts(lock));
        let mut names: Vec<String> = named.map(|(lock, _)| names::lock(self.facts, lock)).collect();
        if names.is_empty() && !class.beside.is_empty() {
            names.push("a lock in the same object".to_owned());
        }
        names
    }
    fn counts(&self, lock: &Lock) -> bool {
        match lock {
            Lock::At(spot) => self.semaphores.excludes(self.facts, spot),
            _ => true,
        }
    }

    /// Why the two cannot race.
    fn reason(&self, one: &Class, other: &Class) -> Option<Reason> {
        if !self.facts.order.parallel((one.thread, one.moment), (other.thread, other.moment)) {
            return Some(Reason::NeverParallel);
        }
        let common = one.locks.iter().find(|(lock, mode)| {
            let there = other.locks.iter().find(|(l, _)| l == lock);
            let apart = there.is_some_and(|(_, m)| *mode == LockMode::Exclusive || *m == LockMode::Exclusive);
            matches!(lock, Lock::At(_)) && apart && self.counts(lock)
        });
        if let Some((lock, _)) = common {
            return Some(Reason::CommonLock(names::lock(self.facts, lock)));
        }
        if one.fresh && other.fresh {
            return Some(Reason::BeforePublication);
        }
        let slots =
            || self.own(one, other).or_else(|| self.unclaimed(one, other)).or_else(|| self.unclaimed(other, one));
        let order = || self.once(one, other).or_else(|| self.signal(one, other)).or_else(|| self.signal(other, one));
        self.beside(one, other).or_else(order).or_else(slots).or_else(|| {
            let (a, b) = self.histories(one, other)?;
            Some(Reason::Histories(names::lock(self.facts, &a), names::lock(self.facts, &b)))
        })
    }

    /// The same lock, found by its distance from the accessed bytes.
    fn beside(&self, one: &Class, other: &Class) -> Option<Reason> {
        if one.wild || other.wild {
            return None;
        }
        let (len, other_len) = (one.len?, other.len?);
        // Where nothing is known of offsets, two accesses of one size that overlap are the same, as both are aligned.
        let unknown = one.spot.stride == 1 || other.spot.stride == 1;
        let apart = match one.spot.only_distance(len, other.spot, other_len) {
            Some(distance) => distance,
            None if unknown && len == other_len && matches!(len, 1 | 2 | 4 | 8) => 0,
            None => return None,
        };
        let found = one.beside.iter().find(|(distance, mode)| {
            let same = other.beside.iter().filter(|(d, _)| d.checked_add(apart) == Some(*distance));
            same.into_iter().any(|(_, m)| *mode == LockMode::Exclusive || *m == LockMode::Exclusive)
        });
        found.map(|(distance, _)| Reason::LockBeside(*distance))
    }

    fn once(&self, one: &Class, other: &Class) -> Option<Reason> {
        let inside = |class: &Class| {
            let locks = class.locks.iter();
            locks.filter_map(|(l, _)| if let Lock::Once(spot) = l { Some(*spot) } else { None }).collect::<Vec<_>>()
        };
        let ordered = |spot: &facts::spot::Spot, class: &Class| {
            class.locks.iter().any(|(l, _)| *l == Lock::Once(*spot) || *l == Lock::Passed(*spot))
        };
        let found = inside(one).into_iter().find(|spot| ordered(spot, other));
        let found = found.or_else(|| inside(other).into_iter().find(|spot| ordered(spot, one)));
        found.map(|spot| Reason::Once(names::object(self.facts, spot, 4)))
    }

    /// Whether one comes before a post, and the other after a wait that the post lets through.
    fn signal(&self, one: &Class, other: &Class) -> Option<Reason> {
        one.locks.iter().find_map(|(lock, _)| match lock {
            Lock::NotPosted(spot) if other.locks.iter().any(|(l, _)| *l == Lock::Passed(*spot)) => {
                Some(Reason::Signal(names::object(self.facts, *spot, 4)))
            }
            _ => None,
        })
    }

    /// Whether threads made by one statement stay apart by their arguments.
    fn own(&self, one: &Class, other: &Class) -> Option<Reason> {
        let thread = one.thread.filter(|t| Some(*t) == other.thread)?;
        let (a, b) = (one.own?, other.own?);
        if !self.facts.order.arguments_differ(thread) || (a.base, a.scale) != (b.base, b.scale) {
            return None;
        }
        let spacing = match (self.facts.order.threads[thread].argument, a.base) {
            (Argument::Fresh, None) => return Some(Reason::OwnSlot),
            (Argument::Apart(bytes), None) => i64::try_from(bytes).ok()?,
            (Argument::Apart(step), Some(_)) => i64::try_from(step).ok()?.checked_mul(a.scale.checked_abs()?)?,
            _ => return None,
        };
        let (len_a, len_b) = (i64::try_from(one.len?).ok()?, i64::try_from(other.len?).ok()?);
        let apart = a.offset.checked_add(len_a)? <= b.offset.checked_add(spacing)?
            && b.offset.checked_add(len_b)? <= a.offset.checked_add(spacing)?;
        apart.then_some(Reason::OwnSlot)
    }

    /// Whether one is to what belongs to no running thread of those that do the other to what is theirs.
    fn unclaimed(&self, one: &Class, other: &Class) -> Option<Reason> {
        let ((thread, offset), own) = (one.unclaimed?, other.own?);
        if other.thread != Some(thread) || own.base.is_some() || !self.facts.order.arguments_differ(thread) {
            return None;
        }
        let spacing = match self.facts.order.threads[thread].argument {
            Argument::Fresh => return Some(Reason::OwnSlot),
            Argument::Apart(bytes) => i64::try_from(bytes).ok()?,
            Argument::Any => return None,
        };
        let (len_a, len_b) = (i64::try_from(one.len?).ok()?, i64::try_from(other.len?).ok()?);
        let apart = offset.checked_add(len_a)? <= own.offset.checked_add(spacing)?
            && own.offset.checked_add(len_b)? <= offset.checked_add(spacing)?;
        apart.then_some(Reason::OwnSlot)
    }

    /// Two locks that each took while holding the other's.
    fn histories(&self, one: &Class, other: &Class) -> Option<(Lock, Lock)> {
        let exclusive = |class: &Class, lock: &Lock| {
            self.counts(lock) && class.locks.iter().any(|(l, m)| l == lock && *m == LockMode::Exclusive)
        };
        one.histories.iter().find_map(|(a, taken)| {
            taken.iter().find_map(|b| {
                let back = other.histories.iter().any(|(l, taken)| l == b && taken.contains(a));
                (back && exclusive(one, a) && exclusive(other, b)).then_some((*a, *b))
            })
        })
    }

    fn why(&self, one: &Class, other: &Class) -> String {
        if one.wild || other.wild {
            return "nothing is known about where one of the pointers points".to_owned();
        }
        let held = |class: &Class| {
            let names = self.lock_names(class);
            if names.is_empty() { "no lock".to_owned() } else { format!("`{}`", names.join("`, `")) }
        };
        let locks = match (held(one), held(other)) {
            (a, b) if a == b && a == "no lock" => "neither holds a lock".to_owned(),
            (a, b) => format!("one holds {a}, the other {b}"),
        };
        let parallel = match (one.thread, other.thread) {
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
    fn start(&self, thread: facts::order::ThreadId) -> String {
        let functions = &self.facts.order.threads[thread].functions;
        let names: Vec<&str> = functions.iter().map(|f| self.facts.program.functions[*f].name.as_str()).collect();
        names.join(" or ")
    }
}

/// Whether two accesses conflict.
fn meet(one: &Class, other: &Class) -> bool {
    let conflict = (one.kind.writes() || other.kind.writes()) && !(one.atomic && other.atomic);
    let free = |class: &Class| class.kind == AccessKind::Free;
    let overlap =
        one.wild || other.wild || free(one) || free(other) || one.spot.overlaps(one.len, other.spot, other.len);
    conflict && overlap
}

/// The pairs of sites of two classes.
fn pairs<'s>(one: &'s Sites, other: &'s Sites) -> impl Iterator<Item = (Pair, SiteId, SiteId)> + 's {
    one.sites.iter().flat_map(move |a| other.sites.iter().map(move |b| (Pair::new(*a, *b), *a, *b)))
}
