//! The net of a program of the small language.
//!
//! Paper: Abdulla, Haziza and Kindahl, *Model Checking Race-Freeness*, sections 3 and 4. A token per thread at its
//! statement; a place per lock, with a token while it is free; `Read_x` and `Write_x` with a token per thread that is
//! accessing `x`; a variable is raced on when `Write_x` has two tokens, or `Write_x` and `Read_x` one each.
//!
//! Deviations: a condition variable has one place for pending signals, but each `wait` has places of its own for
//! threads that wait (`cond`) and that were woken (`ready`), so that a woken thread goes on where it waited.
//! `broadcast` moves all waiting threads by a transfer. The paper has neither broadcast nor join.
//!
//! Can be missed: nothing that the language's semantics allow; a signal token may be lost or wake a later waiter.
//! Can be wrongly claimed: `covered` may need both outcomes of a branch that the original program never takes; it is
//! a candidate, never a race by itself.

use std::collections::BTreeMap;

use petri::{Initial, Marking, Net, PlaceId, Transition};

use super::{Action, Multiplicity, Sml, SmlPair};

struct Builder<'a> {
    sml: &'a Sml,
    net: Net,
    names: BTreeMap<String, PlaceId>,
}

impl Builder<'_> {
    fn place(&mut self, name: String) -> PlaceId {
        let next = PlaceId(self.net.places.len() as u32);
        let place = *self.names.entry(name.clone()).or_insert(next);
        if place == next {
            self.net.places.push(name);
            self.net.initial.push(Initial { low: 0, high: Some(0) });
        }
        place
    }
    fn shared(&mut self, role: &str, name: usize) -> PlaceId {
        let name = &self.sml.shared[name];
        self.place(format!("{role}{name}"))
    }
    /// Where a thread of the job is before its statement of this number; the last one is its end.
    fn at(&mut self, job: usize, number: usize) -> PlaceId {
        let job = &self.sml.jobs[job];
        let name = match job.statements.get(number) {
            Some(statement) => format!("{}.{}@{}", job.name, number, statement.line),
            None => format!("{}.end", job.name),
        };
        self.place(name)
    }
    /// Where a thread of the job is while it accesses a variable in its statement of this number.
    fn during(&mut self, job: usize, number: usize) -> PlaceId {
        let job = &self.sml.jobs[job];
        self.place(format!("{}.{}@{}.during", job.name, number, job.statements[number].line))
    }
    fn transition(&mut self, name: &str, from: &[PlaceId], to: &[PlaceId]) {
        let count = |places: &[PlaceId]| {
            let mut counts = BTreeMap::new();
            places.iter().for_each(|p| *counts.entry(*p).or_insert(0) += 1);
            counts
        };
        self.net.transitions.push(Transition::with_arcs(name.to_owned(), &count(from), &count(to)));
    }
}

/// The net; its targets are the races on all variables.
pub fn net(sml: &Sml) -> Net {
    net_for(sml, &sml.variables())
}

/// The net; its target is that two threads are accessing a variable in the statements of the pair.
pub fn net_of_pair(sml: &Sml, pair: &SmlPair) -> Net {
    let mut b = build(sml);
    let [one, other] = pair.accesses.map(|access| b.during(access.job, access.statement));
    b.net.targets = vec![Marking::new([(one, 1), (other, 1)])];
    b.net
}

/// The net; its targets are the races on these variables (indices into [`Sml::shared`]).
pub fn net_for(sml: &Sml, variables: &[usize]) -> Net {
    let mut b = build(sml);
    for variable in variables {
        let (read, write) = (b.shared("Read_", *variable), b.shared("Write_", *variable));
        b.net.targets.push(Marking::new([(write, 2)]));
        b.net.targets.push(Marking::new([(write, 1), (read, 1)]));
    }
    b.net
}

/// The net without a target.
fn build(sml: &Sml) -> Builder<'_> {
    let mut b = Builder { sml, net: Net::default(), names: BTreeMap::new() };
    for (number, job) in sml.jobs.iter().enumerate() {
        let start = b.at(number, 0);
        b.net.initial[start.index()] = match job.multiplicity {
            Multiplicity::One => Initial { low: 1, high: Some(1) },
            Multiplicity::Many => Initial { low: 0, high: None },
            Multiplicity::Created => Initial { low: 0, high: Some(0) },
        };
    }
    let mut waits: BTreeMap<usize, Vec<(PlaceId, PlaceId)>> = BTreeMap::new();
    let mut broadcasts = Vec::new();
    for (number, job) in sml.jobs.iter().enumerate() {
        for (index, statement) in job.statements.iter().enumerate() {
            let (here, next) = (b.at(number, index), b.at(number, index + 1));
            let name = format!("{}:{} {}", job.name, statement.line, sml.action(job, statement.action));
            match statement.action {
                Action::Acquire(lock) => {
                    let lock = b.lock(lock);
                    b.transition(&name, &[here, lock], &[next]);
                }
                Action::Release(lock) => {
                    let lock = b.lock(lock);
                    b.transition(&name, &[here], &[next, lock]);
                }
                Action::Read(variable) | Action::Write(variable) => {
                    let role = if matches!(statement.action, Action::Read(_)) { "Read_" } else { "Write_" };
                    let accessing = b.shared(role, variable);
                    let during = b.during(number, index);
                    b.transition(&name, &[here], &[during, accessing]);
                    b.transition(&format!("{name} done"), &[during, accessing], &[next]);
                }
                Action::Wait { condition, lock } => {
                    let lock = b.lock(lock);
                    let signal = b.shared("signal_", condition);
                    let at = format!("{}.{}@{}", job.name, index, statement.line);
                    let (cond, ready) = (b.place(format!("{at}.cond")), b.place(format!("{at}.ready")));
                    b.transition(&name, &[here], &[cond, lock]);
                    b.transition(&format!("{name} woken"), &[cond, signal], &[ready]);
                    b.transition(&format!("{name} done"), &[ready, lock], &[next]);
                    waits.entry(condition).or_default().push((cond, ready));
                }
                Action::Signal(condition) => {
                    let signal = b.shared("signal_", condition);
                    b.transition(&name, &[here], &[next, signal]);
                }
                Action::Broadcast(condition) => {
                    broadcasts.push((b.net.transitions.len(), condition));
                    b.transition(&name, &[here], &[next]);
                }
                Action::Branch(to) => {
                    let there = b.at(number, to);
                    b.transition(&format!("{name} taken"), &[here], &[there]);
                    b.transition(&format!("{name} not taken"), &[here], &[next]);
                }
                Action::Goto(to) => {
                    let there = b.at(number, to);
                    b.transition(&name, &[here], &[there]);
                }
                Action::Create(child) => {
                    let start = b.at(child, 0);
                    b.transition(&name, &[here], &[next, start]);
                }
                Action::Join(child) => {
                    let end = b.at(child, sml.jobs[child].statements.len());
                    b.transition(&name, &[here, end], &[next]);
                }
            }
        }
    }
    for (transition, condition) in broadcasts {
        let moved = waits.get(&condition).into_iter().flatten();
        let mut flows: Vec<_> = moved.map(|(cond, ready)| (*cond, vec![*ready])).collect();
        flows.sort_unstable();
        b.net.transitions[transition].flows = flows;
    }
    b.lose_signals();
    b
}

impl Builder<'_> {
    /// The place of a lock: one token, free at the start.
    fn lock(&mut self, lock: usize) -> PlaceId {
        let place = self.shared("", lock);
        self.net.initial[place.index()] = Initial { low: 1, high: Some(1) };
        place
    }
    /// Signals that nobody waits for have no effect: any may be lost.
    fn lose_signals(&mut self) {
        let is_signal =
            |(name, place): (&String, &PlaceId)| name.starts_with("signal_").then(|| (name.clone(), *place));
        let signals: Vec<_> = self.names.iter().filter_map(is_signal).collect();
        for (name, place) in signals {
            self.transition(&format!("{name} lost"), &[place], &[]);
        }
    }
}
