//! On random nets with a bounded state space the solver agrees with plain forward search.

use std::collections::{BTreeSet, VecDeque};

use petri::backward::{Answer, Pruning, solve};
use petri::{Initial, Marking, Net, PlaceId, Transition, TransitionId, certificate, forward, spec};
use testkit::generator::Random;

/// A number below `end`.
fn below(random: &mut Random, end: u32) -> u32 {
    random.below(end as usize) as u32
}

/// A transition that never increases the number of tokens, so that the state space is finite.
fn transition(random: &mut Random, places: u32) -> Transition {
    let mut guard = vec![0u32; places as usize];
    let mut delta = vec![0i64; places as usize];
    for _ in 0..=random.below(2) {
        let p = below(random, places) as usize;
        guard[p] += 1;
        delta[p] -= 1;
        if !random.one_in(8) {
            delta[below(random, places) as usize] += 1;
        }
    }
    if random.one_in(4) {
        guard[below(random, places) as usize] += 1;
    }
    let mut flows = Vec::new();
    if random.one_in(4) {
        let from = below(random, places) as usize;
        let to = below(random, places);
        if delta[from] >= 0 && to as usize != from {
            flows.push((PlaceId(from as u32), if random.one_in(3) { vec![] } else { vec![PlaceId(to)] }));
        }
    }
    let some = |n: &(usize, u32)| n.1 > 0;
    Transition {
        name: String::new(),
        guard: guard.into_iter().enumerate().filter(some).map(|(p, n)| (PlaceId(p as u32), n)).collect(),
        delta: delta.into_iter().enumerate().filter(|d| d.1 != 0).map(|(p, d)| (PlaceId(p as u32), d)).collect(),
        flows,
    }
}

fn net(seed: u64) -> Net {
    let mut random = Random::new(seed);
    let places = 2 + below(&mut random, 4);
    let marking = |random: &mut Random, most: u32| {
        Marking::new(
            (0..=random.below(2))
                .map(|_| (PlaceId(below(random, places)), 1 + below(random, most)))
                .collect::<Vec<_>>(),
        )
    };
    let net = Net {
        places: (0..places).map(|p| format!("p{p}")).collect(),
        transitions: (0..1 + random.below(6)).map(|_| transition(&mut random, places)).collect(),
        initial: (0..places)
            .map(|_| {
                let low = below(&mut random, 3);
                Initial { low, high: Some(if random.one_in(4) { low + below(&mut random, 2) } else { low }) }
            })
            .collect(),
        targets: (0..=random.below(2)).map(|_| marking(&mut random, 3)).collect(),
    };
    net.validate().expect("generated nets are valid");
    net
}

/// Whether a target can be covered, by visiting every reachable marking.
fn reaches(net: &Net) -> bool {
    let mut starts = vec![Vec::new()];
    for p in net.place_ids() {
        let Initial { low, high } = net.initial[p.index()];
        starts = starts
            .into_iter()
            .flat_map(|m: Vec<_>| (low..=high.expect("bounded")).map(move |n| [m.clone(), vec![(p, n)]].concat()))
            .collect();
    }
    let mut queue: VecDeque<Marking> = starts.into_iter().map(Marking::new).collect();
    let mut seen: BTreeSet<Marking> = queue.iter().cloned().collect();
    while let Some(m) = queue.pop_front() {
        if net.targets.iter().any(|t| m.covers(t)) {
            return true;
        }
        for t in 0..net.transitions.len() {
            if let Some(next) = net.fire(&m, TransitionId(t as u32))
                && seen.insert(next.clone())
            {
                queue.push_back(next);
            }
        }
    }
    false
}

#[test]
fn agrees_with_forward_search() {
    let (mut covered, runs) = (0, testkit::programs(10_000));
    for seed in 0..runs {
        // Each net twice: pruned, and by the plain algorithm.
        let pruning = if seed % 2 == 0 { Pruning::Invariants } else { Pruning::Plain };
        let net = net(seed / 2);
        let (answer, _) = solve(&net, pruning, |_| true);
        let expected = reaches(&net);
        covered += u64::from(expected);
        match answer {
            Answer::Covered { initial, sequence } => {
                certificate::replay(&net, &initial, &sequence).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                assert!(expected, "seed {seed}: covered, but forward search never covers it\n{}", spec::write(&net));
            }
            Answer::Safe(certificate) => {
                certificate::check(&net, &certificate)
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", spec::write(&net)));
                assert!(!expected, "seed {seed}: safe, but forward search covers it\n{}", spec::write(&net));
            }
            Answer::Stopped(_) => panic!("seed {seed}: nobody stopped it"),
        }
    }
    assert!((runs / 5..runs / 5 * 4).contains(&covered), "a fair share of both answers, not {covered} of {runs}");
}

/// The two directions agree where both end: what is covered is found from the initial markings, and nothing else.
#[test]
fn both_directions_agree() {
    let (mut found, mut many) = (0, 0);
    for seed in 0..testkit::programs(10_000) {
        let mut net = net(seed);
        // Every other net has places with any number of tokens.
        if seed % 2 == 0 {
            net.initial[0].high = None;
            net.transitions.iter_mut().for_each(|t| t.flows.clear());
            many += 1;
            if net.validate().is_err() {
                continue;
            }
        }
        let covered = matches!(solve(&net, Pruning::Plain, |_| true).0, Answer::Covered { .. });
        let witness = forward::search(&net, 2_000);
        if let Some(witness) = &witness {
            witness.replay(&net).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", spec::write(&net)));
            found += 1;
        }
        assert_eq!(covered, witness.is_some(), "seed {seed}\n{}", spec::write(&net));
    }
    assert!(found > many / 2, "{found} found");
}

#[test]
fn spec_files_come_back() {
    for seed in 0..testkit::programs(500) {
        let net = net(seed);
        let text = spec::write(&net);
        assert_eq!(spec::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), net, "{text}");
    }
}
