//! What can be done about a diagnostic: an edit, and a replay.

use std::io;
use std::path::{Path, PathBuf};

use lsp_server::ErrorCode;
use lsp_types::{CodeActionParams, ExecuteCommandParams, MessageType, Range, TextEdit};
use serde_json::{Value, json};

use super::{Refusal, Server};
use crate::diagnose::Found;
use crate::positions::{path_of, position, uri_of};
use crate::{protect, story};

/// The command that shows the story of a witness; its arguments are the folder of the program and the witness.
pub(super) const REPLAY: &str = "raceproof.replay";

impl Server {
    /// The actions for a part of a file.
    pub(super) fn actions(&self, params: &CodeActionParams) -> Value {
        let Some(path) = path_of(&params.text_document.uri) else { return json!([]) };
        let only = params.context.only.as_ref();
        let is_wanted = only.is_none_or(|kinds| kinds.iter().any(|kind| ["", "quickfix"].contains(&kind.as_str())));
        let mut actions: Vec<Value> = Vec::new();
        let here = self
            .checks
            .found_in(&path)
            .filter(|(_, found)| is_wanted && touches(&found.diagnostic.range, &params.range));
        for (program, found) in here {
            let edit = self.texts.get(&path).and_then(|text| edit(text, &path, found));
            let replay = found.witness.as_ref().map(|witness| {
                let command = json!({ "title": "Replay", "command": REPLAY, "arguments": [program.folder, witness] });
                json!({ "title": "Replay", "kind": "quickfix", "diagnostics": [found.diagnostic], "command": command })
            });
            for action in edit.into_iter().chain(replay) {
                if !actions.contains(&action) {
                    actions.push(action);
                }
            }
        }
        json!(actions)
    }

    pub(super) fn execute(&mut self, params: ExecuteCommandParams) -> Result<Value, Refusal> {
        let wrong = |what: String| Refusal(ErrorCode::InvalidParams, what);
        if params.command != REPLAY {
            return Err(wrong(format!("there is no command `{}`", params.command)));
        }
        let paths: Vec<PathBuf> = params.arguments.iter().filter_map(|path| path.as_str()).map(PathBuf::from).collect();
        let [folder, witness] = &paths[..] else { return Err(wrong("a replay has a folder and a witness".to_owned())) };
        if !witness.is_file() {
            return Err(wrong("the program was checked again since; ask for its actions again".to_owned()));
        }
        if self.shows_documents {
            story::replay(&self.raceproof, folder, witness, self.events.clone());
        } else {
            let command = format!("raceproof replay {}", quoted(witness));
            self.show(MessageType::INFO, &command)
                .map_err(|error| Refusal(ErrorCode::InternalError, error.to_string()))?;
        }
        Ok(Value::Null)
    }

    /// Shows the story of a replay.
    pub(super) fn replayed(&mut self, told: Result<PathBuf, String>) -> io::Result<()> {
        match told {
            Ok(file) => match uri_of(&file) {
                Some(uri) => self.request("window/showDocument", &json!({ "uri": uri, "takeFocus": true })),
                None => Ok(()),
            },
            Err(why) => self.show(MessageType::ERROR, &why),
        }
    }
}

/// Whether two ranges share a line.
fn touches(one: &Range, other: &Range) -> bool {
    one.start.line <= other.end.line && other.start.line <= one.end.line
}

/// The action that holds a lock at an access, in a text whose lines in question are as they were checked.
fn edit(text: &str, path: &Path, found: &Found) -> Option<Value> {
    let wish = found.wish.as_ref()?;
    let is_same = |(line, checked): &(u32, String)| text.lines().nth(*line as usize - 1) == Some(checked);
    if found.lines.len() != wish.places.len() || !found.lines.iter().all(is_same) {
        return None;
    }
    let (edits, lock) = protect::hold(text, path, wish)?;
    let edits: Vec<TextEdit> = edits
        .into_iter()
        .map(|(bytes, new)| TextEdit::new(Range::new(position(text, bytes.start), position(text, bytes.end)), new))
        .collect();
    Some(json!({
        "title": format!("Hold `{lock}` here"),
        "kind": "quickfix",
        "diagnostics": [found.diagnostic],
        "isPreferred": true,
        "edit": { "changes": { uri_of(path)?.as_str(): edits } },
    }))
}

/// A name as a shell takes it literally.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}
