//! The language server, as an editor talks to it.

mod client;
mod common;

use client::Client;
use common::Folder;
use serde_json::{Value, json};

/// Two threads, of which one forgot the lock, in a file with an unusual name and characters before the access.
const RACY: &str = "#include <pthread.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static int x;\n\
    static void *careful(void *arg) {\n    pthread_mutex_lock(&m);\n    x = x + 1;\n    pthread_mutex_unlock(&m);\n    return arg;\n}\n\
    static void *careless(void *arg) {\n    x = /* ü 𝄞 */ 10; // no lock\n    return arg;\n}\n\
    int main(void) {\n    pthread_t one, two;\n    pthread_create(&one, 0, careful, 0);\n    pthread_create(&two, 0, careless, 0);\n\
    \x20   pthread_join(one, 0);\n    pthread_join(two, 0);\n    return 0;\n}\n";

const CARELESS: u64 = 10;

fn at_line(diagnostics: &[Value], line: u64) -> Vec<&Value> {
    diagnostics.iter().filter(|diagnostic| diagnostic["range"]["start"]["line"] == line).collect()
}

/// Opens a file, gets diagnostics, applies the edit: the race is gone.
#[test]
fn an_edit_makes_the_race_go_away() {
    let folder = Folder::empty();
    let file = folder.path().join("zähl er.c");
    std::fs::write(&file, RACY).unwrap();
    let mut client = Client::start(folder.path(), json!({ "window": { "workDoneProgress": true } }), Value::Null);
    client.open(&file, RACY);
    let found = client.diagnostics(&file);
    let here = at_line(&found, CARELESS);
    assert_eq!(here.len(), 1, "{found:#?}");
    let [race] = here[..] else { unreachable!() };
    assert_eq!(
        (race["severity"].as_u64(), race["code"].as_str(), race["source"].as_str()),
        (Some(1), Some("RP0001"), Some("raceproof"))
    );
    assert!(race["message"].as_str().unwrap().contains("data race on `x`"), "{race}");
    assert_eq!(
        race["range"],
        json!({ "start": { "line": 10, "character": 6 }, "end": { "line": 10, "character": 7 } })
    );
    let related = race["relatedInformation"].as_array().unwrap();
    let says = |what: &str| related.iter().any(|info| info["message"].as_str().unwrap().contains(what));
    assert!(says("the other access: ") && says("thread 0.1 was created here by thread 0"), "{related:#?}");
    assert!(related.iter().all(|info| info["location"]["uri"] == client::uri(&file)), "{related:#?}");
    assert!(!at_line(&found, 5).is_empty(), "the other access has the race, too");
    assert_eq!(client.progress, ["begin", "end"]);

    let actions = client.actions(&file, CARELESS);
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Hold `m` here", "Replay"]);
    let fixed = client::apply(RACY, &actions[0]["edit"]["changes"][client::uri(&file).as_str()]);
    let expected = RACY.replace(
        "    x = /* ü 𝄞 */ 10; // no lock\n",
        "    pthread_mutex_lock(&m);\n    x = /* ü 𝄞 */ 10; // no lock\n    pthread_mutex_unlock(&m);\n",
    );
    assert_eq!(fixed, expected);
    let careful: Vec<Value> = client.actions(&file, 5);
    assert!(careful.iter().all(|action| action["title"] == "Replay"), "{careful:#?}");

    std::fs::write(&file, &fixed).unwrap();
    client.change(&file, &fixed);
    client.save(&file);
    assert_eq!(client.diagnostics(&file), [Value::Null; 0]);
    assert_eq!(client.actions(&file, CARELESS), [Value::Null; 0]);
    assert!(client.leave().success());
}

/// The same with a field of a class, whose mutex is its neighbour, and with a struct behind a pointer in C.
#[test]
fn edits_reach_locks_as_their_neighbours() {
    let cxx = "#include <mutex>\n#include <thread>\n\
        class Counter {\n    std::mutex lock;\n    int value = 0;\n\npublic:\n\
        \x20   void careful() {\n        std::lock_guard<std::mutex> guard(lock);\n        value += 1;\n    }\n\
        \x20   void careless() {\n        value = 10;\n    }\n};\n\
        static Counter counter;\n\
        int main() {\n    std::thread one([] { counter.careful(); });\n    std::thread two([] { counter.careless(); });\n\
        \x20   one.join();\n    two.join();\n}\n";
    let c = "#include <pthread.h>\n\
        struct account {\n    pthread_mutex_t lock;\n    long balance;\n};\n\
        static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 1};\n\
        static void *careful(void *arg) {\n    struct account *a = arg;\n    pthread_mutex_lock(&a->lock);\n\
        \x20   a->balance += 1;\n    pthread_mutex_unlock(&a->lock);\n    return arg;\n}\n\
        static void *careless(void *arg) {\n    struct account *a = arg;\n    a->balance = 10;\n    return arg;\n}\n\
        int main(void) {\n    pthread_t one, two;\n    pthread_create(&one, 0, careful, &savings);\n\
        \x20   pthread_create(&two, 0, careless, &savings);\n    pthread_join(one, 0);\n    pthread_join(two, 0);\n    return 0;\n}\n";
    for (name, text, line, title) in [
        ("a.cpp", cxx, "        value = 10;", "Hold `lock` here"),
        ("a.c", c, "    a->balance = 10;", "Hold `a->lock` here"),
    ] {
        let folder = Folder::empty();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let mut client = Client::start(folder.path(), json!({}), Value::Null);
        client.open(&file, text);
        assert!(!client.diagnostics(&file).is_empty(), "{name}");
        let line = text.lines().position(|known| known == line).unwrap() as u64;
        let actions = client.actions(&file, line);
        assert_eq!(actions[0]["title"], title, "{actions:#?}");
        let fixed = client::apply(text, &actions[0]["edit"]["changes"][client::uri(&file).as_str()]);
        std::fs::write(&file, &fixed).unwrap();
        client.change(&file, &fixed);
        client.save(&file);
        assert_eq!(client.diagnostics(&file), [Value::Null; 0], "{fixed}");
        assert!(client.leave().success());
    }
}

/// An edit is only offered for the text that was checked.
#[test]
fn changed_lines_have_no_edit() {
    let folder = Folder::empty();
    let file = folder.path().join("a.c");
    std::fs::write(&file, RACY).unwrap();
    let mut client = Client::start(folder.path(), json!({}), Value::Null);
    client.open(&file, RACY);
    client.diagnostics(&file);
    client.change(&file, &RACY.replace("10; // no lock", "11; // no lock"));
    let actions = client.actions(&file, CARELESS);
    assert!(!actions.is_empty() && actions.iter().all(|action| action["title"] == "Replay"), "{actions:#?}");
    // Without documents to show, a replay is a command line.
    let command = &actions[0]["command"];
    client.request(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    let shown = client.wait_for("window/showMessage");
    assert!(shown["message"].as_str().unwrap().starts_with("raceproof replay '/"), "{shown}");
    assert!(client.leave().success());
}

#[test]
fn a_replay_is_shown_as_a_document() {
    let folder = Folder::empty();
    let file = folder.path().join("a.c");
    std::fs::write(&file, RACY).unwrap();
    let mut client =
        Client::start(folder.path(), json!({ "window": { "showDocument": { "support": true } } }), Value::Null);
    client.open(&file, RACY);
    client.diagnostics(&file);
    let actions = client.actions(&file, CARELESS);
    let command = &actions.last().unwrap()["command"];
    client.request(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    let shown = client.wait_for("window/showDocument");
    let story = client::path(shown["uri"].as_str().unwrap());
    let story = std::fs::read_to_string(story).unwrap();
    assert!(story.contains("thread 0.2, `careless`") && story.contains("replayed exactly"), "{story}");
    assert!(client.leave().success());
}

/// The sources that the editor's options or the project name, and a header of them.
#[test]
fn programs_of_several_files() {
    let (head, main) = RACY.split_at(RACY.find("int main").unwrap());
    let head = head.replace("static void", "void");
    let main = format!("#include \"it.h\"\n{main}");
    let folder = Folder::empty();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("it.h", "#include <pthread.h>\nvoid *careful(void *arg);\nvoid *careless(void *arg);\n");
    write("part.c", &head);
    write("main.c", &main);
    let part = folder.path().join("part.c");
    {
        let mut client = Client::start(folder.path(), json!({}), Value::Null);
        client.open(&part, &head);
        let log = client.wait_for("window/logMessage");
        assert!(log["message"].as_str().unwrap().contains("is not checked"), "{log}");
    }
    write("raceproof.toml", "inputs = [\"main.c\", \"part.c\"]\n");
    for options in [Value::Null, json!({ "inputs": ["part.c", "main.c"], "flags": ["--engines", "explore"] })] {
        let mut client = Client::start(folder.path(), json!({}), options);
        client.open(&folder.path().join("it.h"), "");
        let found = client.diagnostics(&part);
        assert_eq!(at_line(&found, CARELESS).len(), 1, "{found:#?}");
        assert!(client.leave().success());
    }
}

/// The program of a compilation database, whose build folder is elsewhere.
#[test]
fn programs_of_a_compilation_database() {
    let folder = Folder::empty();
    for name in ["src", "build"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let file = folder.path().join("src/a.c");
    std::fs::write(&file, RACY).unwrap();
    let command =
        json!({ "directory": folder.path().join("build"), "command": "cc -c ../src/a.c", "file": "../src/a.c" });
    std::fs::write(folder.path().join("build/compile_commands.json"), json!([command]).to_string()).unwrap();
    let mut client = Client::start(folder.path(), json!({}), Value::Null);
    client.open(&file, RACY);
    let found = client.diagnostics(&file);
    assert_eq!(at_line(&found, CARELESS).len(), 1, "{found:#?}");
    assert_eq!(client.actions(&file, CARELESS)[0]["title"], "Hold `m` here");
    assert!(client.leave().success());
}

/// A helper that is called with and without the lock must not take it.
#[test]
fn a_helper_has_no_edit() {
    let folder = Folder::empty();
    let file = folder.path().join("helper.c");
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gallery/helper.c")).unwrap();
    std::fs::write(&file, &text).unwrap();
    let mut client = Client::start(folder.path(), json!({}), Value::Null);
    client.open(&file, &text);
    let found = client.diagnostics(&file);
    assert!(!found.is_empty());
    for diagnostic in found {
        let actions = client.actions(&file, diagnostic["range"]["start"]["line"].as_u64().unwrap());
        assert!(actions.iter().all(|action| action["title"] == "Replay"), "{actions:#?}");
    }
    assert!(client.leave().success());
}

/// A server that ends, or whose client is gone, leaves no check behind.
#[test]
fn nothing_is_left_behind() {
    let folder = Folder::empty();
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, RACY).unwrap();
    for leaves in [true, false] {
        let mut client = Client::start_in(folder.path(), &temporary);
        client.request("initialize", json!({ "capabilities": {} }));
        client.open(&file, RACY);
        if leaves {
            assert!(client.leave().success());
        }
        drop(client);
        assert_eq!(common::containment::left_behind(&temporary), [""; 0]);
    }
}

/// What cannot be compiled is said, and what was known stays.
#[test]
fn a_program_that_cannot_be_checked() {
    let folder = Folder::empty();
    let file = folder.path().join("a.c");
    let text = "int main(void) { return }\n";
    std::fs::write(&file, text).unwrap();
    let mut client = Client::start(folder.path(), json!({}), Value::Null);
    client.open(&file, text);
    let log = client.wait_for("window/logMessage");
    let message = log["message"].as_str().unwrap();
    assert!(message.starts_with("raceproof cannot check a.c: error: ") && message.contains("a.c:1:25"), "{message}");
    assert!(client.leave().success());
}

/// Wrong messages are answered as the protocol says, and the server goes on; a stream that is no messages ends it with an error.
#[test]
fn wrong_messages() {
    let folder = Folder::empty();
    let mut client = Client::start_raw(folder.path());
    let error = |answer: &Value| answer["error"]["code"].as_i64().unwrap();
    let early = client.request("textDocument/codeAction", json!({}));
    assert_eq!(error(&early), -32002);
    client.send_raw("{\"jsonrpc\":");
    assert_eq!(error(&client.read()), -32700);
    client.send_raw("[1, 2]");
    assert_eq!(error(&client.read()), -32600);
    client.send_raw("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":5}");
    let answer = client.read();
    assert_eq!((error(&answer), &answer["id"]), (-32600, &json!("a")));
    let wrong = client.request("initialize", json!({ "capabilities": {}, "initializationOptions": { "input": [] } }));
    assert!(
        error(&wrong) == -32602 && wrong["error"]["message"].as_str().unwrap().contains("unknown field `input`"),
        "{wrong}"
    );
    assert!(client.request("initialize", json!({ "capabilities": {} })).get("result").is_some());
    assert_eq!(error(&client.request("initialize", json!({ "capabilities": {} }))), -32600);
    assert_eq!(error(&client.request("textDocument/hover", json!({}))), -32601);
    assert_eq!(error(&client.request("textDocument/codeAction", json!({ "range": 7 }))), -32602);
    for (command, arguments) in
        [("rm", json!([])), ("raceproof.replay", json!(["/", "/no such file"])), ("raceproof.replay", json!([1]))]
    {
        let answer = client.request("workspace/executeCommand", json!({ "command": command, "arguments": arguments }));
        assert_eq!(error(&answer), -32602, "{answer}");
    }
    client.notify("textDocument/didOpen", json!({ "textDocument": 3 }));
    assert!(
        client.wait_for("window/logMessage")["message"]
            .as_str()
            .unwrap()
            .starts_with("textDocument/didOpen: wrong parameters")
    );
    client.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": "untitled:1", "languageId": "c", "version": 1, "text": "" } }),
    );
    client.notify("$/unknown", json!({}));
    assert_eq!(client.request("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(error(&client.request("shutdown", Value::Null)), -32600);
    assert!(client.exit().success());

    let mut client = Client::start_raw(folder.path());
    client.send_bytes(b"hello\r\n\r\n");
    assert_eq!(client.wait().code(), Some(2));
    let mut client = Client::start_raw(folder.path());
    assert_eq!(client.exit().code(), Some(1), "exit without shutdown");
}

/// The next save ends a check at work; its result is not taken for that of the new text.
#[test]
fn a_save_cancels_the_check_before() {
    let folder = Folder::empty();
    let file = folder.path().join("a.c");
    std::fs::write(&file, RACY).unwrap();
    let mut client = Client::start(folder.path(), json!({ "window": { "workDoneProgress": true } }), Value::Null);
    client.open(&file, RACY);
    let quiet = "int main(void) { return 0; }\n";
    std::fs::write(&file, quiet).unwrap();
    client.change(&file, quiet);
    for _ in 0..3 {
        client.save(&file);
    }
    assert_eq!(client.diagnostics(&file), [Value::Null; 0]);
    assert_eq!(client.progress.iter().filter(|kind| *kind == "begin").count(), 4);
    assert!(client.leave().success());
    assert_eq!(client.progress.iter().filter(|kind| *kind == "end").count(), 4, "{:?}", client.progress);
}
