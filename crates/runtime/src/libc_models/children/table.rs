//! The children of the run: from their start to the call that takes their status.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ffi::c_int;

use libc::pid_t;

use super::execution::{self, Failure, Outcome};
use super::files::{Files, Held};
use super::request::{Request, What, put_number};
use super::results;
use crate::api::handlers;
use crate::api::refused::stay;
use crate::cell::Global;
use crate::libc_models::channels::{self, ChannelId, End};
use crate::libc_models::event::Access;
use crate::libc_models::{memory_files, unmodelled};
use crate::text::{Text, text};

/// The number of the first child; they count up.
const FIRST: pid_t = 20_000;

/// A child.
struct Child {
    pid: pid_t,
    state: State,
    /// Somebody was told that it had not ended.
    was_early: bool,
}

/// How far a child is.
enum State {
    /// It waits for the end of its standard input. It has ends of channels open.
    Waits { request: Request, held: Held, input: ChannelId, ends: Vec<End> },
    /// It has ended, as soon as what it wrote fits into these channels.
    Ended { status: c_int, outputs: Vec<ChannelId> },
}

/// What has to be said and done after the event in which a child was started or ended.
#[derive(Default)]
struct Left {
    remarks: Vec<Text>,
    /// The thread cannot go on.
    stays: bool,
    /// A child has ended.
    signal: bool,
}

static CHILDREN: Global<Vec<Child>> = Global::new(Vec::new());

/// How many children there have been.
static COUNT: Global<pid_t> = Global::new(0);

/// How often each program was executed in this run, with what it was given.
static REPEATED: Global<BTreeMap<Vec<u8>, u64>> = Global::new(BTreeMap::new());

static LEFT: Global<Left> = Global::new(Left { remarks: Vec::new(), stays: false, signal: false });

/// Says something after the event.
pub fn remark(what: Text) {
    LEFT.with(|left| left.remarks.push(what));
}

/// Says something after the event; the thread that makes it cannot go on.
pub fn give_up(what: Text) {
    remark(what);
    LEFT.with(|left| left.stays = true);
}

/// Says and does what an event in which a child was started or ended has left.
pub fn after_event() {
    let Left { remarks, stays, signal } = LEFT.with(core::mem::take);
    remarks.iter().for_each(|what| unmodelled(what.as_str()));
    if stays {
        stay();
    }
    if signal {
        handlers::send_to_process(libc::SIGCHLD);
    }
}

fn new_number() -> pid_t {
    COUNT.with(|count| {
        *count += 1;
        FIRST + *count - 1
    })
}

fn put(pid: pid_t, state: State) {
    CHILDREN.with(|children| children.push(Child { pid, state, was_early: false }));
}

/// Adds a child that has ended; its number.
pub fn add_ended(status: c_int) -> pid_t {
    let pid = new_number();
    put(pid, State::Ended { status, outputs: Vec::new() });
    note_end(pid);
    pid
}

/// Adds a child that executes a program, if its standard input is complete at once; its number.
pub fn add(request: Request, add: &mut dyn FnMut(Access)) -> pid_t {
    if memory_files::hides_files() {
        remark(text!("executes another program after it has changed files, which that program does not see"));
    }
    let pid = new_number();
    let held = Held::new(&request);
    let open = |end: Option<End>| end.and_then(End::source).filter(|source| channels::has_writers(*source));
    let ends: Vec<End> = request.files.iter().filter(|file| !file.closes).filter_map(end_of).collect();
    let input = open(request.files.iter().find(|file| file.fd == 0 && !file.closes).and_then(end_of));
    match input {
        None => execute(pid, &request, &held, add),
        Some(input) => {
            ends.iter().for_each(|end| channels::add_user(*end));
            put(pid, State::Waits { request, held, input, ends });
        }
    }
    pid
}

fn end_of(file: &super::request::Descriptor) -> Option<End> {
    match file.what {
        What::Channel(End::Counter(_) | End::Datagrams(_)) => None,
        What::Channel(end) => Some(end),
        _ => None,
    }
}

/// Lets the children run whose standard input is complete now.
pub fn advance(add: &mut dyn FnMut(Access)) {
    let ready = |child: &Child| matches!(child.state, State::Waits { input, .. } if !channels::has_writers(input));
    let next = || CHILDREN.with(|children| children.iter().position(ready).map(|index| children.remove(index)));
    while let Some(Child { pid, state, .. }) = next() {
        if let State::Waits { request, held, ends, .. } = state {
            execute(pid, &request, &held, add);
            for end in ends {
                channels::close_accesses(end).into_iter().for_each(&mut *add);
                channels::close(end, add);
            }
        }
    }
}

/// Executes a program; the child has ended then.
fn execute(pid: pid_t, request: &Request, held: &Held, add: &mut dyn FnMut(Access)) {
    let files = Files::new(request, held);
    let mut asked = request.surroundings();
    asked.extend(&files.identity);
    let number = REPEATED.with(|repeated| {
        let number = repeated.entry(asked.clone()).or_default();
        *number += 1;
        *number
    });
    put_number(&mut asked, number);
    let mut failure = None;
    let result = results::find_or_make(&asked, || match execution::run(request, &files) {
        Ok(outcome) => Some(outcome.to_bytes()),
        Err(why) => {
            failure = Some(why);
            None
        }
    });
    let name = request.program.to_bytes().escape_ascii();
    let status = match result.as_deref().and_then(Outcome::from_bytes) {
        Some(outcome) => {
            files.apply(&outcome.traffic, add);
            if outcome.leaves_processes {
                remark(text!("executes `{name}`, which leaves processes running"));
            }
            outcome.status
        }
        None => {
            let why = match failure {
                Some(Failure::WritesTooMuch) => text!("executes `{name}`, which writes without end"),
                Some(Failure::NotStarted(error)) => text!("cannot execute `{name}`: error {error}"),
                None => text!("executes `{name}`, whose results cannot be kept"),
            };
            give_up(why);
            0
        }
    };
    put(pid, State::Ended { status, outputs: files.channels() });
    note_end(pid);
}

/// A child has ended: nobody waits for it if its signal is ignored.
fn note_end(pid: pid_t) {
    if handlers::ignores_children() {
        CHILDREN.with(|children| children.retain(|child| child.pid != pid));
    }
    LEFT.with(|left| left.signal = true);
}

/// Whether a child has ended: what it wrote beyond what fits into its pipes has been read.
fn has_ended(child: &Child) -> bool {
    matches!(&child.state, State::Ended { outputs, .. } if outputs.iter().all(|channel| !channels::is_overfull(*channel)))
}

fn is_wanted(child: &Child, pid: pid_t) -> bool {
    pid <= 0 || child.pid == pid
}

/// Whether a wait for a child of this number, or for any if it is not positive, would not wait.
pub fn is_ready(pid: pid_t) -> bool {
    CHILDREN.with(|children| {
        let mut wanted = children.iter().filter(|child| is_wanted(child, pid)).peekable();
        wanted.peek().is_none() || wanted.any(has_ended)
    })
}

/// What a wait found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// There is no such child.
    Nobody,
    /// None has ended.
    Running,
    /// This one has, with this status.
    Ended(pid_t, c_int),
}

/// The first child that has ended, of those with this number, or of all. It is gone then, unless it `stays`.
pub fn take(pid: pid_t, stays: bool) -> Found {
    CHILDREN.with(|children| {
        if !children.iter().any(|child| is_wanted(child, pid)) {
            return Found::Nobody;
        }
        let Some(index) = children.iter().position(|child| is_wanted(child, pid) && has_ended(child)) else {
            return Found::Running;
        };
        let State::Ended { status, .. } = children[index].state else { return Found::Running };
        let found = Found::Ended(children[index].pid, status);
        if !stays {
            children.remove(index);
        }
        found
    })
}

/// Whether somebody who does not wait for such a child may be told that it has not ended, for the first time.
pub fn may_be_early(pid: pid_t) -> bool {
    if handlers::tells_of_children() {
        // Its signal has come.
        return false;
    }
    CHILDREN.with(|children| {
        let mut ended = children.iter().filter(|child| is_wanted(child, pid) && has_ended(child)).peekable();
        ended.peek().is_some() && ended.all(|child| !child.was_early)
    })
}

/// Somebody is told that no such child has ended.
pub fn note_early(pid: pid_t) {
    CHILDREN
        .with(|children| children.iter_mut().filter(|child| is_wanted(child, pid)).for_each(|c| c.was_early = true));
}

/// Whether there is a child of this number.
pub fn exists(pid: pid_t) -> bool {
    CHILDREN.with(|children| children.iter().any(|child| child.pid == pid))
}

/// Whether a child of this number runs.
pub fn runs(pid: pid_t) -> bool {
    CHILDREN.with(|children| children.iter().any(|child| child.pid == pid && !has_ended(child)))
}

/// Whether a child waits for input, which nobody may bring.
pub fn any_waits() -> bool {
    CHILDREN.with(|children| children.iter().any(|child| matches!(child.state, State::Waits { .. })))
}
