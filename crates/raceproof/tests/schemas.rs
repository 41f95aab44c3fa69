//! Documents are what their schemas say: the result's own, and SARIF's as published.

mod common;

use std::path::Path;

use common::Folder;
use serde_json::{Value, json};

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn assert_valid(schema: &jsonschema::Validator, document: &Value, what: &str) {
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0], "{what}");
}

/// The shipped schema, made strict: a field that it does not name is an error here.
fn strict() -> jsonschema::Validator {
    fn close(schema: &mut Value) {
        if let Some(fields) = schema.as_object_mut() {
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            fields.values_mut().for_each(close);
        } else if let Some(items) = schema.as_array_mut() {
            items.iter_mut().for_each(close);
        }
    }
    let run = Folder::new().raceproof(&["schema"]);
    let mut schema: Value = serde_json::from_str(&run.stdout).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn results_are_as_their_schema_says() {
    let schema = strict();
    let mut documents = 0;
    for folder in ["ui", "verify"] {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "json") {
                assert_valid(&schema, &read(&path), &path.display().to_string());
                documents += 1;
            }
        }
    }
    assert!(documents > 20);
    let wrong = json!({ "raceproof": "0.1.0", "schema": 1, "verdict": "fine" });
    assert!(!schema.is_valid(&wrong));
}

#[test]
fn checks_are_as_the_schemas_say() {
    let schema = strict();
    // Published by OASIS; this copy is from an MIT-licensed package.
    let sarif = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sarif-2.1.0-rtm.5.json"));
    let sarif = jsonschema::validator_for(&sarif).unwrap();
    let folder = Folder::new();
    for program in ["counter.c", "deadlock.c", "external.c", "queue.cpp", "locked.c", "misuse.c"] {
        let run = folder.raceproof(&["check", program, "--json-out", "r.json", "--sarif", "r.sarif"]);
        assert_ne!(run.status, 2, "{}", run.stderr);
        assert_valid(&schema, &read(&folder.path().join("r.json")), program);
        let log = read(&folder.path().join("r.sarif"));
        assert_valid(&sarif, &log, program);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let document = read(&folder.path().join("r.json"));
        let list = |name: &str| document[name].as_array().unwrap().len();
        let absent = document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "absent").count();
        assert_eq!(results.len(), list("pairs") - absent + list("errors") + list("unknowns"), "{program}");
    }
    assert!(!sarif.is_valid(&json!({ "version": "2.1.0" })));
}
