//! Whether two accesses touch different memory whenever different threads make them.

use program::{BlockId, LocalId, Operand, Stmt};

use super::affine::{Form, Forms, Var};
use super::body::Place;
use super::lanes;

/// Where an access is, and how many bytes it has.
fn address(stmt: &Stmt) -> Option<(Operand, i64)> {
    match stmt {
        Stmt::Load { address, size, .. } | Stmt::Store { address, size, .. } | Stmt::Rmw { address, size, .. } => {
            Some((*address, i64::from(*size)))
        }
        Stmt::CompareExchange { address, size, .. } => Some((*address, i64::from(*size))),
        Stmt::Copy { .. } | Stmt::Fill { .. } => None,
        _ => None,
    }
}

/// An access: the block it is in, and the statement.
type Access<'f> = (BlockId, &'f Stmt);

struct Two {
    blocks: [BlockId; 2],
    one: Form,
    other: Form,
    sizes: (i64, i64),
}

impl Two {
    fn new(forms: &Forms<'_>, [one, other]: [Access<'_>; 2]) -> Option<Self> {
        let blocks = [one.0, other.0];
        let ((one, one_size), (other, other_size)) = (address(one.1)?, address(other.1)?);
        let (one, other) = (forms.of(one), forms.of(other));
        let known = !one.unknown && !other.unknown && one.base.is_some() && one.base == other.base;
        known.then_some(Self { blocks, one, other, sizes: (one_size, other_size) })
    }
}

/// Whether both are variables of the thread itself, or their addresses differ by the number of the thread.
pub(super) fn by_thread(forms: &Forms<'_>, accesses: [Access<'_>; 2]) -> bool {
    let Some(two) = Two::new(forms, accesses) else { return false };
    two.one.private && two.other.private || differ(forms, &two, &Var::Thread, None)
}

/// Whether their addresses differ by the iteration of a shared loop, which is not started again without a barrier before.
pub(super) fn by_iteration(forms: &Forms<'_>, accesses: [Access<'_>; 2], is_repeated: &dyn Fn(Place) -> bool) -> bool {
    let Some(two) = Two::new(forms, accesses) else { return false };
    let split = |var: &Var| match var {
        Var::Scaled(of, _) => (**of).clone(),
        var => var.clone(),
    };
    two.one.terms.keys().map(split).any(|by| {
        let Var::Split(index, header) = by else { return false };
        let shared = &forms.shared_loops[index];
        two.blocks.iter().all(|block| forms.is_round(header, *block))
            && differ(forms, &two, &by, shared.bounds)
            && !is_repeated(shared.init)
    })
}

/// Whether their addresses differ in different rounds of the loop with this header.
pub(super) fn by_round(forms: &Forms<'_>, accesses: [Access<'_>; 2], header: BlockId) -> bool {
    let Some(two) = Two::new(forms, accesses) else { return false };
    let inside = two.blocks.iter().all(|block| forms.is_round(header, *block));
    inside && two.one.terms.keys().any(|by| lanes::counts(forms, by, header) && differ(forms, &two, by, None))
}

/// Whether the bytes are different ones for any two different values of a variable, which has these bounds.
fn differ(forms: &Forms<'_>, two: &Two, by: &Var, bounds: Option<(i64, i64)>) -> bool {
    let most = bounds.and_then(|(first, last)| last.checked_sub(first));
    differ_by_numbers(forms, two, by, most).unwrap_or(false)
        || most.is_some_and(|most| differ_by_remainder(two, by, most).unwrap_or(false))
        || differ_by_rows(forms, two, by).unwrap_or(false)
        || bounds.is_some_and(|bounds| differ_one_by_one(two, by, bounds).unwrap_or(false))
}

/// The same, value by value: for addresses with quotients and remainders of the variable, as in loops made one.
fn differ_one_by_one(two: &Two, by: &Var, (first, last): (i64, i64)) -> Option<bool> {
    const MOST: i64 = 1 << 14;
    let Two { one, other, sizes, .. } = two;
    let uniform = |form: &Form| -> Vec<(Var, i64)> {
        let terms = form.terms.iter().filter(|(var, _)| matches!(var, Var::Uniform(_)));
        terms.map(|(var, factor)| (var.clone(), *factor)).collect()
    };
    if last.checked_sub(first)? > MOST || uniform(one) != uniform(other) {
        return Some(false);
    }
    let mut bytes: Vec<(i64, i64, i64)> = Vec::new();
    for value in first..=last {
        for (form, size) in [(one, sizes.0), (other, sizes.1)] {
            let start = form.value(by, value)?;
            bytes.push((start, start.checked_add(size)?, value));
        }
    }
    bytes.sort_unstable();
    // All that overlap have to be of one value: what ends last of those before reaches furthest.
    let mut furthest: Option<(i64, i64)> = None;
    for (start, end, value) in bytes {
        if furthest.is_some_and(|(before, of)| start < before && of != value) {
            return Some(false);
        }
        if furthest.is_none_or(|(before, _)| end > before) {
            furthest = Some((end, value));
        }
    }
    Some(true)
}

/// The first and the last value of a counter, if both accesses are made in rounds of its loop, or do not depend on it.
fn rounds(forms: &Forms<'_>, two: &Two, counter: LocalId) -> Option<(Form, Form)> {
    let header = forms.header(counter)?;
    let depends = |form: &Form| form.terms.contains_key(&Var::Counter(counter));
    let inside = [(&two.one, two.blocks[0]), (&two.other, two.blocks[1])];
    let inside = inside.iter().all(|(form, block)| !depends(form) || forms.is_round(header, *block));
    forms.range(counter).filter(|_| inside)
}

/// The same where the variable and all that is added have numbers as factors and bounds.
fn differ_by_numbers(forms: &Forms<'_>, two: &Two, by: &Var, most: Option<i64>) -> Option<bool> {
    let Two { one, other, sizes, .. } = two;
    let factor = *one.terms.get(by)?;
    if other.terms.get(by) != Some(&factor) {
        return Some(false);
    }
    // How far the rest of the first address may be from the rest of the second.
    let difference = one.constant.checked_sub(other.constant)?;
    let (mut low, mut high) = (difference, difference);
    for var in one.terms.keys().chain(other.terms.keys().filter(|var| !one.terms.contains_key(var))) {
        let [mine, theirs] = [one, other].map(|form| form.terms.get(var).copied().unwrap_or(0));
        match var {
            _ if var == by => {}
            // The same in both threads.
            Var::Uniform(_) if mine == theirs => {}
            Var::Counter(counter) => {
                let (first, last) = rounds(forms, two, *counter)?;
                let (first, last) = (first.as_number()?, last.as_number()?);
                for times in [mine, theirs.checked_neg()?] {
                    let ends = [times.checked_mul(first)?, times.checked_mul(last)?];
                    low = low.checked_add(ends[0].min(ends[1]))?;
                    high = high.checked_add(ends[0].max(ends[1]))?;
                }
            }
            _ => return Some(false),
        }
    }
    // They overlap if `factor * steps + rest` is above the negative size of the first and below the size of the second,
    // for a rest from `low` to `high` and some number of steps other than 0.
    let above = sizes.0.checked_neg()?.checked_sub(high)?;
    let below = sizes.1.checked_sub(low)?;
    let factor = factor.checked_abs()?;
    let overlaps = |steps: i64| factor.checked_mul(steps).is_none_or(|moved| above < moved && moved < below);
    let most = most.unwrap_or(i64::MAX);
    // Of each sign, the steps that come closest to the middle of what is between the two limits.
    let candidates = |sign: i64| {
        let nearest = if sign > 0 { above.div_euclid(factor) + 1 } else { (below - 1).div_euclid(factor) };
        if sign > 0 { nearest.max(1) } else { nearest.min(-1) }
    };
    let may = |steps: i64| steps.checked_abs().is_some_and(|steps| steps <= most) && overlaps(steps);
    Some(!may(candidates(1)) && !may(candidates(-1)))
}

/// The same where everything else is a multiple of some number of bytes: columns of a matrix with constant rows.
fn differ_by_remainder(two: &Two, by: &Var, most: i64) -> Option<bool> {
    const MOST: i64 = 1 << 16;
    let Two { one, other, sizes, .. } = two;
    let factor = *one.terms.get(by)?;
    if other.terms.get(by) != Some(&factor) || most > MOST {
        return Some(false);
    }
    let mut unit: i64 = 0;
    for var in one.terms.keys().chain(other.terms.keys()).filter(|var| *var != by) {
        let [mine, theirs] = [one, other].map(|form| form.terms.get(var).copied().unwrap_or(0));
        match var {
            Var::Uniform(_) if mine == theirs => {}
            // Whatever whole numbers these are.
            Var::Uniform(_) | Var::Counter(_) => unit = gcd(unit, gcd(mine, theirs)),
            _ => return Some(false),
        }
    }
    let rest = one.constant.checked_sub(other.constant)?;
    let (before, behind) = (sizes.0, sizes.1);
    let meets = |steps: i64| {
        let Some(distance) = factor.checked_mul(steps).and_then(|moved| moved.checked_add(rest)) else { return true };
        let remainder = distance.rem_euclid(unit);
        remainder < behind || remainder > unit - before
    };
    Some(unit > 0 && !(1..=most).any(|steps| meets(steps) || meets(-steps)))
}

fn gcd(one: i64, other: i64) -> i64 {
    if other == 0 { one.saturating_abs() } else { gcd(other, one % other) }
}

/// The same for rows of a length that is not a number: `base[i * n + j]` with `j` from 0 to `n - 1`.
fn differ_by_rows(forms: &Forms<'_>, two: &Two, by: &Var) -> Option<bool> {
    let row = |form: &Form, size: i64| {
        let (length, factor) = form.terms.iter().find_map(|(var, factor)| match var {
            Var::Scaled(of, length) if **of == *by => Some((length.clone(), *factor)),
            _ => None,
        })?;
        let mut column = None;
        for (var, coefficient) in form.terms.iter().filter(|(var, _)| !matches!(var, Var::Scaled(of, _) if **of == *by))
        {
            match var {
                Var::Counter(counter) if column.is_none() && *coefficient == factor => column = Some(*counter),
                _ => return None,
            }
        }
        let inside = match column {
            // A length of 0 would make all rows one.
            None => false,
            Some(counter) => {
                let (first, last) = rounds(forms, two, counter)?;
                let end = last.terms.iter().collect::<Vec<_>>();
                first.as_number()? >= 0
                    && last.constant == -1
                    && last.base.is_none()
                    && !last.unknown
                    && matches!(end[..], [(Var::Uniform(bound), 1)] if *bound == length)
            }
        };
        (inside && form.constant == 0 && size <= factor).then_some((length, factor))
    };
    let (one, other) = (row(&two.one, two.sizes.0)?, row(&two.other, two.sizes.1)?);
    Some(one == other)
}
