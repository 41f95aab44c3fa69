//! Nets: places, transitions, initial markings, targets.

use std::collections::BTreeMap;

use crate::marking::Marking;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The id's number, to index a slice.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids! {
    /// A place; indexes [`Net::places`].
    PlaceId;
    /// A transition; indexes [`Net::transitions`].
    TransitionId;
}

/// A transition. It can fire when every guarded place holds at least as many tokens as the guard says. Firing
/// sends the tokens of each place where [`flows`](Self::flows) says (by default they stay), and then adds
/// [`delta`](Self::delta).
///
/// Invariant: `delta` never makes a place negative when the guard holds (checked by [`Net::validate`]), so
/// transitions are monotone: what a marking can do, a larger one can do too, with a result at least as large.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transition {
    /// As the source names it; may be empty.
    pub name: String,
    /// Least number of tokens needed, ascending by place.
    pub guard: Vec<(PlaceId, u32)>,
    /// Tokens added or taken, ascending by place.
    pub delta: Vec<(PlaceId, i64)>,
    /// Places whose tokens do not simply stay, with the places that get them: none (reset), one (transfer) or
    /// several (each gets as many). Ascending by place.
    pub flows: Vec<(PlaceId, Vec<PlaceId>)>,
}

impl Transition {
    /// An ordinary transition with these input and output arcs.
    pub fn with_arcs(name: String, consumed: &BTreeMap<PlaceId, u32>, produced: &BTreeMap<PlaceId, u32>) -> Self {
        let guard = consumed.iter().map(|(p, n)| (*p, *n)).filter(|(_, n)| *n > 0).collect();
        let mut delta: BTreeMap<PlaceId, i64> = produced.iter().map(|(p, n)| (*p, i64::from(*n))).collect();
        for (p, n) in consumed {
            *delta.entry(*p).or_default() -= i64::from(*n);
        }
        Self { name, guard, delta: delta.into_iter().filter(|(_, d)| *d != 0).collect(), flows: Vec::new() }
    }
    /// Tokens needed in a place.
    pub fn needs(&self, place: PlaceId) -> u32 {
        self.guard.iter().find(|(p, _)| *p == place).map_or(0, |(_, n)| *n)
    }
    /// Tokens added to (or taken from) a place.
    pub fn change(&self, place: PlaceId) -> i64 {
        self.delta.iter().find(|(p, _)| *p == place).map_or(0, |(_, d)| *d)
    }
}

/// Initial markings: each place has between `low` and `high` tokens (`None`: any number).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Initial {
    /// Fewest tokens.
    pub low: u32,
    /// Most tokens; `None` when there is no limit.
    pub high: Option<u32>,
}

/// A net with its coverability question.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Net {
    /// Names of the places.
    pub places: Vec<String>,
    /// Transitions.
    pub transitions: Vec<Transition>,
    /// Initial markings, by place.
    pub initial: Vec<Initial>,
    /// Minimal elements of the set to be covered.
    pub targets: Vec<Marking>,
}

impl Net {
    /// All places.
    pub fn place_ids(&self) -> impl Iterator<Item = PlaceId> + use<> {
        (0..self.places.len() as u32).map(PlaceId)
    }
    /// Reads a marking: places by name, each followed by its number of tokens.
    pub fn marking(&self, text: &str) -> Result<Marking, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let entry = |pair: &[&str]| {
            let [name, number] = pair else { return Err("a place without a number".to_owned()) };
            let place = self.place_ids().find(|p| self.places[p.index()] == **name);
            let place = place.ok_or_else(|| format!("the net has no place `{name}`"))?;
            Ok((place, number.parse().map_err(|_| format!("`{number}` is not a number of tokens"))?))
        };
        words.chunks(2).map(entry).collect::<Result<Vec<_>, _>>().map(Marking::new)
    }
    /// All transitions with their ids.
    pub fn transitions(&self) -> impl Iterator<Item = (TransitionId, &Transition)> {
        self.transitions.iter().enumerate().map(|(i, t)| (TransitionId(i as u32), t))
    }
    /// Whether some initial marking covers `marking`.
    pub fn initially_covers(&self, marking: &Marking) -> bool {
        marking.entries().iter().all(|(p, n)| self.initial[p.index()].high.is_none_or(|high| *n <= high))
    }
    /// The smallest initial marking that covers `marking`, if there is one.
    pub fn initial_covering(&self, marking: &Marking) -> Option<Marking> {
        self.initially_covers(marking)
            .then(|| Marking::new(self.place_ids().map(|p| (p, self.initial[p.index()].low.max(marking.get(p))))))
    }

    /// The marking after firing, or `None` if the guard does not hold. Token counts saturate at the largest number: by
    /// monotonicity, whatever is reached then is also reached with more tokens.
    pub fn fire(&self, marking: &Marking, transition: TransitionId) -> Option<Marking> {
        let t = &self.transitions[transition.index()];
        if !t.guard.iter().all(|(p, n)| marking.get(*p) >= *n) {
            return None;
        }
        let mut tokens: Vec<i64> = self.place_ids().map(|p| i64::from(marking.get(p))).collect();
        let before = tokens.clone();
        for (from, to) in &t.flows {
            tokens[from.index()] -= before[from.index()];
            for p in to {
                tokens[p.index()] += before[from.index()];
            }
        }
        for (p, d) in &t.delta {
            tokens[p.index()] += d;
        }
        let tokens = tokens.into_iter().map(|n| u32::try_from(n.min(u32::MAX.into())).ok());
        let tokens = tokens.collect::<Option<Vec<_>>>()?;
        Some(Marking::new(self.place_ids().zip(tokens)))
    }

    /// Checks the invariants of the data: ids in range, deltas covered by guards. The error says what is wrong.
    pub fn validate(&self) -> Result<(), String> {
        let known = |p: &PlaceId| p.index() < self.places.len();
        if self.initial.len() != self.places.len() {
            return Err("the initial marking does not list every place".into());
        }
        if !self.targets.iter().flat_map(Marking::entries).all(|(p, _)| known(p)) {
            return Err("a target names a place that does not exist".into());
        }
        for (id, t) in self.transitions() {
            let places = t.guard.iter().map(|(p, _)| p).chain(t.delta.iter().map(|(p, _)| p));
            let flows = t.flows.iter().flat_map(|(p, to)| std::iter::once(p).chain(to));
            if !places.chain(flows).all(known) {
                return Err(format!("transition {} names a place that does not exist", id.0));
            }
            for (p, d) in &t.delta {
                let stays: i64 = match t.flows.iter().find(|(from, _)| from == p) {
                    None => i64::from(t.needs(*p)),
                    Some(_) => 0,
                };
                let arrives: i64 = t
                    .flows
                    .iter()
                    .map(|(f, to)| to.iter().filter(|q| *q == p).count() as i64 * i64::from(t.needs(*f)))
                    .sum();
                if stays + arrives + d < 0 {
                    return Err(format!(
                        "transition {} takes {} tokens from `{}` but its guard asks for fewer",
                        id.0,
                        -d,
                        self.places[p.index()]
                    ));
                }
            }
        }
        Ok(())
    }
}
