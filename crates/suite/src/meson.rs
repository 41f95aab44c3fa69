//! The tests of a build folder of Meson, as `meson introspect --tests` gives them: `meson-info/intro-tests.json`.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::subject::of_command;
use crate::{Error, Subject, Suite, Test, Variables};

/// Where Meson writes the list.
const LIST: &str = "meson-info/intro-tests.json";

/// Whether Meson knows the folder.
pub(crate) fn is_build(folder: &Path) -> bool {
    folder.join(LIST).is_file()
}

/// A test as Meson writes it.
#[derive(Deserialize)]
struct Written {
    name: String,
    cmd: Vec<String>,
    #[serde(default)]
    env: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    workdir: Option<String>,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    is_parallel: Option<bool>,
    /// Newer versions may say it.
    #[serde(default)]
    should_fail: Option<bool>,
}

/// Reads the list.
pub(crate) fn read(folder: &Path) -> Result<Suite, Error> {
    let path = folder.join(LIST);
    let text = std::fs::read_to_string(&path).map_err(|cause| Error::Unreadable { path: path.clone(), cause })?;
    let from = format!("in `{}`", path.display());
    let written: Vec<Written> =
        serde_json::from_str(&text).map_err(|error| Error::Malformed { from, what: error.to_string() })?;
    let mut suite = Suite::default();
    let fails = if written.is_empty() { Some(Vec::new()) } else { fails(folder) };
    // The list that says which tests fail is in the same order.
    let is_same = |(fails, written): (&Fails, &Written)| fails.name == written.name;
    let fails = fails.filter(|fails| fails.len() == written.len() && fails.iter().zip(&written).all(is_same));
    if fails.is_none() {
        suite.warnings.push("Meson does not tell which tests should fail: their failures are findings".to_owned());
    }
    for (number, written) in written.into_iter().enumerate() {
        let should_fail = fails.as_ref().is_some_and(|fails| fails[number].should_fail);
        suite.tests.push(test(written, folder, should_fail));
    }
    Ok(suite)
}

fn test(written: Written, folder: &Path, should_fail: bool) -> Test {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let Written { name, cmd, env, workdir, timeout, is_parallel, should_fail: told } = written;
    let mut test = Test::new(name, Subject::Other(String::new()));
    test.variables = env.into_iter().map(|(name, value)| (name, Some(value))).collect::<Variables>();
    test.folder = Some(workdir.map_or_else(|| folder.clone(), |workdir| folder.join(workdir)));
    test.time = timeout.filter(|seconds| *seconds > 0.0);
    test.alone = is_parallel == Some(false);
    test.should_fail = told.unwrap_or(should_fail);
    // Programs of the build are named from the build folder.
    of_command(&mut test, &cmd, &folder);
    test
}

/// Whether a test should fail.
#[derive(Deserialize)]
struct Fails {
    name: String,
    should_fail: bool,
}

/// Prints which tests should fail, from what Meson keeps for `meson test`.
const SCRIPT: &str = "import json, pickle, sys\n\
    tests = pickle.load(open(sys.argv[1], 'rb'))\n\
    print(json.dumps([{'name': t.name, 'should_fail': bool(t.should_fail)} for t in tests]))";

/// Which tests should fail. The list does not say it; what Meson keeps for itself does, to the Python that Meson runs in.
fn fails(folder: &Path) -> Option<Vec<Fails>> {
    let kept = folder.join("meson-private/meson_test_setup.dat");
    let path = std::env::var_os("PATH")?;
    let meson = std::env::split_paths(&path).map(|folder| folder.join("meson")).find(|meson| meson.is_file())?;
    let text = std::fs::read_to_string(meson).ok()?;
    let python = text.lines().next()?.strip_prefix("#!")?.trim();
    let mut words = python.split_whitespace();
    let output = Command::new(words.next()?)
        .args(words)
        .args(["-c", SCRIPT])
        .arg(kept)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    serde_json::from_slice(&output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &str = r#"[
        {"name": "one", "cmd": ["/nowhere/prog", "x"], "env": {"A": "1"}, "suite": ["p"], "workdir": "/w", "timeout": 30,
         "is_parallel": false, "priority": 0, "protocol": "exitcode", "depends": [], "extra_paths": []},
        {"name": "two", "cmd": ["/nowhere/prog"], "env": {}, "workdir": null, "timeout": 0, "should_fail": true}]"#;

    #[test]
    fn fields_of_tests() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("meson-info")).unwrap();
        assert!(!is_build(folder.path()));
        std::fs::write(folder.path().join(LIST), TESTS).unwrap();
        assert!(is_build(folder.path()));
        let Suite { tests, warnings } = read(folder.path()).unwrap();
        assert!(warnings[0].contains("should fail"), "{warnings:?}");
        assert_eq!((tests[0].time, tests[0].alone, tests[0].should_fail), (Some(30.0), true, false));
        assert_eq!(tests[0].folder.as_deref(), Some(Path::new("/w")));
        assert_eq!((tests[0].args.as_slice(), tests[0].variables["A"].as_deref()), (&["x".to_owned()][..], Some("1")));
        assert_eq!((tests[1].time, tests[1].alone, tests[1].should_fail), (None, false, true));
        assert_eq!(tests[1].folder.as_deref(), Some(folder.path()));
        std::fs::write(folder.path().join(LIST), "{").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("intro-tests.json"));
    }
}
