//! The values tried for each choice the program makes.
//!
//! A choice is independent of other threads' events, so wherever the program makes one, every value to be tried is
//! tried there. A range that is too large for that is *sampled*: nothing is known about the omitted values, and the
//! search says so.

use model::{Choice, Event, Op, Step, Trace};

/// The values to try for a choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChoiceValues {
    /// Ranges of at most this many values are tried in full.
    pub exhaust: u32,
    /// Of larger ranges: the values nearest to zero, these, and the smallest and largest value. Small ones come first: what
    /// a size decides shows with a small one as well, in runs that are short.
    pub suggested: Vec<i64>,
}

impl Default for ChoiceValues {
    fn default() -> Self {
        Self { exhaust: 128, suggested: Vec::new() }
    }
}

impl ChoiceValues {
    /// Whether every value of the range is tried.
    pub fn is_complete(&self, choice: &Choice) -> bool {
        choice.count() <= u128::from(self.exhaust)
    }

    /// Whether every value of each choice in the trace from the state on is tried.
    pub(crate) fn cover(&self, trace: &Trace, from: Step) -> bool {
        let mut choices = trace.events.iter().skip(from.0 as usize).flat_map(|event| event.op.choices());
        choices.all(|choice| self.is_complete(choice))
    }

    /// The values to try, the default first.
    pub fn values(&self, choice: &Choice) -> Vec<i64> {
        let Choice { lo, hi, .. } = *choice;
        let usual = Choice::default_value(lo, hi);
        let mut values = vec![usual];
        if self.is_complete(choice) {
            values.extend((lo..=hi).filter(|value| *value != usual));
        } else {
            let mut suggested = self.suggested.clone();
            suggested.sort_by_key(|value| (value.unsigned_abs(), *value));
            let marked = [1, 2, 3, -1].into_iter().chain(suggested).chain([lo, hi]);
            for value in marked.filter(|value| (lo..=hi).contains(value)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        values
    }

    /// The choices to try after these ones of the same event: the last choice with an untried value takes its next
    /// value, and the choices after it become open again.
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

    /// The event with each value to try, if it does nothing but choose.
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
        assert_eq!(values.values(&Choice { lo: -1, hi: 100, value: 0 }), [0, 1, 2, 3, -1, 7, 100]);
        assert_eq!(values.values(&Choice { lo: 5, hi: 100, value: 5 }), [5, 7, 100]);
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
