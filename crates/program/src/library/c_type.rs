//! Types of the C and C++ libraries whose size the rows need, and their sizes by architecture.
//!
//! The sizes are those of the GNU libraries. A test of the crate `llvm` compiles a program for each architecture and
//! compares: it includes the headers of every type and states every size.
//!
//! A further architecture is a variant of [`Architecture`], a column here and a case of that test. Until it has a column,
//! sizes on it are not known: an access covers the whole object.

use crate::Architecture;

/// The language that a type belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
}

macro_rules! types {
    ($($language:ident { $($name:ident = $spelling:literal in $header:literal, $x86_64:literal, $aarch64:literal;)* })*) => {
        /// A type of the C or C++ library.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum CType {
            $($(#[doc = concat!("`", $spelling, "`.")] $name,)*)*
        }

        impl CType {
            /// All of them.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];

            /// As a program spells it.
            pub fn spelling(self) -> &'static str {
                match self { $($(Self::$name => $spelling,)*)* }
            }

            /// The header that defines it; empty for types of the language.
            pub fn header(self) -> &'static str {
                match self { $($(Self::$name => $header,)*)* }
            }

            /// The language it belongs to.
            pub fn language(self) -> Language {
                match self { $($(Self::$name => Language::$language,)*)* }
            }

            fn on_x86_64(self) -> u64 {
                match self { $($(Self::$name => $x86_64,)*)* }
            }

            fn on_aarch64(self) -> u64 {
                match self { $($(Self::$name => $aarch64,)*)* }
            }
        }
    };
}

impl CType {
    /// Its size in bytes; `None` for architectures without a table.
    pub fn size(self, architecture: Architecture) -> Option<u64> {
        match architecture {
            Architecture::X86_64 => Some(self.on_x86_64()),
            Architecture::Aarch64 => Some(self.on_aarch64()),
            Architecture::Other | Architecture::Other32 | Architecture::Other16 => None,
        }
    }
}

// Name, spelling, header, size on x86-64, size on aarch64.
types! {
    C {
        Addrinfo = "struct addrinfo" in "netdb.h", 48, 48;
        BarrierAttr = "pthread_barrierattr_t" in "pthread.h", 4, 8;
        Bool = "_Bool" in "", 1, 1;
        Char16 = "char16_t" in "uchar.h", 2, 2;
        Char32 = "char32_t" in "uchar.h", 4, 4;
        ClockId = "clockid_t" in "time.h", 4, 4;
        CondAttr = "pthread_condattr_t" in "pthread.h", 4, 8;
        Dirent = "struct dirent" in "dirent.h", 280, 280;
        DlInfo = "Dl_info" in "dlfcn.h", 32, 32;
        Double = "double" in "", 8, 8;
        Drand48Data = "struct drand48_data" in "stdlib.h", 24, 24;
        EpollEvent = "struct epoll_event" in "sys/epoll.h", 12, 16;
        EventCount = "eventfd_t" in "sys/eventfd.h", 8, 8;
        FdSet = "fd_set" in "sys/select.h", 128, 128;
        File = "FILE" in "stdio.h", 216, 216;
        FilePosition = "fpos_t" in "stdio.h", 16, 16;
        Float = "float" in "", 4, 4;
        FloatEnvironment = "fenv_t" in "fenv.h", 32, 8;
        FloatExceptions = "fexcept_t" in "fenv.h", 2, 4;
        Gid = "gid_t" in "sys/types.h", 4, 4;
        Glob = "glob_t" in "glob.h", 72, 72;
        Group = "struct group" in "grp.h", 32, 32;
        HostEntry = "struct hostent" in "netdb.h", 32, 32;
        InAddr = "struct in_addr" in "netinet/in.h", 4, 4;
        Int = "int" in "", 4, 4;
        Iovec = "struct iovec" in "sys/uio.h", 16, 16;
        Itimerval = "struct itimerval" in "sys/time.h", 32, 32;
        Itimerspec = "struct itimerspec" in "time.h", 32, 32;
        JumpBuffer = "jmp_buf" in "setjmp.h", 200, 312;
        LocaleConventions = "struct lconv" in "locale.h", 96, 96;
        Long = "long" in "", 8, 8;
        LongDouble = "long double" in "", 16, 16;
        LongLong = "long long" in "", 8, 8;
        Msghdr = "struct msghdr" in "sys/socket.h", 56, 56;
        MultibyteState = "mbstate_t" in "wchar.h", 8, 8;
        MutexAttr = "pthread_mutexattr_t" in "pthread.h", 4, 8;
        NetworkEntry = "struct netent" in "netdb.h", 24, 24;
        Passwd = "struct passwd" in "pwd.h", 48, 48;
        Pointer = "void *" in "", 8, 8;
        Pollfd = "struct pollfd" in "poll.h", 8, 8;
        Pthread = "pthread_t" in "pthread.h", 8, 8;
        PthreadAttr = "pthread_attr_t" in "pthread.h", 56, 64;
        PthreadKey = "pthread_key_t" in "pthread.h", 4, 4;
        RandomData = "struct random_data" in "stdlib.h", 48, 48;
        ProtocolEntry = "struct protoent" in "netdb.h", 24, 24;
        Regex = "regex_t" in "regex.h", 64, 64;
        Regmatch = "regmatch_t" in "regex.h", 8, 8;
        Rlimit = "struct rlimit" in "sys/resource.h", 16, 16;
        Rusage = "struct rusage" in "sys/resource.h", 144, 144;
        RwlockAttr = "pthread_rwlockattr_t" in "pthread.h", 8, 8;
        SchedParam = "struct sched_param" in "sched.h", 4, 4;
        ServiceEntry = "struct servent" in "netdb.h", 32, 32;
        Short = "short" in "", 2, 2;
        Sigaction = "struct sigaction" in "signal.h", 152, 152;
        Siginfo = "siginfo_t" in "signal.h", 128, 128;
        SignalEvent = "struct sigevent" in "signal.h", 64, 64;
        SignalSet = "sigset_t" in "signal.h", 128, 128;
        SignalStack = "stack_t" in "signal.h", 24, 24;
        SizeT = "size_t" in "stddef.h", 8, 8;
        Socklen = "socklen_t" in "sys/socket.h", 4, 4;
        Stat = "struct stat" in "sys/stat.h", 144, 128;
        Statfs = "struct statfs" in "sys/vfs.h", 120, 120;
        Statvfs = "struct statvfs" in "sys/statvfs.h", 112, 112;
        Statx = "struct statx" in "sys/stat.h", 256, 256;
        Sysinfo = "struct sysinfo" in "sys/sysinfo.h", 112, 112;
        Thrd = "thrd_t" in "threads.h", 8, 8;
        Time = "time_t" in "time.h", 8, 8;
        Timeb = "struct timeb" in "sys/timeb.h", 16, 16;
        Timespec = "struct timespec" in "time.h", 16, 16;
        Timeval = "struct timeval" in "sys/time.h", 16, 16;
        TimeZoneNames = "__typeof__(tzname)" in "time.h", 16, 16;
        Timezone = "struct timezone" in "sys/time.h", 8, 8;
        Timer = "timer_t" in "time.h", 8, 8;
        Tm = "struct tm" in "time.h", 56, 56;
        Tms = "struct tms" in "sys/times.h", 32, 32;
        TssKey = "tss_t" in "threads.h", 4, 4;
        Utsname = "struct utsname" in "sys/utsname.h", 390, 390;
        VaList = "__builtin_va_list" in "", 24, 32;
        WideChar = "wchar_t" in "wchar.h", 4, 4;
    }
    Cxx {
        CxxString = "std::string" in "string", 32, 32;
        CxxThread = "std::thread" in "thread", 8, 8;
        Exception = "std::exception" in "exception", 8, 8;
        ExceptionPtr = "std::exception_ptr" in "exception", 8, 8;
        FutureResult = "std::__future_base::_Result_base" in "future", 16, 16;
        LogicError = "std::logic_error" in "stdexcept", 16, 16;
        RehashPolicy = "std::__detail::_Prime_rehash_policy" in "unordered_map", 16, 16;
        RuntimeError = "std::runtime_error" in "stdexcept", 16, 16;
        TreeNode = "std::_Rb_tree_node_base" in "map", 32, 32;
    }
}
