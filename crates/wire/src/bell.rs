//! How long an end looks for the other's answer before it sleeps.

/// Looks at the word before sleeping: a good deal longer than it takes to wake the other end and to make a small run, so
/// that two ends that both sleep get out of that. The kernel then gives each a processor of its own.
const LOOKS: u32 = 10_000;
/// Waits in a row without looking.
const LEAST_RESTS: u32 = 4;
const MOST_RESTS: u32 = 1024;

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
    /// Number of looks for the next wait.
    pub fn looks(&mut self) -> u32 {
        self.looked = self.resting == 0;
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
            assert_eq!(patience.looks(), LOOKS);
            patience.caught();
        }
        let mut looked = 0;
        for _ in 0..1000 {
            looked += u32::from(patience.looks() == LOOKS);
            patience.missed();
        }
        assert!((5..20).contains(&looked), "{looked}");
    }
}
