//! How long an end looks for the other's answer before it sleeps, and on which processor.

/// Looks at the word before sleeping: some 40 microseconds. Longer than it takes to wake the other end on an idle
/// processor and to make a small run, so that two ends that both sleep get out of that.
const LOOKS: u32 = 1500;
/// Waits in a row without looking.
const LEAST_RESTS: u32 = 4;
const MOST_RESTS: u32 = 256;

/// Decides before each wait whether looking is worth it: on a busy machine the other end is not running meanwhile, and
/// looking only keeps it from its processor.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Waits left to go to sleep at once.
    resting: u32,
    /// Whether the last wait looked.
    looked: bool,
    /// Waits to sleep at once after the next time that looking was in vain.
    rests: u32,
}

impl Patience {
    /// Looks at first.
    pub const fn new() -> Self {
        Self { resting: 0, looked: false, rests: LEAST_RESTS }
    }
    /// Number of looks for the next wait. On one processor with the other end they are always in vain.
    pub fn looks(&mut self, one_processor: bool) -> u32 {
        self.looked = !one_processor && self.resting == 0;
        self.resting = self.resting.saturating_sub(1);
        if self.looked { LOOKS } else { 1 }
    }
    /// The answer was seen while looking.
    pub fn caught(&mut self) {
        if self.looked {
            self.rests = LEAST_RESTS;
        }
    }
    /// All looks were in vain.
    pub fn missed(&mut self) {
        if self.looked {
            self.resting = self.rests;
            self.rests = (self.rests * 2).min(MOST_RESTS);
        }
    }
}

/// Where the runtime runs, seen from the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seat {
    /// On the host's processor: both sleep and wake for every exchange, which is the best on a busy machine.
    Together,
    /// On another processor: both look and need not sleep, if that processor is free.
    Apart,
}

impl Seat {
    const fn other(self) -> Self {
        match self {
            Self::Together => Self::Apart,
            Self::Apart => Self::Together,
        }
    }
}

/// Chooses the seat by measuring: the kernel cannot know that two processes wait for each other in turns.
#[derive(Clone, Copy, Debug)]
pub struct Seating {
    seat: Seat,
    /// Exchanges in this window.
    exchanges: u32,
    /// When the window started.
    start: u64,
    /// How long an exchange of the last window took in each seat.
    took: [u64; 2],
    /// The other seat is being tried.
    trial: bool,
    /// Windows until the other seat is tried.
    left: u32,
    /// Windows between two trials: grows while they do not pay.
    stay: u32,
}

impl Seating {
    /// Exchanges measured together.
    const WINDOW: u32 = 64;
    /// The same while the other seat is tried.
    const TRIAL: u32 = 32;
    const LEAST_STAY: u32 = 4;
    const MOST_STAY: u32 = 48;

    /// Apart at first.
    pub const fn new() -> Self {
        let stay = Self::LEAST_STAY;
        Self { seat: Seat::Apart, exchanges: 0, start: 0, took: [0; 2], trial: false, left: stay, stay }
    }

    /// After an exchange: the seat to take. `now` is the time.
    pub fn choose(&mut self, now: impl FnOnce() -> u64) -> Seat {
        self.exchanges += 1;
        let window = if self.trial { Self::TRIAL } else { Self::WINDOW };
        if self.exchanges >= window {
            let now = now();
            self.measured(now.wrapping_sub(self.start) / u64::from(window));
            (self.exchanges, self.start) = (0, now);
        }
        self.seat
    }

    /// A window is over.
    fn measured(&mut self, took: u64) {
        self.took[self.seat as usize] = took;
        let other = self.took[self.seat.other() as usize];
        if core::mem::take(&mut self.trial) {
            let pays = took < other - other / 8;
            if !pays {
                self.seat = self.seat.other();
            }
            self.stay = if pays { Self::LEAST_STAY } else { (self.stay * 2).min(Self::MOST_STAY) };
            self.left = self.stay;
            return;
        }
        self.left -= 1;
        // Something changed: the machine, or the program's runs.
        let is_worse = other > 0 && took / 2 > other;
        if self.left == 0 || is_worse {
            (self.trial, self.seat) = (true, self.seat.other());
        }
    }
}

impl Default for Seating {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_often_while_it_pays_and_seldom_when_not() {
        let mut patience = Patience::new();
        for _ in 0..10 {
            assert_eq!(patience.looks(false), LOOKS);
            patience.caught();
        }
        let mut looked = 0;
        for _ in 0..1000 {
            looked += u32::from(patience.looks(false) == LOOKS);
            patience.missed();
        }
        assert!((5..20).contains(&looked), "{looked}");
        assert_eq!(Patience::new().looks(true), 1);
    }

    /// Windows spent apart, of so many, on a machine where the seats take this long.
    fn windows_apart(seating: &mut Seating, windows: u32, together: u64, apart: u64) -> u32 {
        let (mut now, mut seat, mut count) = (seating.start, seating.seat, 0);
        for _ in 0..windows {
            for _ in 0..Seating::WINDOW {
                now += if seat == Seat::Apart { apart } else { together };
                count += u32::from(seat == Seat::Apart);
                seat = seating.choose(|| now);
            }
        }
        count / Seating::WINDOW
    }

    #[test]
    fn the_faster_seat_is_taken_and_the_other_tried_seldom() {
        let mut seating = Seating::new();
        assert!(windows_apart(&mut seating, 1000, 9, 3) > 975);
        assert!(windows_apart(&mut seating, 1000, 9, 40) < 20);
        assert!(windows_apart(&mut seating, 1000, 9, 3) > 850);
        // Both get slower: the choice stays.
        assert!(windows_apart(&mut seating, 1000, 90, 30) > 975);
    }
}
