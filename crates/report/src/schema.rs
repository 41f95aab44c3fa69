//! The JSON schema of the result document.

/// As `raceproof schema` prints it. Documents may have further fields; those named here keep their meaning.
pub const TEXT: &str = include_str!("schema.json");
