//! What `make dist` makes, where nothing else is: in new roots of Debian 12 and 13 and in the image. Building it takes minutes, so
//! that is done only where `RACEPROOF_PROGRAMS` asks for more than samples, as `make soak` does; otherwise the packages are
//! made of the program under test, and looked at.

use std::path::Path;
use std::process::{Command, Output};

use testkit::{effort, skip};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn packages_have_everything_and_are_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let pack = |name: &str| {
        let to = folder.path().join(name);
        let mut package = Command::new(root().join("scripts/package"));
        package.args([env!("CARGO_BIN_EXE_raceproof")]).arg(&to).env("SOURCE_DATE_EPOCH", "1700000000");
        let output = package.output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        (std::fs::read_to_string(to.join("SHA256SUMS")).unwrap(), to)
    };
    let (first, packages) = pack("first");
    assert_eq!(first, pack("second").0, "the same program gives the same bytes");
    let (_, deb) = first.lines().last().unwrap().split_once("  ").unwrap();
    let listing = Command::new("dpkg-deb").arg("--contents").arg(packages.join(deb)).output().unwrap();
    let listing = text(&listing);
    for file in [
        "./usr/bin/raceproof",
        "./usr/share/man/man1/raceproof-check.1.gz",
        "./usr/share/man/man1/raceproof-test.1.gz",
        "./usr/share/bash-completion/completions/raceproof",
        "./usr/share/zsh/vendor-completions/_raceproof",
        "./usr/share/fish/vendor_completions.d/raceproof.fish",
        "./usr/share/doc/raceproof/copyright",
        "./usr/share/doc/raceproof/LICENSE-MIT",
    ] {
        assert!(listing.lines().any(|line| line.ends_with(file)), "{file} is not in\n{listing}");
    }
    let fields = text(&Command::new("dpkg-deb").arg("--field").arg(packages.join(deb)).output().unwrap());
    assert!(fields.contains("Depends: libc6 (>= 2.36), clang-19, lld-19\nRecommends: gdb\n"), "{fields}");
    assert!(fields.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"), "\n")), "{fields}");
}

#[test]
fn packages_and_image_work_where_nothing_else_is() {
    if effort::programs(1) == 1 {
        // The other test looks at the packages.
        return;
    }
    let built = Command::new(root().join("scripts/dist")).output().unwrap();
    assert!(built.status.success(), "{}", text(&built));
    let folder = tempfile::tempdir().unwrap();
    let packages = root().join("target/dist");
    let tried = Command::new(root().join("scripts/try-packages")).arg(packages).arg(folder.path()).output().unwrap();
    match tried.status.code() {
        Some(0) => assert_eq!(text(&tried).matches(": checked").count(), 5, "{}", text(&tried)),
        Some(3) => skip("packages_and_image_work_where_nothing_else_is", "new roots cannot be made (offline?)"),
        _ => panic!("{}", text(&tried)),
    }
}
