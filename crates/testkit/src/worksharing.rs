//! Generated kernels with OpenMP: regions with shared loops, barriers, `single` and thread numbers, and subscripts that are
//! sums of them. Every access has a line of its own, so that pairs can be compared by their lines.

use std::fmt::Write;

use crate::generator::Random;

/// Subscripts in a shared loop over `i`, from 0 to 4, in thread `t`; none leaves an array of 32 elements.
const IN_LOOP: [&str; 16] = [
    "i",
    "i + 1",
    "2 * i",
    "2 * i + 1",
    "9 - i",
    "i + 5",
    "i % 2",
    "i / 2",
    "3 * i + 2",
    "i + t",
    "4 * t + i",
    "8 * i + t",
    "t",
    "r + i",
    "5 * r + i",
    "7",
];
/// The same outside of shared loops.
const OUTSIDE: [&str; 8] = ["t", "t + 1", "2 * t", "2 * t + 1", "4 * t + r", "r", "3", "7"];
const SCHEDULES: [&str; 6] = [
    "",
    " schedule(static)",
    " schedule(static, 1)",
    " schedule(static, 2)",
    " schedule(dynamic)",
    " schedule(guided)",
];
const ARRAYS: [&str; 3] = ["a", "b", "(*p)"];

/// The kernel of a seed, as C.
pub fn kernel(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed), text: String::new(), depth: 1, dynamic: 0 };
    writer.line("#include <omp.h>");
    writer.line("static int a[32], b[32], h[32], x, n = 4;");
    writer.line("static int (*p)[32] = &h;");
    writer.line("int main(void) {");
    for _ in 0..1 + writer.random.below(2) {
        writer.region();
        if writer.random.one_in(3) {
            writer.line("n = 3;");
        }
    }
    writer.line("return 0;");
    writer.text.push_str("}\n");
    writer.text
}

struct Writer {
    random: Random,
    text: String,
    depth: usize,
    /// How many loops are handed out: each makes the search longer.
    dynamic: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let depth = if text.starts_with('#') { 0 } else { self.depth - 1 };
        writeln!(self.text, "{:1$}{text}", "", 4 * depth).expect("a String grows");
        self.depth += usize::from(text.ends_with('{'));
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn region(&mut self) {
        self.line("#pragma omp parallel");
        self.line("{");
        self.line("int t = omp_get_thread_num(), s = 0, r = 0;");
        for _ in 0..1 + self.random.below(3) {
            self.statement();
        }
        self.line("(void)t, (void)s, (void)r;");
        self.close();
    }

    fn statement(&mut self) {
        match self.random.below(9) {
            0..4 => self.shared_loop(),
            4 => self.line("#pragma omp barrier"),
            5 => {
                let nowait = if self.random.one_in(2) { " nowait" } else { "" };
                self.line(&format!("#pragma omp single{nowait}"));
                self.block(&OUTSIDE);
            }
            6 => {
                let guard = self.random.pick(&["#pragma omp master", "if (t == 1)", "#pragma omp critical"]);
                self.line(guard);
                self.block(&OUTSIDE);
            }
            7 => self.access(&OUTSIDE),
            _ => {
                self.line("for (r = 0; r < 2; r++) {");
                self.shared_loop();
                if self.random.one_in(3) {
                    self.line("#pragma omp barrier");
                }
                self.close();
            }
        }
    }

    fn shared_loop(&mut self) {
        let schedules = if self.dynamic == 0 { &SCHEDULES[..] } else { &SCHEDULES[..4] };
        let schedule = self.random.pick(schedules);
        self.dynamic += usize::from(schedule.contains("dynamic") || schedule.contains("guided"));
        let nowait = if self.random.one_in(2) { " nowait" } else { "" };
        self.line(&format!("#pragma omp for{schedule}{nowait}"));
        let head = self.random.pick(&["int i = 0; i < 4; i++", "int i = 0; i < n; i++", "int i = 3; i >= 0; i--"]);
        self.line(&format!("for ({head}) {{"));
        for _ in 0..1 + self.random.below(2) {
            if self.random.one_in(5) {
                let guard = self.random.pick(&["if (i == 2)", "if (i < 2)", "if (t == 0)"]);
                self.line(guard);
            }
            self.access(&IN_LOOP);
        }
        self.close();
    }

    fn block(&mut self, subscripts: &[&str]) {
        self.line("{");
        self.access(subscripts);
        self.close();
    }

    fn access(&mut self, subscripts: &[&str]) {
        let (array, subscript) = (self.random.pick(&ARRAYS), self.random.pick(subscripts));
        let text = match self.random.below(8) {
            0 => "x = 1;".to_owned(),
            1 => "s += x;".to_owned(),
            2..5 => format!("s += {array}[{subscript}];"),
            _ => format!("{array}[{subscript}] = 1;"),
        };
        self.line(&text);
    }
}
