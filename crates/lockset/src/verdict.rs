//! Verdicts for pairs: why a pair cannot race, or why it may.
//!
//! Absence is claimed for pairs of classes (`crate::events`); a pair of sites is absent when all classes that its
//! sites are in are. Reasons, in the order they are tried:
//!
//! - *other type*: a pointer may be to very many objects, and the two touch memory as different things (assumption A24);
//! - *never parallel*: creation and join order the two;
//! - *common lock*: both surely hold it, not both shared: a lock known by name, or one at the same distance from the
//!   accessed byte (`p->lock` for `p->data`), or one with the index of the accessed element (`locks[i]` for `data[i]`);
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
use std::time::{Duration, Instant};

use facts::spot::{ObjectId, Origin};
use facts::{Facts, Solved};
use model::{AccessKind, Pair, SiteId, Spent};

use crate::breakdown::Hold;
use crate::effects::Effects;
use crate::entries::Entries;
use crate::events::events;
use crate::listing::{ClassPairs, Listing, Warned};
use crate::meetings::{Between, Meetings};
use crate::names;
use crate::obstacles::Obstacle;
use crate::publication::Publication;
use crate::reasons::{Cause, Reasons};
use crate::semaphores::Semaphores;
use crate::whens::Whens;
use crate::{obstacles, rank};

/// Why a pair cannot race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The threads never run at the same time there.
    NeverParallel,
    /// Both hold this lock.
    CommonLock(String),
    /// Both hold the lock at this distance from the accessed byte.
    LockBeside(i64),
    /// Both hold the lock in this array that has the index of the accessed element.
    SameIndex(String),
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
    /// They access memory as different members or types.
    OtherType,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NeverParallel => f.write_str("the two never run in parallel: creation and join order them"),
            Self::CommonLock(lock) => write!(f, "both hold `{lock}`"),
            Self::LockBeside(_) => f.write_str("both hold the lock that belongs to the accessed object"),
            Self::SameIndex(locks) => {
                write!(f, "both hold the lock in `{locks}` with the index of the accessed element")
            }
            Self::Once(control) => write!(f, "`{control}` orders the two"),
            Self::Signal(semaphore) => {
                write!(f, "one comes before `{semaphore}` is posted, the other after waiting for it")
            }
            Self::OwnSlot => f.write_str("each thread stays in the part that its argument singles out"),
            Self::OtherType => f.write_str("the two access memory as different members or types"),
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
    /// One touches any of very many objects, or memory outside of the program.
    Crowd,
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
        /// How many things speak against it that are no proof.
        doubts: usize,
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
    /// What is not followed, in order.
    pub obstacles: Vec<Obstacle>,
    /// Functions without a body that are called, by name, with a place where each is.
    pub outside: BTreeMap<String, Option<SiteId>>,
    /// How many classes of accesses to shared memory there are: same memory, kind, threads and locks.
    pub classes: usize,
    /// How many pairs of them conflict.
    pub class_pairs: ClassPairs,
    /// What keeps those open that may race, most first, with how many.
    pub holds: Vec<(Hold, u64)>,
    /// The objects with most open pairs of classes, by name.
    pub crowded: Vec<(String, u64)>,
    /// How many variables the warnings are about.
    pub variables: usize,
    /// How long each part took, in order.
    pub phases: Vec<(&'static str, Duration)>,
    warned: Warned,
}

impl Analysis {
    /// Whether a pair may race, listed or not.
    pub fn may_race(&self, pair: Pair) -> bool {
        self.warned.contains(pair)
    }
    /// Whether something that is not followed keeps every pair from being absent.
    pub fn proves_nothing(&self) -> bool {
        self.obstacles.iter().any(|obstacle| obstacle.everything)
    }
}

/// Answers for every pair of sites that may touch the same memory from different threads.
/// If the budget of the facts is spent before all are answered, none is.
pub fn analyse(facts: &Facts) -> Result<Analysis, Spent> {
    let solved = &facts.solved()?;
    let mut phases = facts.phases();
    let mut last = Instant::now();
    let mut ended = |name: &'static str| {
        phases.push((name, last.elapsed()));
        last = Instant::now();
    };
    let effects = Effects::new(solved)?;
    let entries = Entries::new(solved, &effects)?;
    let semaphores = Semaphores::new(solved, &effects, &entries);
    ended("locks held");
    let events = events(solved, &effects, &entries, &Whens::merged(solved))?;
    ended("accesses");
    let obstacles = obstacles::obstacles(solved);
    let meetings = Meetings::new(solved, &events, Reasons { facts: solved, semaphores })?;
    let hindrance = obstacles.iter().find(|obstacle| obstacle.everything).map(|o| o.describe(solved.program));
    let listing = judge(&meetings, hindrance.as_deref())?;
    ended("pairs");
    let Listing { unknown, absent, more_warnings, more_absent, dirty, warned, classes: class_pairs, breakdown, .. } =
        listing;
    let spots = dirty.values().flatten();
    let variables = spots.map(|spot| names::variable_group(solved, *spot)).collect::<BTreeSet<_>>().len();
    let mut findings = rank::ranked(solved, unknown, &events);
    findings.extend(absent.into_values());
    let mut outside: BTreeMap<String, Option<SiteId>> = BTreeMap::new();
    for (name, place) in solved.points_to.calls_outside() {
        outside.entry(name.clone()).or_insert_with(|| names::site_at(solved, *place));
    }
    ended("ranking");
    let classes = events.all().count();
    Ok(Analysis {
        findings,
        more_warnings,
        more_absent,
        obstacles,
        outside,
        classes,
        class_pairs,
        holds: breakdown.holds(),
        crowded: breakdown.objects(solved),
        variables,
        phases,
        warned,
    })
}

/// Whether an object stands for very many, or for memory outside of the program.
pub(crate) fn is_crowd(facts: &Solved<'_>, object: ObjectId) -> bool {
    matches!(facts.points_to.origin(object), Origin::Collapsed | Origin::Outside)
}

/// Judges all pairs of bundles: warnings first, so that what is absent is not listed with them.
fn judge<'a, 'p>(meetings: &'a Meetings<'a, 'p>, obstacle: Option<&str>) -> Result<Listing<'a, 'p>, Spent> {
    let mut listing = Listing::new(meetings);
    // What is best known is listed first, as there is an end to the list.
    let mut objects: Vec<ObjectId> = meetings.events.classes.keys().copied().collect();
    objects.sort_by_key(|object| {
        let points_to = &meetings.facts.points_to;
        let origin = points_to.origin(*object);
        let is_variable = matches!(origin, Origin::Global(_));
        let is_block = matches!(origin, Origin::Heap(_) | Origin::Stack(..));
        let in_node = points_to.collapsed_node(*object).is_some();
        (is_crowd(meetings.facts, *object), !is_variable && !is_block, in_node, !is_variable)
    });
    // Objects with pairs that rest on clean publication; that is given up until nothing changes.
    let mut published: BTreeSet<ObjectId> = BTreeSet::new();
    for object in &objects {
        meetings.of(*object, |one, other, between| match between {
            Between::Nothing => listing.warn(one, other, None),
            Between::Publication => {
                published.insert(*object);
            }
            Between::Absent(_) => {}
        })?;
    }
    let publication = Publication::new(meetings.facts, meetings.events);
    let any_wild = meetings.any_wild();
    loop {
        let clean = |object: &ObjectId| !any_wild && publication.is_clean(*object, &listing.dirty);
        let (clean, dirty): (BTreeSet<_>, BTreeSet<_>) = published.into_iter().partition(clean);
        published = clean;
        for object in &dirty {
            meetings.of(*object, |one, other, between| {
                if between == Between::Publication {
                    listing.warn(one, other, None);
                }
            })?;
        }
        if dirty.is_empty() {
            break;
        }
    }
    // Last, as there is least to say about it: what may go anywhere.
    meetings.wild(|one, other, between| {
        if between == Between::Nothing {
            listing.warn(one, other, None);
        }
    })?;
    listing.all_warned();
    let mut absent = |one: &_, other: &_, between| {
        let cause = match between {
            Between::Absent(cause) => cause,
            Between::Publication => Cause::BeforePublication,
            Between::Nothing => return,
        };
        match obstacle {
            Some(obstacle) => listing.warn(one, other, Some((obstacle, cause))),
            None => listing.absent(one, other, cause),
        }
    };
    for object in &objects {
        let clean = published.contains(object);
        meetings.of(*object, |one, other, between| {
            if between != Between::Publication || clean {
                absent(one, other, between);
            }
        })?;
    }
    meetings.wild(absent)?;
    if obstacle.is_some() {
        listing.all_warned();
    }
    Ok(listing)
}
