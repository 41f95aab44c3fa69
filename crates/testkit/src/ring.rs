//! A net of any size, to measure how coverability scales.

use std::fmt::Write as _;

/// A ring of critical sections under one lock, in mist's format: a token enters a section with the lock, leaves it and
/// moves on to the next. Any number of tokens circulate; no two are ever inside, which is the target. There are two
/// places for each section, and the lock.
pub fn ring(sections: usize) -> String {
    let mut text = String::from("vars\n    lock");
    (0..sections).for_each(|i| text += &format!(" idle{i} in{i}"));
    text += "\n\nrules\n";
    for i in 0..sections {
        let next = (i + 1) % sections;
        write!(
            text,
            "    idle{i} >= 1, lock >= 1 -> idle{i}' = idle{i} - 1, lock' = lock - 1, in{i}' = in{i} + 1;\n    \
             in{i} >= 1 -> in{i}' = in{i} - 1, lock' = lock + 1, idle{next}' = idle{next} + 1;\n"
        )
        .expect("writing to a string");
    }
    text += "\ninit\n    lock = 1, idle0 >= 1, in0 = 0";
    (1..sections).for_each(|i| text += &format!(", idle{i} = 0, in{i} = 0"));
    text + "\n\ntarget\n    in0 >= 1, in1 >= 1\n"
}
