//! Packing words: what the next access will be is guessed from the last ones, and only wrong guesses are written.
//!
//! For every site the packer remembers the last address, the last difference of addresses, and which site came next. A
//! loop over an array is guessed right but for its first rounds, so it takes a few bytes whatever its length. Where guesses
//! are wrong, as in a program that sorts, an access takes a byte, those of its difference that are not zero, and two for a
//! site that was not expected; how many these are costs no branch. Packed words are self-contained: each block starts
//! without memory.
//!
//! ```text
//! packed   = { item } END
//! item     = control [count] [site] difference
//!          | RIGHT count
//!          | RECORD tag flags address argument site [sequence] [mutex]
//! control  = bits 0..3 bytes of the difference, at most 6    bit 3 a site of two bytes follows
//!            bits 4..8 right guesses before this access; MANY: their number follows
//! ```
//! Numbers whose length is not said are of variable length, seven bits to a byte.

mod packer;
mod unpack;

pub use packer::Packer;
pub use unpack::{Unpacked, unpack};

use super::ADDRESS_BITS;

/// Remembered sites.
const SITES: usize = 1024;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;

/// Of a control byte: the bytes of the difference.
const BYTES: u8 = 0x07;
/// Of a control byte: the site follows.
const SITE: u8 = 0x08;
/// Of a control byte: how far to move the number of right guesses, and when it is written apart.
const GUESSES: u32 = 4;
const MANY: u64 = 15;
/// No access: right guesses.
const RIGHT: u8 = 0x07;
/// No access: a record.
const RECORD: u8 = 0x0f;
/// The end.
const END: u8 = 0x17;

/// What is remembered of a site.
#[derive(Clone, Copy, Default, Debug)]
struct Memory {
    address: u64,
    /// The last difference of addresses; one that is too large is no guess worth having.
    stride: i32,
    /// The site that came next.
    next: u16,
}

/// The common part of packing and unpacking.
#[derive(Debug)]
struct Guess {
    sites: [Memory; SITES],
    /// Where the last site is remembered.
    last: usize,
    /// Of the last record.
    record: [u64; 3],
}

const fn site_of(word: u64) -> u16 {
    (word >> ADDRESS_BITS) as u16
}

const fn slot(site: u16) -> usize {
    site as usize % SITES
}

impl Guess {
    const NEW: Self = Self { sites: [Memory { address: 0, stride: 0, next: 0 }; SITES], last: 0, record: [0; 3] };

    /// The next plain access.
    #[inline(always)]
    fn next(&self) -> u64 {
        let site = self.sites[self.last].next;
        self.sites[slot(site)].guess() | u64::from(site) << ADDRESS_BITS
    }

    /// Takes in a plain access that was guessed.
    #[inline(always)]
    fn guessed(&mut self, word: u64) {
        self.last = slot(site_of(word));
        self.sites[self.last].address = word & ADDRESS;
    }

    /// Takes in a plain access that was not.
    #[inline(always)]
    fn missed(&mut self, word: u64) {
        let (site, address) = (site_of(word), word & ADDRESS);
        self.sites[self.last].next = site;
        self.last = slot(site);
        let memory = &mut self.sites[self.last];
        memory.stride = address.wrapping_sub(memory.address) as i32;
        memory.address = address;
    }
}

impl Memory {
    /// The next address.
    #[inline(always)]
    fn guess(&self) -> u64 {
        self.address.wrapping_add(i64::from(self.stride) as u64) & ADDRESS
    }
}

/// A signed number as an unsigned one that is small when the number is near zero.
const fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// The signed number again.
const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::super::{IS_RECORD, head, plain};
    use super::*;
    use crate::record::Tag;

    fn round(words: &[u64]) -> (usize, Vec<Unpacked>) {
        let mut bytes = vec![0; Packer::room(words.len())];
        let len = Packer::new().pack(words, &mut bytes);
        let mut found = Vec::new();
        unpack(&bytes[..len], |unpacked| {
            found.push(unpacked);
            true
        })
        .unwrap();
        for cut in (0..len).step_by(1 + len / 50) {
            let _ = unpack(&bytes[..cut], |_| true).unwrap_err();
        }
        (len, found)
    }

    #[test]
    fn loops_take_few_bytes() {
        let words: Vec<u64> =
            (0..4000u64).flat_map(|i| [plain(7, 0x5555_0000 + 8 * i), plain(8, 0x7fff_0000 - 16 * i)]).collect();
        let (len, found) = round(&words);
        assert_eq!(found, words.iter().map(|w| Unpacked::Plain(*w)).collect::<Vec<_>>());
        assert!(len < 64, "{len} bytes");
    }

    #[test]
    fn loops_of_any_length_come_back() {
        for period in 1..20u64 {
            let mut words = Vec::new();
            for i in 0..200 {
                words.extend((0..period).map(|k| plain(k as u32 + 1, 0x1000 * (k + 1) + (k % 3 + 1) * 8 * i)));
                if i % 70 == 69 {
                    words.extend([plain(40, i), head(Tag::Release as u8, 0, i), i, i + 1]);
                }
            }
            words.extend([plain(1, 0x77), plain(2, 0x88)]);
            let unpacked = round(&words).1;
            let plains: Vec<u64> = unpacked
                .iter()
                .filter_map(|u| if let Unpacked::Plain(word) = u { Some(*word) } else { None })
                .collect();
            let mut expected = Vec::new();
            let mut rest = words.as_slice();
            while let Some((word, more)) = rest.split_first() {
                rest = if word & IS_RECORD == 0 { more } else { &more[2..] };
                expected.extend((word & IS_RECORD == 0).then_some(*word));
            }
            assert_eq!(plains, expected, "rounds of {period}");
        }
    }

    #[test]
    fn records_and_accesses_come_back() {
        let mut words = Vec::new();
        let mut expected = Vec::new();
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for i in 1..3000u64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if random.is_multiple_of(5) {
                let record = [head(Tag::Acquire as u8, 2, random >> 17), (random << 32) | (i % 50), 3 * i, 0];
                words.extend(&record[..3]);
                expected.push(Unpacked::Record(record));
            } else if random % 5 == 1 {
                let record = [head(Tag::WaitBegin as u8, 0, random >> 17), i, 3 * i, random >> 16];
                words.extend(&record);
                expected.push(Unpacked::Record(record));
            } else {
                words.push(plain((random >> 40) as u32 % 600, random >> 20));
                expected.push(Unpacked::Plain(words[words.len() - 1]));
            }
        }
        assert_eq!(round(&words).1, expected);
        // What was not written to the end is left out.
        let unfinished = [plain(1, 2), head(Tag::Acquire as u8, 2, 5), 7, 0];
        assert_eq!(round(&unfinished).1, [Unpacked::Plain(plain(1, 2))]);
    }

    #[test]
    fn repeated_accesses_take_no_bytes() {
        let words: Vec<u64> = (0..5000).flat_map(|_| [plain(3, 0x1000), plain(4, 0x1000)]).collect();
        let (len, found) = round(&words);
        assert_eq!(found, words.iter().map(|w| Unpacked::Plain(*w)).collect::<Vec<_>>());
        assert!(len < 64, "{len} bytes");
    }

    #[test]
    fn accesses_that_cannot_be_guessed_take_few_bytes() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let words: Vec<u64> =
            (0..5000).map(|_| plain(100 + next(4) as u32, 0x7fff_0000_0000 + 4 * next(1 << 16))).collect();
        let (len, found) = round(&words);
        assert_eq!(found, words.iter().map(|w| Unpacked::Plain(*w)).collect::<Vec<_>>());
        assert!(len < 6 * words.len(), "{len} bytes");
    }
}
