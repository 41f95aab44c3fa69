//! OpenMP directives that the compiler ignores because nobody asked for OpenMP.

use std::path::Path;

use check::BuildOptions;

use crate::output;

/// Says on standard error which source has directives that are ignored: without them the program is another one.
pub(super) fn warn_if_ignored(build: &BuildOptions) {
    if build.cflags.iter().any(|flag| flag.starts_with("-fopenmp") || flag.starts_with("-fno-openmp")) {
        return;
    }
    let sources = build.inputs.iter().filter(|input| cc::Language::of(Path::new(input)).is_some());
    // A source that cannot be read is reported by the compiler.
    let with = sources.filter_map(|input| Some((input, first_directive(&std::fs::read_to_string(input).ok()?)?)));
    for (input, line) in with.take(1) {
        output::warn(&format!(
            "{input}:{line}: OpenMP directives are ignored, since the program is compiled without `-fopenmp`; add \
             `--cflags=-fopenmp` to check them, or `--cflags=-fno-openmp` if that is meant"
        ));
    }
}

/// The line of the first `#pragma omp`, from 1.
fn first_directive(source: &str) -> Option<usize> {
    let is_directive = |line: &str| {
        let words = line.trim_start().strip_prefix('#').map(str::split_whitespace);
        words.is_some_and(|mut words| words.next() == Some("pragma") && words.next() == Some("omp"))
    };
    source.lines().position(is_directive).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found() {
        assert_eq!(first_directive("int x;\n  #  pragma omp parallel for\n"), Some(2));
        assert_eq!(first_directive("#pragma omptional\n// #pragma omp\n#pragma once\n"), None);
    }
}
