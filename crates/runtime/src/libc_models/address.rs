//! Addresses of sockets: ports of this machine and names in the Unix domain.

use alloc::vec::Vec;
use core::ffi::c_int;

/// The address of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of this machine; `any`: at all of its addresses.
    Port {
        /// `AF_INET` or `AF_INET6`.
        family: u16,
        /// The machine's address; of version 4 in the first four bytes.
        host: [u8; 16],
        /// `host` is that for all addresses of the machine.
        any: bool,
        /// The port.
        port: u16,
    },
    /// A name in the Unix domain.
    Path(Vec<u8>),
}

/// Why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// The bytes are no address.
    Invalid,
    /// It belongs to another machine.
    Remote,
}

impl Address {
    /// The address of a socket that has none.
    pub fn none(family: u16) -> Self {
        match c_int::from(family) {
            libc::AF_UNIX => Self::Path(Vec::new()),
            _ => Self::Port { family, host: [0; 16], any: true, port: 0 },
        }
    }

    /// Reads the C structure for an address of this machine.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn parse(bytes: &[u8]) -> Result<Self, AddressError> {
        let address = Self::read(bytes).ok_or(AddressError::Invalid)?;
        if address.is_here() { Ok(address) } else { Err(AddressError::Remote) }
    }

    /// Reads the C structure for an address, also of another machine; nothing if it is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let family = bytes.first_chunk::<2>().map(|b| u16::from_ne_bytes(*b))?;
        let mut host = [0; 16];
        match c_int::from(family) {
            libc::AF_INET => host[..4].copy_from_slice(bytes.get(4..8)?),
            libc::AF_INET6 => host.copy_from_slice(bytes.get(8..24)?),
            libc::AF_UNIX => {
                let path = &bytes[2..];
                // Names that do not start with a zero byte end at one.
                let len = match path.first() {
                    Some(0) => path.len(),
                    _ => path.iter().position(|&c| c == 0).unwrap_or(path.len()),
                };
                return Some(Self::Path(path[..len].to_vec()));
            }
            _ => return None,
        }
        let port = bytes.get(2..4).map(|b| u16::from_be_bytes([b[0], b[1]]))?;
        Some(Self::Port { family, host, any: host == [0; 16], port })
    }

    /// Whether it belongs to this machine.
    fn is_here(&self) -> bool {
        match self {
            Self::Port { any: true, .. } | Self::Path(_) => true,
            Self::Port { family, host, .. } if i32::from(*family) == libc::AF_INET => host[0] == 127,
            Self::Port { host, .. } => *host == core::net::Ipv6Addr::LOCALHOST.octets(),
        }
    }

    /// Whether a listener with this address gets connections to `wanted`.
    pub fn serves(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (
                Self::Port { family, host, any, port },
                Self::Port { family: wanted_family, host: wanted_host, any: wanted_any, port: wanted_port },
            ) => port == wanted_port && family == wanted_family && (*any || *wanted_any || host == wanted_host),
            (Self::Path(here), Self::Path(wanted)) => here == wanted,
            _ => false,
        }
    }

    /// The C structure for it.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Port { family, host, port, .. } => {
                let mut bytes = Vec::from(family.to_ne_bytes());
                bytes.extend(port.to_be_bytes());
                if i32::from(*family) == libc::AF_INET {
                    bytes.extend(&host[..4]);
                    bytes.extend([0; 8]);
                } else {
                    bytes.extend([0; 4]);
                    bytes.extend(host);
                    bytes.extend([0; 4]);
                }
                bytes
            }
            Self::Path(path) => {
                let mut bytes = Vec::from((libc::AF_UNIX as u16).to_ne_bytes());
                bytes.extend(path);
                bytes
            }
        }
    }

    /// The same with the address of this machine in place of that for all of them: what others see of it.
    pub fn as_seen_here(self) -> Self {
        match self {
            Self::Port { family, any: true, port, .. } => {
                let mut host = core::net::Ipv6Addr::LOCALHOST.octets();
                if i32::from(family) == libc::AF_INET {
                    host = [0; 16];
                    host[..4].copy_from_slice(&core::net::Ipv4Addr::LOCALHOST.octets());
                }
                Self::Port { family, host, any: false, port }
            }
            other => other,
        }
    }

    /// The same with another port; a name in the Unix domain has none and stays.
    pub fn with_port(self, new: u16) -> Self {
        match self {
            Self::Port { family, host, any, .. } => Self::Port { family, host, any, port: new },
            path @ Self::Path(_) => path,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn inet(host: [u8; 4], port: u16) -> Vec<u8> {
        let mut bytes = Vec::from((libc::AF_INET as u16).to_ne_bytes());
        bytes.extend(port.to_be_bytes());
        bytes.extend(host);
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn addresses_of_this_machine() {
        let port = |host| Address::parse(&inet(host, 80));
        let (any, loopback) = (port([0; 4]).unwrap(), port([127, 0, 0, 1]).unwrap());
        assert!(any.serves(&loopback) && loopback.serves(&loopback));
        assert!(!loopback.serves(&port([127, 0, 0, 2]).unwrap()), "another address of this machine");
        assert!(!loopback.serves(&loopback.clone().with_port(81)));
        assert_eq!(port([10, 0, 0, 1]), Err(AddressError::Remote));
        assert_eq!(Address::parse(&inet([127, 0, 0, 1], 80)[..6]), Err(AddressError::Invalid), "cut off");
        assert_eq!(loopback.bytes(), inet([127, 0, 0, 1], 80));
    }

    #[test]
    fn names_in_the_unix_domain() {
        let named = |name: &[u8]| {
            let mut bytes = Vec::from((libc::AF_UNIX as u16).to_ne_bytes());
            bytes.extend(name);
            Address::parse(&bytes).unwrap()
        };
        assert_eq!(named(b"/tmp/s\0rest"), Address::Path(b"/tmp/s".to_vec()), "a path ends at a zero byte");
        assert_eq!(named(b"\0ab\0"), Address::Path(b"\0ab\0".to_vec()), "an abstract name does not");
        assert!(named(b"a").serves(&named(b"a\0")));
    }
}
