//! Directives of OpenMP that clang accepts and makes no code of: the program would be another one, and nobody would notice.

/// A directive without code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// Its words, without clauses.
    pub directive: &'static str,
    /// The file as the preprocessor names it, and the line in it.
    pub file: String,
    /// From 1.
    pub line: u64,
}

/// The directives, by the words that they contain in this order. A longer one comes first.
const WITHOUT_CODE: [&str; 2] = ["masked taskloop simd", "masked taskloop"];

/// Whether flags ask for OpenMP.
pub fn asks_for_openmp<S: AsRef<str>>(flags: &[S]) -> bool {
    flags.iter().any(|flag| flag.as_ref().starts_with("-fopenmp"))
}

/// The first such directive in the preprocessor's output, in which a `_Pragma` is a line like the others.
pub fn without_code(preprocessed: &str) -> Option<Dropped> {
    let (mut file, mut number) = (String::new(), 1);
    for line in preprocessed.lines() {
        if let Some((at, name)) = marker(line) {
            (file, number) = (name, at);
            continue;
        }
        if let Some(directive) = directive(line) {
            return Some(Dropped { directive, file, line: number });
        }
        number += 1;
    }
    None
}

/// `# 12 "file.c" 2`: the next line is this one of that file.
fn marker(line: &str) -> Option<(u64, String)> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let name = rest.strip_prefix('"')?.split('"').next()?;
    Some((number.parse().ok()?, name.to_owned()))
}

fn directive(line: &str) -> Option<&'static str> {
    let mut words = line.trim_start().strip_prefix('#')?.split_whitespace();
    if words.next()? != "pragma" || words.next()? != "omp" {
        return None;
    }
    // Clauses have parentheses, commas, or are words that no directive has.
    let words: Vec<&str> = words.take_while(|word| word.chars().all(char::is_alphabetic)).collect();
    WITHOUT_CODE.into_iter().find(|directive| {
        let wanted: Vec<&str> = directive.split(' ').collect();
        words.windows(wanted.len()).any(|window| window == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_without_code_are_found() {
        let text = "# 1 \"a.c\"\nint x;\n# 7 \"b.h\" 1\n\n#pragma omp parallel masked taskloop simd num_tasks(2)\n";
        let found = Dropped { directive: "masked taskloop simd", file: "b.h".to_owned(), line: 8 };
        assert_eq!(without_code(text), Some(found));
        assert_eq!(
            without_code("# pragma  omp masked taskloop filter(0)\n").map(|found| found.directive),
            Some("masked taskloop")
        );
        let with_code = "#pragma omp masked\n#pragma omp taskloop\n#pragma omp parallel master taskloop\n\"# pragma omp masked taskloop\"\n";
        assert_eq!(without_code(with_code), None);
    }
}
