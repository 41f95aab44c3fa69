//! Bytes to words.

use super::super::{ADDRESS_BITS, head, words};
use super::{ADDRESS, BYTES, END, GUESSES, Guess, MANY, RECORD, RIGHT, SITE, slot, unzigzag};

/// What packed bytes say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unpacked {
    /// The word of a plain access.
    Plain(u64),
    /// The words of a record; those it has not are zero.
    Record([u64; 4]),
}

/// The bytes that are left.
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

/// Unpacks what [`Packer::pack`](super::Packer::pack) packed, giving each word or record to `take`, which may stop it by returning false.
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
                let mut record = [head(tag, flags, address), argument << 32 | site, 0, 0];
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
