//! Parts of a net that no transition connects.
//!
//! If a target asks for tokens in several parts, each part is asked about alone: a sequence for all of them is one after the
//! other, and a part that cannot be covered keeps the whole target from being covered. What shows that is a certificate of the
//! whole net as it stands: no transition of another part changes a place of this one.

use std::collections::BTreeMap;

use crate::backward::{Answer, Pruning, Statistics, whole};
use crate::certificate::Certificate;
use crate::marking::Marking;
use crate::net::{Net, PlaceId, Transition, TransitionId};

/// A part as a net of its own, with what its places and transitions are in the whole net.
struct Part {
    net: Net,
    places: Vec<PlaceId>,
    transitions: Vec<TransitionId>,
}

impl Part {
    fn marking(&self, marking: &Marking) -> Vec<(PlaceId, u32)> {
        marking.entries().iter().map(|(p, n)| (self.places[p.index()], *n)).collect()
    }

    fn certificate(&self, certificate: &Certificate) -> Certificate {
        let weights =
            |weights: &Vec<(PlaceId, u64)>| weights.iter().map(|(p, w)| (self.places[p.index()], *w)).collect();
        Certificate {
            basis: certificate.basis.iter().map(|marking| Marking::new(self.marking(marking))).collect(),
            never_marked: certificate.never_marked.iter().map(|p| self.places[p.index()]).collect(),
            invariants: certificate.invariants.iter().map(weights).collect(),
        }
    }
}

/// The answer about a net, part by part; `None` if there are not several parts to ask about.
pub(crate) fn solve(
    net: &Net,
    pruning: Pruning,
    go_on: &mut impl FnMut(&Statistics) -> bool,
) -> Option<(Answer, Statistics)> {
    let [target] = &net.targets[..] else { return None };
    let parts = split(net, target);
    if parts.len() < 2 || pruning == Pruning::Plain {
        return None;
    }
    let (mut sum, mut start, mut sequence) = (Statistics::default(), Vec::new(), Vec::new());
    for part in parts {
        let before = sum;
        let (answer, statistics) = whole(&part.net, pruning, &mut |now: &Statistics| {
            let mut all = before;
            all += *now;
            go_on(&all)
        });
        sum += statistics;
        match answer {
            Answer::Covered { initial, sequence: fired } => {
                start.extend(part.marking(&initial));
                sequence.extend(fired.iter().map(|t| part.transitions[t.index()]));
            }
            Answer::Safe(certificate) => return Some((Answer::Safe(part.certificate(&certificate)), sum)),
            stopped @ Answer::Stopped(_) => return Some((stopped, sum)),
        }
    }
    let initial = net.initial_covering(&Marking::new(start))?;
    Some((Answer::Covered { initial, sequence }, sum))
}

/// The parts that a target asks about, by their first place.
fn split(net: &Net, target: &Marking) -> Vec<Part> {
    let mut leaders: Vec<u32> = net.place_ids().map(|p| p.0).collect();
    for t in &net.transitions {
        let mut touched = touched(t);
        if let Some(first) = touched.next() {
            touched.for_each(|p| join(&mut leaders, first, p));
        }
    }
    let mut asked: BTreeMap<u32, Vec<(PlaceId, u32)>> = BTreeMap::new();
    for (p, n) in target.entries() {
        asked.entry(leader(&mut leaders, *p)).or_default().push((*p, *n));
    }
    if asked.len() < 2 {
        return Vec::new();
    }
    let mut members: BTreeMap<u32, (Vec<PlaceId>, Vec<TransitionId>)> = BTreeMap::new();
    let mut numbers = vec![PlaceId(0); net.places.len()];
    for p in net.place_ids() {
        let places = &mut members.entry(leader(&mut leaders, p)).or_default().0;
        numbers[p.index()] = PlaceId(places.len() as u32);
        places.push(p);
    }
    for (id, t) in net.transitions() {
        let part = touched(t).next().map(|p| leader(&mut leaders, p));
        if let Some((_, transitions)) = part.and_then(|part| members.get_mut(&part)) {
            transitions.push(id);
        }
    }
    let part = |(leader, wanted): (u32, Vec<(PlaceId, u32)>)| {
        let (places, transitions) = members.remove(&leader).unwrap_or_default();
        let net = Net {
            places: places.iter().map(|p| net.places[p.index()].clone()).collect(),
            initial: places.iter().map(|p| net.initial[p.index()]).collect(),
            transitions: transitions.iter().map(|t| renumbered(&net.transitions[t.index()], &numbers)).collect(),
            targets: vec![Marking::new(wanted.into_iter().map(|(p, n)| (numbers[p.index()], n)))],
        };
        Part { net, places, transitions }
    };
    asked.into_iter().map(part).collect()
}

/// The places that a transition has to do with.
fn touched(t: &Transition) -> impl Iterator<Item = PlaceId> + '_ {
    let flows = t.flows.iter().flat_map(|(from, to)| std::iter::once(*from).chain(to.iter().copied()));
    t.guard.iter().map(|(p, _)| *p).chain(t.delta.iter().map(|(p, _)| *p)).chain(flows)
}

fn renumbered(t: &Transition, numbers: &[PlaceId]) -> Transition {
    let new = |p: &PlaceId| numbers[p.index()];
    Transition {
        name: t.name.clone(),
        guard: t.guard.iter().map(|(p, n)| (new(p), *n)).collect(),
        delta: t.delta.iter().map(|(p, d)| (new(p), *d)).collect(),
        flows: t.flows.iter().map(|(from, to)| (new(from), to.iter().map(new).collect())).collect(),
    }
}

/// The place that stands for the part of a place: the first of it.
fn leader(leaders: &mut [u32], place: PlaceId) -> u32 {
    let mut at = place.0;
    while leaders[at as usize] != at {
        leaders[at as usize] = leaders[leaders[at as usize] as usize];
        at = leaders[at as usize];
    }
    at
}

fn join(leaders: &mut [u32], one: PlaceId, other: PlaceId) {
    let (one, other) = (leader(leaders, one), leader(leaders, other));
    leaders[one.max(other) as usize] = one.min(other);
}

#[cfg(test)]
mod tests {
    use crate::backward::{Answer, Pruning, solve};
    use crate::{certificate, spec};

    const NET: &str = "vars a b lock c d rules
        a >= 1, lock >= 1 -> a' = a - 1, lock' = lock - 1, b' = b + 1;
        c >= 2 -> c' = c - 2, d' = d + 1;
        init a >= 1, b = 0, lock = 1, c = 2, d = 0 target ";

    #[test]
    fn parts_are_asked_alone() {
        let answer = |target: &str| {
            let net = spec::parse(&format!("{NET}{target}")).unwrap();
            match solve(&net, Pruning::default(), |_| true).0 {
                Answer::Covered { initial, sequence } => {
                    certificate::replay(&net, &initial, &sequence).unwrap();
                    Some(sequence.len())
                }
                Answer::Safe(certificate) => {
                    certificate::check(&net, &certificate).unwrap();
                    None
                }
                Answer::Stopped(_) => panic!("nobody stopped it"),
            }
        };
        assert_eq!(answer("b >= 1, d >= 1"), Some(2));
        assert_eq!(answer("b >= 2, d >= 1"), None);
        assert_eq!(answer("b >= 1, d >= 2"), None);
    }
}
