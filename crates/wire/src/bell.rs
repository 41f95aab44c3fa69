//! How long an end looks for the other's answer before it sleeps.

/// Looks at the word before sleeping: longer than a small run takes, shorter than being put to sleep and woken twice.
const LOOKS: u32 = 600;
/// Most waits in a row without looking.
const MOST_RESTS: u32 = 64;

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
        Self { resting: 0, looked: false, rests: 4 }
    }
    /// Number of looks for the next wait.
    pub fn looks(&mut self) -> u32 {
        self.looked = self.resting == 0;
        self.resting = self.resting.saturating_sub(1);
        if self.looked { LOOKS } else { 1 }
    }
    /// The answer was seen while looking.
    pub fn caught(&mut self) {
        self.rests = 4;
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
        assert!((10..60).contains(&looked), "{looked}");
    }
}
