//! Which values of a choice are tried.
//!
//! A choice is its thread's own business: it is independent of whatever other threads do, and every value that is to be
//! tried is tried wherever the choice is made. A range too large for that is *sampled*: then nothing follows for the
//! values left out, and the search says so.

use model::{Choice, Event, Op, Step, Trace};

/// Which values of a choice are tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChoiceValues {
    /// Ranges of at most this many values are tried in full.
    pub exhaust: u32,
    /// Of larger ones, the smallest and largest value, those nearest to zero, and these.
    pub suggested: Vec<i64>,
}

impl Default for ChoiceValues {
    fn default() -> Self {
        Self { exhaust: 128, suggested: Vec::new() }
    }
}

impl ChoiceValues {
    /// Whether all values of the range are tried.
    pub fn is_complete(&self, choice: &Choice) -> bool {
        choice.count() <= u128::from(self.exhaust)
    }

    /// Whether all values are tried of the choices in a trace from the state on.
    pub(crate) fn cover(&self, trace: &Trace, from: Step) -> bool {
        let mut choices = trace.events.iter().skip(from.0 as usize).flat_map(|event| event.op.choices());
        choices.all(|choice| self.is_complete(choice))
    }

    /// The values to be tried, the usual one first.
    pub fn values(&self, choice: &Choice) -> Vec<i64> {
        let Choice { lo, hi, .. } = *choice;
        let usual = Choice::usual(lo, hi);
        let mut values = vec![usual];
        if self.is_complete(choice) {
            values.extend((lo..=hi).filter(|value| *value != usual));
        } else {
            let marked = [1, -1, lo, hi].into_iter().chain(self.suggested.iter().copied());
            for value in marked.filter(|value| (lo..=hi).contains(value)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        values
    }

    /// What comes after these choices of one event: the last that has an untried value gets its next one, and those after
    /// it are left open again.
    pub(crate) fn next(&self, choices: &[Choice]) -> Option<Vec<Choice>> {
        (0..choices.len()).rev().find_map(|at| {
            let choice = choices[at];
            let mut values = self.values(&choice).into_iter().skip_while(|value| *value != choice.value);
            let value = values.nth(1)?;
            let mut next = choices[..at].to_vec();
            next.push(Choice { value, ..choice });
            Some(next)
        })
    }

    /// The event with each value that is to be tried, if choosing is all it does.
    pub(crate) fn variants<'a>(&self, event: &'a Event) -> impl Iterator<Item = Event> + use<'a> {
        let choice = match event.op {
            Op::Choose(choice) => Some(choice),
            _ => None,
        };
        let values = choice.map(|choice| self.values(&choice)).unwrap_or_default().into_iter();
        let with = move |(choice, value)| Event { op: Op::Choose(Choice { value, ..choice }), ..event.clone() };
        choice.into_iter().flat_map(move |choice| values.clone().map(move |value| (choice, value))).map(with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ranges_are_tried_in_full_and_large_ones_by_suggestions() {
        let values = ChoiceValues { exhaust: 4, suggested: vec![7, 1, 900] };
        assert_eq!(values.values(&Choice { lo: -1, hi: 2, value: 0 }), [0, -1, 1, 2]);
        assert_eq!(values.values(&Choice { lo: -1, hi: 100, value: 0 }), [0, 1, -1, 100, 7]);
        assert_eq!(values.values(&Choice { lo: 5, hi: 100, value: 5 }), [5, 100, 7]);
        assert!(!values.is_complete(&Choice { lo: i64::MIN, hi: i64::MAX, value: 0 }));
    }

    #[test]
    fn choices_of_one_event_are_counted_through() {
        let values = ChoiceValues::default();
        let choice = |value| Choice { lo: 0, hi: 1, value };
        assert_eq!(values.next(&[choice(0), choice(0)]), Some(vec![choice(0), choice(1)]));
        assert_eq!(values.next(&[choice(0), choice(1)]), Some(vec![choice(1)]));
        assert_eq!(values.next(&[choice(1), choice(1)]), None);
        assert_eq!(values.next(&[]), None);
    }
}
