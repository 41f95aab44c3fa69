//! Regions of OpenMP: what a team's threads can do at the same time.
//!
//! Our library for OpenMP (decision 19) runs a region by waking threads that wait since they were created, and goes on when
//! all of them have finished. To an analysis of threads that is a thread per worker that never ends. Here a region is what
//! OpenMP says it is: a *fork* and a *join*. What is outside of all regions never runs at the same time as anything else,
//! and two sites can only meet inside a region that both are in, where they are
//!
//! - *ordered by a barrier*: no barrier is the last one before both. All threads of a team pass the same barriers, which
//!   OpenMP demands of a program;
//! - *in one thread*: `master`, `masked`, a `single`, a section, the last iteration, or a comparison of the thread's number
//!   says so;
//! - *in turn*: both in the `ordered` part of one loop;
//! - *apart*: their addresses differ whenever the iterations of the shared loop do, or the threads' numbers.
//!
//! All of this holds for any input and any number of threads. A program with other threads than those of regions (tasks and
//! leagues are such threads), or with cancellation, is left to other rules.

mod affine;
mod apart;
mod body;
mod lanes;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::SiteId;
use model::index::Idx;
use program::openmp::{ADAPTER, EXECUTE, LEAGUE, WORK};
use program::{Callee, FunctionId, Operand, Program, Stmt, SyncOp};

use rustc_hash::FxHashMap;

use crate::Facts;
use crate::invocations::{How, Invocations, ProgramPoint};
use crate::rounds::Rounds;
use body::{Body, Point};
use lanes::Lanes;
use model::Spent;

/// Functions with which threads leave a construct early.
const CANCEL: [&str; 2] = ["__kmpc_cancel", "__kmpc_cancellationpoint"];
/// What a separation in a region assumes of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Assumed {
    /// Computations of indices with 32 bits do not wrap.
    pub indices: bool,
    /// All threads of a team pass the same barriers.
    pub barriers: bool,
}

impl Assumed {
    /// What either of two assumes.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { indices: self.indices || other.indices, barriers: self.barriers || other.barriers }
    }
}

/// Why two sites cannot race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Separation {
    /// No region has both.
    NoCommonRegion,
    /// What the rules for a region say.
    InRegion(Assumed),
}

impl Separation {
    /// What it assumes of the program.
    pub fn assumed(self) -> Assumed {
        match self {
            Self::NoCommonRegion => Assumed::default(),
            Self::InRegion(assumed) => assumed,
        }
    }
}

impl std::fmt::Display for Separation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoCommonRegion => "no parallel region has both: its start and its end order them",
            Self::InRegion(_) => {
                "in a parallel region a barrier, a thread or the iterations of a shared loop keep the two apart"
            }
        })
    }
}

/// The regions of a program whose only threads are those of teams.
pub struct Teams<'f> {
    regions: Vec<Region<'f>>,
    /// Functions with loops whose iterations lanes of one thread execute at the same time.
    lanes: Lanes<'f>,
}

struct Region<'f> {
    body: Body<'f>,
    /// Where in the body each site is executed, or called.
    points: BTreeMap<SiteId, Vec<Point>>,
}

impl<'f> Teams<'f> {
    /// The regions; `None` if the program has other threads, or something that is not understood.
    pub fn new(facts: &'f Facts) -> Result<Option<Self>, Spent> {
        let program: &Program = facts.program();
        let invocations = facts.invocations()?;
        if !facts.options().entries.is_empty()
            || !facts.obstacles()?.is_empty()
            || !has_only_teams(program, invocations)
        {
            return Ok(None);
        }
        let written = written_sites(facts)?;
        let called = calls(program, invocations);
        let mut regions = Vec::new();
        let mut rounds = Rounds::new(facts.budget(), 1);
        for (adapter, function) in program.functions.iter_enumerated() {
            if !function.symbol.ends_with(ADAPTER) || function.blocks.is_empty() {
                continue;
            }
            rounds.begin()?;
            let Some(code) = body_of(program, adapter) else { return Ok(None) };
            let reached = called.closure(code);
            if reached.iter().any(|function| leaves(program, *function)) {
                return Ok(None);
            }
            let inside = called.sites(code);
            let changed =
                |site: SiteId| written.get(&site).is_some_and(|by| by.iter().any(|site| inside.contains(site)));
            let graph = &facts.graphs()?[code];
            let body = Body::new(program, code, graph, &called, &changed);
            let points = points(program, code, &called, &body);
            regions.push(Region { body, points });
        }
        Ok(Some(Self { regions, lanes: Lanes::new(program, facts.graphs()?, &|site| written.contains_key(&site)) }))
    }

    /// Why two sites cannot race, if that follows from the regions.
    pub fn separation(&self, one: SiteId, other: SiteId) -> Option<Separation> {
        if !self.lanes.are_separate(one, other) {
            return None;
        }
        let mut common: Option<Assumed> = None;
        for Region { body, points } in &self.regions {
            let (Some(ones), Some(others)) = (points.get(&one), points.get(&other)) else { continue };
            let pairs = ones.iter().flat_map(|one| others.iter().map(|other| (*one, *other)));
            let mut assumed = common.unwrap_or_default();
            for (one, other) in pairs {
                assumed = assumed.and(body.separation(one, other)?);
            }
            common = Some(assumed);
        }
        Some(common.map_or(Separation::NoCommonRegion, Separation::InRegion))
    }
}

/// Who is called, or starts a region, at which place.
struct Calls<'f> {
    program: &'f Program,
    at: BTreeMap<FunctionId, Vec<(ProgramPoint, FunctionId)>>,
    closures: RefCell<FxHashMap<FunctionId, Rc<BTreeSet<FunctionId>>>>,
    sites: RefCell<FxHashMap<FunctionId, Rc<BTreeSet<SiteId>>>>,
}

impl Calls<'_> {
    /// The calls of a function.
    fn of(&self, caller: FunctionId) -> &[(ProgramPoint, FunctionId)] {
        self.at.get(&caller).map_or(&[], Vec::as_slice)
    }

    /// Everything a function may call, itself included.
    fn closure(&self, from: FunctionId) -> Rc<BTreeSet<FunctionId>> {
        let known = self.closures.borrow().get(&from).cloned();
        known.unwrap_or_else(|| {
            let found = Rc::new(closure(&self.at, from));
            self.closures.borrow_mut().insert(from, Rc::clone(&found));
            found
        })
    }

    /// The sites in all of that.
    fn sites(&self, from: FunctionId) -> Rc<BTreeSet<SiteId>> {
        let known = self.sites.borrow().get(&from).cloned();
        known.unwrap_or_else(|| {
            let found: Rc<BTreeSet<SiteId>> = Rc::new(sites_of(self.program, &self.closure(from)).collect());
            self.sites.borrow_mut().insert(from, Rc::clone(&found));
            found
        })
    }
}

/// The calls of a program. The library calls a region's code through a pointer; here whoever names the code does.
fn calls<'f>(program: &'f Program, invocations: &Invocations) -> Calls<'f> {
    let mut calls: BTreeMap<FunctionId, Vec<(ProgramPoint, FunctionId)>> = BTreeMap::new();
    for (id, function) in program.functions.iter_enumerated() {
        let mut called: Vec<(ProgramPoint, FunctionId)> = Vec::new();
        if function.symbol != EXECUTE {
            let of = invocations.of(id).iter().filter(|invocation| invocation.how != How::Create);
            called.extend(of.map(|invocation| (invocation.place, invocation.callee)));
        }
        for (block, content) in function.blocks.iter_enumerated() {
            for (index, statement) in content.statements.iter().enumerate() {
                // What is named may be called: a region's code by us, others by functions that they are given to.
                let names = statement.stmt.operands().into_iter().filter_map(|operand| match operand {
                    Operand::Function(named) => Some(named),
                    _ => None,
                });
                called.extend(names.map(|named| ((id, block, index), named)));
            }
        }
        calls.insert(id, called);
    }
    Calls { program, at: calls, closures: RefCell::default(), sites: RefCell::default() }
}

fn closure(calls: &BTreeMap<FunctionId, Vec<(ProgramPoint, FunctionId)>>, from: FunctionId) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(function) = open.pop() {
        for (_, callee) in calls.get(&function).into_iter().flatten() {
            if found.insert(*callee) {
                open.push(*callee);
            }
        }
    }
    found
}

/// Whether all threads are those of teams, no thread leaves a construct early, and there are no leagues.
fn has_only_teams(program: &Program, invocations: &Invocations) -> bool {
    let is_work = |operand: &Operand| matches!(operand, Operand::Function(f) if program.functions[*f].symbol == WORK);
    let is_refused = |symbol: &str| CANCEL.contains(&symbol) || symbol == LEAGUE;
    invocations.reachable().all(|function| {
        let statements = program.functions[function].blocks.iter().flat_map(|block| &block.statements);
        let allowed = |stmt: &Stmt| match stmt {
            Stmt::Sync { op: SyncOp::Create { function, .. }, .. } => is_work(function),
            Stmt::Call { callee: Callee::Direct(callee), .. } => !is_refused(&program.functions[*callee].symbol),
            // A handler may interrupt a thread of a team.
            Stmt::Library { function, .. } => !program::library::is_about_signals(function),
            _ => true,
        };
        statements.into_iter().all(|statement| allowed(&statement.stmt))
    })
}

/// Whether a function ends its thread or the program, other than by returning. Handlers of the end would run beside the
/// others.
fn leaves(program: &Program, function: FunctionId) -> bool {
    let statements = program.functions[function].blocks.iter().flat_map(|block| &block.statements);
    statements.into_iter().any(|statement| {
        matches!(statement.stmt, Stmt::Exit { .. } | Stmt::Sync { op: SyncOp::ExitThread | SyncOp::Cancel { .. }, .. })
    })
}

/// The function with a region's code: what the adapter calls, and what that calls if it does nothing else.
fn body_of(program: &Program, adapter: FunctionId) -> Option<FunctionId> {
    let only_call = |function: FunctionId| {
        let statements = program.functions[function].blocks.iter().flat_map(|block| &block.statements);
        let mut calls = statements.into_iter().filter_map(|statement| match &statement.stmt {
            Stmt::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
            _ => None,
        });
        calls.next().filter(|_| calls.next().is_none())
    };
    let code = only_call(adapter)?;
    let inner = only_call(code).filter(|inner| program.functions[*inner].symbol.contains("_debug__"));
    Some(inner.unwrap_or(code)).filter(|code| !program.functions[*code].blocks.is_empty())
}

fn sites_of(program: &Program, functions: &BTreeSet<FunctionId>) -> impl Iterator<Item = SiteId> {
    let statements = functions.iter().flat_map(|function| &program.functions[*function].blocks);
    statements.flat_map(|block| &block.statements).filter_map(|statement| statement.site)
}

/// For each site that reads, the sites that may write the same memory.
fn written_sites(facts: &Facts) -> Result<BTreeMap<SiteId, Vec<SiteId>>, Spent> {
    let mut written: BTreeMap<SiteId, Vec<SiteId>> = BTreeMap::new();
    for meeting in facts.meetings()? {
        let [one, other] = meeting.pair.sites();
        // A pair has one example of its accesses: that they may be reads on both sides does not happen.
        written.entry(one).or_default().push(other);
        written.entry(other).or_default().push(one);
    }
    Ok(written)
}

/// Where in a region's code each site is executed, or called.
fn points(program: &Program, code: FunctionId, calls: &Calls<'_>, body: &Body<'_>) -> BTreeMap<SiteId, Vec<Point>> {
    let mut points: BTreeMap<SiteId, Vec<Point>> = BTreeMap::new();
    for (block, content) in program.functions[code].blocks.iter_enumerated() {
        for (index, statement) in content.statements.iter().enumerate() {
            if let Some(site) = statement.site.filter(|_| body.is_alive(block)) {
                points.entry(site).or_default().push(Point { block, index, own: true });
            }
        }
    }
    for ((_, block, index), callee) in calls.of(code) {
        if !body.is_alive(*block) {
            continue;
        }
        for site in calls.sites(*callee).iter() {
            let at = points.entry(*site).or_default();
            let point = Point { block: *block, index: *index, own: false };
            if !at.contains(&point) {
                at.push(point);
            }
        }
    }
    debug_assert!(
        points.values().all(|at| at.iter().all(|point| point.block.index() < program.functions[code].blocks.len()))
    );
    points
}
