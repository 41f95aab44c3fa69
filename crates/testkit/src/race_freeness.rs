//! The programs and figures of paper 001's table 1 (P. Abdulla, F. Haziza, M. Kindahl, "Model checking race-freeness").

/// A row of the paper: name, file in the small language, file in C, whether it is race-free, configurations, subsumed,
/// iterations.
pub type Row = (&'static str, &'static str, &'static str, bool, [u64; 3]);

/// The table.
pub const TABLE: [Row; 7] = [
    ("Counter", "counter", "counter", false, [10, 3, 4]),
    ("CounterWithLock", "counter_with_lock", "counter_with_lock", true, [14, 7, 6]),
    ("CheckThenAct", "check_then_act", "check_then_act", false, [20, 12, 5]),
    ("CheckThenAct-Lock", "check_then_act_lock", "check_then_act_lock", true, [13, 4, 4]),
    ("Prods/Cons", "producers_consumers", "prods_cons", true, [310, 645, 19]),
    ("Prods/Cons 2", "producers_consumers_2", "prods_cons2", true, [290, 561, 17]),
    ("Lock-ReadWriteOnly", "lock_read_write_only", "lock_read_write_only", true, [25, 13, 8]),
];
