//! Scripts for the peers of a program (`--peer`): who connects, and what is said.
//!
//! ```toml
//! [[peer]]
//! name = "first client"
//! connect = "127.0.0.1:6379"
//! steps = [{ send = "SET k 1\r\n" }, { expect = "+OK\r\n" }]
//! ```
//!
//! A recording of a run on real threads is a script, too: its peers are the clients of that run, and the servers that the
//! program connected to.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use files::TraceFile;
use files::input::{Connection, Said, connections};
use serde::Deserialize;
use wire::layout::PEERS_CAPACITY;
use wire::peers::{Peer, Role, Step};

use crate::Error;

/// A script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    peer: Vec<PeerText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerText {
    /// What reports call it; its number if absent.
    name: Option<String>,
    /// Where it connects to.
    connect: Option<String>,
    /// Where the program connects to it.
    accept: Option<String>,
    /// Whether it begins again on the same connection.
    #[serde(default)]
    repeat: bool,
    #[serde(default)]
    steps: Vec<StepText>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepText {
    Send(String),
    SendFile(PathBuf),
    Expect(String),
    Receive(u32),
    Until(String),
    Reply(Vec<ReplyText>),
    Rest(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyText {
    /// A part of what was received; any if absent.
    #[serde(default)]
    when: String,
    send: Option<String>,
    send_file: Option<PathBuf>,
}

/// Reads a script and the files that it names, which are beside it; or the clients of a recording.
pub(crate) fn read(path: &Path) -> Result<Vec<Peer>, Error> {
    let refuse = |what: String| Error::Peers { path: path.to_owned(), what };
    if is_recording(path) {
        let peers = of_recording(&connections(path)?);
        let none = || refuse("nobody outside was connected with the program in that run".to_owned());
        return if peers.is_empty() { Err(none()) } else { Ok(peers) };
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    let script: Script = toml::from_str(&text).map_err(|error| refuse(error.to_string().trim_end().to_owned()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let peers = script.peer.into_iter().enumerate().map(|(index, peer)| peer.read(index + 1, folder));
    let peers = peers.collect::<Result<Vec<_>, _>>().map_err(&refuse)?;
    if peers.is_empty() {
        return Err(refuse("it has no `[[peer]]`".to_owned()));
    }
    if wire::peers::encode(&peers).len() > PEERS_CAPACITY {
        return Err(refuse(format!("with its files it has more than {} MB", PEERS_CAPACITY >> 20)));
    }
    Ok(peers)
}

/// Whether a file is a recording.
fn is_recording(path: &Path) -> bool {
    let mut head = [0; 16];
    std::fs::File::open(path).and_then(|mut file| file.read(&mut head)).is_ok_and(|len| TraceFile::is_one(&head[..len]))
}

/// The clients of a recorded run, each as a peer that says the same, and the servers that the program connected to. What a
/// peer got is only counted: it may contain a time, or what another did first. Of several connections that the program made
/// to one address the first is the script for all. Those that came when there were already very many bytes are left out.
pub(crate) fn of_recording(connections: &[Connection]) -> Vec<Peer> {
    let mut size = 0;
    let fits = |peer: &Peer| {
        size += wire::peers::encode(std::slice::from_ref(peer)).len();
        size <= PEERS_CAPACITY / 2
    };
    let mut servers = BTreeSet::new();
    let other_ends = connections.iter().filter(|one| one.accepted || servers.insert(&one.other));
    let mut numbers = [1.., 1..];
    let peers = other_ends.map(|connection| {
        let (what, role, address) = match connection.accepted {
            true => ("client", Role::Connects, &connection.own),
            false => ("server", Role::Accepts, &connection.other),
        };
        let number = numbers[usize::from(connection.accepted)].next().unwrap_or_default();
        Peer {
            name: format!("recorded {what} {number}"),
            role,
            address: address.clone(),
            steps: steps(&connection.said),
            repeats: false,
        }
    });
    peers.take_while(fits).collect()
}

/// What the other end of a connection did.
fn steps(said: &[Said]) -> Vec<Step> {
    let mut steps = Vec::new();
    for said in said {
        match (said, steps.last_mut()) {
            (Said::Sent(count), Some(Step::Receive(before))) => *before = before.saturating_add(*count),
            (Said::Sent(count), _) => steps.push(Step::Receive(*count)),
            (Said::Received(bytes), _) => steps.push(Step::Send(bytes.clone())),
            (Said::Closed, _) => {}
        }
    }
    steps
}

impl PeerText {
    fn read(self, number: usize, folder: &Path) -> Result<Peer, String> {
        let name = self.name.unwrap_or_else(|| number.to_string());
        let about = |what: String| format!("peer `{name}`: {what}");
        let (role, address) = match (self.connect, self.accept) {
            (Some(address), None) => (Role::Connects, address),
            (None, Some(address)) => (Role::Accepts, address),
            _ => return Err(about("it needs either `connect` or `accept`".to_owned())),
        };
        let address = socket_address(&address).ok_or_else(|| {
            about(format!(
                "`{address}` is no address: write `127.0.0.1:80`, `[::1]:80`, `/path/of/a/socket` or `@name`"
            ))
        })?;
        let steps = self.steps.into_iter().map(|step| step.read(folder));
        let steps = steps.collect::<Result<Vec<_>, _>>().map_err(about)?;
        if self.repeat && !steps.iter().any(receives) {
            return Err(about("with `repeat` a step has to receive something".to_owned()));
        }
        Ok(Peer { name, role, address, steps, repeats: self.repeat })
    }
}

/// Whether a step waits for the program to send something or to close the connection.
fn receives(step: &Step) -> bool {
    match step {
        Step::Expect(bytes) | Step::Until(bytes) => !bytes.is_empty(),
        Step::Receive(count) => *count > 0,
        Step::Rest => true,
        Step::Send(_) | Step::Reply(_) => false,
    }
}

impl StepText {
    fn read(self, folder: &Path) -> Result<Step, String> {
        Ok(match self {
            Self::Send(text) => Step::Send(text.into_bytes()),
            Self::SendFile(file) => Step::Send(content(folder, &file)?),
            Self::Expect(text) => Step::Expect(text.into_bytes()),
            Self::Receive(count) => Step::Receive(count),
            Self::Until(text) => Step::Until(text.into_bytes()),
            Self::Rest(true) => Step::Rest,
            Self::Rest(false) => return Err("`rest` can only be true".to_owned()),
            Self::Reply(replies) => {
                Step::Reply(replies.into_iter().map(|reply| reply.read(folder)).collect::<Result<_, _>>()?)
            }
        })
    }
}

impl ReplyText {
    fn read(self, folder: &Path) -> Result<(Vec<u8>, Vec<u8>), String> {
        let bytes = match (self.send, self.send_file) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(file)) => content(folder, &file)?,
            _ => return Err("a reply needs either `send` or `send_file`".to_owned()),
        };
        Ok((self.when.into_bytes(), bytes))
    }
}

fn content(folder: &Path, file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(folder.join(file)).map_err(|error| format!("`{}`: {error}", file.display()))
}

/// An address as the C structure has it.
fn socket_address(text: &str) -> Option<Vec<u8>> {
    const UNIX: u16 = libc::AF_UNIX as u16;
    const V4: u16 = libc::AF_INET as u16;
    const V6: u16 = libc::AF_INET6 as u16;
    if let Some(name) = text.strip_prefix('@') {
        return Some([&UNIX.to_ne_bytes()[..], &[0], name.as_bytes()].concat());
    }
    if text.contains('/') {
        return Some([&UNIX.to_ne_bytes()[..], text.as_bytes()].concat());
    }
    let address: SocketAddr = text.parse().ok()?;
    let port = address.port().to_be_bytes();
    Some(match address {
        SocketAddr::V4(address) => [&V4.to_ne_bytes()[..], &port, &address.ip().octets(), &[0; 8]].concat(),
        SocketAddr::V6(address) => [&V6.to_ne_bytes()[..], &port, &[0; 4], &address.ip().octets(), &[0; 4]].concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Peer>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data"), [0, 255]).unwrap();
        let path = folder.path().join("peers.toml");
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_script_with_every_step() {
        let peers = read_text(
            r#"
            [[peer]]
            connect = "127.0.0.1:80"
            steps = [{ send = "a\r\n" }, { expect = "b" }, { receive = 3 }, { rest = true }]
            [[peer]]
            name = "mirror"
            accept = "@name"
            repeat = true
            steps = [{ until = "c" }, { reply = [{ when = "d", send_file = "data" }, { send = "e" }] }, { send_file = "data" }]
            "#,
        )
        .unwrap();
        let bytes = |text: &str| text.as_bytes().to_vec();
        let steps = vec![Step::Send(bytes("a\r\n")), Step::Expect(bytes("b")), Step::Receive(3), Step::Rest];
        let address = vec![2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let first = Peer { name: "1".into(), role: Role::Connects, address, steps, repeats: false };
        let replies = Step::Reply(vec![(bytes("d"), vec![0, 255]), (Vec::new(), bytes("e"))]);
        let steps = vec![Step::Until(bytes("c")), replies, Step::Send(vec![0, 255])];
        let address = vec![1, 0, 0, b'n', b'a', b'm', b'e'];
        let second = Peer { name: "mirror".into(), role: Role::Accepts, address, steps, repeats: true };
        assert_eq!(peers, [first, second]);
    }

    #[test]
    fn the_clients_of_a_recording_are_a_script() {
        let said = vec![Said::Received(b"get".to_vec()), Said::Sent(5), Said::Sent(7), Said::Received(b"x".to_vec())];
        let one = Connection { accepted: true, own: vec![2, 0, 1], other: vec![2, 0, 9], said };
        let made = Connection { accepted: false, ..one.clone() };
        let again = Connection { said: Vec::new(), ..made.clone() };
        let [server, client] = of_recording(&[made, again, one]).try_into().unwrap();
        assert_eq!((client.role, &client.address[..], client.repeats), (Role::Connects, &[2, 0, 1][..], false));
        assert_eq!((server.role, &server.address[..], server.repeats), (Role::Accepts, &[2, 0, 9][..], false));
        let steps = [Step::Send(b"get".to_vec()), Step::Receive(12), Step::Send(b"x".to_vec())];
        assert_eq!((&client.steps[..], &server.steps[..]), (&steps[..], &steps[..]));
        assert_eq!([&*server.name, &client.name], ["recorded server 1", "recorded client 1"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (script, expected) in [
            ("", "missing field `peer`"),
            ("peer = []", "no `[[peer]]`"),
            ("[[peer]]\nname = 'a'", "peer `a`: it needs either `connect` or `accept`"),
            ("[[peer]]\nconnect = 'nowhere'", "peer `1`: `nowhere` is no address"),
            ("[[peer]]\nconnect = '@a'\nsteps = [{ sned = '' }]", "unknown variant `sned`"),
            ("[[peer]]\nconnect = '@a'\nsteps = [{ send_file = 'none' }]", "`none`: No such file"),
            ("[[peer]]\naccept = '@a'\nrepeat = true", "has to receive something"),
            ("[[peer]]\naccept = '@a'\nsteps = [{ reply = [{ when = 'a' }] }]", "`send` or `send_file`"),
        ] {
            let message = read_text(script).unwrap_err();
            assert!(message.contains(expected), "{script}: {message}");
        }
    }
}
