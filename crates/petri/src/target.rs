//! Targets given separately from the net, for formats that have none.
//!
//! A disjunction of conjunctions: `critical >= 2` or `p1 >= 1, p2 >= 1; p3 >= 4`. Commas join atoms, semicolons
//! separate conjunctions.

use std::collections::BTreeMap;

use crate::marking::Marking;
use crate::net::{Net, PlaceId};

/// Reads targets. The error says which part is wrong.
pub fn parse(text: &str, net: &Net) -> Result<Vec<Marking>, String> {
    let by_name: BTreeMap<&str, PlaceId> = net.place_ids().map(|p| (net.places[p.index()].as_str(), p)).collect();
    let atom = |part: &str| -> Result<(PlaceId, u32), String> {
        let (name, number) =
            part.split_once(">=").ok_or_else(|| format!("`{}`: expected `place >= number`", part.trim()))?;
        let (name, number) = (name.trim(), number.trim());
        let place = by_name.get(name).ok_or_else(|| format!("the net has no place `{name}`"))?;
        let number = number.parse().map_err(|_| format!("`{number}` is not a number of tokens"))?;
        Ok((*place, number))
    };
    let conjunction = |part: &str| {
        let mut least: BTreeMap<PlaceId, u32> = BTreeMap::new();
        for atom in part.split(',').map(atom) {
            let (place, number) = atom?;
            let entry = least.entry(place).or_default();
            *entry = number.max(*entry);
        }
        Ok(Marking::new(least))
    };
    text.split(';').map(conjunction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Initial;

    #[test]
    fn reads_questions() {
        let net = Net {
            places: vec!["a".into(), "b.c".into()],
            initial: vec![Initial { low: 0, high: None }; 2],
            ..Net::default()
        };
        let m = |e: &[(u32, u32)]| Marking::new(e.iter().map(|&(p, n)| (PlaceId(p), n)));
        assert_eq!(parse("a >= 2, b.c>=1 ; a>=3", &net).unwrap(), [m(&[(0, 2), (1, 1)]), m(&[(0, 3)])]);
        assert_eq!(parse("a >= 2, a >= 1", &net).unwrap(), [m(&[(0, 2)])]);
        assert_eq!(parse("a > 2", &net).unwrap_err(), "`a > 2`: expected `place >= number`");
        assert_eq!(parse("q >= 2", &net).unwrap_err(), "the net has no place `q`");
        assert_eq!(parse("a >= x", &net).unwrap_err(), "`x` is not a number of tokens");
    }
}
