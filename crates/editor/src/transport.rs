//! Messages as the protocol frames them: a header with the length, then one JSON value.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::Sender;

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

use crate::server::Event;

/// Most bytes of a message.
const MOST: usize = 256 << 20;

/// Something other than a message in a frame: why, and the id of the request it was meant as.
#[derive(Debug)]
pub(crate) struct NoMessage {
    code: ErrorCode,
    why: String,
    id: Value,
}

impl NoMessage {
    /// The answer that the protocol wants.
    pub(crate) fn answer(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code as i32, "message": self.why } })
    }
}

/// Reads messages in a thread of its own until the stream ends or breaks; both are events, too.
pub(crate) fn read(mut input: impl BufRead + Send + 'static, events: Sender<Event>) {
    std::thread::spawn(move || {
        loop {
            let event = match frame(&mut input) {
                Ok(Some(bytes)) => Event::Message(message(&bytes)),
                Ok(None) => Event::Closed(None),
                Err(error) => Event::Closed(Some(error)),
            };
            let is_last = matches!(event, Event::Closed(_));
            if events.send(event).is_err() || is_last {
                return;
            }
        }
    });
}

/// One frame's content; `None` at the end of the stream.
fn frame(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let broken = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut length = None;
    let mut lines = 0;
    loop {
        let mut line = Vec::new();
        // A header is short; what is not is no header.
        if io::Read::take(&mut *input, 4096).read_until(b'\n', &mut line)? == 0 {
            return if lines == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        lines += 1;
        let text = String::from_utf8_lossy(&line);
        let Some(text) = text.strip_suffix('\n') else {
            return Err(broken("a header does not end".to_owned()));
        };
        let text = text.trim_end_matches('\r');
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| broken(format!("`{text}` is not a header")))?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let known = value.trim().parse().ok().filter(|length| *length <= MOST);
            length = Some(known.ok_or_else(|| broken(format!("`{}` is not a length", value.trim())))?);
        }
    }
    let length = length.ok_or_else(|| broken("a message has no `Content-Length`".to_owned()))?;
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

fn message(bytes: &[u8]) -> Result<Message, NoMessage> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| NoMessage {
        code: ErrorCode::ParseError,
        why: format!("not JSON: {error}"),
        id: Value::Null,
    })?;
    let id = value.get("id").filter(|id| id.is_string() || id.is_i64()).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|error| NoMessage {
        code: ErrorCode::InvalidRequest,
        why: format!("not a message: {error}"),
        id,
    })
}

/// The client's end of the other stream.
pub(crate) struct Writer(Box<dyn Write + Send>);

impl Writer {
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        Self(Box::new(output))
    }

    /// Sends one message.
    pub(crate) fn send(&mut self, message: &Value) -> io::Result<()> {
        let text = message.to_string();
        write!(self.0, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames() {
        let read = |text: &str| frame(&mut text.as_bytes()).map_err(|error| error.to_string());
        assert_eq!(read("Content-Length: 2\r\nX: y\r\n\r\n{}"), Ok(Some(b"{}".to_vec())));
        assert_eq!(read(""), Ok(None));
        for broken in ["Content-Length: 3\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "hello\r\n\r\n", "\r\n", "X: 1\r\n"]
        {
            assert!(read(broken).is_err(), "{broken}");
        }
        assert!(read(&"x".repeat(10_000)).is_err());
        assert!(read("Content-Length: 99999999999999\r\n\r\n").is_err());
    }

    #[test]
    fn what_is_no_message_is_answered() {
        let answer = |text: &str| message(text.as_bytes()).map(|_| ()).map_err(|wrong| wrong.answer());
        assert_eq!(answer(r#"{"jsonrpc":"2.0","method":"x"}"#), Ok(()));
        assert_eq!(answer("{").unwrap_err()["error"]["code"], -32700);
        assert_eq!(answer(r#"{"id":7,"method":[]}"#).unwrap_err()["id"], 7);
        assert_eq!(answer("[]").unwrap_err()["error"]["code"], -32600);
    }
}
