//! Peers: what the environment does at the other end of a program's connections.
//!
//! The host writes the script into the shared memory once, before the process starts: each number has four bytes, each
//! text its length before it. The runtime plays it in threads of the schedule.

use alloc::string::String;
use alloc::vec::Vec;

/// One end of connections outside the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// What reports call it.
    pub name: String,
    /// Who connects.
    pub role: Role,
    /// The address as the C structure has it.
    pub address: Vec<u8>,
    /// What it does on a connection, in order; then it closes it.
    pub steps: Vec<Step>,
    /// It begins again with the first step until the program closes the connection.
    pub repeats: bool,
}

/// Who connects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The peer, once, to an address at which the program listens.
    Connects,
    /// The program, any number of times.
    Accepts,
}

/// A step of a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Receives as many bytes as these; others are a failure.
    Expect(Vec<u8>),
    /// Receives this many bytes.
    Receive(u32),
    /// Receives everything up to these bytes, and them.
    Until(Vec<u8>),
    /// Sends the second text of the first pair whose first text is part of what was received since the last reply.
    Reply(Vec<(Vec<u8>, Vec<u8>)>),
    /// Receives until the program closes the connection.
    Rest,
}

/// A script that does not have the form that [`encode`] gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// The bytes for a script.
pub fn encode(peers: &[Peer]) -> Vec<u8> {
    let mut out = Vec::new();
    number(&mut out, peers.len());
    for Peer { name, role, address, steps, repeats } in peers {
        text(&mut out, name.as_bytes());
        number(&mut out, usize::from(*role == Role::Accepts));
        text(&mut out, address);
        number(&mut out, usize::from(*repeats));
        number(&mut out, steps.len());
        steps.iter().for_each(|step| encode_step(step, &mut out));
    }
    out
}

fn encode_step(step: &Step, out: &mut Vec<u8>) {
    let (kind, bytes) = match step {
        Step::Send(bytes) => (0, bytes),
        Step::Expect(bytes) => (1, bytes),
        Step::Until(bytes) => (2, bytes),
        Step::Receive(count) => {
            number(out, 3);
            return number(out, *count as usize);
        }
        Step::Rest => return number(out, 4),
        Step::Reply(pairs) => {
            number(out, 5);
            number(out, pairs.len());
            return pairs.iter().flat_map(|(when, send)| [when, send]).for_each(|bytes| text(out, bytes));
        }
    };
    number(out, kind);
    text(out, bytes);
}

fn number(out: &mut Vec<u8>, value: usize) {
    out.extend((value as u32).to_le_bytes());
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len());
    out.extend(bytes);
}

/// The script that these bytes stand for.
///
/// # Errors
/// When they stand for none.
pub fn decode(bytes: &[u8]) -> Result<Vec<Peer>, Malformed> {
    let mut rest = Rest(bytes);
    let count = rest.number()?;
    (0..count).map(|_| rest.peer()).collect()
}

/// What is not read yet.
struct Rest<'b>(&'b [u8]);

impl Rest<'_> {
    fn number(&mut self) -> Result<u32, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }
    fn text(&mut self) -> Result<Vec<u8>, Malformed> {
        let len = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(bytes.to_vec())
    }
    fn peer(&mut self) -> Result<Peer, Malformed> {
        Ok(Peer {
            name: String::from_utf8(self.text()?).map_err(|_| Malformed)?,
            role: if self.number()? == 0 { Role::Connects } else { Role::Accepts },
            address: self.text()?,
            repeats: self.number()? != 0,
            steps: {
                let count = self.number()?;
                (0..count).map(|_| self.step()).collect::<Result<_, _>>()?
            },
        })
    }
    fn step(&mut self) -> Result<Step, Malformed> {
        Ok(match self.number()? {
            0 => Step::Send(self.text()?),
            1 => Step::Expect(self.text()?),
            2 => Step::Until(self.text()?),
            3 => Step::Receive(self.number()?),
            4 => Step::Rest,
            5 => {
                let count = self.number()?;
                let pairs = (0..count).map(|_| Ok((self.text()?, self.text()?)));
                Step::Reply(pairs.collect::<Result<_, _>>()?)
            }
            _ => return Err(Malformed),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_script_is_read_as_it_was_written() {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let steps = vec![
            Step::Send(bytes("hello")),
            Step::Expect(bytes("")),
            Step::Receive(7),
            Step::Until(bytes("\r\n")),
            Step::Reply(vec![(bytes("a"), bytes("b")), (bytes(""), bytes("c"))]),
            Step::Rest,
        ];
        let peer =
            |role, repeats| Peer { name: "one".into(), role, address: bytes("address"), steps: steps.clone(), repeats };
        let script = vec![peer(Role::Connects, false), peer(Role::Accepts, true)];
        let encoded = encode(&script);
        assert_eq!(decode(&encoded), Ok(script));
        assert_eq!(decode(&encode(&[])), Ok(vec![]));
        for len in 0..encoded.len() {
            assert_eq!(decode(&encoded[..len]), Err(Malformed), "cut at {len}");
        }
    }
}
