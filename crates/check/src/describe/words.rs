//! What events do, in a person's words.

use model::{Access, AccessKind, Addr, Cell, Choice, Event, LockMode, Op, SiteId, ThreadId, Trace, WakeCause};

use super::ObjectNames;

/// Words for the events of one run.
pub(crate) struct Words<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) names: &'a ObjectNames<'a>,
}

impl Words<'_> {
    /// The path of a thread.
    pub(crate) fn thread(&self, thread: ThreadId) -> String {
        self.trace.threads.get(thread).map_or_else(|| thread.to_string(), |info| info.path.to_string())
    }

    /// The name of a synchronisation object, for example a lock.
    pub(crate) fn object(&self, addr: Addr) -> String {
        self.names.synchronisation(self.trace, addr)
    }

    fn access(&self, event: &Event, access: &Access) -> String {
        let verb = match access.kind {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::ReadModifyWrite => "updates",
            AccessKind::Free => "frees",
        };
        let how = if access.atomic.is_some() { "atomically " } else { "" };
        let name = self.names.at_end(self.trace, access.cell, event.site);
        format!("{how}{verb} `{name}`")
    }

    fn accesses(&self, event: &Event, accesses: &[Access]) -> String {
        accesses.iter().map(|access| self.access(event, access)).collect::<Vec<_>>().join(", ")
    }

    fn choice(&self, choice: &Choice) -> String {
        match (choice.lo, choice.hi) {
            (i64::MIN, i64::MAX) => format!("chooses {}", choice.value),
            (lo, hi) => format!("chooses {} from {lo} to {hi}", choice.value),
        }
    }

    fn cells(&self, site: Option<SiteId>, cells: &[Cell]) -> String {
        let name = |cell: &Cell| self.names.at_end(self.trace, *cell, site);
        cells.iter().map(|cell| format!("`{}`", name(cell))).collect::<Vec<_>>().join(", ")
    }

    /// What an event did, e.g. "locks `m`".
    pub(crate) fn did(&self, event: &Event) -> String {
        let name = |addr: &Addr| format!("`{}`", self.object(*addr));
        let shared = |mode: &LockMode| if *mode == LockMode::Shared { " shared" } else { "" };
        match &event.op {
            Op::Access(access) => self.access(event, access),
            Op::Accesses(accesses) => self.accesses(event, accesses),
            Op::Section { accesses, choices, .. } => {
                let chosen = choices.iter().map(|choice| self.choice(choice));
                let done = (!accesses.is_empty()).then(|| self.accesses(event, accesses));
                format!("in one step: {}", chosen.chain(done).collect::<Vec<_>>().join(", "))
            }
            Op::Critical(critical) => {
                format!(
                    "in one step with {} locked: {}",
                    name(&critical.lock),
                    self.accesses(event, &critical.accesses)
                )
            }
            Op::Choose(choice) => self.choice(choice),
            Op::Await { cells } => format!("looks again at {}", self.cells(event.site, cells)),
            Op::Fence(_) => "passes a fence".to_owned(),
            Op::Acquire { lock, mode } => format!("locks {}{}", name(lock), shared(mode)),
            Op::TryAcquire { lock, mode, success: true } => format!("tries and locks {}{}", name(lock), shared(mode)),
            Op::TryAcquire { lock, success: false, .. } => format!("tries and fails to lock {}", name(lock)),
            Op::Release { lock, .. } => format!("unlocks {}", name(lock)),
            Op::Init(object) => format!("initialises {}", name(object)),
            Op::Destroy(object) => format!("destroys {}", name(object)),
            Op::WaitBegin { cond, lock } => format!("unlocks {} and waits for {}", name(lock), name(cond)),
            Op::WaitEnd { cond, cause } => {
                let why = match cause {
                    WakeCause::Signalled => "was signalled",
                    WakeCause::TimedOut => "timed out",
                    WakeCause::Spurious => "spurious",
                    WakeCause::Cancelled => "cancelled",
                };
                format!("stops waiting for {} ({why})", name(cond))
            }
            Op::Signal { cond } => format!("signals {}", name(cond)),
            Op::Broadcast { cond } => format!("broadcasts {}", name(cond)),
            Op::BarrierArrive { barrier } | Op::Meet { barrier } => format!("arrives at {}", name(barrier)),
            Op::BarrierLeave { barrier } => format!("leaves {}", name(barrier)),
            Op::SemPost { sem } => format!("posts {}", name(sem)),
            Op::SemWait { sem } | Op::SemTryWait { sem, success: true } => format!("takes one from {}", name(sem)),
            Op::SemTryWait { sem, success: false } => format!("fails to take one from {}", name(sem)),
            Op::SemGet { sem } => format!("looks at {}", name(sem)),
            Op::OnceBegin { once, run: true } => format!("runs the routine of {}", name(once)),
            Op::OnceBegin { once, run: false } => format!("finds {} done", name(once)),
            Op::OnceEnd { once } => format!("finishes initialising {}", name(once)),
            Op::Create { child } => format!("creates thread {}", self.thread(*child)),
            Op::Start => "starts".to_owned(),
            Op::Exit => "ends".to_owned(),
            Op::Join { child } | Op::TryJoin { child, success: true } => {
                format!("joins thread {}", self.thread(*child))
            }
            Op::TryJoin { child, success: false } => format!("finds thread {} running", self.thread(*child)),
            Op::Detach { child } => format!("detaches thread {}", self.thread(*child)),
            Op::Cancel { target } => format!("cancels thread {}", self.thread(*target)),
            Op::Cancelled => "is cancelled".to_owned(),
            Op::Yield => "yields".to_owned(),
        }
    }

    /// What a thread about to execute this event waits for, e.g. "to lock `m`".
    pub(crate) fn waits(&self, event: &Event) -> String {
        let name = |addr: &Addr| format!("`{}`", self.object(*addr));
        let peer = || self.trace.peers.iter().find(|peer| peer.thread == event.id.thread);
        match &event.op {
            Op::Acquire { lock, mode: LockMode::Exclusive } => format!("to lock {}", name(lock)),
            Op::Acquire { lock, mode: LockMode::Shared } => format!("to lock {} shared", name(lock)),
            Op::WaitEnd { cond, .. } => format!("for a signal of {}", name(cond)),
            Op::BarrierLeave { barrier } => format!("for others to arrive at {}", name(barrier)),
            Op::SemWait { sem } => format!("for a post of {}", name(sem)),
            Op::OnceBegin { once, .. } => format!("for the routine of {}", name(once)),
            Op::Join { child } => format!("for thread {} to end", self.thread(*child)),
            Op::Await { cells } => format!("for a change of {}", self.cells(None, cells)),
            _ => match peer() {
                Some(peer) => format!("for the program, as peer `{}`", peer.name),
                None => "for something outside the program".to_owned(),
            },
        }
    }
}
