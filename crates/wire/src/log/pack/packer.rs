//! Words to bytes.

use super::super::{ADDRESS_BITS, IS_RECORD, words};
use super::{ADDRESS, END, GUESSES, Guess, MANY, RECORD, RIGHT, SITE, SITES, site_of, slot, zigzag};

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
