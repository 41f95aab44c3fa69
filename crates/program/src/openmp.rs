//! Our library for OpenMP in a program: the names by which those who read the program know its parts.

/// How the names end of functions that call a region's code with what it is given.
pub const ADAPTER: &str = ".region";
/// The library's function that calls them.
pub const EXECUTE: &str = "raceproof_omp_execute_region";
/// The start routine of the threads of teams.
pub const WORK: &str = "raceproof_omp_work";
/// Called where a league is made.
pub const LEAGUE: &str = "raceproof_omp_begin_league";

/// Whether a function makes and uses the synchronisation objects of teams. It does so in order, whatever the program does.
pub fn keeps_order(symbol: &str) -> bool {
    symbol.starts_with("raceproof_omp_") || symbol.starts_with("__kmpc_")
}

/// Whether a function only waits for threads that wait for nothing themselves, or at places that count: for those of a
/// region to start and to end, for all at a barrier, which OpenMP demands that all come to, and for the iteration before.
pub fn waits_for_others(symbol: &str) -> bool {
    symbol.starts_with("raceproof_omp_") || symbol == "__kmpc_ordered"
}
