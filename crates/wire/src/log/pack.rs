//! Packing words: what the next access will be is guessed from the last ones, and only wrong guesses are written.
//!
//! For every site the packer remembers the last address, the last difference of addresses, and which site came next. A
//! loop over an array is guessed right but for its first rounds, so it takes a few bytes whatever its length. Packed
//! words are self-contained: each block starts without memory.
//!
//! An access to the same address at the same site as the last one there is left out, if its thread did nothing but plain
//! accesses in between: whatever races with one races with the other.
//!
//! ```text
//! packed   = { count literal }     count: right guesses before the literal, as a variable-length number
//! literal  = 0 site address        a plain access; both as differences
//!          | 1                     the end
//!          | tag+2 flags address argument site [sequence] [mutex]
//! ```

use super::{ADDRESS_BITS, IS_RECORD, words};

/// Remembered sites.
const SITES: usize = 256;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;

/// What is remembered of a site.
#[derive(Clone, Copy, Default, Debug)]
struct Memory {
    address: u64,
    stride: u64,
    /// The word of the site that came next, without its address.
    next: u64,
    site: u32,
    /// When it was last seen, in records.
    epoch: u32,
}

/// The common part of packing and unpacking.
#[derive(Debug)]
struct Guess {
    sites: [Memory; SITES],
    /// The last site.
    last: usize,
    epoch: u32,
    /// Of the last record.
    record: [u64; 3],
}

impl Guess {
    const NEW: Self = Self {
        sites: [Memory { address: 0, stride: 0, next: 0, site: u32::MAX, epoch: 0 }; SITES],
        last: 0,
        epoch: 1,
        record: [0; 3],
    };

    /// The next plain access.
    #[inline(always)]
    fn next(&self) -> u64 {
        let site = self.sites[self.last].next;
        let memory = &self.sites[(site >> ADDRESS_BITS) as usize % SITES];
        site | memory.address.wrapping_add(memory.stride) & ADDRESS
    }

    /// Takes in a plain access that was guessed.
    #[inline(always)]
    fn guessed(&mut self, word: u64) {
        let at = (word >> ADDRESS_BITS) as usize % SITES;
        let memory = &mut self.sites[at];
        memory.address = word & ADDRESS;
        memory.epoch = self.epoch;
        self.last = at;
    }

    /// Takes in a plain access that was not.
    fn missed(&mut self, word: u64) {
        let site = (word >> ADDRESS_BITS) as u32;
        let at = site as usize % SITES;
        self.sites[self.last].next = word & !ADDRESS;
        let (address, epoch) = (word & ADDRESS, self.epoch);
        let memory = &mut self.sites[at];
        let stride = if memory.site == site { address.wrapping_sub(memory.address) } else { 0 };
        *memory = Memory { address, stride, site, epoch, ..*memory };
        self.last = at;
    }

    /// The address last used at the site of a word.
    fn address(&self, site: u32) -> u64 {
        self.sites[site as usize % SITES].address
    }
}

/// Longest round of a loop that is looked for.
const PERIOD: usize = 16;
/// Right guesses in a row after which one is looked for.
const ENOUGH: usize = 3 * PERIOD;

/// Words of a loop that are looked at together.
const CHUNK: usize = 16;

/// How long a loop goes on from `at`: the words of its round, and how many words are as they were two rounds and one round
/// before, moved on by the same distance. Guesses would have been right for all of them, at a higher price each.
fn steady(words: &[u64], at: usize) -> Option<(usize, usize)> {
    let word = |back: usize| words[at - back];
    let moves = |period: usize, back: usize| {
        let (new, old, older) = (word(back), word(back + period), word(back + 2 * period));
        let same_site = new >> ADDRESS_BITS == old >> ADDRESS_BITS && old >> ADDRESS_BITS == older >> ADDRESS_BITS;
        same_site && new != old && new.wrapping_sub(old) == old.wrapping_sub(older)
    };
    let is_period = |period: &usize| (1..=*period).all(|back| moves(*period, back));
    let period = (1..=PERIOD).find(is_period)?;
    let rounds = words[at..].iter().zip(&words[at - period..]).zip(&words[at - 2 * period..]);
    let wrong = |((new, old), older): ((&u64, &u64), &u64)| {
        new.wrapping_sub(*old) ^ old.wrapping_sub(*older) | (new ^ old) >> ADDRESS_BITS
    };
    // Many at a time, without a branch for each.
    let mut len = 0;
    let (news, olds, olders) = (&words[at..], &words[at - period..], &words[at - 2 * period..]);
    let chunks = news.chunks_exact(CHUNK).zip(olds.chunks_exact(CHUNK)).zip(olders.chunks_exact(CHUNK));
    for ((new, old), older) in chunks {
        if new.iter().zip(old).zip(older).fold(0, |sum, next| sum | wrong(next)) != 0 {
            break;
        }
        len += CHUNK;
    }
    len += rounds.skip(len).take_while(|next| wrong(*next) == 0).count();
    Some((period, len))
}

/// Packs words. Large; keep it somewhere and use it again.
#[derive(Debug)]
pub struct Packer {
    guess: Guess,
}

/// Most bytes that packing takes for a word.
const MOST: usize = 14;

const fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}
const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

struct Out<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl Out<'_> {
    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }
    fn difference(&mut self, from: u64, to: u64) {
        self.number(zigzag(to.wrapping_sub(from) as i64));
    }
}

impl Packer {
    /// Bytes that suffice to pack this many words.
    pub const fn room(words: usize) -> usize {
        words * MOST + MOST
    }

    /// A packer.
    pub const fn new() -> Self {
        Self { guess: Guess::NEW }
    }

    /// Packs words up to the first zero that starts none, or the end, into `bytes`, which has [`room`](Self::room) for
    /// them. Returns the number of bytes; an unfinished record at the end is left out.
    pub fn pack(&mut self, all: &[u64], bytes: &mut [u8]) -> usize {
        self.guess = Guess::NEW;
        let guess = &mut self.guess;
        let mut out = Out { bytes, len: 0 };
        let mut right = 0;
        let mut input = all;
        // Right guesses in a row, without one left out in between.
        let mut row = 0;
        while let Some((&word, rest)) = input.split_first() {
            if row >= ENOUGH {
                let at = all.len() - input.len();
                let steady = steady(all, at);
                // The last round is what the guesses would have left behind.
                let last_round = steady.map_or(0, |(period, len)| period.min(len));
                let len = steady.map_or(0, |(_, len)| len);
                all[at + len - last_round..at + len].iter().for_each(|word| guess.guessed(*word));
                right += len as u64;
                input = &input[len..];
                row = 0;
                continue;
            }
            if word == guess.next() && word != 0 {
                let memory = &guess.sites[(word >> ADDRESS_BITS) as usize % SITES];
                input = rest;
                if memory.stride == 0 && memory.epoch == guess.epoch && memory.site == (word >> ADDRESS_BITS) as u32 {
                    row = 0;
                    continue;
                }
                guess.guessed(word);
                right += 1;
                row += 1;
                continue;
            }
            row = 0;
            if word == 0 {
                break;
            }
            if word & IS_RECORD == 0 {
                input = rest;
                let site = (word >> ADDRESS_BITS) as u32;
                let memory = &guess.sites[site as usize % SITES];
                if memory.site == site && memory.address == word & ADDRESS && memory.epoch == guess.epoch {
                    continue;
                }
                out.number(right);
                out.byte(0);
                out.difference(u64::from(guess.sites[guess.last].site), u64::from(site));
                out.difference(guess.address(site), word & ADDRESS);
                guess.missed(word);
            } else {
                let (tag, flags) = ((word >> 48) as u8, (word >> 56) as u8 & 0x7f);
                let (count, numbered) = words(tag, flags);
                let Some((record, rest)) = input.split_at_checked(count) else { break };
                if numbered && record[2] == 0 {
                    break;
                }
                input = rest;
                let address = word & ((1 << 48) - 1);
                out.number(right);
                out.byte(tag.wrapping_add(2));
                out.byte(flags);
                out.difference(guess.record[0], address);
                out.number(record[1] >> 32);
                out.difference(guess.record[1], record[1] & 0xffff_ffff);
                guess.record[0] = address;
                guess.record[1] = record[1] & 0xffff_ffff;
                if numbered {
                    out.difference(guess.record[2], record[2]);
                    guess.record[2] = record[2];
                    guess.epoch += 1;
                }
                record.iter().skip(3).for_each(|word| out.number(*word));
            }
            right = 0;
        }
        out.number(right);
        out.byte(1);
        out.len
    }
}

impl Default for Packer {
    fn default() -> Self {
        Self::new()
    }
}

/// What packed bytes say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unpacked {
    /// The word of a plain access.
    Plain(u64),
    /// The words of a record; those it has not are zero.
    Record([u64; 4]),
}

struct In<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl In<'_> {
    fn byte(&mut self) -> Result<u8, usize> {
        let byte = *self.bytes.get(self.at).ok_or(self.at)?;
        self.at += 1;
        Ok(byte)
    }
    fn number(&mut self) -> Result<u64, usize> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.at)
    }
    fn difference(&mut self, from: u64) -> Result<u64, usize> {
        Ok(from.wrapping_add(unzigzag(self.number()?) as u64))
    }
}

/// Unpacks what [`Packer::pack`] packed, giving each word or record to `take`, which may stop it by returning false.
///
/// # Errors
/// The byte at which the input makes no sense.
pub fn unpack(bytes: &[u8], mut take: impl FnMut(Unpacked) -> bool) -> Result<(), usize> {
    let mut guess = Guess::NEW;
    let mut input = In { bytes, at: 0 };
    loop {
        for _ in 0..input.number()? {
            let word = guess.next();
            guess.guessed(word);
            if word == 0 {
                return Err(input.at);
            }
            if !take(Unpacked::Plain(word)) {
                return Ok(());
            }
        }
        let go_on = match input.byte()? {
            0 => {
                let last = u64::from(guess.sites[guess.last].site);
                let site = u16::try_from(input.difference(last)?).map_err(|_| input.at)?;
                let address = input.difference(guess.address(site.into()))? & ADDRESS;
                let word = address | u64::from(site) << ADDRESS_BITS;
                guess.missed(word);
                take(Unpacked::Plain(word))
            }
            1 => return if input.at == bytes.len() { Ok(()) } else { Err(input.at) },
            tag => {
                let (tag, flags) = (tag - 2, input.byte()? & 0x7f);
                let address = input.difference(guess.record[0])? & ((1 << 48) - 1);
                let argument = input.number()?;
                let site = input.difference(guess.record[1])? & 0xffff_ffff;
                let mut record = [super::head(tag, flags, address), argument << 32 | site, 0, 0];
                (guess.record[0], guess.record[1]) = (address, site);
                let (count, numbered) = words(tag, flags);
                if numbered {
                    record[2] = input.difference(guess.record[2])?;
                    guess.record[2] = record[2];
                    guess.epoch += 1;
                }
                for word in record.iter_mut().take(count).skip(3) {
                    *word = input.number()?;
                }
                take(Unpacked::Record(record))
            }
        };
        if !go_on {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::super::{head, plain};
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
    fn repeated_accesses_are_left_out_until_something_happens() {
        let again = plain(3, 0x1000);
        let lock = [head(Tag::Acquire as u8, 0, 0x2000), 4, 9, 0];
        let mut words = vec![again, plain(4, 0x1000), again, again];
        words.extend(&lock[..3]);
        words.extend([again, again]);
        let plain = |word| Unpacked::Plain(word);
        assert_eq!(
            round(&words).1,
            [plain(again), plain(super::super::plain(4, 0x1000)), Unpacked::Record(lock), plain(again)]
        );
    }
}
