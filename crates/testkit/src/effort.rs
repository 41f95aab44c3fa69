//! How many generated programs tests try.
//!
//! `make test` tries samples, so that it takes minutes; `make soak` sets [`VARIABLE`] and tries thousands of programs in
//! every test. This is the only place that reads the variables.

/// The environment variable with the least number of programs that a test tries.
pub const VARIABLE: &str = "RACEPROOF_PROGRAMS";

/// How many generated programs a test tries: `sample`, or more if [`VARIABLE`] asks for more.
///
/// # Panics
/// When the variable is not a number.
pub fn programs(sample: u64) -> u64 {
    match std::env::var(VARIABLE) {
        Ok(text) => {
            sample.max(text.parse().unwrap_or_else(|_| panic!("{VARIABLE}={text} is not a number of programs")))
        }
        Err(_) => sample,
    }
}

/// The environment variable with the number of the first program.
pub const FIRST: &str = "RACEPROOF_FIRST";

/// The numbers of the generated programs that a test tries, as many as [`programs`] says: from 0 on, or from what [`FIRST`]
/// says, so that a comparison of hours can be made in parts.
///
/// # Panics
/// When a variable is not a number.
pub fn numbers(sample: u64) -> std::ops::Range<u64> {
    let number = |text: String| text.parse().unwrap_or_else(|_| panic!("{FIRST}={text} is not a number"));
    let first = std::env::var(FIRST).map_or(0, number);
    first..first.saturating_add(programs(sample))
}
