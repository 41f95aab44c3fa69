//! What the repository has for pipelines and hooks, run as its runner does: the GitHub action, the template for GitLab, the hook
//! before commits, the problem matcher.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Folder, Run};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn yaml(name: &str) -> Value {
    serde_yaml_ng::from_str(&std::fs::read_to_string(root().join(name)).unwrap()).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A PATH that begins with the built tool.
fn path() -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_raceproof")).parent().unwrap();
    format!("{}:{}", tool.display(), std::env::var("PATH").unwrap())
}

fn bash(script: &str, folder: &Path, environment: &BTreeMap<String, String>) -> Run {
    let mut command = Command::new("bash");
    // As GitHub's runner calls it for `shell: bash`.
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder).stdin(Stdio::null());
    command.env("PATH", path()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR")).env_remove("CLICOLOR_FORCE");
    Run::of(command.envs(environment).output().unwrap())
}

/// The document against the published schema, and what GitHub wants besides.
fn assert_sarif(path: &Path) -> Value {
    let read = |path: &Path| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sarif-2.1.0-rtm.5.json");
    let schema = jsonschema::validator_for(&read(&schema)).unwrap();
    let log = read(path);
    let errors: Vec<String> = schema.iter_errors(&log).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    let runs = log["runs"].as_array().unwrap();
    assert!(runs.len() <= 20);
    for run in runs {
        let results = run["results"].as_array().unwrap();
        assert!(results.len() <= 5_000, "{}", results.len());
        assert!(run["tool"]["driver"]["rules"].as_array().unwrap().len() <= 25_000);
        for result in results {
            assert_ne!(result["level"], "none", "{result}");
            let locations = |name: &str| result[name].as_array().map_or(0, Vec::len);
            assert!(locations("locations") <= 100 && locations("relatedLocations") <= 100);
            let flows =
                result["codeFlows"].as_array().into_iter().flatten().flat_map(|f| f["threadFlows"].as_array().unwrap());
            assert!(flows.map(|flow| flow["locations"].as_array().unwrap().len()).sum::<usize>() <= 1_000);
        }
    }
    log
}

/// One job of a runner, as far as the action uses it: contexts, files for outputs and the summary.
struct Job<'f> {
    folder: &'f Folder,
    inputs: BTreeMap<String, String>,
}

/// What a step set.
#[derive(Default, Debug)]
struct Step {
    status: i32,
    stdout: String,
    stderr: String,
    summary: String,
    outputs: BTreeMap<String, String>,
}

impl Job<'_> {
    /// The value of an expression: an input, an output of an earlier step.
    fn value(&self, expression: &str, steps: &BTreeMap<String, Step>) -> String {
        let parts: Vec<&str> = expression.trim().split('.').collect();
        match parts[..] {
            ["inputs", name] => self.inputs.get(name).unwrap_or_else(|| panic!("no input {name}")).clone(),
            ["steps", step, "outputs", name] => {
                steps.get(step).and_then(|step| step.outputs.get(name)).cloned().unwrap_or_default()
            }
            _ => panic!("the runner of this test does not know `{expression}`"),
        }
    }

    fn expand(&self, template: &Value, steps: &BTreeMap<String, Step>) -> String {
        let template = text(template);
        let mut parts = template.split("${{");
        let mut expanded = parts.next().unwrap().to_owned();
        for part in parts {
            let (expression, rest) = part.split_once("}}").unwrap();
            expanded += &self.value(expression, steps);
            expanded += rest;
        }
        expanded
    }

    /// Runs the steps of the action that are scripts; those after a failure are skipped.
    fn run(&self) -> (BTreeMap<String, Step>, BTreeMap<String, String>) {
        let action = yaml("action.yml");
        let mut job = Job { folder: self.folder, inputs: BTreeMap::new() };
        for (name, input) in action["inputs"].as_object().unwrap() {
            assert!(input["description"].is_string(), "{name}");
            let given = self.inputs.get(name).cloned();
            let default = input.get("default").map(text);
            job.inputs
                .insert(name.clone(), given.or(default).unwrap_or_else(|| panic!("the input {name} is required")));
        }
        assert!(self.inputs.keys().all(|name| job.inputs.contains_key(name)));
        let mut steps = BTreeMap::new();
        let mut failed = false;
        for step in action["runs"]["steps"].as_array().unwrap() {
            let Some(script) = step.get("run") else { continue };
            assert_eq!(step["shell"], "bash", "composite actions need it");
            if !failed {
                let done = job.step(script, step, &steps);
                failed = done.status != 0;
                steps.insert(step["id"].as_str().unwrap().to_owned(), done);
            }
        }
        let outputs = action["outputs"].as_object().unwrap();
        let outputs =
            outputs.iter().map(|(name, output)| (name.clone(), job.expand(&output["value"], &steps))).collect();
        (steps, outputs)
    }

    fn step(&self, script: &Value, step: &Value, steps: &BTreeMap<String, Step>) -> Step {
        let files = tempfile::tempdir().unwrap();
        let file = |name: &str| files.path().join(name).to_string_lossy().into_owned();
        let mut environment: BTreeMap<String, String> = BTreeMap::new();
        for name in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH"] {
            std::fs::write(file(name), "").unwrap();
            environment.insert(name.to_owned(), file(name));
        }
        environment.insert("GITHUB_ACTION_PATH".to_owned(), root().to_string_lossy().into_owned());
        environment.insert("GITHUB_WORKSPACE".to_owned(), self.folder.path().to_string_lossy().into_owned());
        environment.insert("RUNNER_TEMP".to_owned(), files.path().to_string_lossy().into_owned());
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            environment.insert(name.clone(), self.expand(value, steps));
        }
        let folder = step.get("working-directory").map_or_else(|| ".".to_owned(), |folder| self.expand(folder, steps));
        let Run { status, stdout, stderr } =
            bash(&self.expand(script, steps), &self.folder.path().join(folder), &environment);
        let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
        let left: Vec<_> = std::fs::read_dir(files.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 4, "nothing stays behind: {left:?}");
        Step { status, stdout, stderr, summary: read("GITHUB_STEP_SUMMARY"), outputs: outputs(&read("GITHUB_OUTPUT")) }
    }
}

/// The outputs in a file, as the runner reads it: `name=value`, one a line; each once.
fn outputs(text: &str) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    for line in text.lines() {
        let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("`{line}` is no output"));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{name}");
        assert_eq!(outputs.insert(name.to_owned(), value.to_owned()), None, "{name}");
    }
    outputs
}

fn job<'f>(folder: &'f Folder, inputs: &[(&str, &str)]) -> Job<'f> {
    Job { folder, inputs: inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect() }
}

#[test]
fn the_github_action_finds_a_race() {
    let folder = Folder::empty();
    std::fs::create_dir(folder.path().join("a b")).unwrap();
    std::fs::copy(common::ui().join("counter.c"), folder.path().join("a b/counter 1.c")).unwrap();
    let inputs = [("inputs", "counter*.c\nno such file*.c\n"), ("working-directory", "a b")];
    let (steps, outputs) = job(&folder, &inputs).run();
    assert_eq!((steps["install"].status, steps["check"].status), (0, 2), "{steps:#?}");
    assert!(outputs["status"] == "2" && outputs["sarif"].is_empty(), "{outputs:?}");
    assert!(steps["check"].stdout.contains("::error title=raceproof::"), "{steps:#?}");

    let inputs = [
        ("inputs", "counter*.c\n\n"),
        ("working-directory", "a b"),
        ("args", "$(touch gone) *"),
        ("flags", "--engines explore"),
    ];
    let (steps, outputs) = job(&folder, &inputs).run();
    assert_eq!((steps["check"].status, outputs["status"].as_str()), (1, "1"), "{steps:#?}");
    assert_eq!((outputs["findings"].as_str(), outputs["sarif"].as_str()), ("2", "a b/raceproof.sarif"));
    assert!(outputs["headline"].starts_with("2 data races found"), "{outputs:?}");
    assert!(steps["check"].stdout.contains("::error file=counter 1.c,line=9,"), "{}", steps["check"].stdout);
    assert!(steps["check"].summary.starts_with("### raceproof: 2 data races found"), "{}", steps["check"].summary);
    assert!(
        steps["check"].summary.contains("counter 1.c:9:15: error: data race on `counter`"),
        "{}",
        steps["check"].summary
    );
    assert!(!folder.path().join("a b/gone").exists(), "inputs are words, not commands");
    let log = assert_sarif(&folder.path().join(&outputs["sarif"]));
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 2);
    assert!(folder.path().join(&outputs["html"]).is_file());
}

#[test]
fn the_github_action_fails_as_it_is_told() {
    let folder = Folder::new();
    for (program, fail_on, status, of_result) in
        [("locked.c", "unknown", 0, "0"), ("external.c", "finding", 0, "3"), ("external.c", "unknown", 3, "3")]
    {
        let (steps, outputs) = job(&folder, &[("inputs", program), ("fail-on", fail_on)]).run();
        assert_eq!((steps["check"].status, outputs["status"].as_str()), (status, of_result), "{program}: {steps:#?}");
        assert_eq!(outputs["findings"], "0");
        assert_sarif(&folder.path().join("raceproof.sarif"));
    }
    let (steps, _) = job(&folder, &[("inputs", " \n")]).run();
    assert!(steps["check"].status == 2 && steps["check"].stdout.contains("the input 'inputs' is empty"), "{steps:#?}");
    assert!(steps["check"].stderr.contains("help: "));
}

/// With a package, the package manager is asked for that file.
#[test]
fn the_github_action_installs_a_package() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let (steps, _) = job(&folder, &[("inputs", "locked.c"), ("package", "none.deb")]).run();
    assert!(steps["install"].status == 2 && !steps.contains_key("check"), "{steps:#?}");
    assert!(steps["install"].stdout.contains("there is no package none.deb"), "{steps:#?}");

    let tools = folder.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    for (name, script) in [("apt-get", "#!/bin/sh\necho \"$@\" >>asked\n"), ("sudo", "#!/bin/sh\nexec \"$@\"\n")] {
        std::fs::write(tools.join(name), script).unwrap();
        std::fs::set_permissions(tools.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(folder.path().join("it 1.deb"), "").unwrap();
    let script = format!("PATH={}:$PATH\n{} install", tools.display(), root().join("support/github-action").display());
    let run = bash(&script, folder.path(), &BTreeMap::from([("INPUT_PACKAGE".to_owned(), "it 1.deb".to_owned())]));
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(asked.starts_with("update") && asked.lines().nth(1).unwrap().ends_with("/it 1.deb"), "{asked}");
}

/// More than GitHub takes: results, steps and bytes are capped, the gravest stay.
#[test]
fn sarif_stays_within_the_limits_of_github() {
    let folder = Folder::new();
    let run = folder.raceproof(&["check", "counter.c", "--json-out", "r.json"]);
    assert_eq!(run.status, 1);
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let mut race = document["pairs"][0].clone();
    let events = race["run"]["events"].as_array().unwrap().clone();
    race["run"]["events"] = json!(events.iter().cycle().take(1_500).collect::<Vec<_>>());
    let pairs = (1..=6_000).map(|n| {
        let mut pair = race.clone();
        (pair["id"], pair["rank"], pair["variable"]) =
            (json!(format!("P{n}")), json!(n), json!(format!("variable_{n}")));
        if n > 100 {
            pair["run"]["events"] = json!(events);
        }
        pair
    });
    document["pairs"] = json!(pairs.collect::<Vec<_>>());
    std::fs::write(folder.path().join("many.json"), document.to_string()).unwrap();
    let run = folder.raceproof(&["report", "many.json", "--sarif", "-o", "many.sarif"]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let log = assert_sarif(&folder.path().join("many.sarif"));
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 5_000);
    assert!(results[0].get("codeFlows").is_some(), "the first keep their runs");
    let zipped = Command::new("gzip").args(["-c", "many.sarif"]).current_dir(folder.path()).output().unwrap();
    assert!(zipped.status.success() && zipped.stdout.len() < 10 << 20, "{} bytes", zipped.stdout.len());
}

/// Runs the job of the template with variables, as GitLab's runner does: all lines of `before_script` and `script` in one shell.
fn gitlab(folder: &Folder, given: &[(&str, &str)]) -> (Run, Value) {
    let template = yaml("support/gitlab-ci.yml");
    let job = &template["raceproof"];
    let mut variables: BTreeMap<String, String> =
        job["variables"].as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect();
    for (name, value) in given {
        assert!(variables.insert((*name).to_owned(), (*value).to_owned()).is_some(), "{name}");
    }
    let lines = ["before_script", "script"].map(|part| job[part].as_array().unwrap().clone()).concat();
    let script: String = lines.iter().map(|line| text(line) + "\n").collect();
    (bash(&script, folder.path(), &variables), job.clone())
}

#[test]
fn the_gitlab_template_reports_code_quality() {
    let folder = Folder::new();
    let (run, job) = gitlab(&folder, &[("RACEPROOF_INPUTS", "count*.c"), ("RACEPROOF_FLAGS", "--engines explore")]);
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("counter.c:9:15: error: data race on `counter`"), "{}", run.stdout);
    assert_sarif(&folder.path().join("raceproof.sarif"));
    for path in job["artifacts"]["paths"].as_array().unwrap() {
        assert!(folder.path().join(path.as_str().unwrap()).exists(), "{path}");
    }
    let file = job["artifacts"]["reports"]["codequality"].as_str().unwrap();
    let issues: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join(file)).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": { "type": "string", "minLength": 1 },
                "check_name": { "type": "string", "pattern": "^RP\\d{4}$" },
                "fingerprint": { "type": "string", "minLength": 1 },
                "severity": { "enum": ["info", "minor", "major", "critical", "blocker"] },
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": { "type": "string", "pattern": "^[^./]" },
                        "lines": { "type": "object", "required": ["begin"], "properties": { "begin": { "type": "integer", "minimum": 1 } } }
                    }
                }
            }
        }
    }))
    .unwrap();
    assert!(schema.is_valid(&issues), "{issues:#}");
    let issues = issues.as_array().unwrap();
    let prints: std::collections::BTreeSet<&str> =
        issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!((issues.len(), prints.len()), (2, 2));
    assert_eq!(issues[0]["location"], json!({ "path": "counter.c", "lines": { "begin": 9 } }));
    let again = folder.raceproof(&["check", "counter.c", "--engines", "explore", "--json-out", "r.json"]);
    assert_eq!(again.status, 1);
    let shown = folder.raceproof(&["report", "r.json", "--code-quality"]);
    assert_eq!(shown.stdout, std::fs::read_to_string(folder.path().join(file)).unwrap());
}

#[test]
fn the_gitlab_template_says_what_is_missing() {
    let folder = Folder::new();
    let (run, _) = gitlab(&folder, &[]);
    assert!(run.status == 2 && run.stderr.contains("RACEPROOF_INPUTS is empty"), "{}", run.stderr);
    let (run, _) = gitlab(&folder, &[("RACEPROOF_INPUTS", "external.c")]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let (run, _) = gitlab(&folder, &[("RACEPROOF_INPUTS", "external.c"), ("RACEPROOF_FAIL_ON", "unknown")]);
    assert_eq!(run.status, 3, "{}", run.stderr);
}

/// Every line about a finding is matched, with its place; nothing else is.
#[test]
fn the_problem_matcher_reads_short_reports() {
    let file = std::fs::read_to_string(root().join("support/problem-matcher.json")).unwrap();
    let matcher: Value = serde_json::from_str(&file).unwrap();
    let matcher = &matcher["problemMatcher"][0];
    assert_eq!(matcher["owner"], "raceproof");
    let pattern = &matcher["pattern"][0];
    let regexp = regex::Regex::new(pattern["regexp"].as_str().unwrap()).unwrap();
    let group = |name: &str| pattern[name].as_u64().unwrap() as usize;
    let folder = Folder::new();
    std::fs::copy(folder.path().join("counter.c"), folder.path().join("a: 1:2 b.c")).unwrap();
    let mut matched = Vec::new();
    for program in ["a: 1:2 b.c", "deadlock.c", "external.c", "locked.c"] {
        let run = folder.raceproof(&["check", program, "--format", "short", "--engines", "explore"]);
        for line in run.stdout.lines() {
            let captures = regexp.captures(line);
            let has_place = !line.starts_with("raceproof: ") && !line.contains(": note: ");
            let is_finding = has_place && line.contains(" [RP0");
            assert_eq!(captures.is_some(), is_finding, "{line}");
            let Some(captures) = captures else { continue };
            let part = |name: &str| captures.get(group(name)).map_or("", |found| found.as_str()).to_owned();
            assert!(part("message").len() > 10 && !part("message").contains("RP0"), "{line}");
            matched.push(["file", "line", "column", "severity", "code"].map(part).join("|"));
        }
    }
    let expected = [
        "a: 1:2 b.c|9|15|error|RP0001",
        "a: 1:2 b.c|9|13|error|RP0001",
        "deadlock.c|8|5|error|RP0002",
        "external.c|10|5|warning|RP0101",
    ];
    assert_eq!(matched, expected);
}

fn git(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]);
    command.args(args).current_dir(folder).env("PATH", path()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL"] {
        command.env_remove(name);
    }
    Run::of(command.output().unwrap())
}

/// As a hook of Git itself: a commit with a race is refused, others pass.
#[test]
fn the_hook_refuses_a_racy_commit() {
    let folder = Folder::empty();
    let at = |name: &str| folder.path().join(name);
    let run = git(folder.path(), &["init", "-q"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    std::fs::create_dir_all(at(".git/hooks")).unwrap();
    std::fs::copy(root().join("support/pre-commit"), at(".git/hooks/pre-commit")).unwrap();
    std::fs::write(at("README"), "text\n").unwrap();
    let commit = |what: &str| {
        assert_eq!(git(folder.path(), &["add", "-A"]).status, 0);
        git(folder.path(), &["commit", "-q", "-m", what])
    };
    let run = commit("Text");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    std::fs::copy(common::ui().join("locked.c"), at("lock ed.c")).unwrap();
    std::fs::write(at("part.c"), "int x;\n").unwrap();
    let run = commit("Safe");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    std::fs::copy(common::ui().join("counter.c"), at("zähler 1.c")).unwrap();
    let run = commit("Racy");
    let said = run.stdout + &run.stderr;
    assert!(run.status == 1 && said.contains("zähler 1.c:9:15: error: data race on `counter`"), "{said}");
    // Named by arguments, as the pre-commit framework calls it.
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks[0];
    assert_eq!((hook["language"].as_str(), hook["pass_filenames"].as_bool()), (Some("script"), Some(false)));
    let entry = root().join(hook["entry"].as_str().unwrap());
    for (program, status) in [("zähler 1.c", 1), ("lock ed.c", 0)] {
        let run = bash(&format!("{} '{program}'", entry.display()), folder.path(), &BTreeMap::new());
        assert_eq!(run.status, status, "{}{}", run.stdout, run.stderr);
    }
    assert_eq!(hook["id"], "raceproof");
}
