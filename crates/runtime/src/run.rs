//! The loop that runs threads, on the process's own stack: from the request to the reply, over and over.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use wire::layout::environment;
use wire::{Policy, Record, Reply, ReplyKind, Request, Tag, record};

use crate::api::handlers;
use crate::cell::{Checked, OneThread};
use crate::choice::PastChoices;
use crate::context::{self, Suspended};
use crate::hooks::{self, HOT};
use crate::libc_models::children::table;
use crate::libc_models::peers;
use crate::plan::{Decision, Plan};
use crate::present::Present;
use crate::slots::{self, Slot};
use crate::sync::SyncObjects;
use crate::sync::signal::only;
use crate::text::text;
use crate::threads::{Entry, Runnable, SpawnError, StartRoutine, Thread};
use crate::{checkpoint, choice, conflicts, crash, entry, exceptions, library_tls, link, rounds, sched, serial, sys};

/// Why a thread went back to the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It arrived at an operation and its turn is over, or the operation blocks it.
    Arrived,
    /// It is about to create the first thread.
    Checkpoint,
    /// It ended or parked.
    Finished,
    /// A signal ended it.
    Crashed(crash::Signal),
    /// The host's watchdog ended the run.
    TimeLimit,
    /// The trace area is full.
    TraceFull,
}

/// A thread that ended the process.
pub struct Parked {
    /// How.
    pub kind: ReplyKind,
    /// Exit status or signal.
    pub code: i32,
    /// Who.
    pub thread: Thread,
    /// Where.
    pub site: u32,
    /// The program counter of a crash; else 0.
    pub counter: u64,
    /// In words.
    pub message: String,
}

/// The run. What changes on hot paths or is read while something else is borrowed is a cell of its own.
pub struct Run {
    /// Threads by number.
    pub threads: Checked<Vec<Entry>>,
    /// Who can run.
    pub runnable: Checked<Runnable>,
    /// The running thread, or the one that ran last.
    pub current: Cell<Thread>,
    /// Whether a thread is running (else the scheduler is, or the process is starting).
    pub in_thread: Cell<bool>,
    /// Whether the checkpoint has been taken.
    pub checkpointed: Cell<bool>,
    /// Threads that ended the process, in order.
    pub parked: Checked<Vec<Parked>>,
    /// The model of synchronisation objects.
    pub objects: Checked<SyncObjects>,
    /// Values chosen before the checkpoint.
    pub choices: Checked<PastChoices>,
    /// Number of threads in rounds of loops that wait.
    pub rounds: Cell<u32>,
    /// The program used descriptors.
    pub did_io: Cell<bool>,
    /// The run changed something that outlives it and that is not put back.
    pub spoiled: Cell<bool>,
    /// The thread whose storage is in place in the libraries.
    library_tls_of: Cell<Thread>,
    /// What the host asked for.
    pub request: Cell<Request>,
    /// The next thread resumed stops for a debugger.
    pub trap: Cell<bool>,
    /// Why the last thread stopped.
    pub reason: Cell<Reason>,
    /// The scheduler while a thread runs.
    pub scheduler: Cell<Suspended>,
    /// The thread that switched to the scheduler last.
    left: Cell<Suspended>,
    plan: Cell<Plan>,
    /// Events executed by threads that are not running.
    pub steps: Cell<u64>,
    /// The last remark in the trace: what kind, by whom, where and of which object.
    pub remark: Cell<Option<(Tag, Thread, u32, u64)>>,
    /// The thread of the last `Switch` record.
    switched_to: Cell<Option<Thread>>,
    slots_taken: Checked<[u64; slots::COUNT as usize / 64]>,
}

/// The run.
pub static RUN: OneThread<Run> = OneThread::new(Run {
    threads: Checked::new(Vec::new()),
    runnable: Checked::new(Runnable::new()),
    current: Cell::new(0),
    in_thread: Cell::new(false),
    checkpointed: Cell::new(false),
    parked: Checked::new(Vec::new()),
    objects: Checked::new(SyncObjects::new()),
    choices: Checked::new(PastChoices::new()),
    rounds: Cell::new(0),
    did_io: Cell::new(false),
    spoiled: Cell::new(false),
    library_tls_of: Cell::new(0),
    request: Cell::new(Request {
        segments: 0,
        environment: 0,
        max_steps: 0,
        quantum: 0,
        trap: 0,
        quit: 0,
        choices: 0,
        stacks: 0,
        verify: 0,
        policy: Policy::FIXED,
    }),
    trap: Cell::new(false),
    reason: Cell::new(Reason::Arrived),
    scheduler: Cell::new(core::ptr::null_mut()),
    left: Cell::new(core::ptr::null_mut()),
    plan: Cell::new(Plan::NONE),
    steps: Cell::new(0),
    remark: Cell::new(None),
    switched_to: Cell::new(None),
    slots_taken: Checked::new([0; slots::COUNT as usize / 64]),
});

/// Records kept back for what the scheduler writes itself.
fn reserve() -> usize {
    (link::header().trace_capacity.load(Ordering::Relaxed) as usize / 16).max(1024)
}

impl Run {
    /// Lends what is kept of a thread, which exists.
    pub fn with_thread<R>(&self, thread: Thread, use_it: impl FnOnce(&mut Entry) -> R) -> R {
        self.threads.with(|threads| use_it(&mut threads[thread as usize]))
    }

    /// Makes a thread, a child of the running one; says also whether it had to take another's preferred slot.
    pub fn create(&self, start: StartRoutine, arg: *mut c_void) -> Result<(Thread, bool), SpawnError> {
        let current = self.current.get();
        let (parent, index) = self.with_thread(current, |parent| (parent.slot, parent.children + 1));
        let preferred = slots::preferred(parent, index);
        let is_taken =
            |slot: Slot| self.slots_taken.with(|taken| taken[slot.0 as usize / 64] & 1 << (slot.0 % 64) != 0);
        let mut slot = preferred;
        let mut tries = 0;
        while is_taken(slot) {
            tries += 1;
            if tries == slots::HASHED_COUNT {
                return Err(SpawnError::OutOfSlots);
            }
            slot = slots::next(slot);
        }
        self.with_thread(current, |parent| parent.children = index);
        let thread = self.add(slot, index, Some((start, arg)))?;
        Ok((thread, slot != preferred))
    }

    /// Adds a thread in a free slot.
    fn add(&self, slot: Slot, index: u32, routine: Option<(StartRoutine, *mut c_void)>) -> Result<Thread, SpawnError> {
        checkpoint::track(slot.map().map_err(|_| SpawnError::OutOfSlots)?);
        self.slots_taken.with(|taken| taken[slot.0 as usize / 64] |= 1 << (slot.0 % 64));
        let thread = self.threads.with(|threads| threads.len() as Thread);
        entry::fill_thread_locals(slot);
        // SAFETY: the slot has just been mapped and marked as taken, so its stack is writable and no other thread's.
        let context = unsafe { context::prepare(slot.stack_end(), entry::thread_main, thread as usize) };
        self.threads.with(|threads| threads.push(Entry::new(context, slot, index, routine)));
        self.runnable.with(|runnable| runnable.insert(thread));
        Ok(thread)
    }

    /// From the running thread to the scheduler; returns when the thread is resumed.
    pub fn leave_thread(&self, reason: Reason) {
        self.reason.set(reason);
        assert!(self.in_thread.get(), "the scheduler switches to itself");
        // SAFETY: a thread runs, so the scheduler suspended itself in `resume` and has not been resumed since.
        unsafe { context::switch(self.left.as_ptr(), self.scheduler.get()) };
    }

    /// Lets a thread run until it switches back.
    fn resume(&self, thread: Thread, limit: u32) -> Reason {
        if self.switched_to.replace(Some(thread)) != Some(thread) {
            hooks::append(Record::new(Tag::Switch, 0, 0, wire::NO_SITE, thread));
        }
        let owner = self.library_tls_of.replace(thread);
        if owner != thread {
            self.with_thread(owner, |entry| library_tls::save(&mut entry.library_tls));
            self.with_thread(thread, |entry| library_tls::load(&entry.library_tls));
        }
        let (start, context) = self.with_thread(thread, |entry| {
            hooks::set_site(entry.site);
            entry::TLS_BASE.set(entry.slot.tls());
            sys::set_errno(entry.errno);
            exceptions::load(entry.exceptions);
            (entry.position, entry.context)
        });
        HOT.position.set(start);
        HOT.stop.set(limit);
        sched::look_again();
        HOT.end.set(link::trace().end.wrapping_sub(reserve()));
        self.current.set(thread);
        self.in_thread.set(true);
        // SAFETY: `context` was made by `context::prepare` or saved when the thread last left, and the thread has not run
        // since: the plan only lets threads run that are not over.
        unsafe { context::switch(self.scheduler.as_ptr(), context) };
        self.in_thread.set(false);
        let end = HOT.position.get();
        self.with_thread(thread, |entry| {
            entry.context = self.left.get();
            entry.position = end;
            entry.site = hooks::SITE.get();
            entry.errno = sys::errno();
            entry.exceptions = exceptions::save();
        });
        HOT.end.set(link::trace().end);
        self.steps.set(self.steps.get() + u64::from(end - start));
        self.reason.get()
    }

    /// A thread will execute nothing more.
    fn finish_thread(&self, thread: Thread) {
        let round = self.with_thread(thread, |entry| {
            entry.over = true;
            entry.announce(&[]);
            entry.round.take()
        });
        self.rounds.set(self.rounds.get() - u32::from(round.is_some()));
        rounds::notice_changes();
        self.runnable.with(|runnable| runnable.remove(thread));
        sched::reconsider();
    }

    /// Takes over the host's request for a run in which the initial thread has executed its events so far alone;
    /// says whether the request allows that.
    fn apply_request(&self) -> bool {
        let request = link::request();
        self.request.set(request);
        if request.quit != 0 {
            sys::leave(0);
        }
        let Request { segments, quantum, max_steps, .. } = request;
        match Plan::new(segments, quantum, max_steps, self.with_thread(0, |entry| entry.position), link::segment) {
            Some(plan) if self.choices.with(|choices| choice::fits(choices)) => {
                self.plan.set(plan.with_policy(request.policy));
                true
            }
            _ => false,
        }
    }

    /// Who runs next.
    fn decide(&self) -> Decision {
        let mut plan = self.plan.get();
        let decision = self
            .threads
            .with(|threads| self.runnable.with(|runnable| plan.decide(&Present { run: self, threads, runnable })));
        self.plan.set(plan);
        decision
    }

    /// If no thread can run, one that waits with a time limit may; not when all peers have ended.
    fn let_time_pass(&self) {
        let is_idle = self.runnable.with(|runnable| runnable.first_from(0).is_none());
        if is_idle
            && !self.awaits_peers()
            && self.objects.with(|objects| objects.limits.release() || objects.timers.release())
        {
            sched::reconsider();
        }
    }

    /// A schedule may say that a wait ends by its limit which the search would not have ended so; the run follows it. Says
    /// whether the thread waits like that.
    fn let_time_pass_for(&self, thread: Thread) -> bool {
        let is_released =
            sched::may(environment::TIME) && self.objects.with(|objects| objects.limits.release_wait_of(thread));
        if is_released {
            sched::reconsider();
        }
        is_released
    }

    /// Whether the peers have done everything and the program waits for more.
    fn awaits_peers(&self) -> bool {
        peers::have_ended()
            && self.runnable.with(|runnable| self.objects.with(|objects| runnable.awaits_outside(objects)))
    }

    /// Runs threads until the run ends.
    fn execute(&self) -> Ending {
        loop {
            self.let_time_pass();
            let decision = self.decide();
            let (thread, limit) = match decision {
                Decision::Run { thread, limit } => (thread, limit),
                Decision::Idle => return self.idle(),
                Decision::StepLimit => return Ending::plain(ReplyKind::StepLimit, self.current.get()),
                Decision::Diverged { .. } if self.let_time_pass_for(self.plan.get().running()) => continue,
                Decision::Diverged { segment, message } => {
                    return Ending {
                        code: segment as i32,
                        message,
                        ..Ending::plain(ReplyKind::Diverged, self.current.get())
                    };
                }
            };
            let request = self.request.get();
            if request.trap != 0 && self.plan.get().is_prefix_done() {
                self.request.set(Request { trap: 0, ..request });
                self.trap.set(true);
            }
            if self.plan.get().draws_for_events() {
                self.threads.with(|threads| conflicts::draw_again(threads, thread));
            }
            match self.resume(thread, limit) {
                Reason::Arrived => {}
                Reason::Finished => self.finish_thread(thread),
                Reason::Crashed(signal) => {
                    let (site, slot) = self.with_thread(thread, |entry| (entry.site, entry.slot));
                    let message = crash::describe(signal, slot).as_str().into();
                    let is_handled = !handlers::acts_without_handler(signal.number);
                    if is_handled {
                        // What the program does next is up to its handler, which would need the state of the machine.
                        sched::unmodelled_at_end(text!("handles signal {} itself", signal.number).as_str());
                    }
                    let kind = if is_handled { ReplyKind::Assumed } else { ReplyKind::Crash };
                    let (code, counter) = (signal.number, signal.counter as u64);
                    self.parked.with(|parked| parked.push(Parked { kind, code, thread, site, counter, message }));
                    self.finish_thread(thread);
                }
                Reason::TimeLimit => return Ending::plain(ReplyKind::TimeLimit, thread),
                Reason::TraceFull => return Ending::plain(ReplyKind::TraceFull, thread),
                Reason::Checkpoint => {
                    self.checkpointed.set(true);
                    checkpoint::take();
                    if !self.apply_request() {
                        return Ending::plain(ReplyKind::Fresh, thread);
                    }
                }
            }
        }
    }

    /// No thread can run: the process ends, or the threads are stuck.
    fn idle(&self) -> Ending {
        // A failure comes first, then an exit, then an assumption that kept a thread.
        let rank = |p: &Parked| match p.kind {
            ReplyKind::Assumed => 2,
            ReplyKind::Exit => 1,
            _ => 0,
        };
        let first = self.parked.with(|parked| {
            let first = (0..parked.len()).min_by_key(|at| rank(&parked[*at]));
            first.map(|first| parked.swap_remove(first))
        });
        if let Some(Parked { kind, code, thread, site, counter, message }) = first {
            return Ending { kind, code, thread, site: Some(site), counter, message };
        }
        if table::any_waits() {
            // The child may not read its input to the end.
            sched::unmodelled_at_end("waits for a child process that waits for more input");
            return Ending::plain(ReplyKind::Assumed, self.current.get());
        }
        if let Some(signal) =
            self.runnable.with(|runnable| runnable.awaits_signal()).then(|| self.ending_timer()).flatten()
        {
            return Ending { code: 128 + signal, ..Ending::plain(ReplyKind::Exit, self.current.get()) };
        }
        let are_left = self.threads.with(|threads| threads.iter().any(|thread| !thread.over));
        let stuck = are_left && !self.awaits_peers();
        Ending::plain(if stuck { ReplyKind::Deadlock } else { ReplyKind::Exit }, self.current.get())
    }

    /// The signal of an armed timer that ends the process.
    fn ending_timer(&self) -> Option<c_int> {
        let signals = self.objects.with(|objects| {
            let is_blocked = |signal: &c_int| objects.threads.is_blocked_by_all(*signal);
            let signals = objects.timers.signals();
            (1..=64).filter(|signal| !is_blocked(signal)).fold(0, |set, signal| set | only(signal)) & signals
        });
        handlers::ends_process(signals)
    }

    /// Writes what unfinished threads were about to do, and the reply.
    fn answer(&self, ending: Ending) {
        let last_site = self.threads.with(|threads| {
            for (thread, entry) in (0..).zip(threads.iter()).filter(|(_, entry)| !entry.pending().is_empty()) {
                let flags =
                    if self.runnable.with(|runnable| runnable.contains(thread)) { record::flag::ENABLED } else { 0 };
                hooks::append(Record::new(Tag::Pending, flags, 0, wire::NO_SITE, thread));
                hooks::append_all(entry.pending());
            }
            threads.get(ending.thread as usize).map_or(wire::NO_SITE, |entry| entry.site)
        });
        let site = ending.site.unwrap_or(last_site);
        let records = link::records_before(HOT.cursor.get());
        let reply = Reply {
            code: ending.code,
            thread: ending.thread,
            site,
            records,
            checkpoint_records: checkpoint::records(),
            counter: ending.counter,
            spoiled: (self.spoiled.get() || checkpoint::shares_memory()).into(),
            ..Reply::default()
        };
        link::reply(reply, ending.kind, &ending.message);
    }
}

/// How a run ended.
struct Ending {
    kind: ReplyKind,
    code: i32,
    thread: Thread,
    /// `None`: the thread's last one.
    site: Option<u32>,
    counter: u64,
    message: String,
}

impl Ending {
    fn plain(kind: ReplyKind, thread: Thread) -> Self {
        Self { kind, code: 0, thread, site: None, counter: 0, message: String::new() }
    }
}

/// Ends the process with a failure of the runtime itself.
pub fn fail(message: &str) -> ! {
    // Whoever holds a borrow never continues.
    crate::cell::abandon_borrows();
    link::reply(Reply::default(), ReplyKind::Failure, message);
    checkpoint::ring_and_leave()
}

/// Serves the host's requests; the first one has arrived. Never returns.
pub fn serve() -> ! {
    HOT.cursor.set(link::trace().start);
    HOT.end.set(link::trace().end);
    if RUN.add(Slot::MAIN, 0, None).is_err() {
        fail("cannot map the program's memory");
    }
    if !RUN.apply_request() {
        fail("the request does not fit a new process");
    }
    serial::begin();
    sched::reconsider();
    loop {
        // A restore goes back to the checkpoint taken in `execute`, with the initial thread suspended.
        let ending = RUN.execute();
        let last = matches!(ending.kind, ReplyKind::TimeLimit | ReplyKind::Failure) || !RUN.checkpointed.get();
        RUN.answer(ending);
        if last {
            checkpoint::ring_and_leave();
        }
        checkpoint::ring_and_restore();
        while !RUN.apply_request() {
            RUN.answer(Ending::plain(ReplyKind::Fresh, 0));
            checkpoint::ring_and_restore();
        }
    }
}
