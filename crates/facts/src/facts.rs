//! All facts about a program, each computed once, when it is first asked for.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::index::IndexVec;
use model::{Budget, Pair, Spent};
use program::{FunctionId, Program};

use crate::exposed::exposed;
use crate::flow_graph::{FlowGraph, flow_graphs};
use crate::invocations::{Invocations, Obstacle};
use crate::meetings::{self, Meeting};
use crate::objects::Objects;
use crate::order::Order;
use crate::part::Part;
use crate::points_to::PointsTo;
use crate::solved::Solved;
use crate::spot::ObjectId;
use crate::values::{Reach, Values};

/// What is taken for granted, and where the program starts besides `main`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions without a body that touch no memory, create no threads and call nothing back, by linker name.
    pub assume_pure: BTreeSet<String>,
    /// Functions that any number of threads may run at any time.
    pub entries: Vec<FunctionId>,
}

/// What holds of a program in every run.
///
/// A command makes one and shares it: nothing is computed before it is asked for, and nothing twice. A part that ends
/// early because the budget is spent is an error for whoever asked, and nothing half-computed is kept.
pub struct Facts {
    program: Arc<Program>,
    options: Options,
    budget: Budget,
    phases: Mutex<Vec<(&'static str, Duration)>>,
    points_to: Part<PointsTo>,
    graphs: Part<IndexVec<FunctionId, FlowGraph>>,
    invocations: Part<Invocations>,
    exposed: Part<IndexVec<ObjectId, bool>>,
    order: Part<Order>,
    reach: Part<Reach>,
    obstacles: Part<Vec<Obstacle>>,
    meetings: Part<Vec<Meeting>>,
}

impl Facts {
    /// The facts of a program. This computes nothing.
    pub fn new(program: Arc<Program>, options: Options, budget: Budget) -> Self {
        Self {
            program,
            options,
            budget,
            phases: Mutex::default(),
            points_to: Part::default(),
            graphs: Part::default(),
            invocations: Part::default(),
            exposed: Part::default(),
            order: Part::default(),
            reach: Part::default(),
            obstacles: Part::default(),
            meetings: Part::default(),
        }
    }

    /// The facts of a program without assumptions or limits.
    pub fn of(program: impl Into<Arc<Program>>) -> Self {
        Self::new(program.into(), Options::default(), Budget::default())
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
    /// What is taken for granted.
    pub fn options(&self) -> &Options {
        &self.options
    }
    /// What computing them may use.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
    /// How long each part took that was computed so far, in order; without the parts it asked for.
    pub fn phases(&self) -> Vec<(&'static str, Duration)> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn timed<T>(&self, name: &'static str, make: impl FnOnce() -> Result<T, Spent>) -> Result<T, Spent> {
        let start = Instant::now();
        let made = make()?;
        self.phases.lock().unwrap_or_else(PoisonError::into_inner).push((name, start.elapsed()));
        Ok(made)
    }

    /// What values and memory may point to, and who calls whom: the one solution for the program.
    pub fn points_to(&self) -> Result<&PointsTo, Spent> {
        self.points_to.get(|| self.timed("pointers", || PointsTo::new(&self.program, &self.options, &self.budget)))
    }
    /// Whether what was computed so far takes memory for typed (assumption A24).
    pub fn rest_on_types(&self) -> bool {
        self.points_to.known().is_some_and(PointsTo::uses_types)
    }
    /// The blocks of functions.
    pub fn graphs(&self) -> Result<&IndexVec<FunctionId, FlowGraph>, Spent> {
        self.graphs.get(|| self.timed("control flow", || flow_graphs(&self.program, &self.budget)))
    }
    /// Who calls, starts and runs whom, and what can happen at most once.
    pub fn invocations(&self) -> Result<&Invocations, Spent> {
        let (points_to, graphs) = (self.points_to()?, self.graphs()?);
        let make = || Invocations::new(&self.program, points_to, graphs, &self.options, &self.budget);
        self.invocations.get(|| self.timed("calls", make))
    }
    /// Threads, contexts and what may happen in parallel.
    pub fn order(&self) -> Result<&Order, Spent> {
        let (points_to, graphs, invocations) = (self.points_to()?, self.graphs()?, self.invocations()?);
        let entries = &self.options.entries;
        let make = || Order::new(&self.program, points_to, graphs, invocations, entries, &self.budget);
        self.order.get(|| self.timed("threads", make))
    }
    /// Which abstract locations are data that more than one thread may know.
    pub fn exposed(&self) -> Result<&IndexVec<ObjectId, bool>, Spent> {
        let points_to = self.points_to()?;
        self.exposed.get(|| Ok(exposed(&self.program, points_to)))
    }
    /// What an engine that follows threads needs, all of it computed.
    pub fn solved(&self) -> Result<Solved<'_>, Spent> {
        Ok(Solved {
            program: &self.program,
            budget: &self.budget,
            points_to: self.points_to()?,
            graphs: self.graphs()?,
            invocations: self.invocations()?,
            order: self.order()?,
            exposed: self.exposed()?,
        })
    }

    /// What values may point to, object by object.
    pub fn values(&self) -> Result<Values<'_>, Spent> {
        let (points_to, exposed) = (self.points_to()?, self.exposed()?);
        let reach = self.reach.get(|| Ok(Reach::new(&self.program, points_to, exposed)))?;
        Ok(Values { points_to, reach })
    }
    /// The pieces of memory that have a name of their own.
    pub fn objects(&self) -> Result<Objects<'_>, Spent> {
        Ok(Objects::new(&self.program, self.values()?, self.invocations()?))
    }
    /// All that can run and is not modelled, each once: no proof holds while there is any.
    pub fn obstacles(&self) -> Result<&[Obstacle], Spent> {
        let invocations = self.invocations()?;
        Ok(self.obstacles.get(|| Ok(invocations.obstacles(&self.options.assume_pure)))?)
    }
    /// Every pair of sites that may touch the same memory from different threads.
    pub fn meetings(&self) -> Result<&[Meeting], Spent> {
        let (values, invocations, obstacles) = (self.values()?, self.invocations()?, self.obstacles()?);
        let everything = !obstacles.is_empty();
        let make = || meetings::meetings(&self.program, values, invocations, everything, &self.budget);
        Ok(self.meetings.get(|| self.timed("meetings", make))?)
    }
    /// The pairs of the [meetings](Self::meetings).
    pub fn pairs(&self) -> Result<Vec<Pair>, Spent> {
        Ok(self.meetings()?.iter().map(|meeting| meeting.pair).collect())
    }
}

#[cfg(test)]
mod tests {
    use model::Interrupt;

    use super::*;

    const TEXT: &str = "global x: 8\nglobal p: 8\nfn main() {\nentry:\n  store 8, @p, @x\n  %q = load 8, @p\n  \
                        store 4, %q, 1\n  return 0\n}\nentry main\n";

    fn facts(budget: Budget) -> Facts {
        Facts::new(Arc::new(Program::parse(TEXT).unwrap()), Options::default(), budget)
    }

    #[test]
    fn they_can_be_shared_and_compute_nothing_unasked() {
        fn is_shared<T: Send + Sync>(_: &T) {}
        let facts = facts(Budget::default());
        is_shared(&facts);
        assert!(facts.phases().is_empty());
        assert!(facts.order().is_ok() && facts.meetings().is_ok());
        let names: Vec<_> = facts.phases().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["pointers", "control flow", "calls", "threads", "meetings"]);
        assert!(facts.order().is_ok() && facts.obstacles().unwrap().is_empty());
        assert_eq!(facts.phases().len(), names.len(), "nothing is computed twice");
    }

    #[test]
    fn a_spent_budget_leaves_nothing_behind() {
        let interrupt = Interrupt::new();
        interrupt.set();
        let facts = facts(Budget::unlimited(interrupt));
        assert_eq!(facts.graphs().err(), Some(Spent::Interrupt));
        assert!(facts.phases().is_empty());
    }
}
