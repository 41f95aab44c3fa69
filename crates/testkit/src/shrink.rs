//! Minimises a failing program.

use crate::generator::{Emitted, Item, Sketch};

/// The smallest sketch found that still fails: drops threads, statements, branches and loops one at a time while the
/// failure persists.
pub fn shrink(sketch: &Sketch, mut fails: impl FnMut(&Sketch) -> bool) -> Sketch {
    let mut smallest = sketch.clone();
    while let Some(smaller) = smaller(&smallest).into_iter().find(|candidate| fails(candidate)) {
        smallest = smaller;
    }
    smallest
}

/// A minimised case in both languages, for a failing test to print. Store the text with marks on its lines under
/// `corpus/regression/` to keep it as a test.
pub fn report(sketch: &Sketch) -> String {
    let Emitted { c, text } = sketch.emit();
    format!("--- text program ---\n{text}\n--- C ---\n{c}")
}

/// All sketches with one thing less, the largest cuts first.
fn smaller(sketch: &Sketch) -> Vec<Sketch> {
    let without_thread = (1..sketch.threads.len()).filter(|t| is_used(sketch, *t)).map(|t| drop_thread(sketch, t));
    let mut candidates: Vec<Sketch> = without_thread.collect();
    for (thread, items) in sketch.threads.iter().enumerate() {
        candidates.extend(cuts(items).into_iter().map(|items| {
            let mut candidate = sketch.clone();
            candidate.threads[thread] = items;
            candidate
        }));
    }
    candidates.extend(cuts(&sketch.once).into_iter().map(|once| Sketch { once, ..sketch.clone() }));
    if sketch.tokens > 0 {
        candidates.push(Sketch { tokens: 0, ..sketch.clone() });
    }
    candidates
}

fn is_about(item: &Item, thread: usize) -> bool {
    matches!(item, Item::Create(t) | Item::Join(t) | Item::Detach(t) if *t == thread)
}

fn is_used(sketch: &Sketch, thread: usize) -> bool {
    !sketch.threads[thread].is_empty() || sketch.has(|item| is_about(item, thread))
}

/// Drops a thread; the others keep their numbers.
fn drop_thread(sketch: &Sketch, thread: usize) -> Sketch {
    let mut candidate = sketch.clone();
    candidate.threads[thread].clear();
    for items in &mut candidate.threads {
        items.retain(|item| !is_about(item, thread));
    }
    while candidate.threads.len() > 1 && !is_used(&candidate, candidate.threads.len() - 1) {
        candidate.threads.pop();
    }
    candidate
}

/// All lists with one item less or one item simpler.
fn cuts(items: &[Item]) -> Vec<Vec<Item>> {
    let mut lists = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let mut with = |replacement: Vec<Item>| {
            lists.push([&items[..index], &replacement, &items[index + 1..]].concat());
        };
        with(Vec::new());
        match item {
            Item::If { test, then } => {
                with(then.clone());
                cuts(then).into_iter().for_each(|then| with(vec![Item::If { test: *test, then }]));
            }
            Item::Repeat { times, body } => {
                with(body.clone());
                cuts(body).into_iter().for_each(|body| with(vec![Item::Repeat { times: *times, body }]));
            }
            Item::RepeatUpTo { local, body } => {
                with(body.clone());
                cuts(body).into_iter().for_each(|body| with(vec![Item::RepeatUpTo { local: *local, body }]));
            }
            _ => {}
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::generator::{Case, Feature};

    #[test]
    fn result_fails_and_is_minimal() {
        let races = |sketch: &Sketch| sketch.truth(Limits::default()).is_some_and(|t| !t.races.is_empty());
        let mut shrunk_cases = 0;
        for seed in 0..40 {
            let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
            if case.truth.races.is_empty() {
                continue;
            }
            let small = shrink(&case.sketch, races);
            assert!(races(&small), "{small:?}");
            assert!(!smaller(&small).iter().any(races), "{small:?}");
            shrunk_cases += 1;
        }
        assert!(shrunk_cases >= 10);
    }
}
