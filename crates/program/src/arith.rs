//! Arithmetic of the language on 64-bit values.

use crate::ir::{BinaryOp, CompareOp, RmwOp};

/// The low `bits` bits of `value`, sign- or zero-extended to 64. Widths outside 1 to 64 mean 64.
pub fn extend(value: i64, bits: u32, signed: bool) -> i64 {
    let unused = 64u32.checked_sub(bits).filter(|u| *u < 64).unwrap_or(0);
    if signed { (value << unused) >> unused } else { ((value as u64) << unused >> unused) as i64 }
}

/// Arithmetic on numbers of `bits` bits; `None` for a division by zero or one that overflows.
pub fn binary(op: BinaryOp, bits: u8, left: i64, right: i64) -> Option<i64> {
    let bits = u32::from(bits);
    let signed = |v| extend(v, bits, true);
    let unsigned = |v| extend(v, bits, false) as u64;
    let shift = unsigned(right) % u64::from(bits.clamp(1, 64));
    let value = match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::SDiv => signed(left).checked_div(signed(right))?,
        BinaryOp::SRem => signed(left).checked_rem(signed(right))?,
        BinaryOp::UDiv => unsigned(left).checked_div(unsigned(right))? as i64,
        BinaryOp::URem => unsigned(left).checked_rem(unsigned(right))? as i64,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left.wrapping_shl(shift as u32),
        BinaryOp::LShr => (unsigned(left) >> shift) as i64,
        BinaryOp::AShr => signed(left) >> shift,
    };
    Some(signed(value))
}

/// A comparison of numbers of `bits` bits: 0 or 1.
pub fn compare(op: CompareOp, bits: u8, left: i64, right: i64) -> i64 {
    let signed = |v| extend(v, u32::from(bits), true);
    let unsigned = |v| extend(v, u32::from(bits), false) as u64;
    let (sl, sr, ul, ur) = (signed(left), signed(right), unsigned(left), unsigned(right));
    i64::from(match op {
        CompareOp::Eq => ul == ur,
        CompareOp::Ne => ul != ur,
        CompareOp::SLt => sl < sr,
        CompareOp::SLe => sl <= sr,
        CompareOp::SGt => sl > sr,
        CompareOp::SGe => sl >= sr,
        CompareOp::ULt => ul < ur,
        CompareOp::ULe => ul <= ur,
        CompareOp::UGt => ul > ur,
        CompareOp::UGe => ul >= ur,
    })
}

/// What a read-modify-write stores over `old` in a cell of `size` bytes; `None` if the operation is unknown.
pub fn rmw(op: RmwOp, size: u32, old: i64, value: i64) -> Option<i64> {
    let bits = size.saturating_mul(8);
    let unsigned = |v| extend(v, bits, false) as u64;
    Some(match op {
        RmwOp::Exchange => value,
        RmwOp::Add => old.wrapping_add(value),
        RmwOp::Sub => old.wrapping_sub(value),
        RmwOp::And => old & value,
        RmwOp::Or => old | value,
        RmwOp::Xor => old ^ value,
        RmwOp::Max => old.max(extend(value, bits, true)),
        RmwOp::Min => old.min(extend(value, bits, true)),
        RmwOp::UMax => unsigned(old).max(unsigned(value)) as i64,
        RmwOp::UMin => unsigned(old).min(unsigned(value)) as i64,
        RmwOp::Other => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_wrap_to_the_width() {
        assert_eq!(binary(BinaryOp::Add, 8, 127, 1), Some(-128));
        assert_eq!(binary(BinaryOp::UDiv, 8, -1, 2), Some(127));
        assert_eq!(binary(BinaryOp::LShr, 32, -1, 28), Some(15));
        assert_eq!(binary(BinaryOp::AShr, 32, -16, 2), Some(-4));
        assert_eq!(binary(BinaryOp::SDiv, 32, 1, 0), None);
        assert_eq!(binary(BinaryOp::SDiv, 64, i64::MIN, -1), None);
        assert_eq!(compare(CompareOp::ULt, 8, 1, -1), 1);
        assert_eq!(compare(CompareOp::SLt, 8, 1, -1), 0);
        assert_eq!(extend(0x1ff, 8, false), 0xff);
        assert_eq!(extend(1, 1, true), -1);
        assert_eq!(rmw(RmwOp::UMax, 1, 1, -1), Some(255));
    }
}
