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

use super::{ADDRESS_BITS, IS_RECORD, words};

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

impl Guess {
    /// Gives the next guesses to `take` until it returns false, and says what it returned last; `None` if one of them is
    /// no access.
    fn take(&mut self, count: u64, take: &mut impl FnMut(Unpacked) -> bool) -> Option<bool> {
        for _ in 0..count {
            let word = self.next();
            self.guessed(word);
            if word == 0 {
                return None;
            }
            if !take(Unpacked::Plain(word)) {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl Memory {
    /// The next address.
    #[inline(always)]
    fn guess(&self) -> u64 {
        self.address.wrapping_add(i64::from(self.stride) as u64) & ADDRESS
    }
}

/// Longest round of a loop that is looked for.
const PERIOD: usize = 16;
/// Right guesses in a row after which one is looked for.
const ENOUGH: usize = 3 * PERIOD;

/// Words that are looked at together.
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
/// Bytes that are written for an access, however many of them count: control, site, and eight of the difference.
const SLACK: usize = 11;
/// Bytes for a chunk of accesses, and what is written behind them.
const CHUNK_ROOM: usize = 256;
const ROOM: usize = CHUNK_ROOM + SLACK;
const _: () = assert!(CHUNK * SLACK <= CHUNK_ROOM);

const fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}
const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// The bytes of a number, without zeros in front.
#[inline(always)]
const fn bytes_of(number: u64) -> usize {
    (u64::BITS + 7 - number.leading_zeros()) as usize / 8
}

struct Out<'a> {
    bytes: &'a mut [u8],
    len: usize,
    /// Right guesses that are not written yet.
    right: u64,
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
    /// An access that was not guessed, after those that were.
    fn access(&mut self, expected: bool, site: u16, difference: u64) {
        let bytes = bytes_of(difference);
        let (with_site, skip) = if expected { (0, 0) } else { (SITE, 2) };
        let right = core::mem::take(&mut self.right);
        self.byte((right.min(MANY) as u8) << GUESSES | with_site | bytes as u8);
        if right >= MANY {
            self.number(right);
        }
        let Some(place) = self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut::<SLACK>()) else {
            return;
        };
        place[..2].copy_from_slice(&site.to_le_bytes());
        place[skip..skip + 8].copy_from_slice(&difference.to_le_bytes());
        self.len += skip + bytes;
    }
    /// The right guesses so far.
    fn guesses(&mut self) {
        if self.right > 0 {
            self.byte(RIGHT);
            self.number(self.right);
            self.right = 0;
        }
    }
}

impl Packer {
    /// Bytes that suffice to pack this many words.
    pub const fn room(words: usize) -> usize {
        (words + 1) * MOST + SLACK
    }

    /// A packer.
    pub const fn new() -> Self {
        Self { guess: Guess::NEW }
    }

    /// Packs words up to the first zero that starts none, or the end, into `bytes`, which has [`room`](Self::room) for
    /// them. Returns the number of bytes; an unfinished record at the end is left out.
    pub fn pack(&mut self, words: &[u64], bytes: &mut [u8]) -> usize {
        self.guess = Guess::NEW;
        let mut out = Out { bytes, len: 0, right: 0 };
        let mut at = 0;
        loop {
            at += self.guess.pack_accesses(&words[at..], &mut out);
            match words.get(at) {
                None | Some(0) => break,
                Some(word) if word & IS_RECORD == 0 => {
                    let Some((period, len)) = steady(words, at) else { continue };
                    // The last round is what the guesses would have left behind.
                    let end = at + len;
                    words[end - period.min(len)..end].iter().for_each(|word| self.guess.guessed(*word));
                    out.right += len as u64;
                    at = end;
                }
                Some(_) => match self.guess.pack_record(&words[at..], &mut out) {
                    Some(len) => at += len,
                    None => break,
                },
            }
        }
        out.guesses();
        out.byte(END);
        out.len
    }
}

impl Guess {
    /// Packs accesses up to a record, a zero, or [`ENOUGH`] right guesses in a row. Returns the number of words.
    fn pack_accesses(&mut self, words: &[u64], out: &mut Out<'_>) -> usize {
        let mut done = 0;
        loop {
            done += self.pack_irregular(&words[done..], out);
            let (count, was_wrong) = self.pack_regular(&words[done..], out);
            done += count;
            if !was_wrong {
                return done;
            }
        }
    }

    /// Packs accesses up to a record, a zero, or as many right guesses in a row as a control byte can say. There is no branch
    /// on whether a guess is right, as that is hard to foresee: a right one is written as if it were wrong, and the next is
    /// written over it.
    #[inline(never)]
    fn pack_irregular(&mut self, words: &[u64], out: &mut Out<'_>) -> usize {
        let sites = &mut self.sites;
        let (mut last, mut right) = (self.last % SITES, out.right);
        let (mut done, mut over) = (0, false);
        for chunk in words.chunks(CHUNK) {
            let Some(room) = out.bytes.get_mut(out.len..).and_then(|rest| rest.first_chunk_mut::<ROOM>()) else {
                break;
            };
            let mut len = 0;
            for &word in chunk {
                over = word.wrapping_sub(1) >= IS_RECORD - 1 || right >= MANY;
                if over {
                    break;
                }
                done += 1;
                let (site, address) = (site_of(word), word & ADDRESS);
                let next = &mut sites[last].next;
                let unexpected = usize::from(*next != site);
                *next = site;
                last = slot(site);
                let memory = &mut sites[last];
                let difference = address.wrapping_sub(memory.address) as i64;
                let is_wrong = unexpected | usize::from(difference != i64::from(memory.stride));
                (memory.address, memory.stride) = (address, difference as i32);
                let difference = zigzag(difference);
                let bytes = bytes_of(difference);
                let place = &mut room[len % CHUNK_ROOM..][..SLACK];
                place[0] = (right << GUESSES) as u8 | if unexpected == 0 { 0 } else { SITE } | bytes as u8;
                place[1..3].copy_from_slice(&site.to_le_bytes());
                let start = 1 + 2 * unexpected;
                place[start..start + 8].copy_from_slice(&difference.to_le_bytes());
                // All bits of a number, or none.
                let kept = is_wrong.wrapping_neg();
                len += (start + bytes) & kept;
                right = (right + 1) & !(kept as u64);
            }
            out.len += len;
            if over {
                break;
            }
        }
        (self.last, out.right) = (last, right);
        done
    }

    /// Packs accesses up to a record, a zero, [`ENOUGH`] right guesses in a row, or behind the first wrong one. Returns the
    /// number of words, and whether there was a wrong guess.
    #[inline(never)]
    fn pack_regular(&mut self, words: &[u64], out: &mut Out<'_>) -> (usize, bool) {
        let sites = &mut self.sites;
        let mut last = self.last % SITES;
        let accesses = words.iter().take(ENOUGH).take_while(|word| word.wrapping_sub(1) < IS_RECORD - 1);
        let mut done = 0;
        for &word in accesses {
            done += 1;
            let (site, address) = (site_of(word), word & ADDRESS);
            let at = slot(site);
            let expected = sites[last].next == site;
            let difference = address.wrapping_sub(sites[at].address) as i64;
            let is_right = expected && difference == i64::from(sites[at].stride);
            sites[last].next = site;
            (sites[at].address, sites[at].stride) = (address, difference as i32);
            last = at;
            if !is_right {
                self.last = last;
                out.access(expected, site, zigzag(difference));
                return (done, true);
            }
            out.right += 1;
        }
        self.last = last;
        (done, false)
    }

    /// Packs the record that starts the words. Returns its number of words, if it is whole.
    fn pack_record(&mut self, all: &[u64], out: &mut Out<'_>) -> Option<usize> {
        let (tag, flags) = ((all[0] >> 48) as u8, (all[0] >> 56) as u8 & 0x7f);
        let (count, numbered) = words(tag, flags);
        let record = all.get(..count)?;
        if numbered && record[2] == 0 {
            return None;
        }
        let (address, site) = (all[0] & ((1 << 48) - 1), record[1] & 0xffff_ffff);
        out.guesses();
        [RECORD, tag, flags].into_iter().for_each(|byte| out.byte(byte));
        out.difference(self.record[0], address);
        out.number(record[1] >> 32);
        out.difference(self.record[1], site);
        (self.record[0], self.record[1]) = (address, site);
        if numbered {
            out.difference(self.record[2], record[2]);
            self.record[2] = record[2];
        }
        record.iter().skip(3).for_each(|word| out.number(*word));
        Some(count)
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
    /// A number of `len` bytes, at most eight.
    #[inline(always)]
    fn fixed(&mut self, len: usize) -> Result<u64, usize> {
        let rest = self.bytes.get(self.at..).ok_or(self.at)?;
        if rest.len() < len {
            return Err(self.bytes.len());
        }
        self.at += len;
        Ok(match rest.first_chunk() {
            Some(_) if len == 0 => 0,
            Some(eight) => u64::from_le_bytes(*eight) & u64::MAX >> (64 - 8 * len),
            None => rest[..len].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        })
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
        let start = input.at;
        let go_on = match input.byte()? {
            control if control & BYTES < BYTES => {
                let right = u64::from(control >> GUESSES);
                let right = if right == MANY { input.number()? } else { right };
                if !guess.take(right, &mut take).ok_or(start)? {
                    return Ok(());
                }
                let expected = guess.sites[guess.last].next;
                let site = if control & SITE == 0 { expected } else { input.fixed(2)? as u16 };
                let difference = unzigzag(input.fixed(usize::from(control & BYTES))?) as u64;
                let address = guess.sites[slot(site)].address.wrapping_add(difference) & ADDRESS;
                let word = address | u64::from(site) << ADDRESS_BITS;
                guess.missed(word);
                take(Unpacked::Plain(word))
            }
            RIGHT => guess.take(input.number()?, &mut take).ok_or(start)?,
            RECORD => {
                let (tag, flags) = (input.byte()?, input.byte()? & 0x7f);
                let address = input.difference(guess.record[0])? & ((1 << 48) - 1);
                let argument = input.number()?;
                let site = input.difference(guess.record[1])? & 0xffff_ffff;
                let mut record = [super::head(tag, flags, address), argument << 32 | site, 0, 0];
                (guess.record[0], guess.record[1]) = (address, site);
                let (count, numbered) = words(tag, flags);
                if numbered {
                    record[2] = input.difference(guess.record[2])?;
                    guess.record[2] = record[2];
                }
                for word in record.iter_mut().take(count).skip(3) {
                    *word = input.number()?;
                }
                take(Unpacked::Record(record))
            }
            END => return if input.at == bytes.len() { Ok(()) } else { Err(input.at) },
            _ => return Err(start),
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
