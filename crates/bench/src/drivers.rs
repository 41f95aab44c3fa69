//! Generated sources in the style of kernel drivers, for the static engine: a device with its locks, entry points that
//! acquire them, and layers of functions below that compute and touch the device's fields, with or without the lock.

use std::fmt::Write as _;

/// The shape of a driver.
pub(crate) struct Driver {
    pub(crate) name: &'static str,
    /// Approximate number of lines.
    pub(crate) lines: usize,
    /// Fields that threads share.
    pub(crate) fields: usize,
    /// The number of them with an access outside the lock.
    pub(crate) stray: usize,
}

/// Functions below an entry point, each calling the next.
const DEPTH: usize = 4;
/// Approximate lines of such a function.
const FUNCTION_LINES: usize = 18;
/// Functions that touch a field; most of a driver touches nothing shared.
const TOUCHES: usize = 4;
/// The kernel's functions, by kind of lock: declaration, acquiring, releasing.
const LOCKS: [[&str; 3]; 3] = [
    ["spinlock_t", "spin_lock", "spin_unlock"],
    ["struct mutex", "mutex_lock", "mutex_unlock"],
    ["struct semaphore", "down", "up"],
];

impl Driver {
    /// Its entry points, which any number of threads may run.
    pub(crate) fn entries(&self) -> Vec<String> {
        (0..self.chains()).map(|chain| format!("{}_entry{chain}", self.name)).collect()
    }

    fn chains(&self) -> usize {
        (self.lines / (FUNCTION_LINES * (DEPTH + 1))).max(2)
    }

    /// The text, which includes `kernel.h`.
    pub(crate) fn source(&self) -> String {
        let (name, mut text) = (self.name, String::from("#include \"kernel.h\"\n\nstruct device {\n"));
        for [kind, acquire, _] in LOCKS {
            let _ = writeln!(text, "    {kind} {acquire}_word;");
        }
        for field in 0..self.fields {
            let _ = writeln!(text, "    long field{field};");
        }
        let _ = writeln!(text, "    long local[8];\n}};\n\nstatic struct device device;");
        for chain in 0..self.chains() {
            (0..DEPTH).for_each(|depth| self.layer(&mut text, chain, depth));
            let first = DEPTH - 1;
            let _ = write!(
                text,
                "\nlong {name}_entry{chain}(long request) {{\n    return {name}_{chain}_{first}(&device, request) + {chain};\n}}\n"
            );
        }
        text
    }

    /// A function that computes, touches a field, and calls the layer below.
    fn layer(&self, text: &mut String, chain: usize, depth: usize) {
        let name = self.name;
        let place = chain * DEPTH + depth;
        let (field, turn) = (place % self.fields, place / self.fields);
        let [_, acquire, release] = LOCKS[field % LOCKS.len()];
        let touch = format!("    d->field{field} += a;\n    if (d->field{field} > b)\n        d->field{field} = b;\n");
        // The second access to a stray field is made without the lock.
        let touch = match turn {
            1 if field < self.stray => touch,
            0..TOUCHES => format!("    {acquire}(&d->{acquire}_word);\n{touch}    {release}(&d->{acquire}_word);\n"),
            _ => String::new(),
        };
        let below =
            depth.checked_sub(1).map(|next| format!("    c += {name}_{chain}_{next}(d, a);\n")).unwrap_or_default();
        let _ = write!(
            text,
            "\nstatic long {name}_{chain}_{depth}(struct device *d, long x) {{\n    long a = x + {chain}, b = {depth}, c = 1;\n\
             {touch}"
        );
        for round in 0..2 {
            let _ = write!(
                text,
                "    for (int i = 0; i < {}; i++) {{\n        a += b * i;\n        b ^= a >> {};\n    }}\n    if (a > c)\n        \
                 c = a - b;\n    else\n        c += {};\n",
                round + 3,
                depth + 1,
                chain % 7 + 1
            );
        }
        let _ = write!(text, "{below}    return a + b + c;\n}}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_has_about_the_lines_asked_for() {
        for lines in [600, 26_000] {
            let driver = Driver { name: "disk", lines, fields: 6, stray: 2 };
            let written = driver.source().lines().count();
            assert!(written.abs_diff(lines) * 4 < lines, "{written} of {lines}");
        }
    }
}
