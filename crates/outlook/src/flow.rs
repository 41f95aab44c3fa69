//! What may follow a point of the program.
//!
//! Context-insensitive: a function returns to all its callers, and an exception may leave it anywhere. A thread executes
//! no function that its start does not lead to, which takes back most of what that adds.

use std::collections::{BTreeMap, BTreeSet};

use explore::{Next, Origin};
use facts::invocations::{How, Invocations, ProgramPoint};
use fixedbitset::FixedBitSet;
use model::SiteId;
use program::{FunctionId, Program, Stmt, SyncOp};

/// Sites as a set.
pub(crate) type Sites = FixedBitSet;

/// A statement that creates threads.
pub(crate) struct Creation {
    pub(crate) site: SiteId,
    /// The functions they may start in.
    pub(crate) starts: Vec<FunctionId>,
    /// Whether it is executed at most once in a run.
    pub(crate) once: bool,
}

/// The flow of a program.
#[derive(Default)]
pub(crate) struct Flow {
    main: Option<FunctionId>,
    /// The statements of each site.
    places: BTreeMap<SiteId, Vec<ProgramPoint>>,
    /// The functions that statements call, in the same thread.
    calls: BTreeMap<ProgramPoint, Vec<FunctionId>>,
    /// For each function: its sites and those of all it calls.
    bodies: BTreeMap<FunctionId, Sites>,
    /// For each function: all that may follow its end, in the same thread.
    after: BTreeMap<FunctionId, Sites>,
    pub(crate) creations: Vec<Creation>,
}

impl Flow {
    pub(crate) fn new(program: &Program, invocations: &Invocations) -> Self {
        let mut flow = Self { main: program.main, ..Self::default() };
        for (function, body) in program.functions.iter_enumerated() {
            for (block, code) in body.blocks.iter_enumerated() {
                for (index, statement) in code.statements.iter().enumerate() {
                    let place = (function, block, index);
                    let Some(site) = statement.site else { continue };
                    flow.places.entry(site).or_default().push(place);
                    if let Stmt::Sync { op: SyncOp::Create { .. }, .. } = &statement.stmt {
                        let starts = invocations.at(place).map(|i| i.callee).collect();
                        flow.creations.push(Creation { site, starts, once: invocations.at_most_once(place) });
                    }
                }
            }
        }
        for function in program.functions.ids() {
            for call in invocations.of(function).iter().filter(|i| i.how != How::Create) {
                flow.calls.entry(call.place).or_default().push(call.callee);
            }
            let mut sites = flow.none(program);
            for callee in invocations.closure(function, false) {
                let blocks = &program.functions[callee].blocks;
                sites.extend(blocks.iter().flat_map(|b| &b.statements).filter_map(|s| s.site).map(bit));
            }
            flow.bodies.insert(function, sites);
        }
        flow.find_after(program);
        flow
    }

    fn none(&self, program: &Program) -> Sites {
        Sites::with_capacity(program.sites.len())
    }

    /// What may follow each function's end: a fixed point over its callers.
    fn find_after(&mut self, program: &Program) {
        let mut calls: Vec<(FunctionId, FunctionId, Sites)> = Vec::new();
        for (place, callees) in &self.calls {
            let mut rest = self.rest(program, *place);
            if let Some(site) = statement_site(program, *place) {
                // The call itself goes on: a callback or a once-routine is followed by the rest of it.
                rest.insert(bit(site));
            }
            calls.extend(callees.iter().map(|callee| (place.0, *callee, rest.clone())));
        }
        for function in program.functions.ids() {
            self.after.insert(function, Sites::with_capacity(program.sites.len()));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (caller, callee, rest) in &calls {
                let beyond = self.after[caller].clone();
                if let Some(after) = self.after.get_mut(callee) {
                    let before = after.count_ones(..);
                    after.union_with(rest);
                    after.union_with(&beyond);
                    changed |= after.count_ones(..) > before;
                }
            }
        }
    }

    /// All that may follow a statement inside its function, calls included.
    fn rest(&self, program: &Program, (function, block, index): ProgramPoint) -> Sites {
        let blocks = &program.functions[function].blocks;
        let mut sites = self.none(program);
        let mut seen = BTreeSet::new();
        let mut open = vec![(block, index + 1)];
        while let Some((block, from)) = open.pop() {
            for (index, statement) in blocks[block].statements.iter().enumerate().skip(from) {
                sites.extend(statement.site.map(bit));
                for callee in self.calls.get(&(function, block, index)).into_iter().flatten() {
                    sites.union_with(&self.bodies[callee]);
                }
            }
            for next in blocks[block].terminator.targets() {
                if seen.insert(next) {
                    open.push((next, 0));
                }
            }
        }
        sites
    }

    /// The functions a thread may start in.
    pub(crate) fn starts(&self, origin: Origin) -> Vec<FunctionId> {
        match origin {
            Origin::Main => self.main.into_iter().collect(),
            Origin::Created(site) => {
                let here = self.creations.iter().filter(|c| site.is_none_or(|site| c.site == site));
                here.flat_map(|c| c.starts.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect()
            }
        }
    }

    /// All that a thread may still execute.
    pub(crate) fn future(&self, program: &Program, origin: Origin, next: Next) -> Sites {
        let mut whole = self.none(program);
        for start in self.starts(origin) {
            whole.union_with(&self.bodies[&start]);
        }
        let site = match next {
            Next::Start | Next::Somewhere => return whole,
            Next::End => return self.none(program),
            // What the runtime sees and the program does not show, such as a choice, may be anywhere.
            Next::At(site) if !self.places.contains_key(&site) => return whole,
            Next::At(site) => site,
        };
        let mut future = self.none(program);
        future.insert(bit(site));
        for place in self.places.get(&site).into_iter().flatten() {
            future.union_with(&self.rest(program, *place));
            // An operation that calls back is followed by what it calls.
            for callee in self.calls.get(place).into_iter().flatten() {
                future.union_with(&self.bodies[callee]);
            }
            future.union_with(&self.after[&place.0]);
        }
        // Code that no start of this thread leads to is not what was understood of it.
        if whole.contains(bit(site)) {
            future.intersect_with(&whole);
        }
        future
    }

    /// All that may follow a creation in the thread that creates, the creation included.
    pub(crate) fn since(&self, program: &Program, creation: SiteId) -> Sites {
        let mut since = self.none(program);
        since.insert(bit(creation));
        for place in self.places.get(&creation).into_iter().flatten() {
            since.union_with(&self.rest(program, *place));
            since.union_with(&self.after[&place.0]);
        }
        since
    }

    /// The sites of a function and of all it calls.
    pub(crate) fn body(&self, function: FunctionId) -> &Sites {
        &self.bodies[&function]
    }

    /// The statements of a site.
    pub(crate) fn places(&self, site: SiteId) -> &[ProgramPoint] {
        self.places.get(&site).map_or(&[], Vec::as_slice)
    }
}

/// What the first thread executes before it creates another.
pub(crate) struct Beginning {
    /// Sites that may follow a creation in the thread that creates.
    later: Sites,
    /// Functions that created threads run.
    threads: BTreeSet<FunctionId>,
}

impl Beginning {
    pub(crate) fn new(program: &Program, invocations: &Invocations, flow: &Flow) -> Self {
        let starts = program.functions.ids().flat_map(|f| invocations.of(f)).filter(|i| i.how == How::Create);
        let threads = starts.flat_map(|i| invocations.closure(i.callee, false)).collect();
        let mut later = Sites::with_capacity(program.sites.len());
        flow.creations.iter().for_each(|c| later.union_with(&flow.since(program, c.site)));
        Self { later, threads }
    }

    /// Whether all that is executed at the site is executed before there are other threads.
    pub(crate) fn contains(&self, function: FunctionId, site: Option<SiteId>) -> bool {
        site.is_some_and(|site| !self.later.contains(bit(site))) && !self.threads.contains(&function)
    }
}

/// A site's number in a set.
pub(crate) fn bit(site: SiteId) -> usize {
    site.0 as usize
}

fn statement_site(program: &Program, (function, block, index): ProgramPoint) -> Option<SiteId> {
    program.functions[function].blocks[block].statements.get(index).and_then(|s| s.site)
}
