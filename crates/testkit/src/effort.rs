//! How many generated programs tests try.
//!
//! `make test` tries samples, so that it takes minutes; `make soak` sets [`VARIABLE`] and tries thousands of programs in
//! every test. This is the only place that reads the variable.

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
