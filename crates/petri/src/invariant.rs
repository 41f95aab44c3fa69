//! Place invariants that show a marking unreachable.
//!
//! A weight `w ≥ 0` per place such that no transition increases the weighted sum bounds it by its initial value:
//! `w·m ≤ w·m₀` for every reachable `m`. A marking with a larger sum, and everything above it, cannot be reached.
//! By linear-programming duality such a weight exists exactly when the state equation `m₀ + C·y ≥ m, y ≥ 0` has no
//! solution, so asking for the best weight is asking the state equation (over the rationals). Weights are scaled to
//! integers and checked exactly before they are used: a wrong answer of the floating-point solver can only cost
//! time, never soundness.

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, microlp, variable};

use crate::marking::Marking;
use crate::net::{Net, PlaceId, Transition};

/// A weighted sum of tokens that no transition increases, with its largest initial value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// Weights above zero, ascending by place.
    pub weights: Vec<(PlaceId, u64)>,
    /// Largest value of the sum in an initial marking.
    pub bound: u128,
}

impl Invariant {
    /// Checks that the weights are an invariant of the net and computes the bound. `None` when some transition
    /// may increase the sum, or an initial marking has no largest value.
    pub fn new(net: &Net, weights: Vec<(PlaceId, u64)>) -> Option<Self> {
        let mut dense = vec![0u64; net.places.len()];
        for (p, w) in &weights {
            *dense.get_mut(p.index())? = *w;
        }
        if !net.transitions.iter().all(|t| never_increases(t, &dense)) {
            return None;
        }
        let bound = weights
            .iter()
            .map(|(p, w)| Some(u128::from(*w) * u128::from(net.initial[p.index()].high?)))
            .sum::<Option<_>>()?;
        Some(Self { weights, bound })
    }

    /// Whether the invariant shows that no reachable marking covers `marking`.
    pub fn excludes(&self, marking: &Marking) -> bool {
        let mut own = self.weights.iter();
        let mut sum = 0u128;
        let mut current = own.next();
        for (place, tokens) in marking.entries() {
            while let Some((p, _)) = current
                && p < place
            {
                current = own.next();
            }
            if let Some((p, w)) = current
                && p == place
            {
                sum += u128::from(*w) * u128::from(*tokens);
            }
        }
        sum > self.bound
    }
}

/// Whether firing never increases the weighted sum: `w·new ≤ w·old` for every marking in which it can fire.
/// The change is linear in the tokens: where a place's tokens lose weight by flowing, the guarded ones count.
fn never_increases(t: &Transition, weights: &[u64]) -> bool {
    let weight = |p: &PlaceId| i128::from(weights[p.index()]);
    let mut change: i128 = t.delta.iter().map(|(p, d)| weight(p) * i128::from(*d)).sum();
    for (from, to) in &t.flows {
        let per_token = to.iter().map(weight).sum::<i128>() - weight(from);
        if per_token > 0 {
            return false;
        }
        change += per_token * i128::from(t.needs(*from));
    }
    change <= 0
}

/// Finds an invariant that excludes `marking`, if the state equation has one.
pub fn find(net: &Net, marking: &Marking) -> Option<Invariant> {
    let mut variables = ProblemVariables::new();
    let weights: Vec<Option<Variable>> =
        net.initial.iter().map(|i| i.high.map(|_| variables.add(variable().min(0.0).max(1.0)))).collect();
    let mut objective = Expression::from(0.0);
    for p in net.place_ids() {
        if let (Some(w), Some(high)) = (weights[p.index()], net.initial[p.index()].high) {
            objective += (f64::from(marking.get(p)) - f64::from(high)) * w;
        }
    }
    let mut model = variables.maximise(objective.clone()).using(microlp);
    for t in &net.transitions {
        let mut change = Expression::from(0.0);
        for (p, d) in &t.delta {
            if let Some(w) = weights[p.index()] {
                change += (*d as f64) * w;
            }
        }
        for (from, to) in &t.flows {
            let mut per_token = Expression::from(0.0);
            for q in to {
                if let Some(w) = weights[q.index()] {
                    per_token += w;
                }
            }
            if let Some(w) = weights[from.index()] {
                per_token -= w;
            }
            change += f64::from(t.needs(*from)) * per_token.clone();
            model = model.with(per_token.leq(0.0));
        }
        model = model.with(change.leq(0.0));
    }
    let solution = model.solve().ok()?;
    if solution.eval(&objective) <= 1e-6 {
        return None;
    }
    let values: Vec<f64> = weights.iter().map(|w| w.map_or(0.0, |w| solution.value(w))).collect();
    // Vertices of these polyhedra have small denominators: try a few common ones, the smallest first.
    SCALES.iter().find_map(|scale| {
        let rounded =
            net.place_ids().zip(&values).map(|(p, v)| (p, (v * scale).round() as u64)).filter(|(_, w)| *w > 0);
        Invariant::new(net, rounded.collect()).filter(|i| i.excludes(marking))
    })
}

const SCALES: [f64; 6] = [1.0, 2.0, 6.0, 60.0, 2520.0, 720_720.0];
