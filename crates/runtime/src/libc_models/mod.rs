//! Models of library functions.
