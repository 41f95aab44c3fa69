//! Library functions whose effects are known.
