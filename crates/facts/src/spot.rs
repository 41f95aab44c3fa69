//! Where pointers point: an object and a byte offset, or offsets that repeat with a stride.
//!
//! The element `a[i].lock` with an unknown `i` is the spot `(a, offset of lock, stride of an element)`: fields stay apart
//! although elements do not.

use model::index::index_type;
use program::library::LibraryState;
use program::{FunctionId, GlobalId, LocalId};

use crate::invocations::ProgramPoint;

index_type! {
    /// An abstract location of the points-to analysis.
    pub struct ObjectId("o");
}

/// What an abstract location stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// A global.
    Global(GlobalId),
    /// All activations of a local variable in memory, by the local that holds its address.
    Stack(FunctionId, LocalId),
    /// All heap blocks made by a statement: an allocation, or a call of a function that does nothing but allocate.
    Heap(ProgramPoint),
    /// A function.
    Function(FunctionId),
    /// Any of the functions whose addresses are used, where a pointer may be to very many of them.
    AnyFunction,
    /// The threads started by a statement, as their handles name them.
    Thread(ProgramPoint),
    /// Memory of the library.
    Library(LibraryState),
    /// The stream behind a variable of the C library: `stdin`, `stdout`, `stderr`.
    Stream(GlobalId),
    /// The error number, of which each thread has its own.
    Errno,
    /// Memory of functions without a body, and the environment that the program is started with.
    Outside,
    /// The array of the program's arguments (`argv`).
    Arguments,
    /// Their texts. There is no pointer in them but what the program itself stores there.
    ArgumentTexts,
    /// Whatever pointers of which nothing is known point to; in no set of a solution.
    Unknown,
    /// All constants without pointers in them, such as texts: nobody writes them, so pointers do not tell them apart.
    Constants,
    /// What a statement copies, on its way.
    Transfer(ProgramPoint),
    /// A collapsed node: any of many objects that pointers do not tell apart.
    Collapsed,
}

/// Bytes that a pointer moves: a fixed number, plus any multiple of the stride.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Shift {
    /// Fixed part.
    pub offset: i64,
    /// 0 for none.
    pub stride: u64,
}

impl Shift {
    /// To anywhere in the object.
    pub const ANYWHERE: Self = Self { offset: 0, stride: 1 };

    /// First this, then the other.
    pub fn then(self, other: Self) -> Self {
        let stride = gcd(self.stride, other.stride);
        match self.offset.checked_add(other.offset) {
            Some(offset) => Self { offset, stride },
            None => Self::ANYWHERE,
        }
    }
}

/// A byte of an object, or bytes that repeat with a stride.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Spot {
    /// The object.
    pub object: ObjectId,
    /// Where; the remainder by the stride, if there is one.
    pub offset: i32,
    /// 0 for a single byte.
    pub stride: u32,
}

impl Spot {
    /// A spot; offsets beyond all reason may be anywhere.
    pub fn new(object: ObjectId, at: Shift) -> Self {
        let stride = u32::try_from(at.stride).unwrap_or(1);
        let offset = if stride > 0 { at.offset.rem_euclid(i64::from(stride)) } else { at.offset };
        match i32::try_from(offset) {
            Ok(offset) => Self { object, offset, stride },
            Err(_) => Self { object, offset: 0, stride: 1 },
        }
    }
    /// The first byte of an object.
    pub fn start(object: ObjectId) -> Self {
        Self { object, offset: 0, stride: 0 }
    }
    /// The spot moved.
    pub fn shifted(self, by: Shift) -> Self {
        Self::new(self.object, self.within().then(by))
    }
    /// Its place in the object.
    pub fn within(self) -> Shift {
        Shift { offset: i64::from(self.offset), stride: u64::from(self.stride) }
    }
    /// Whether every byte of the other is one of this.
    pub fn includes(self, other: Self) -> bool {
        if self.object != other.object || self.stride == 0 {
            return self == other;
        }
        let apart = i64::from(other.offset) - i64::from(self.offset);
        other.stride.is_multiple_of(self.stride) && apart.rem_euclid(i64::from(self.stride)) == 0
    }
    /// The least spot found that includes both; of the same object.
    pub fn widened(self, other: Self) -> Self {
        let apart = i64::from(other.offset).abs_diff(i64::from(self.offset));
        let stride = gcd(gcd(u64::from(self.stride), u64::from(other.stride)), apart);
        Self::new(self.object, Shift { offset: i64::from(self.offset), stride })
    }

    /// Whether bytes from here on may be bytes from there on; `None` for an unknown number of bytes.
    pub fn overlaps(self, len: Option<u64>, other: Self, other_len: Option<u64>) -> bool {
        if self.object != other.object {
            return false;
        }
        let (Some(len), Some(other_len)) = (len, other_len) else { return true };
        let apart = i128::from(other.offset) - i128::from(self.offset);
        let period = i128::from(gcd(u64::from(self.stride), u64::from(other.stride)));
        if period == 0 {
            return apart < i128::from(len) && -apart < i128::from(other_len);
        }
        let apart = apart.rem_euclid(period);
        apart < i128::from(len) || period - apart < i128::from(other_len)
    }

    /// How far the other's first byte may be from this one's where the bytes overlap: the only distance, if there is
    /// only one.
    pub fn only_distance(self, len: u64, other: Self, other_len: u64) -> Option<i64> {
        let apart = i64::from(other.offset) - i64::from(self.offset);
        let period = i64::try_from(gcd(u64::from(self.stride), u64::from(other.stride))).ok()?;
        let (len, other_len) = (i64::try_from(len).ok()?, i64::try_from(other_len).ok()?);
        let meets = |distance: i64| distance < len && -distance < other_len;
        if period == 0 {
            return meets(apart).then_some(apart);
        }
        let first = apart.rem_euclid(period);
        let mut found = [first, first - period].into_iter().filter(|d| meets(*d));
        let only = found.next().filter(|_| found.next().is_none())?;
        // The next ones further off must not meet either.
        (!meets(first + period) && !meets(first - 2 * period)).then_some(only)
    }
}

/// The greatest common divisor; of 0 and n it is n.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(offset: i64, stride: u64) -> Spot {
        Spot::new(ObjectId(0), Shift { offset, stride })
    }

    #[test]
    fn fields_of_elements_stay_apart() {
        let (lock, data) = (spot(0, 48), spot(40, 48));
        assert!(!lock.overlaps(Some(40), data, Some(8)));
        assert!(lock.overlaps(Some(41), data, Some(8)));
        assert!(data.overlaps(Some(8), spot(88, 0), Some(4)));
        assert!(!data.overlaps(Some(8), spot(48, 0), Some(40)));
    }

    #[test]
    fn distances_of_overlapping_bytes() {
        assert_eq!(spot(40, 48).only_distance(8, spot(40, 48), 8), Some(0));
        assert_eq!(spot(40, 48).only_distance(8, spot(44, 48), 4), Some(4));
        assert_eq!(spot(0, 4).only_distance(8, spot(0, 4), 8), None, "elements that overlap their neighbours");
        assert_eq!(spot(0, 0).only_distance(4, spot(2, 0), 4), Some(2));
    }

    #[test]
    fn widening_includes_both() {
        let wide = spot(8, 0).widened(spot(24, 0)).widened(spot(0, 0));
        assert_eq!((wide.offset, wide.stride), (0, 8));
        assert!(wide.includes(spot(24, 0)) && !wide.includes(spot(4, 0)) && wide.includes(spot(16, 32)));
    }
}
