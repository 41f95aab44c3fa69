//! Memory that belongs to the library: hidden buffers, positions and tables.

use Protection::{Locked, Unprotected};

use super::CType;

/// How an effect uses a [`LibraryState`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateAccess {
    /// Looks at it.
    Read,
    /// Changes it.
    Write,
}

/// Whether the library itself keeps concurrent calls apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protection {
    /// It does not: two calls, one changing the state, are a data race.
    Unprotected,
    /// It does, by a lock of its own: calls depend on each other but do not race.
    Locked,
}

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $protection:ident;)*) => {
        /// A piece of memory inside the library that calls share. Which functions are safe to call concurrently
        /// follows the "MT-Safe" notes of the GNU C library's manual.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum LibraryState {
            $($(#[$doc])* $name,)*
        }

        impl LibraryState {
            /// All of them, by index.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What a person calls it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            fn protection(self) -> Protection {
                match self { $(Self::$name => $protection,)* }
            }
        }
    };
}

states! {
    /// Time buffer of `asctime`, `ctime`.
    AsctimeBuffer = "the result buffer of `asctime`", Unprotected;
    /// Buffer of `crypt`.
    CryptBuffer = "the result buffer of `crypt`", Unprotected;
    /// Which descriptor number is free next, and what is open under each: kept by the kernel.
    Descriptors = "the table of open files", Locked;
    /// Standard output and standard error, as functions use them that take no lock.
    UnlockedOutput = "an output stream without its lock", Unprotected;
    /// Generator of `drand48` and its relatives.
    Drand48 = "the generator of `drand48`", Unprotected;
    /// The environment.
    Environment = "the environment", Unprotected;
    /// `optarg`, `optind` and what `getopt` remembers.
    Getopt = "the state of `getopt`", Unprotected;
    /// Result of the group database functions.
    GroupEntry = "the result buffer of `getgrnam`", Unprotected;
    /// Result of `gethostbyname` and relatives.
    HostEntry = "the result buffer of `gethostbyname`", Unprotected;
    /// Table of `hcreate`.
    HashTable = "the table of `hsearch`", Unprotected;
    /// Buffer of `inet_ntoa`.
    InetBuffer = "the result buffer of `inet_ntoa`", Unprotected;
    /// Buffer of `l64a`.
    L64aBuffer = "the result buffer of `l64a`", Unprotected;
    /// The locale.
    Locale = "the locale", Unprotected;
    /// Result of `localtime`, `gmtime`.
    LocaltimeBuffer = "the result buffer of `localtime` and `gmtime`", Unprotected;
    /// Shift states of the multibyte conversion functions.
    MultibyteState = "the shift state of the multibyte functions", Unprotected;
    /// Generator of `rand` and `random`, which the library locks.
    Random = "the generator of `rand`", Locked;
    /// Result of the user database functions.
    PasswordEntry = "the result buffer of `getpwnam`", Unprotected;
    /// Buffer of `ptsname`.
    PtsnameBuffer = "the result buffer of `ptsname`", Unprotected;
    /// What signals do, kept by the kernel.
    SignalActions = "the signal actions", Locked;
    /// Buffer of `setlocale`'s and `localeconv`'s results.
    LocaleConventions = "the result buffer of `localeconv`", Unprotected;
    /// Position of `strtok`.
    Strtok = "the position of `strtok`", Unprotected;
    /// Buffer of `tmpnam`.
    TmpnamBuffer = "the result buffer of `tmpnam`", Unprotected;
    /// Time zone (`tzname`, `timezone`), which the library locks.
    TimeZone = "the time zone", Locked;
    /// Buffer of `ttyname`.
    TtynameBuffer = "the result buffer of `ttyname`", Unprotected;
    /// Log connection of `syslog`, which the library locks.
    Syslog = "the connection of `syslog`", Locked;
    /// Users, groups, priorities and other attributes of the process, kept by the kernel.
    Process = "an attribute of the process", Locked;
    /// Buffer of `ctermid`.
    CtermidBuffer = "the result buffer of `ctermid`", Unprotected;
    /// Buffer of `ecvt` and `fcvt`.
    EcvtBuffer = "the result buffer of `ecvt`", Unprotected;
    /// Key of `setkey` and `encrypt`.
    EncryptionKey = "the key of `encrypt`", Unprotected;
    /// Result of the functions about login records.
    LoginRecord = "the result buffer of `getutxent`", Unprotected;
    /// Standard input, as functions use it that take no lock.
    UnlockedInput = "standard input without its lock", Unprotected;
    /// Result of `getnetbyname` and relatives.
    NetworkEntry = "the result buffer of `getnetbyname`", Unprotected;
    /// Result of `getprotobyname` and relatives.
    ProtocolEntry = "the result buffer of `getprotobyname`", Unprotected;
    /// Result of `getservbyname` and relatives.
    ServiceEntry = "the result buffer of `getservbyname`", Unprotected;
    /// The sign that `lgamma` leaves behind.
    GammaSign = "`signgam`", Unprotected;
    /// Pages of files that are mapped to be shared: each map of a file shows the same bytes.
    SharedMaps = "the shared maps of files", Unprotected;
    /// Buffers that the program gave to streams, which the library uses while it holds the lock of the stream.
    StreamBuffers = "the buffers of streams", Locked;
    /// Bytes on their way through descriptors, kept by the kernel.
    Bytes = "the bytes in pipes, sockets and files", Locked;
    /// What `epoll` is to wait for, and what it is to say then.
    Interests = "the interest lists of `epoll`", Locked;
    /// Which file each name stands for, and the folders that hold the names: kept by the kernel.
    Names = "the names of files", Locked;
    /// The working folder, where names begin that do not begin with a slash.
    Folder = "the working folder", Locked;
    /// The mask of permissions that new files do not get.
    FileMask = "the mask of new files", Locked;
    /// The limits of the process (`setrlimit`).
    Limits = "the limits of the process", Locked;
    /// The keys of thread-specific data that are in use.
    Keys = "the keys of thread-specific data", Locked;
    /// Names of threads and other attributes that any thread can ask for.
    ThreadAttributes = "the attributes of threads", Locked;
    /// Child processes and how they ended, kept by the kernel.
    Children = "the child processes", Locked;
}

impl LibraryState {
    /// Its number.
    pub fn index(self) -> u32 {
        self as u32
    }

    /// The variables that show it to programs: symbols with their types. A call that uses the state uses them, too.
    pub fn variables(self) -> &'static [(&'static str, CType)] {
        match self {
            Self::Environment => {
                &[("environ", CType::Pointer), ("__environ", CType::Pointer), ("_environ", CType::Pointer)]
            }
            Self::GammaSign => &[("signgam", CType::Int)],
            Self::Getopt => {
                &[("optarg", CType::Pointer), ("opterr", CType::Int), ("optind", CType::Int), ("optopt", CType::Int)]
            }
            Self::TimeZone => &[("daylight", CType::Int), ("timezone", CType::Long), ("tzname", CType::TimeZoneNames)],
            _ => &[],
        }
    }

    /// Whether the variable with this linker name shows it.
    pub fn has_variable(self, symbol: &str) -> bool {
        self.variables().iter().any(|(name, _)| *name == symbol)
    }
    /// Whether the variable with this linker name shows it and is a pointer.
    pub fn has_pointer(self, symbol: &str) -> bool {
        self.variables().iter().any(|(name, ty)| *name == symbol && *ty == CType::Pointer)
    }

    /// Whether the library itself keeps concurrent calls apart: they depend on each other without racing.
    pub fn is_locked(self) -> bool {
        self.protection() == Locked
    }

    /// Whether a thread that gets something out knows all that another did before it put that in.
    pub fn orders_passages(self) -> bool {
        self == Self::Interests
    }

    /// The argument of `__rp_add_state`: the index in bits 0..8, and in bits 8..32 the kind and order of the access as
    /// in the `kind` argument of `__rp_add`. A locked state is accessed by relaxed atomics: calls depend on each
    /// other without racing.
    pub fn code(self, access: StateAccess) -> u32 {
        const READ: u32 = 1;
        const READ_MODIFY_WRITE: u32 = 3;
        const RELAXED: u32 = 1;
        let kind = match access {
            StateAccess::Read => READ,
            StateAccess::Write => READ_MODIFY_WRITE,
        };
        let order = match self.protection() {
            Unprotected => 0,
            Locked => RELAXED,
        };
        self.index() | kind << 8 | order << 16
    }

    /// The state with this number.
    pub fn from_index(index: u32) -> Option<Self> {
        Self::ALL.get(index as usize).copied()
    }
}
