//! Samples and their statistics.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One figure, measured once per round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sample(pub(crate) Vec<f64>);

impl Sample {
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
        }
    }

    pub(crate) fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    pub(crate) fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// The minimum, median and maximum only.
    pub(crate) fn extremes(&self) -> Self {
        Self(vec![self.least(), self.median(), self.most()])
    }

    /// This figure divided by another, round by round.
    pub(crate) fn per(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a / b).collect())
    }
}

/// Prints the median with the minimum and maximum.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let median = Figure(self.median());
        if self.0.len() < 2 {
            return write!(f, "{median}");
        }
        write!(f, "{median} ({} to {})", Figure(self.least()), Figure(self.most()))
    }
}

/// A figure printed with about three significant digits.
#[derive(Clone, Copy)]
pub(crate) struct Figure(pub(crate) f64);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.0.abs() {
            n if n >= 100.0 => 0,
            n if n >= 10.0 => 1,
            n if n >= 0.1 || n == 0.0 => 2,
            _ => 3,
        };
        write!(f, "{:.digits$}", self.0)
    }
}

/// The exponent of the power of x that fits y best: the slope of the logarithms, by least squares.
pub(crate) fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logarithms = points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let [mut sx, mut sy, mut sxy, mut sxx] = [0.0; 4];
    for (x, y) in logarithms {
        (sx, sy, sxy, sxx) = (sx + x, sy + y, sxy + x * y, sxx + x * x);
    }
    (n * sxy - sx * sy) / (n * sxx - sx * sx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let points: Vec<(f64, f64)> = (1..9).map(f64::from).map(|x| (x, 7.0 * x.powf(1.5))).collect();
        assert!((exponent(&points) - 1.5).abs() < 1e-9);
    }

    #[test]
    fn a_sample_is_its_median_with_its_spread() {
        assert_eq!(Sample(vec![3.0, 1.0, 2.0]).to_string(), "2.00 (1.00 to 3.00)");
        assert_eq!(Sample(vec![4.0, 2.0]).median(), 3.0);
        assert_eq!(Sample(vec![0.5]).to_string(), "0.50");
        assert_eq!(Sample(vec![8.0]).per(&Sample(vec![2.0])).to_string(), "4.00");
    }
}
