//! Iterations of `simd` loops that may run at the same time: the programs under `tests/lanes`, each race-free and, with
//! `-DRACY`, racy; and generated loops.

mod common;

use std::fmt::Write as _;

use common::annotated::{Bench, for_each, for_each_program, racy_lines};
use testkit::annotations::{Annotations, Mark};
use testkit::generator::Random;

#[test]
fn lanes_race_where_they_share() {
    for_each_program("lanes", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let marked = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);
        let ask = |command, flag| bench.run(command, &["--cflags=-fopenmp", flag]);
        if ask("static", "--cflags=-DRACY")?.0 != 3 {
            return Err("static does not warn".to_owned());
        }
        for command in ["explore", "check"] {
            let (status, document) = ask(command, "--cflags=-DRIGHT")?;
            if status != 0 {
                return Err(format!("{command}, race-free: status {status}, {document}"));
            }
            let (status, document) = ask(command, "--cflags=-DRACY")?;
            let raced = racy_lines(&document);
            if status != 1 || document["verdict"] != "race" || !raced.iter().all(|line| marked.contains(line)) {
                return Err(format!("{command}, racy: status {status}, lines {raced:?} of {marked:?}, {document}"));
            }
            bench.replay_all(&document)?;
        }
        Ok(())
    });
}

/// Iterations of generated loops.
const ITERATIONS: i64 = 12;

/// What a statement of a generated loop reads or writes.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// `array[factor * i + offset]`, of a global array or one in the frame.
    Element { array: usize, factor: i64, offset: i64 },
    /// A variable that is declared outside of the loop, and which clause it has.
    Scalar { scalar: usize },
}

/// The arrays and variables of generated loops; the variables with their clauses.
const ARRAYS: [&str; 3] = ["global", "local", "*heap"];
const SCALARS: [(&str, &str); 4] =
    [("shared", ""), ("also", ""), ("own", "private(own)"), ("last", "lastprivate(last)")];

/// A loop: each statement writes one place, in some iterations only, and reads another one.
struct GeneratedLoop {
    together: Option<i64>,
    statements: Vec<(Place, Place, Option<i64>)>,
}

impl GeneratedLoop {
    fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let place = |random: &mut Random| match random.below(5) {
            0 => Place::Scalar { scalar: random.below(SCALARS.len()) },
            _ => Place::Element {
                array: random.below(ARRAYS.len()),
                factor: random.below(3) as i64,
                offset: random.below(8) as i64,
            },
        };
        let together = (random.below(2) == 0).then(|| 2 + random.below(4) as i64);
        let statements = (0..1 + random.below(3)).map(|_| {
            let only = (random.below(3) == 0).then(|| random.below(ITERATIONS as usize) as i64);
            (place(random), place(random), only)
        });
        Self { together, statements: statements.collect() }
    }

    fn source(&self) -> String {
        let text = |place: &Place| match *place {
            Place::Element { array, factor, offset } => format!("{}[{factor} * i + {offset}]", name(array)),
            Place::Scalar { scalar } => SCALARS[scalar].0.to_owned(),
        };
        let clauses = SCALARS.map(|(_, clause)| clause).join(" ");
        let safelen = self.together.map_or_else(String::new, |n| format!(" safelen({n})"));
        let mut source =
            String::from("#include <stdlib.h>\nint global[64];\nint main(void) {\n  int local[64] = {0}, ");
        source += "*heap = calloc(64, sizeof *heap), shared = 0, also = 0, own = 0, last = 0;\n";
        let _ = writeln!(source, "#pragma omp simd {clauses}{safelen}\n  for (int i = 0; i < {ITERATIONS}; i++) {{");
        // What is private has no value before it is written.
        source += "    own = i;\n    last = i;\n";
        for (written, read, only) in &self.statements {
            let condition = only.map_or_else(String::new, |n| format!("if (i == {n}) "));
            let _ = writeln!(source, "    {condition}{} = {} + 1;", text(written), text(read));
        }
        source + "  }\n  free(heap);\n  return shared + also + last + local[0];\n}\n"
    }

    /// Whether two iterations that may run together touch the same, and one of them writes: by going through all.
    fn races(&self) -> bool {
        let touched = |iteration: i64| {
            let executed = self.statements.iter().filter(move |(.., only)| only.is_none_or(|n| n == iteration));
            let at = move |place: &Place| match *place {
                Place::Element { array, factor, offset } => Some((array, factor * iteration + offset)),
                Place::Scalar { scalar } if SCALARS[scalar].1.is_empty() => Some((ARRAYS.len() + scalar, 0)),
                Place::Scalar { .. } => None,
            };
            executed.flat_map(move |(written, read, _)| [(at(written), true), (at(read), false)])
        };
        (0..ITERATIONS).any(|one| {
            (one + 1..ITERATIONS).take_while(|other| self.together.is_none_or(|n| other - one < n)).any(|other| {
                touched(one)
                    .any(|(a, write)| touched(other).any(|(b, writes)| a.is_some() && a == b && (write || writes)))
            })
        })
    }
}

fn name(array: usize) -> &'static str {
    ARRAYS[array].trim_start_matches('*')
}

#[test]
fn generated_loops_race_as_their_iterations_do() {
    let seeds: Vec<u64> = testkit::effort::numbers(16).collect();
    let racy = seeds.iter().filter(|seed| GeneratedLoop::new(**seed).races()).count();
    assert!(seeds.len() < 16 || (seeds.len() / 8..seeds.len()).contains(&racy), "{racy} of {} race", seeds.len());
    for_each(
        &seeds,
        |seed| format!("seed {seed}"),
        |seed| {
            let generated = GeneratedLoop::new(*seed);
            let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
            let program = folder.path().join("generated.c");
            std::fs::write(&program, generated.source()).map_err(|e| e.to_string())?;
            let bench = Bench::new(&program);
            let races = generated.races();
            for command in ["static", "explore", "check"] {
                let status = bench.run(command, &["--cflags=-fopenmp"])?.0;
                let is_right = match (command, races) {
                    ("static", true) => status == 3,
                    ("static", false) => status == 0 || status == 3,
                    (_, true) => status == 1,
                    (_, false) => status == 0,
                };
                if !is_right {
                    return Err(format!("{command}: status {status}, races: {races}\n{}", generated.source()));
                }
            }
            Ok(())
        },
    );
}
