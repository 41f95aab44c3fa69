//! The tests of a build folder of CMake, as `ctest --show-only=json-v1` lists them.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use crate::subject::of_command;
use crate::variables::{modify, set};
use crate::{Error, Subject, Suite, Test};

/// Whether CTest knows the folder.
pub(crate) fn is_build(folder: &Path) -> bool {
    folder.join("CTestTestfile.cmake").is_file()
}

#[derive(Deserialize)]
struct Listed {
    tests: Vec<Written>,
}

/// A test as CTest writes it.
#[derive(Deserialize)]
struct Written {
    name: String,
    /// Missing if CTest does not find the program.
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    #[serde(default)]
    value: Value,
}

/// Asks CTest.
pub(crate) fn read(folder: &Path) -> Result<Suite, Error> {
    let mut ctest = Command::new("ctest");
    ctest.arg("--show-only=json-v1").current_dir(folder).stdin(Stdio::null());
    let output = ctest.output().map_err(|cause| Error::Start { program: "ctest".to_owned(), cause })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Refused { folder: folder.to_owned(), said });
    }
    suite(&String::from_utf8_lossy(&output.stdout), folder)
}

fn suite(text: &str, folder: &Path) -> Result<Suite, Error> {
    let from = || format!("of ctest in `{}`", folder.display());
    let listed: Listed =
        serde_json::from_str(text).map_err(|error| Error::Malformed { from: from(), what: error.to_string() })?;
    let mut suite = Suite::default();
    for written in listed.tests {
        let test = test(written, folder, &mut suite.warnings);
        suite.tests.push(test);
    }
    Ok(suite)
}

fn test(Written { name, command, properties }: Written, folder: &Path, warnings: &mut Vec<String>) -> Test {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut test = Test::new(name, Subject::Other(String::new()));
    test.folder = Some(folder.clone());
    let mut is_disabled = false;
    // The modifications apply to the environment that ENVIRONMENT gives.
    let order = |property: &&Property| property.name == "ENVIRONMENT_MODIFICATION";
    let (later, earlier): (Vec<_>, Vec<_>) = properties.iter().partition(order);
    for Property { name, value } in earlier.into_iter().chain(later) {
        match (name.as_str(), value) {
            ("WORKING_DIRECTORY", Value::String(path)) => test.folder = Some(folder.join(path)),
            ("ENVIRONMENT", Value::Array(list)) => {
                list.iter().filter_map(Value::as_str).for_each(|text| set(&mut test.variables, text));
            }
            ("ENVIRONMENT_MODIFICATION", Value::Array(list)) => {
                for text in list.iter().filter_map(Value::as_str) {
                    if !modify(&mut test.variables, text, |name| std::env::var(name).ok()) {
                        warnings
                            .push(format!("the test `{}` has a variable that is not understood: {text}", test.name));
                    }
                }
            }
            ("DISABLED", Value::Bool(disabled)) => is_disabled = *disabled,
            ("WILL_FAIL", Value::Bool(fails)) => test.should_fail = *fails,
            ("TIMEOUT", Value::Number(seconds)) => test.time = seconds.as_f64().filter(|seconds| *seconds > 0.0),
            ("RUN_SERIAL", Value::Bool(alone)) => test.alone |= *alone,
            ("RESOURCE_LOCK", _) => test.alone = true,
            _ => {}
        }
    }
    if is_disabled {
        test.subject = Subject::Other("it is disabled".to_owned());
    } else if command.is_empty() {
        test.subject = Subject::Other("its program is not there: build it first".to_owned());
    } else {
        let from = test.folder.clone().unwrap_or(folder);
        of_command(&mut test, &command, &from);
    }
    test
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"kind": "ctestInfo", "version": {"major": 1}, "tests": [
        {"name": "one", "command": ["/nowhere/prog", "-n", "2"], "properties": [
            {"name": "ENVIRONMENT_MODIFICATION", "value": ["A=string_append:3"]},
            {"name": "ENVIRONMENT", "value": ["A=12", "B=x"]},
            {"name": "TIMEOUT", "value": 5.0}, {"name": "WILL_FAIL", "value": true},
            {"name": "RUN_SERIAL", "value": true}, {"name": "WORKING_DIRECTORY", "value": "/w"}]},
        {"name": "two", "properties": [{"name": "WORKING_DIRECTORY", "value": "/w"}]},
        {"name": "three", "command": ["/bin/true"], "properties": [{"name": "DISABLED", "value": true}]}]}"#;

    #[test]
    fn properties_of_tests() {
        let Suite { tests, warnings } = suite(LIST, Path::new("/b")).unwrap();
        assert!(warnings.is_empty());
        let one = &tests[0];
        assert_eq!((one.name.as_str(), one.args.as_slice()), ("one", &["-n".to_owned(), "2".to_owned()][..]));
        assert_eq!(one.variables["A"].as_deref(), Some("123"));
        assert_eq!(one.variables["B"].as_deref(), Some("x"));
        assert_eq!((one.time, one.should_fail, one.alone), (Some(5.0), true, true));
        assert_eq!(one.folder.as_deref(), Some(Path::new("/w")));
        assert_eq!(tests[1].subject, Subject::Other("its program is not there: build it first".to_owned()));
        assert_eq!(tests[2].subject, Subject::Other("it is disabled".to_owned()));
        assert_eq!(tests[2].folder.as_deref(), Some(Path::new("/b")));
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        for text in ["", "{}", "[]", r#"{"tests": [{}]}"#] {
            assert!(suite(text, Path::new("/b")).unwrap_err().to_string().contains("`/b`"), "{text}");
        }
    }
}
