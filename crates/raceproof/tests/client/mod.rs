//! An editor, as far as a language server sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

pub(crate) struct Client {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    /// Kinds of progress that were reported.
    pub(crate) progress: Vec<String>,
    /// Notifications and requests that nobody has waited for yet.
    waiting: Vec<Value>,
}

/// The URI of a file.
pub(crate) fn uri(file: &Path) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    format!("file://{}", file.to_str().unwrap().bytes().map(encode).collect::<String>())
}

/// The file of a URI without unusual characters.
pub(crate) fn path(uri: &str) -> PathBuf {
    assert!(!uri.contains('%'), "{uri}");
    PathBuf::from(uri.strip_prefix("file://").unwrap())
}

/// Applies edits to a text as the protocol says: all of them to the old text, in the order of the list at one place.
pub(crate) fn apply(text: &str, edits: &Value) -> String {
    let byte = |position: &Value| {
        let [line, character] = ["line", "character"].map(|field| position[field].as_u64().unwrap() as usize);
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = 0;
        let length = text[start..]
            .chars()
            .take_while(|c| {
                units += c.len_utf16();
                units <= character
            })
            .map(char::len_utf8);
        start + length.sum::<usize>()
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| (byte(&edit["range"]["start"]), byte(&edit["range"]["end"]), edit["newText"].as_str().unwrap()))
        .collect();
    edits.sort_by_key(|edit| edit.0);
    let mut applied = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        applied.replace_range(start..end, new);
    }
    applied
}

impl Client {
    /// Starts a server and initialises it for a folder.
    pub(crate) fn start(root: &Path, capabilities: Value, options: Value) -> Self {
        let mut client = Self::start_raw(root);
        let folders = json!([{ "uri": uri(root), "name": "root" }]);
        let params = json!({
            "processId": null, "rootUri": uri(root), "workspaceFolders": folders, "capabilities": capabilities,
            "initializationOptions": options
        });
        let answer = client.request("initialize", params);
        assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16", "{answer}");
        client.notify("initialized", json!({}));
        client
    }

    /// Starts a server, somewhere else.
    pub(crate) fn start_raw(root: &Path) -> Self {
        Self::start_in(root, &std::env::temp_dir())
    }

    /// The same with a folder for temporary files.
    pub(crate) fn start_in(root: &Path, temporary: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command
            .args(["lsp", "--stdio"])
            .current_dir(root.parent().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.stderr(Stdio::null()).env("TMPDIR", temporary).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        let mut process = command.spawn().unwrap();
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().unwrap());
        Self { process, to, from, next: 1, progress: Vec::new(), waiting: Vec::new() }
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(bytes).unwrap();
        to.flush().unwrap();
    }

    pub(crate) fn send_raw(&mut self, text: &str) {
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// The next message.
    pub(crate) fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message["method"] == "$/progress" {
            self.progress.push(message["params"]["value"]["kind"].as_str().unwrap().to_owned());
        }
        if message.get("method").is_some() && message.get("id").is_some() {
            self.send_raw(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }).to_string());
        }
        message
    }

    /// Asks, and gives the whole answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send_raw(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let message = self.read();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.waiting.push(message);
        }
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send_raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// The parameters of the next notification or request of this name.
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        loop {
            let known = self.waiting.iter().position(|message| message["method"] == method);
            let message = match known {
                Some(at) => self.waiting.remove(at),
                None => self.read(),
            };
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    pub(crate) fn open(&mut self, file: &Path, text: &str) {
        let document = json!({ "uri": uri(file), "languageId": "c", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, file: &Path, text: &str) {
        let params =
            json!({ "textDocument": { "uri": uri(file), "version": 2 }, "contentChanges": [{ "text": text }] });
        self.notify("textDocument/didChange", params);
    }

    pub(crate) fn save(&mut self, file: &Path) {
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri(file) } }));
    }

    /// The next diagnostics of a file.
    pub(crate) fn diagnostics(&mut self, file: &Path) -> Vec<Value> {
        loop {
            let params = self.wait_for("textDocument/publishDiagnostics");
            if params["uri"] == uri(file) {
                // The end of the check's progress comes after what it found.
                if !self.progress.is_empty() {
                    let begun =
                        |kinds: &[String]| kinds.iter().filter(|kind| *kind == "begin").count() * 2 > kinds.len();
                    while begun(&self.progress) {
                        let message = self.read();
                        self.waiting.push(message);
                    }
                }
                return params["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// The actions for a line, from 0.
    pub(crate) fn actions(&mut self, file: &Path, line: u64) -> Vec<Value> {
        let at = json!({ "line": line, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri(file) }, "range": { "start": at, "end": at }, "context": { "diagnostics": [] }
        });
        self.request("textDocument/codeAction", params)["result"].as_array().unwrap().clone()
    }

    /// Leaves as the protocol says.
    pub(crate) fn leave(&mut self) -> ExitStatus {
        assert_eq!(self.request("shutdown", Value::Null)["result"], Value::Null);
        self.exit()
    }

    pub(crate) fn exit(&mut self) -> ExitStatus {
        self.notify("exit", Value::Null);
        self.wait()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A server whose client has gone ends.
        self.to = None;
        let _ = self.process.wait();
    }
}
