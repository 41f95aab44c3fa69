//! Users, groups, hosts, networks, protocols, services and login records: `grp.h`, `pwd.h`, `netdb.h`, `utmpx.h`, and the
//! addresses of `arpa/inet.h`. Most answer in one buffer of the library, which the next call overwrites.

use super::Effect::{
    self, Computed, ComputedAfter, Opaque, Read, Returns, ReturnsState, State, StoresBlock, StoresPointer, Write,
    WriteAfter, WriteResult,
};
use super::HookArg::{Arg, Const, Result as Returned};
use super::Size::{Arg as Len, Of, String, StringMax};
use super::StateAccess::{Read as Read_, Write as Write_};
use super::{CType, LibraryFunction, LibraryState, computed, row};

/// The strings beside a `struct passwd`, beside a `struct group`, and the name in an entry of another data base.
const PASSWD_STRINGS: Effect = ComputedAfter(computed("__rp_add_strings", &[Returned, Const(0b11_1011)], &[], &[]));
const GROUP_STRINGS: Effect = ComputedAfter(computed("__rp_add_strings", &[Returned, Const(0b11)], &[], &[]));
const NAME_STRING: Effect = ComputedAfter(computed("__rp_add_strings", &[Returned, Const(1)], &[], &[]));

/// What functions do that answer in a buffer of the library's data bases.
const HOST: &[Effect] = &[
    State(LibraryState::Environment, Read_),
    State(LibraryState::HostEntry, Write_),
    WriteResult(Of(CType::HostEntry)),
    NAME_STRING,
    ReturnsState(LibraryState::HostEntry),
];
const NETWORK: &[Effect] = &[
    State(LibraryState::NetworkEntry, Write_),
    WriteResult(Of(CType::NetworkEntry)),
    NAME_STRING,
    ReturnsState(LibraryState::NetworkEntry),
];
const PROTOCOL: &[Effect] = &[
    State(LibraryState::ProtocolEntry, Write_),
    WriteResult(Of(CType::ProtocolEntry)),
    NAME_STRING,
    ReturnsState(LibraryState::ProtocolEntry),
];
const SERVICE: &[Effect] = &[
    State(LibraryState::ServiceEntry, Write_),
    WriteResult(Of(CType::ServiceEntry)),
    NAME_STRING,
    ReturnsState(LibraryState::ServiceEntry),
];
const LOGIN: &[Effect] = &[State(LibraryState::LoginRecord, Write_), ReturnsState(LibraryState::LoginRecord)];

pub(super) const ROWS: &[LibraryFunction] = &[
    row("endgrent", 0, &[State(LibraryState::GroupEntry, Write_)]),
    row("endhostent", 0, &[State(LibraryState::HostEntry, Write_)]),
    row("endnetent", 0, &[State(LibraryState::NetworkEntry, Write_)]),
    row("endprotoent", 0, &[State(LibraryState::ProtocolEntry, Write_)]),
    row("endpwent", 0, &[State(LibraryState::PasswordEntry, Write_)]),
    row("endservent", 0, &[State(LibraryState::ServiceEntry, Write_)]),
    row("endutxent", 0, &[State(LibraryState::LoginRecord, Write_)]),
    row("freeaddrinfo", 1, &[Computed(computed("__rp_add_address_list", &[Arg(0)], &[0], &[0]))]),
    row("gai_strerror", 1, &[]),
    row(
        "getaddrinfo",
        4,
        &[Read(0, String), Read(1, String), Read(2, Of(CType::Addrinfo)), Write(3, Of(CType::Pointer)), StoresBlock(3)],
    ),
    row(
        "getgrent",
        0,
        &[
            State(LibraryState::GroupEntry, Write_),
            WriteResult(Of(CType::Group)),
            GROUP_STRINGS,
            ReturnsState(LibraryState::GroupEntry),
        ],
    ),
    row(
        "getgrgid",
        1,
        &[
            State(LibraryState::GroupEntry, Write_),
            WriteResult(Of(CType::Group)),
            GROUP_STRINGS,
            ReturnsState(LibraryState::GroupEntry),
        ],
    ),
    row(
        "getgrgid_r",
        5,
        &[Write(1, Of(CType::Group)), Write(2, Len(3)), Write(4, Of(CType::Pointer)), StoresPointer(4, 1)],
    ),
    row(
        "getgrnam",
        1,
        &[
            Read(0, String),
            State(LibraryState::GroupEntry, Write_),
            WriteResult(Of(CType::Group)),
            GROUP_STRINGS,
            ReturnsState(LibraryState::GroupEntry),
        ],
    ),
    row(
        "getgrnam_r",
        5,
        &[
            Read(0, String),
            Write(1, Of(CType::Group)),
            Write(2, Len(3)),
            Write(4, Of(CType::Pointer)),
            StoresPointer(4, 1),
        ],
    ),
    row(
        "gethostbyaddr",
        3,
        &[
            Read(0, Len(1)),
            State(LibraryState::HostEntry, Write_),
            WriteResult(Of(CType::HostEntry)),
            NAME_STRING,
            ReturnsState(LibraryState::HostEntry),
        ],
    ),
    row(
        "gethostbyname",
        1,
        &[
            Read(0, String),
            State(LibraryState::HostEntry, Write_),
            WriteResult(Of(CType::HostEntry)),
            NAME_STRING,
            ReturnsState(LibraryState::HostEntry),
        ],
    ),
    row("gethostent", 0, HOST),
    row(
        "getlogin",
        0,
        &[State(LibraryState::LoginRecord, Write_), WriteResult(String), ReturnsState(LibraryState::LoginRecord)],
    ),
    row("getlogin_r", 2, &[WriteAfter(0, StringMax(1))]),
    row("getnetbyaddr", 2, NETWORK),
    row(
        "getnetbyname",
        1,
        &[
            Read(0, String),
            State(LibraryState::NetworkEntry, Write_),
            WriteResult(Of(CType::NetworkEntry)),
            NAME_STRING,
            ReturnsState(LibraryState::NetworkEntry),
        ],
    ),
    row("getnetent", 0, NETWORK),
    row(
        "getprotobyname",
        1,
        &[
            Read(0, String),
            State(LibraryState::ProtocolEntry, Write_),
            WriteResult(Of(CType::ProtocolEntry)),
            NAME_STRING,
            ReturnsState(LibraryState::ProtocolEntry),
        ],
    ),
    row("getprotobynumber", 1, PROTOCOL),
    row("getprotoent", 0, PROTOCOL),
    row(
        "getpwent",
        0,
        &[
            State(LibraryState::PasswordEntry, Write_),
            WriteResult(Of(CType::Passwd)),
            PASSWD_STRINGS,
            ReturnsState(LibraryState::PasswordEntry),
        ],
    ),
    row(
        "getpwnam",
        1,
        &[
            Read(0, String),
            State(LibraryState::PasswordEntry, Write_),
            WriteResult(Of(CType::Passwd)),
            PASSWD_STRINGS,
            ReturnsState(LibraryState::PasswordEntry),
        ],
    ),
    row(
        "getpwnam_r",
        5,
        &[
            Read(0, String),
            Write(1, Of(CType::Passwd)),
            Write(2, Len(3)),
            Write(4, Of(CType::Pointer)),
            StoresPointer(4, 1),
        ],
    ),
    row(
        "getpwuid",
        1,
        &[
            State(LibraryState::PasswordEntry, Write_),
            WriteResult(Of(CType::Passwd)),
            PASSWD_STRINGS,
            ReturnsState(LibraryState::PasswordEntry),
        ],
    ),
    row(
        "getpwuid_r",
        5,
        &[Write(1, Of(CType::Passwd)), Write(2, Len(3)), Write(4, Of(CType::Pointer)), StoresPointer(4, 1)],
    ),
    row(
        "getservbyname",
        2,
        &[
            Read(0, String),
            Read(1, String),
            State(LibraryState::ServiceEntry, Write_),
            WriteResult(Of(CType::ServiceEntry)),
            NAME_STRING,
            ReturnsState(LibraryState::ServiceEntry),
        ],
    ),
    row(
        "getservbyport",
        2,
        &[
            Read(1, String),
            State(LibraryState::ServiceEntry, Write_),
            WriteResult(Of(CType::ServiceEntry)),
            NAME_STRING,
            ReturnsState(LibraryState::ServiceEntry),
        ],
    ),
    row("getservent", 0, SERVICE),
    row("getutxent", 0, LOGIN),
    row(
        "getutxid",
        1,
        &[
            Opaque("reads a login record"),
            State(LibraryState::LoginRecord, Write_),
            ReturnsState(LibraryState::LoginRecord),
        ],
    ),
    row(
        "getutxline",
        1,
        &[
            Opaque("reads a login record"),
            State(LibraryState::LoginRecord, Write_),
            ReturnsState(LibraryState::LoginRecord),
        ],
    ),
    row("inet_addr", 1, &[Read(0, String)]),
    row("inet_aton", 2, &[Read(0, String), Write(1, Of(CType::InAddr))]),
    // POSIX allows one buffer for all threads, although the GNU C library has one for each.
    row(
        "inet_ntoa",
        1,
        &[State(LibraryState::InetBuffer, Write_), WriteResult(String), ReturnsState(LibraryState::InetBuffer)],
    ),
    row(
        "inet_ntop",
        4,
        &[
            Computed(computed("__rp_add_inet", &[Const(1), Arg(0), Arg(1)], &[1], &[])),
            ComputedAfter(computed("__rp_add_string_result", &[Const(0), Arg(2), Returned, Arg(3)], &[], &[2])),
            Returns(2),
        ],
    ),
    row(
        "inet_pton",
        3,
        &[Read(1, String), ComputedAfter(computed("__rp_add_inet", &[Const(2), Arg(0), Arg(2)], &[], &[2]))],
    ),
    row(
        "pututxline",
        1,
        &[
            Opaque("writes a login record"),
            State(LibraryState::LoginRecord, Write_),
            ReturnsState(LibraryState::LoginRecord),
        ],
    ),
    row("setgrent", 0, &[State(LibraryState::GroupEntry, Write_)]),
    row("sethostent", 1, &[State(LibraryState::HostEntry, Write_)]),
    row("setnetent", 1, &[State(LibraryState::NetworkEntry, Write_)]),
    row("setprotoent", 1, &[State(LibraryState::ProtocolEntry, Write_)]),
    row("setpwent", 0, &[State(LibraryState::PasswordEntry, Write_)]),
    row("setservent", 1, &[State(LibraryState::ServiceEntry, Write_)]),
    row("setutxent", 0, &[State(LibraryState::LoginRecord, Write_)]),
];
