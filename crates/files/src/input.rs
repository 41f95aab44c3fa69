//! What a recorded program got from outside: its connections, with what was said on them.

use std::collections::BTreeMap;
use std::path::Path;

use wire::input::Happened;
use wire::log::block;

use crate::Error;
use crate::trace::blocks_of;

/// A connection with somebody outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Whether the program accepted it; otherwise it made it.
    pub accepted: bool,
    /// The address of the program's end, as the C structure has it.
    pub own: Vec<u8>,
    /// The address of the other end.
    pub other: Vec<u8>,
    /// What was said, in order.
    pub said: Vec<Said>,
}

/// What was said on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// The program received these bytes.
    Received(Vec<u8>),
    /// The program sent so many bytes.
    Sent(u32),
    /// The program closed it.
    Closed,
}

/// The connections of a recording, in the order in which they were opened. Those of the program with itself are not among
/// them. The rest of the file is not looked at.
///
/// # Errors
/// When the file cannot be read, or is no whole recording.
pub fn connections(path: &Path) -> Result<Vec<Connection>, Error> {
    from_bytes(&crate::read_bytes(path)?, path)
}

/// The same for a file's bytes; `path` is for messages.
fn from_bytes(bytes: &[u8], path: &Path) -> Result<Vec<Connection>, Error> {
    let blocks = blocks_of(bytes, path)?;
    let mut found = BTreeMap::new();
    for (at, head, bytes) in blocks.iter().filter(|(_, head, _)| head.kind == block::INPUT) {
        enter(&mut found, head.thread, bytes).ok_or_else(|| Error::Damaged {
            path: path.to_owned(),
            place: format!("byte {at}"),
            problem: "what it says of a connection makes no sense".to_owned(),
        })?;
    }
    Ok(without_own(found.into_values().collect()))
}

/// Adds what a block says.
fn enter(found: &mut BTreeMap<u32, Connection>, word: u32, bytes: &[u8]) -> Option<()> {
    let (happened, number) = Happened::of(word)?;
    let said = match happened {
        Happened::Accepted | Happened::Made => {
            let (own, rest) = address(bytes)?;
            let (other, rest) = address(rest)?;
            let accepted = happened == Happened::Accepted;
            found.insert(number, Connection { accepted, own: own.to_vec(), other: other.to_vec(), said: Vec::new() });
            return rest.is_empty().then_some(());
        }
        Happened::Received => Said::Received(bytes.to_vec()),
        Happened::Sent => Said::Sent(u32::from_le_bytes(bytes.try_into().ok()?)),
        Happened::Closed => Said::Closed,
    };
    found.get_mut(&number)?.said.push(said);
    Some(())
}

/// An address with its length before it, and what follows.
fn address(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*len))
}

/// Without connections of which the program has both ends.
fn without_own(all: Vec<Connection>) -> Vec<Connection> {
    let ends = |connection: &Connection| (connection.own.clone(), connection.other.clone());
    let known: std::collections::BTreeSet<_> = all.iter().map(ends).collect();
    all.into_iter().filter(|one| !known.contains(&(one.other.clone(), one.own.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{sealed, start};

    /// The blocks of connections, as the recorder writes them.
    fn to_bytes(connections: &[Connection]) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, Connection { accepted, own, other, said }) in (0u32..).zip(connections) {
            let mut add =
                |happened: Happened, bytes: &[u8]| out.extend(sealed(block::INPUT, happened.on(number), bytes));
            let ends = [&[own.len() as u8][..], own, &[other.len() as u8], other].concat();
            add(if *accepted { Happened::Accepted } else { Happened::Made }, &ends);
            for said in said {
                match said {
                    Said::Received(bytes) => add(Happened::Received, bytes),
                    Said::Sent(count) => add(Happened::Sent, &count.to_le_bytes()),
                    Said::Closed => add(Happened::Closed, &[]),
                }
            }
        }
        out
    }

    fn connection(accepted: bool, own: u8, other: u8) -> Connection {
        let said = vec![Said::Received(b"get".to_vec()), Said::Sent(5), Said::Sent(7), Said::Closed];
        Connection { accepted, own: vec![2, 0, own], other: vec![2, 0, other], said }
    }

    fn read(connections: &[Connection]) -> Vec<Connection> {
        from_bytes(&[start(), to_bytes(connections)].concat(), Path::new("trace")).unwrap()
    }

    #[test]
    fn connections_are_read_as_they_were_written() {
        let all = [connection(true, 1, 2), connection(true, 1, 3), connection(false, 9, 4)];
        assert_eq!(read(&all), all);
        assert_eq!(read(&[]), []);
    }

    #[test]
    fn connections_of_the_program_with_itself_are_no_input() {
        let outside = connection(true, 1, 2);
        let all = [connection(false, 5, 1), outside.clone(), connection(true, 1, 5)];
        assert_eq!(read(&all), [outside]);
    }

    #[test]
    fn nonsense_is_refused() {
        let one = connection(true, 1, 2);
        let good = [start(), to_bytes(std::slice::from_ref(&one))].concat();
        for bad in [
            sealed(block::INPUT, Happened::Sent.on(0), &[1]),
            sealed(block::INPUT, Happened::Received.on(7), b"of an unknown connection"),
            sealed(block::INPUT, Happened::Made.on(1), &[200, 0]),
            sealed(block::INPUT, 9 << 28, &[]),
        ] {
            let refused = from_bytes(&[good.clone(), bad].concat(), Path::new("trace"));
            assert!(matches!(refused, Err(Error::Damaged { .. })), "{refused:?}");
        }
        let cut = &good[..good.len() - 1];
        assert!(matches!(from_bytes(cut, Path::new("trace")), Err(Error::Truncated { .. })));
    }
}
