//! Numbering: which things of the text get which ids.
//!
//! Things with a fixed number keep it; the others take the free numbers in the order of the text.

use super::ParseError;

/// The ids of things in the order of the text, given the fixed ones. `Err` has the index of the first conflict: a
/// number used twice, or one that leaves a gap.
pub(super) fn assign(fixed: &[Option<u32>]) -> Result<Vec<u32>, usize> {
    let mut taken = vec![false; fixed.len()];
    for (index, id) in fixed.iter().enumerate() {
        if let Some(id) = id {
            match taken.get_mut(*id as usize) {
                Some(taken) if !*taken => *taken = true,
                _ => return Err(index),
            }
        }
    }
    let mut free = (0u32..).zip(&taken).filter(|(_, taken)| !**taken).map(|(id, _)| id);
    Ok(fixed.iter().map(|id| id.unwrap_or_else(|| free.next().unwrap_or_default())).collect())
}

/// Which of the things, listed in the order of the text, need an explicit number: none if they are in order, except
/// those that always do.
pub(super) fn explicit(ids_in_text_order: &[u32], must: impl Fn(u32) -> bool) -> Vec<bool> {
    let free: Vec<u32> = ids_in_text_order.iter().copied().filter(|id| !must(*id)).collect();
    let ascending = free.is_sorted();
    ids_in_text_order.iter().map(|id| !ascending || must(*id)).collect()
}

/// The error for an id that [`assign`] refused.
pub(super) fn refused(line: u32, column: u32, id: Option<u32>, total: usize) -> ParseError {
    let id = id.map_or(String::new(), |id| format!("#{id} "));
    ParseError {
        line,
        column,
        message: format!("the number {id}is taken or leaves a gap"),
        help: Some(format!("there are {total} of them, numbered from 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_numbers_go_in_order() {
        assert_eq!(assign(&[None, Some(0), None, Some(3)]), Ok(vec![1, 0, 2, 3]));
        assert_eq!(assign(&[Some(1), Some(1)]), Err(1));
        assert_eq!(assign(&[Some(2), None]), Err(0));
        assert_eq!(explicit(&[1, 0, 2], |_| false), [true, true, true]);
        assert_eq!(explicit(&[1, 0, 2], |id| id == 0), [false, true, false]);
    }
}
