//! The sizes in the table of library types are those that the compiler and the system's headers give, on every
//! architecture that has a table.
//!
//! Nothing runs: a source states every size as the length of an array, and the lengths are read from the LLVM text that
//! clang makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use program::Architecture;
use program::library::{CType, Language};

/// An architecture with a table, and where its headers come from.
struct Case {
    architecture: Architecture,
    triple: &'static str,
    package: &'static str,
}

const CASES: [Case; 2] = [
    Case {
        architecture: Architecture::X86_64,
        triple: "x86_64-linux-gnu",
        package: "libc6-dev and libstdc++-14-dev (with `g++`)",
    },
    Case {
        architecture: Architecture::Aarch64,
        triple: "aarch64-linux-gnu",
        package: "libc6-dev-arm64-cross and libstdc++-14-dev-arm64-cross (with `g++-aarch64-linux-gnu`)",
    },
];

/// Starts the names of the arrays.
const PREFIX: &str = "raceproof_size_";

/// A source with one array per type of a language, as long as the type is large.
fn probe(language: Language) -> String {
    let types = || CType::ALL.iter().filter(|ty| ty.language() == language);
    let headers: BTreeSet<&str> = types().map(|ty| ty.header()).filter(|header| !header.is_empty()).collect();
    let mut source = String::from("#define _GNU_SOURCE\n");
    headers.iter().for_each(|header| source.push_str(&format!("#include <{header}>\n")));
    types().for_each(|ty| source.push_str(&format!("char {PREFIX}{ty:?}[sizeof({})];\n", ty.spelling())));
    source
}

/// The lengths of the arrays, by the names of the types.
fn lengths(case: &Case, language: Language) -> BTreeMap<String, u64> {
    let (extension, standard) = match language {
        Language::C => ("c", "-std=gnu17"),
        Language::Cxx => ("cpp", "-std=gnu++17"),
    };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("probe.{extension}"));
    std::fs::write(&source, probe(language)).unwrap();
    let output = Command::new(format!("clang-{}", llvm::LLVM_VERSION))
        .args([&format!("--target={}", case.triple), standard, "-w", "-S", "-emit-llvm", "-o", "-"])
        .arg(&source)
        .output()
        .unwrap_or_else(|error| panic!("clang-{} does not start: {error}", llvm::LLVM_VERSION));
    assert!(
        output.status.success(),
        "the sizes on {} cannot be compared; are the headers there? They are in the Debian packages {}.\n{}",
        case.architecture,
        case.package,
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(length).collect()
}

/// `@raceproof_size_Stat = dso_local global [144 x i8] zeroinitializer, align 16`: name and length.
fn length(line: &str) -> Option<(String, u64)> {
    let (name, definition) = line.strip_prefix('@')?.strip_prefix(PREFIX)?.split_once(" = ")?;
    let (_, array) = definition.split_once('[')?;
    let (len, _) = array.split_once(" x i8]")?;
    Some((name.to_owned(), len.parse().ok()?))
}

#[test]
fn the_table_has_the_sizes_that_headers_give() {
    let mut wrong = Vec::new();
    for case in CASES {
        for language in [Language::C, Language::Cxx] {
            let mut found = lengths(&case, language);
            for ty in CType::ALL.iter().filter(|ty| ty.language() == language) {
                let (table, headers) = (ty.size(case.architecture), found.remove(&format!("{ty:?}")));
                if table.is_none() || table != headers {
                    let spelling = ty.spelling();
                    wrong.push(format!("{}: `{spelling}`: table {table:?}, headers {headers:?}", case.architecture));
                }
            }
            assert!(found.is_empty(), "{}: not in the table: {found:?}", case.architecture);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_architecture_with_a_table_is_compared() {
    let compared: Vec<_> = CASES.iter().map(|case| case.architecture).collect();
    for architecture in Architecture::ALL {
        let has_table = CType::ALL.iter().any(|ty| ty.size(architecture).is_some());
        assert_eq!(has_table, compared.contains(&architecture), "{architecture}");
    }
}
