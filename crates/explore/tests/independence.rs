//! Independent events commute: on random runs of generated programs, swapping two adjacent independent events gives a
//! run with the same events, the same final state and the same races. (Pairs of creations are excluded, since swapping
//! them swaps the threads' numbers.) And dependence is the stronger order: it orders everything that happens-before
//! orders.

use std::collections::BTreeSet;

use model::dependence::dependent;
use model::happens_before::HappensBefore;
use model::race::could_race;
use model::{Clock, End, Event, EventId, Executor, Op, Schedule, Step, Trace};
use testkit::generator::{Case, Feature, Random};
use testkit::{Interpreter, Limits};

/// A run with random scheduling.
fn random_run(interpreter: &mut Interpreter, random: &mut Random) -> Trace {
    let mut machine = interpreter.initial().clone();
    let mut schedule = Schedule::new();
    loop {
        let runnable: Vec<_> = machine.runnable().iter().collect();
        if runnable.is_empty() {
            return interpreter.run(&schedule).unwrap();
        }
        let thread = runnable[(random.bits() % runnable.len() as u64) as usize];
        let event = machine.step(thread).unwrap().event;
        schedule.push(thread, event.id.position + 1);
    }
}

fn schedule_of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Schedule {
    let mut schedule = Schedule::new();
    events.into_iter().for_each(|e| schedule.push(e.id.thread, e.id.position + 1));
    schedule
}

fn clocks(trace: &Trace) -> Vec<Clock> {
    let mut order = HappensBefore::new();
    (0..trace.events.len() as u32).map(|step| order.step(trace, Step(step)).clone()).collect()
}

/// All racing pairs of events.
fn racing_events(trace: &Trace) -> BTreeSet<(EventId, EventId)> {
    let events = trace.events.as_slice();
    let clocks = clocks(trace);
    let mut races = BTreeSet::new();
    for (at, second) in events.iter().enumerate() {
        for first in events[..at].iter().filter(|e| e.id.thread != second.id.thread && !clocks[at].contains(e.id)) {
            if first.op.accesses().iter().any(|a| second.op.accesses().iter().any(|b| could_race(a, b))) {
                races.insert((first.id.min(second.id), first.id.max(second.id)));
            }
        }
    }
    races
}

/// For each event, the events that lead to it by dependence, and itself.
fn causal_pasts(trace: &Trace) -> Vec<BTreeSet<EventId>> {
    let events = trace.events.as_slice();
    let mut pasts: Vec<BTreeSet<EventId>> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let direct = (0..at).filter(|i| dependent(&events[*i], event));
        let mut past: BTreeSet<EventId> = direct.flat_map(|i| pasts[i].iter().copied()).collect();
        past.insert(event.id);
        pasts.push(past);
    }
    pasts
}

#[test]
fn independent_events_can_be_swapped() {
    let mut swaps = 0;
    for seed in 0..testkit::programs(2_000) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let mut interpreter = Interpreter::new(case.program()).unwrap();
        let trace = random_run(&mut interpreter, &mut Random::new(seed));
        let events = trace.events.as_slice();
        let races = racing_events(&trace);
        for at in 1..events.len() {
            let created = |e: &Event| matches!(e.op, Op::Create { .. });
            let renumbered = created(&events[at - 1]) && created(&events[at]);
            if dependent(&events[at - 1], &events[at]) || renumbered {
                continue;
            }
            let mut order: Vec<&Event> = events.iter().collect();
            order.swap(at - 1, at);
            let swapped = interpreter.run(&schedule_of(order.iter().copied())).unwrap();
            let context = || {
                let (one, other) = (&events[at - 1], &events[at]);
                format!("seed {seed}: {one:?}\n{other:?}\n{:?}\n{}", swapped.end, case.sketch.emit().text)
            };
            assert!(order.iter().copied().eq(&swapped.events), "{}", context());
            let after = Step(at as u32 + 1);
            assert_eq!(trace.runnable_at(after), swapped.runnable_at(after), "{}", context());
            assert_eq!(racing_events(&swapped), races, "{}", context());
            assert_eq!(trace.pending, swapped.pending, "{}", context());
            // Which of two failures comes first depends on order alone.
            if !matches!(trace.end, End::Assertion { .. } | End::Crash { .. }) {
                assert_eq!(trace.end, swapped.end, "{}", context());
            }
            swaps += 1;
        }
    }
    assert!(swaps > 5_000, "only {swaps} swaps");
}

#[test]
fn happens_before_is_within_dependence() {
    let mut pairs = 0;
    for seed in 0..testkit::programs(2_000) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let mut interpreter = Interpreter::new(case.program()).unwrap();
        let trace = random_run(&mut interpreter, &mut Random::new(seed));
        let events = trace.events.as_slice();
        for (clock, past) in clocks(&trace).iter().zip(causal_pasts(&trace)) {
            let ordered: Vec<&Event> = events.iter().filter(|e| clock.contains(e.id)).collect();
            pairs += ordered.len();
            let missing: Vec<_> = ordered.into_iter().filter(|e| !past.contains(&e.id)).collect();
            assert!(missing.is_empty(), "seed {seed}: {missing:?}\n{}", case.sketch.emit().text);
        }
    }
    assert!(pairs > 50_000, "only {pairs} ordered pairs");
}
