//! Certificates of safety, and a checker that shares nothing with the solver but the net.
//!
//! A certificate is a basis `B` of an upward-closed set `U`, places `N` that are never marked, and weights `W` of
//! place invariants. It shows that no reachable marking covers a target if
//!
//! 1. places in `N` are empty in every initial marking, and a transition that may add tokens to one needs a token
//!    in a place of `N`;
//! 2. no transition increases a weighted sum of `W`, and initial markings bound it;
//! 3. no initial marking is in `U`;
//! 4. every target, and every minimal predecessor of an element of `B`, is in `U` or excluded by `N` or `W`.
//!
//! Then the markings outside `U` that respect `N` and `W` contain the initial ones, are closed under firing, and
//! contain no target.
//!
//! The text form, one item per line, places by name:
//!
//! ```text
//! raceproof-certificate 1
//! never p4 p7
//! weights p1 1 p2 3
//! basis p2 1 p5 2
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::marking::Marking;
use crate::net::{Net, PlaceId, Transition, TransitionId};

/// Why no target can be covered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// Minimal elements of the set from which a target might be reached.
    pub basis: Vec<Marking>,
    /// Places without a token in every reachable marking.
    pub never_marked: Vec<PlaceId>,
    /// Weights of place invariants.
    pub invariants: Vec<Vec<(PlaceId, u64)>>,
}

const HEADER: &str = "raceproof-certificate 1";

impl Certificate {
    /// The text form.
    pub fn to_text(&self, net: &Net) -> String {
        let name = |p: &PlaceId| net.places[p.index()].as_str();
        let mut out = format!("{HEADER}\n");
        let mut line = |word: &str, items: String| {
            let _ = writeln!(out, "{word}{items}");
        };
        if !self.never_marked.is_empty() {
            line("never", self.never_marked.iter().map(|p| format!(" {}", name(p))).collect());
        }
        for weights in &self.invariants {
            line("weights", weights.iter().map(|(p, w)| format!(" {} {w}", name(p))).collect());
        }
        for element in &self.basis {
            line("basis", element.entries().iter().map(|(p, n)| format!(" {} {n}", name(p))).collect());
        }
        out
    }

    /// Reads the text form. Errors name the line.
    pub fn from_text(text: &str, net: &Net) -> Result<Self, String> {
        let by_name: BTreeMap<&str, PlaceId> = net.place_ids().map(|p| (net.places[p.index()].as_str(), p)).collect();
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, l)| l.trim()) != Some(HEADER) {
            return Err(format!("line 1: expected `{HEADER}`"));
        }
        let mut certificate = Self::default();
        for (index, line) in lines {
            let fail = |what: String| format!("line {}: {what}", index + 1);
            let mut words = line.split_whitespace();
            let Some(kind) = words.next() else { continue };
            let words: Vec<&str> = words.collect();
            let place =
                |word: &str| by_name.get(word).copied().ok_or_else(|| fail(format!("the net has no place `{word}`")));
            if kind == "never" {
                certificate.never_marked = words.into_iter().map(place).collect::<Result<_, _>>()?;
                continue;
            }
            let mut pairs: Vec<(PlaceId, u64)> = Vec::new();
            for pair in words.chunks(2) {
                let [name, number] = pair else { return Err(fail("a place without a number".into())) };
                let number = number.parse().map_err(|_| fail(format!("`{number}` is not a number")))?;
                pairs.push((place(name)?, number));
            }
            match kind {
                "weights" => certificate.invariants.push(pairs),
                "basis" => {
                    let entries = pairs.into_iter().map(|(p, n)| Some((p, u32::try_from(n).ok()?)));
                    let entries =
                        entries.collect::<Option<Vec<_>>>().ok_or_else(|| fail("a number is too large".into()))?;
                    certificate.basis.push(Marking::new(entries));
                }
                _ => return Err(fail(format!("`{kind}` is none of `never`, `weights`, `basis`"))),
            }
        }
        Ok(certificate)
    }
}

/// Validates a certificate; the error says which condition fails and where.
pub fn check(net: &Net, certificate: &Certificate) -> Result<(), String> {
    let never: BTreeSet<PlaceId> = certificate.never_marked.iter().copied().collect();
    check_never(net, &never)?;
    let bounds = certificate.invariants.iter().enumerate();
    let bounds: Vec<_> = bounds
        .map(|(i, w)| check_weights(net, w).map_err(|e| format!("weights {}: {e}", i + 1)))
        .collect::<Result<_, _>>()?;
    let show = |m: &Marking| {
        m.entries().iter().map(|(p, n)| format!("{}={n}", net.places[p.index()])).collect::<Vec<_>>().join(" ")
    };
    let excluded = |m: &Marking| {
        m.entries().iter().any(|(p, _)| never.contains(p))
            || certificate.invariants.iter().zip(&bounds).any(|(weights, bound)| {
                weights.iter().map(|(p, w)| u128::from(*w) * u128::from(m.get(*p))).sum::<u128>() > *bound
            })
    };
    let contained = |m: &Marking| certificate.basis.iter().any(|b| m.covers(b));
    for b in &certificate.basis {
        if b.entries().iter().all(|(p, n)| net.initial[p.index()].high.is_none_or(|high| *n <= high)) {
            return Err(format!("an initial marking covers the basis element {}", show(b)));
        }
    }
    for target in &net.targets {
        if !contained(target) && !excluded(target) {
            return Err(format!("the target {} is not in the set", show(target)));
        }
    }
    for b in &certificate.basis {
        for (id, t) in net.transitions() {
            for m in minimal_predecessors(net, t, b)? {
                if !contained(&m) && !excluded(&m) {
                    return Err(format!("transition {} leads from {} into the set", id.0, show(&m)));
                }
            }
        }
    }
    Ok(())
}

/// Replays a firing sequence from an initial marking; it must end in a marking that covers a target.
pub fn replay(net: &Net, initial: &Marking, sequence: &[TransitionId]) -> Result<(), String> {
    for p in net.place_ids() {
        let (n, allowed) = (initial.get(p), net.initial[p.index()]);
        if n < allowed.low || allowed.high.is_some_and(|high| n > high) {
            return Err(format!("`{}` cannot have {n} tokens initially", net.places[p.index()]));
        }
    }
    let mut marking = initial.clone();
    for (step, t) in sequence.iter().enumerate() {
        marking = net.fire(&marking, *t).ok_or_else(|| format!("step {}: transition {} cannot fire", step + 1, t.0))?;
    }
    if net.targets.iter().any(|target| marking.covers(target)) {
        Ok(())
    } else {
        Err("the sequence does not end in a marking that covers a target".into())
    }
}

fn check_never(net: &Net, never: &BTreeSet<PlaceId>) -> Result<(), String> {
    if let Some(p) = never.iter().find(|p| net.initial[p.index()].high != Some(0)) {
        return Err(format!("`{}` may be marked initially", net.places[p.index()]));
    }
    for (id, t) in net.transitions() {
        let guarded = t.guard.iter().any(|(p, _)| never.contains(p));
        let adds = t.delta.iter().any(|(p, d)| *d > 0 && never.contains(p));
        let flows = t.flows.iter().any(|(from, to)| !never.contains(from) && to.iter().any(|p| never.contains(p)));
        if (adds || flows) && !guarded {
            return Err(format!("transition {} may mark a place that is said never to be marked", id.0));
        }
    }
    Ok(())
}

/// The bound of a weighted sum that no transition increases.
fn check_weights(net: &Net, weights: &[(PlaceId, u64)]) -> Result<u128, String> {
    let table: BTreeMap<PlaceId, i128> = weights.iter().map(|(p, w)| (*p, i128::from(*w))).collect();
    let weight = |p: &PlaceId| table.get(p).copied().unwrap_or(0);
    for (id, t) in net.transitions() {
        let mut most = t.delta.iter().map(|(p, d)| weight(p) * i128::from(*d)).sum::<i128>();
        for (from, to) in &t.flows {
            let gain = to.iter().map(weight).sum::<i128>() - weight(from);
            if gain > 0 {
                return Err(format!("transition {} increases the sum with the tokens it moves", id.0));
            }
            most += gain * i128::from(t.needs(*from));
        }
        if most > 0 {
            return Err(format!("transition {} increases the sum", id.0));
        }
    }
    let high = |p: &PlaceId| {
        net.initial[p.index()].high.ok_or_else(|| format!("`{}` has no initial bound", net.places[p.index()]))
    };
    weights.iter().map(|(p, w)| Ok(u128::from(*w) * u128::from(high(p)?))).sum()
}

/// Limit on the vectors enumerated for one predecessor.
const MOST_VECTORS: u64 = 10_000_000;

/// By enumeration: all vectors over the relevant places, up to the largest useful count, that reach `goal`; the minimal
/// ones among them. Slow and obvious; refuses inputs that would take too long.
fn minimal_predecessors(net: &Net, t: &Transition, goal: &Marking) -> Result<Vec<Marking>, String> {
    // Without flows the places are independent.
    if t.flows.is_empty() {
        let least = |p: PlaceId| i64::from(t.needs(p)).max(i64::from(goal.get(p)) - t.change(p)).max(0) as u32;
        return Ok(vec![Marking::new(net.place_ids().map(|p| (p, least(p))))]);
    }
    let touched: BTreeSet<PlaceId> =
        t.flows.iter().flat_map(|(from, to)| std::iter::once(from).chain(to)).copied().collect();
    let needed = |p: &PlaceId| u64::from(goal.get(*p)) + t.change(*p).unsigned_abs() + u64::from(t.needs(*p));
    let most: u64 = touched.iter().map(needed).sum();
    let vectors = (0..touched.len()).try_fold(1u64, |n, _| n.checked_mul(most + 1));
    let most = match (u32::try_from(most), vectors) {
        (Ok(most), Some(vectors)) if vectors <= MOST_VECTORS => most,
        _ => return Err(format!("transition `{}` moves too many tokens to be checked", t.name)),
    };
    let own = net.place_ids().filter(|p| !touched.contains(p));
    let own: Vec<_> =
        own.map(|p| (p, i64::from(t.needs(p)).max(i64::from(goal.get(p)) - t.change(p)).max(0) as u32)).collect();
    let touched: Vec<PlaceId> = touched.into_iter().collect();
    let reaches = |tokens: &[u32]| {
        let old = |p: &PlaceId| touched.iter().position(|q| q == p).map_or(0, |i| i64::from(tokens[i]));
        touched.iter().all(|p| {
            let stays = if t.flows.iter().any(|(from, _)| from == p) { 0 } else { old(p) };
            let arrives: i64 =
                t.flows.iter().map(|(from, to)| old(from) * to.iter().filter(|q| *q == p).count() as i64).sum();
            old(p) >= i64::from(t.needs(*p)) && stays + arrives + t.change(*p) >= i64::from(goal.get(*p))
        })
    };
    let mut minimal: Vec<Vec<u32>> = Vec::new();
    let mut tokens = vec![0; touched.len()];
    loop {
        if reaches(&tokens) && !minimal.iter().any(|m| m.iter().zip(&tokens).all(|(a, b)| a <= b)) {
            minimal.push(tokens.clone());
        }
        let Some(i) = tokens.iter().position(|n| *n < most) else { break };
        tokens[i] += 1;
        tokens[..i].fill(0);
    }
    let whole = |m: &Vec<u32>| Marking::new(own.iter().copied().chain(touched.iter().copied().zip(m.iter().copied())));
    Ok(minimal.iter().map(whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    const NET: &str = "vars idle critical lock rules
        idle >= 1, lock >= 1 -> idle' = idle - 1, lock' = lock - 1, critical' = critical + 1;
        critical >= 1 -> critical' = critical - 1, lock' = lock + 1, idle' = idle + 1;
        init idle >= 1, critical = 0, lock = 1 target critical >= 2";

    #[test]
    fn text_round_trip_and_verdict() {
        let net = spec::parse(NET).unwrap();
        let text = "raceproof-certificate 1\nweights critical 1 lock 1\n";
        let certificate = Certificate::from_text(text, &net).unwrap();
        assert_eq!(certificate.to_text(&net), text);
        assert_eq!(check(&net, &certificate), Ok(()));
    }

    #[test]
    fn wrong_certificates_are_refused() {
        let net = spec::parse(NET).unwrap();
        let verdict = |text: &str| Certificate::from_text(text, &net).and_then(|c| check(&net, &c)).unwrap_err();
        assert_eq!(verdict("raceproof-certificate 1\n"), "the target critical=2 is not in the set");
        assert_eq!(
            verdict("raceproof-certificate 1\nbasis critical 2\n"),
            "transition 0 leads from idle=1 critical=1 lock=1 into the set"
        );
        assert_eq!(
            verdict("raceproof-certificate 1\nweights critical 1\n"),
            "weights 1: transition 0 increases the sum"
        );
        assert_eq!(
            verdict("raceproof-certificate 1\nweights idle 1 critical 1\n"),
            "weights 1: `idle` has no initial bound"
        );
        assert_eq!(
            verdict("raceproof-certificate 1\nnever critical\n"),
            "transition 0 may mark a place that is said never to be marked"
        );
        assert_eq!(
            verdict("raceproof-certificate 1\nbasis lock 1\n"),
            "an initial marking covers the basis element lock=1"
        );
        assert_eq!(verdict("raceproof-certificate 1\nbasis door 1\n"), "line 2: the net has no place `door`");
        assert_eq!(verdict("certificate"), "line 1: expected `raceproof-certificate 1`");
    }
}
