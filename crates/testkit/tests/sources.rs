//! Generated sources are valid C and C++.

use std::process::Command;

use testkit::sources::Source;

/// Both languages occur, and a compiler accepts them all.
#[test]
fn sources_compile() {
    let folder = tempfile::tempdir().unwrap();
    let include = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../llvm/include");
    let mut files = Vec::new();
    for seed in 0..testkit::programs(60).min(300) {
        let source = Source::generate(seed);
        let file = folder.path().join(format!("{seed}-{}", source.language.file()));
        std::fs::write(&file, source.text()).unwrap();
        files.push(file);
    }
    for extension in ["c", "cpp"] {
        let files: Vec<_> = files.iter().filter(|file| file.extension().is_some_and(|e| e == extension)).collect();
        assert!(files.len() >= 10, "{} of {extension}", files.len());
        let mut command = Command::new("clang-19");
        command.args(["-fsyntax-only", "-w", "-I"]).arg(&include).args(&files);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
