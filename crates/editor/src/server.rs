//! What the client says, and what it is told: one loop over events.

mod actions;
mod checks;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender};

use lsp_server::{ErrorCode, Message, Notification, Request};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    InitializeParams, MessageType,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::checker::Outcome;
use crate::options::Options;
use crate::positions::path_of;
use crate::programs::Program;
use crate::transport::{NoMessage, Writer};
use checks::Checks;

/// What happens.
#[derive(Debug)]
pub(crate) enum Event {
    /// The client sent something.
    Message(Result<Message, NoMessage>),
    /// The client's stream ended, or broke.
    Closed(Option<io::Error>),
    /// A check ended.
    Checked {
        /// The program.
        program: Program,
        /// Which of its checks.
        number: u64,
        /// What came of it.
        outcome: Outcome,
    },
    /// A witness was replayed: the file with its story, or why there is none.
    Replayed(Result<PathBuf, String>),
}

/// Where a session is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    New,
    Ready,
    ShutDown,
}

/// One client's session.
pub(crate) struct Server {
    raceproof: PathBuf,
    project: fn(&Path) -> Result<Options, String>,
    options: Options,
    writer: Writer,
    events: Sender<Event>,
    phase: Phase,
    roots: Vec<PathBuf>,
    shows_documents: bool,
    shows_progress: bool,
    /// The texts of open files, as they are in the editor.
    texts: BTreeMap<PathBuf, String>,
    checks: Checks,
    /// The number of the next request to the client.
    next: i32,
}

/// An error answer.
struct Refusal(ErrorCode, String);

impl Server {
    pub(crate) fn new(
        raceproof: PathBuf,
        project: fn(&Path) -> Result<Options, String>,
        writer: Writer,
        events: Sender<Event>,
    ) -> Self {
        Self {
            raceproof,
            project,
            options: Options::default(),
            writer,
            events,
            phase: Phase::New,
            roots: Vec::new(),
            shows_documents: false,
            shows_progress: false,
            texts: BTreeMap::new(),
            checks: Checks::default(),
            next: 1,
        }
    }

    /// Until the client leaves; whether as the protocol says.
    pub(crate) fn run(mut self, queue: &Receiver<Event>) -> io::Result<bool> {
        let ended = self.serve(queue);
        self.checks.end();
        ended
    }

    fn serve(&mut self, queue: &Receiver<Event>) -> io::Result<bool> {
        for event in queue {
            match event {
                Event::Message(Ok(Message::Notification(notification))) if notification.method == "exit" => {
                    return Ok(self.phase == Phase::ShutDown);
                }
                Event::Message(Ok(Message::Notification(notification))) => self.notified(notification)?,
                Event::Message(Ok(Message::Request(request))) => self.answer(request)?,
                // Answers to what we ask carry nothing that is needed.
                Event::Message(Ok(Message::Response(_))) => {}
                Event::Message(Err(wrong)) => self.writer.send(&wrong.answer())?,
                Event::Closed(None) => return Ok(false),
                Event::Closed(Some(error)) => return Err(error),
                Event::Checked { program, number, outcome } => self.checked(&program, number, outcome)?,
                Event::Replayed(told) => self.replayed(told)?,
            }
        }
        Ok(false)
    }

    fn answer(&mut self, Request { id, method, params }: Request) -> io::Result<()> {
        let result = match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => self.initialize(params),
            (Phase::New, _) => Err(Refusal(ErrorCode::ServerNotInitialized, "not initialised yet".to_owned())),
            (Phase::ShutDown, _) => Err(Refusal(ErrorCode::InvalidRequest, "shut down already".to_owned())),
            (Phase::Ready, "initialize") => Err(Refusal(ErrorCode::InvalidRequest, "initialised already".to_owned())),
            (Phase::Ready, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.checks.end();
                Ok(Value::Null)
            }
            (Phase::Ready, "textDocument/codeAction") => parsed(params).map(|params| self.actions(&params)),
            (Phase::Ready, "workspace/executeCommand") => parsed(params).and_then(|params| self.execute(params)),
            (Phase::Ready, _) => Err(Refusal(ErrorCode::MethodNotFound, format!("there is no request `{method}`"))),
        };
        self.writer.send(&match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Refusal(code, message)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
            }
        })
    }

    fn initialize(&mut self, params: Value) -> Result<Value, Refusal> {
        let params: InitializeParams = parsed(params)?;
        let folders = params.workspace_folders.unwrap_or_default();
        self.roots = folders.iter().filter_map(|folder| path_of(&folder.uri)).collect();
        #[expect(deprecated, reason = "what clients without folders send")]
        if self.roots.is_empty() {
            self.roots.extend(params.root_uri.as_ref().and_then(path_of));
        }
        let of_project = self.roots.first().map(|root| (self.project)(root)).transpose();
        let mut options = of_project.map_err(|why| Refusal(ErrorCode::RequestFailed, why))?.unwrap_or_default();
        if let Some(given) = params.initialization_options.filter(|options| !options.is_null()) {
            let given: Options = serde_json::from_value(given).map_err(|error| {
                let known = "`inputs`, `args` and `flags`, each a list of texts";
                Refusal(
                    ErrorCode::InvalidParams,
                    format!("cannot use the initializationOptions: {error}; known are {known}"),
                )
            })?;
            options = options.or(given);
        }
        self.options = options;
        let window = params.capabilities.window.unwrap_or_default();
        self.shows_documents = window.show_document.is_some_and(|show| show.support);
        self.shows_progress = window.work_done_progress == Some(true);
        self.phase = Phase::Ready;
        Ok(json!({
            "capabilities": {
                "positionEncoding": "utf-16",
                // 1: whole texts.
                "textDocumentSync": { "openClose": true, "change": 1, "save": { "includeText": false } },
                "codeActionProvider": { "codeActionKinds": ["quickfix"] },
                "executeCommandProvider": { "commands": [actions::REPLAY] },
            },
            "serverInfo": { "name": "raceproof", "version": env!("CARGO_PKG_VERSION") },
        }))
    }

    fn notified(&mut self, Notification { method, params }: Notification) -> io::Result<()> {
        if self.phase != Phase::Ready {
            return Ok(());
        }
        match method.as_str() {
            "textDocument/didOpen" => self.with(&method, params, |server, params: DidOpenTextDocumentParams| {
                let Some(path) = path_of(&params.text_document.uri) else { return Ok(()) };
                server.texts.insert(path.clone(), params.text_document.text);
                server.check(&path, false)
            }),
            "textDocument/didChange" => self.with(&method, params, |server, params: DidChangeTextDocumentParams| {
                let path = path_of(&params.text_document.uri);
                if let (Some(path), Some(last)) = (path, params.content_changes.into_iter().next_back()) {
                    server.texts.insert(path, last.text);
                }
                Ok(())
            }),
            "textDocument/didSave" => self.with(&method, params, |server, params: DidSaveTextDocumentParams| {
                let Some(path) = path_of(&params.text_document.uri) else { return Ok(()) };
                server.check(&path, true)
            }),
            "textDocument/didClose" => self.with(&method, params, |server, params: DidCloseTextDocumentParams| {
                if let Some(path) = path_of(&params.text_document.uri) {
                    server.texts.remove(&path);
                }
                Ok(())
            }),
            // Others are none of our business; the protocol lets them pass.
            _ => Ok(()),
        }
    }

    /// Does something with the parameters of a notification. Wrong ones are told to the log: a notification has no answer.
    fn with<P: DeserializeOwned>(
        &mut self,
        method: &str,
        params: Value,
        act: impl FnOnce(&mut Self, P) -> io::Result<()>,
    ) -> io::Result<()> {
        match parsed(params) {
            Ok(params) => act(self, params),
            Err(Refusal(_, why)) => self.log(MessageType::ERROR, &format!("{method}: {why}")),
        }
    }

    fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.writer.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn request(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        self.writer.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn log(&mut self, kind: MessageType, message: &str) -> io::Result<()> {
        self.notify("window/logMessage", &json!({ "type": kind, "message": message }))
    }

    fn show(&mut self, kind: MessageType, message: &str) -> io::Result<()> {
        self.notify("window/showMessage", &json!({ "type": kind, "message": message }))
    }
}

/// Parameters as their type.
fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, Refusal> {
    serde_json::from_value(params)
        .map_err(|error| Refusal(ErrorCode::InvalidParams, format!("wrong parameters: {error}")))
}
