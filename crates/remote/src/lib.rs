//! Runs on another machine: the search here, the program and its runtime at a *target* there, TCP between them.
//!
//! The host connects and says what it is; the target answers with its architecture and the hash of its runtime. The host
//! builds the program for that architecture, with the target's runtime, and sends it. From then on one message with a
//! schedule is answered by one message with all that is known of its run: one round trip per execution. The target
//! makes its runs as they are made locally, with a checkpoint or by forking.
//!
//! *Invariant*: a connection has no state that its first messages do not set up again, and a run is a function of its
//! schedule. So a connection that is lost is made anew and the request that was not answered is sent again: no execution
//! is lost, and none is counted twice, because only an answer counts.
//!
//! Whoever can connect to a target can run programs as its user. There is no encryption and no password; a target
//! listens where it is told to, on the loopback interface if it is not told.
//!
//! | file | concept |
//! |---|---|
//! | `message` | what the two ends say, as bytes |
//! | `host` | the search's end: a backend of [`exec::Target`] |
//! | `server` | the target's end |

#![warn(clippy::undocumented_unsafe_blocks)]

mod error;
mod host;
mod message;
mod server;

pub use host::{Machine, launch};
pub use server::{LogEntry, Server};

/// Where a target listens if nothing else is said: on the loopback interface.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1";
/// The port of targets: RACE on a telephone.
pub const DEFAULT_PORT: u16 = 7223;

/// An address with the port of targets if it has none: `board`, `board:7000`, `::1`, `[::1]:7000`.
pub fn with_port(address: &str) -> String {
    let is_bare_v6 = address.parse::<std::net::Ipv6Addr>().is_ok();
    let has_port = address.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && (!host.contains(':') || (host.starts_with('[') && host.ends_with(']')))
    });
    match (is_bare_v6, has_port) {
        (true, _) => format!("[{address}]:{DEFAULT_PORT}"),
        (false, true) => address.to_owned(),
        (false, false) => format!("{address}:{DEFAULT_PORT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_port;

    #[test]
    fn addresses_get_a_port() {
        for (given, full) in [
            ("board", "board:7223"),
            ("board:7000", "board:7000"),
            ("10.0.0.7", "10.0.0.7:7223"),
            ("::1", "[::1]:7223"),
            ("[::1]", "[::1]:7223"),
            ("[::1]:7000", "[::1]:7000"),
        ] {
            assert_eq!(with_port(given), full);
        }
    }
}
