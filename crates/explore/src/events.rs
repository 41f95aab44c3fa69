//! The events of a search, each stored once: numbers are small to keep and quick to compare.

use std::rc::Rc;

use model::{Event, EventId, IndexVec, ThreadId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::sleep::{Relation, interfere, same_event};

/// The number of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct EventNumber(pub(crate) u32);

/// Events with smaller numbers than this have a bit row of the events they interfere with.
const ROWS: usize = 512;
type Row = [u64; ROWS / 64];

/// The events seen so far, by number.
#[derive(Default)]
pub(crate) struct Events {
    events: Vec<Rc<Event>>,
    numbers: FxHashMap<Rc<Event>, EventNumber>,
    /// The number last given to each thread's event at each position.
    last: IndexVec<ThreadId, Vec<EventNumber>>,
    /// For each of the first events, which of them interfere with it (itself included).
    rows: Vec<Row>,
}

impl Events {
    /// The event's number; a new one if the event is new.
    pub(crate) fn number(&mut self, event: &Event) -> EventNumber {
        let EventId { thread, position } = event.id;
        let last = self.last.get(thread).and_then(|numbers| numbers.get(position as usize)).copied();
        if let Some(last) = last.filter(|last| self.get(*last) == event) {
            return last;
        }
        let number = self.find(event);
        while self.last.len() <= thread.0 as usize {
            self.last.push(Vec::new());
        }
        let numbers = &mut self.last[thread];
        if numbers.len() <= position as usize {
            numbers.resize(position as usize + 1, number);
        }
        numbers[position as usize] = number;
        number
    }

    fn find(&mut self, event: &Event) -> EventNumber {
        if let Some(number) = self.numbers.get(event) {
            return *number;
        }
        let number = EventNumber(self.events.len() as u32);
        if self.events.len() < ROWS {
            let new = self.events.len();
            let mut row = [0; ROWS / 64];
            mark(&mut row, new);
            for (at, _) in self.events.iter().enumerate().filter(|(_, other)| interfere(event, other)) {
                mark(&mut row, at);
                mark(&mut self.rows[at], new);
            }
            self.rows.push(row);
        }
        let event = Rc::new(event.clone());
        self.events.push(Rc::clone(&event));
        self.numbers.insert(event, number);
        number
    }

    /// The event with a number.
    pub(crate) fn get(&self, number: EventNumber) -> &Event {
        &self.events[number.0 as usize]
    }

    /// Whether there is an event with this number.
    pub(crate) fn contains(&self, number: EventNumber) -> bool {
        (number.0 as usize) < self.events.len()
    }

    /// The events with this number or a larger one.
    pub(crate) fn since(&self, number: usize) -> Vec<Event> {
        self.events.iter().skip(number).map(|event| Event::clone(event)).collect()
    }

    /// All events, by number.
    pub(crate) fn to_vec(&self) -> Vec<Event> {
        self.since(0)
    }
}

impl Relation<EventNumber> for Events {
    fn thread(&self, event: &EventNumber) -> ThreadId {
        self.get(*event).id.thread
    }

    fn same(&self, one: &EventNumber, other: &EventNumber) -> bool {
        one == other || same_event(self.get(*one), self.get(*other))
    }

    #[inline]
    fn interfere(&self, one: &EventNumber, other: &EventNumber) -> bool {
        let (at, bit) = (other.0 as usize / 64, other.0 % 64);
        match self.rows.get(one.0 as usize).and_then(|row| row.get(at)) {
            Some(word) => word >> bit & 1 != 0,
            None => interfere(self.get(*one), self.get(*other)),
        }
    }
}

fn mark(row: &mut Row, at: usize) {
    row[at / 64] |= 1 << (at % 64);
}

impl From<Vec<Event>> for Events {
    fn from(events: Vec<Event>) -> Self {
        let mut all = Self::default();
        for event in &events {
            all.number(event);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use model::{EventId, Op, ThreadId};

    use super::*;

    /// Includes events whose numbers are past the rows.
    #[test]
    fn numbered_events_interfere_as_events_do() {
        let event = |n: u32| Event {
            id: EventId { thread: ThreadId(n % 7), position: n / 7 },
            site: None,
            op: match n % 3 {
                0 => Op::Exit,
                1 => Op::Join { child: ThreadId(n % 5) },
                _ => Op::Yield,
            },
        };
        let all: Vec<Event> = (0..ROWS as u32 + 40).map(event).collect();
        let mut events = Events::from(all.clone());
        let numbers: Vec<EventNumber> = all.iter().map(|event| events.number(event)).collect();
        assert_eq!(events.to_vec(), all, "each is kept once");
        let near = ROWS - 60..all.len();
        for (a, b) in near.clone().flat_map(|a| near.clone().map(move |b| (a, b))) {
            let (one, other) = (numbers[a], numbers[b]);
            assert_eq!(events.interfere(&one, &other), interfere(&all[a], &all[b]), "{:?} {:?}", all[a], all[b]);
            assert_eq!(events.same(&one, &other), same_event(&all[a], &all[b]));
        }
    }
}
