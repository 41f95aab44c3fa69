//! How far functions reach whose effects have no row of their own, or not a whole one: functions of well-known
//! libraries, by name.
//!
//! What such a function touches exactly is not known, so a program that calls one is never called safe. But its
//! documentation says whether it keeps what it is given, and whether it calls the program back after it has returned or
//! from another thread. That is all this table claims, under assumption A2. Functions that start threads of their own
//! (`lzma_stream_encoder_mt`), that load code or that are given functions to run later are not in it.

/// How far a function reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// The bytes that its arguments point to, while it is called. It keeps and stores no pointer and calls nothing; its
    /// result is a number, memory of its own, or points into an argument.
    Bytes,
    /// The same, but it stores the address of new memory through this argument, with pointers into that memory.
    Makes(u8),
    /// All that its arguments lead to, while it is called: it may store pointers there, make blocks, and call functions
    /// that it finds there.
    Arguments,
    /// All that functions of the same library were ever given, while one of them is called.
    Library(&'static str),
}

use Reach::{Arguments, Bytes, Library, Makes};

/// Functions of the C library and the kernel, sorted.
const OF_THE_SYSTEM: [(&str, Reach); 78] = [
    ("_Fork", Bytes),
    ("alarm", Bytes),
    ("backtrace", Bytes),
    ("backtrace_symbols", Bytes),
    ("backtrace_symbols_fd", Bytes),
    ("cfgetospeed", Bytes),
    ("chroot", Bytes),
    ("clock_settime", Bytes),
    ("copy_file_range", Bytes),
    ("daemon", Bytes),
    ("execl", Bytes),
    ("execle", Bytes),
    ("execlp", Bytes),
    ("execv", Bytes),
    ("execve", Bytes),
    ("execvp", Bytes),
    ("execvpe", Bytes),
    ("fexecve", Bytes),
    ("fgetxattr", Bytes),
    ("flistxattr", Bytes),
    ("flock", Bytes),
    ("fork", Bytes),
    ("freeaddrinfo", Bytes),
    ("freeifaddrs", Bytes),
    ("fsetxattr", Bytes),
    ("futimesat", Bytes),
    ("getaddrinfo", Makes(3)),
    ("getifaddrs", Makes(0)),
    ("getnameinfo", Bytes),
    ("getservbyname_r", Arguments),
    ("getservbyport_r", Arguments),
    ("getsubopt", Arguments),
    ("getxattr", Bytes),
    ("iconv", Arguments),
    ("if_indextoname", Bytes),
    ("if_nametoindex", Bytes),
    ("initgroups", Bytes),
    ("inotify_add_watch", Bytes),
    ("inotify_init", Bytes),
    ("inotify_init1", Bytes),
    ("inotify_rm_watch", Bytes),
    ("insque", Arguments),
    ("ioprio_set", Bytes),
    ("lgetxattr", Bytes),
    ("listxattr", Bytes),
    ("llistxattr", Bytes),
    ("lockf", Bytes),
    ("lsetxattr", Bytes),
    ("mincore", Bytes),
    ("mremap", Bytes),
    ("pclose", Bytes),
    ("popen", Bytes),
    ("posix_spawn", Bytes),
    ("posix_spawnp", Bytes),
    ("prctl", Bytes),
    ("remque", Arguments),
    ("sendfile", Bytes),
    ("setgroups", Bytes),
    ("setitimer", Bytes),
    ("settimeofday", Bytes),
    ("setxattr", Bytes),
    ("shm_open", Bytes),
    ("shm_unlink", Bytes),
    ("signalfd", Bytes),
    ("splice", Bytes),
    ("system", Bytes),
    ("tcflush", Bytes),
    ("tcgetattr", Bytes),
    ("tcsetattr", Bytes),
    ("tee", Bytes),
    ("timerfd_create", Bytes),
    ("timerfd_settime", Bytes),
    ("ualarm", Bytes),
    ("vfork", Bytes),
    ("wait", Bytes),
    ("wait3", Bytes),
    ("waitid", Bytes),
    ("waitpid", Bytes),
];

/// Functions of zlib and libarchive whose names begin like others', sorted.
const OF_LIBRARIES: [(&str, Reach); 50] = [
    ("adler32", Bytes),
    ("adler32_combine", Bytes),
    ("archive_clear_error", Arguments),
    ("archive_errno", Arguments),
    ("archive_error_string", Arguments),
    ("archive_filter_name", Arguments),
    ("archive_format", Arguments),
    ("archive_format_name", Arguments),
    ("compress2", Bytes),
    ("compressBound", Bytes),
    ("crc32", Bytes),
    ("crc32_combine", Bytes),
    ("deflate", Arguments),
    ("deflateBound", Arguments),
    ("deflateCopy", Arguments),
    ("deflateEnd", Arguments),
    ("deflateInit2_", Arguments),
    ("deflateInit_", Arguments),
    ("deflateParams", Arguments),
    ("deflatePending", Arguments),
    ("deflatePrime", Arguments),
    ("deflateReset", Arguments),
    ("deflateSetDictionary", Arguments),
    ("deflateSetHeader", Arguments),
    ("deflateTune", Arguments),
    ("gzclose", Arguments),
    ("gzdopen", Bytes),
    ("gzeof", Arguments),
    ("gzerror", Arguments),
    ("gzflush", Arguments),
    ("gzgets", Arguments),
    ("gzopen", Bytes),
    ("gzopen64", Bytes),
    ("gzputs", Arguments),
    ("gzread", Arguments),
    ("gzrewind", Arguments),
    ("gzwrite", Arguments),
    ("inflate", Arguments),
    ("inflateCopy", Arguments),
    ("inflateEnd", Arguments),
    ("inflateGetHeader", Arguments),
    ("inflateInit2_", Arguments),
    ("inflateInit_", Arguments),
    ("inflateReset", Arguments),
    ("inflateReset2", Arguments),
    ("inflateSetDictionary", Arguments),
    ("inflateSync", Arguments),
    ("uncompress", Bytes),
    ("uncompress2", Bytes),
    ("zlibVersion", Bytes),
];

/// Functions of libevent, sorted: they share bases, and the one that `event_init` makes for all events that name none. It
/// starts no thread and calls back from its own calls.
const OF_LIBEVENT: [&str; 38] = [
    "event_active",
    "event_add",
    "event_assign",
    "event_base_dispatch",
    "event_base_free",
    "event_base_get_method",
    "event_base_loop",
    "event_base_loopbreak",
    "event_base_loopexit",
    "event_base_new",
    "event_base_new_with_config",
    "event_base_once",
    "event_base_priority_init",
    "event_base_set",
    "event_config_avoid_method",
    "event_config_free",
    "event_config_new",
    "event_config_require_features",
    "event_config_set_flag",
    "event_del",
    "event_dispatch",
    "event_free",
    "event_get_base",
    "event_get_fd",
    "event_get_method",
    "event_get_version",
    "event_init",
    "event_initialized",
    "event_loop",
    "event_loopbreak",
    "event_loopexit",
    "event_new",
    "event_once",
    "event_pending",
    "event_priority_set",
    "event_reinit",
    "event_self_cbarg",
    "event_set",
];

/// Functions of other libraries by how their names begin, the longest first where several fit. `None` for those of which
/// nothing is claimed.
const BY_PREFIX: [(&str, Option<Reach>); 27] = [
    // libbz2: what a stream needs is in it.
    ("BZ2_bzBuffToBuff", Some(Bytes)),
    ("BZ2_bz", Some(Arguments)),
    // liblzma. The encoder and decoder with threads call the program's allocator from these.
    ("lzma_stream_encoder_mt", None),
    ("lzma_stream_decoder_mt", None),
    ("lzma_crc", Some(Bytes)),
    ("lzma_", Some(Arguments)),
    // lz4, lzo and snappy.
    ("LZ4F_", Some(Arguments)),
    ("LZ4_", Some(Bytes)),
    ("lzo1", Some(Bytes)),
    ("__lzo_init", Some(Bytes)),
    ("snappy_", Some(Bytes)),
    // libarchive: all is in the archive, entry or match object.
    ("archive_read_", Some(Arguments)),
    ("archive_write_", Some(Arguments)),
    ("archive_entry_", Some(Arguments)),
    ("archive_match_", Some(Arguments)),
    // libpcap and expat: all is in the handle or parser.
    ("pcap_", Some(Arguments)),
    ("XML_", Some(Arguments)),
    // The other parts of libevent.
    ("evbuffer_", Some(Library("libevent"))),
    ("bufferevent_", Some(Library("libevent"))),
    ("evhttp_", Some(Library("libevent"))),
    ("evutil_", Some(Library("libevent"))),
    ("evconnlistener_", Some(Library("libevent"))),
    // OpenSSL: tables of the library, with functions of the program.
    ("SSL_", Some(Library("OpenSSL"))),
    ("ERR_", Some(Library("OpenSSL"))),
    ("EVP_", Some(Library("OpenSSL"))),
    ("BIO_", Some(Library("OpenSSL"))),
    ("X509_", Some(Library("OpenSSL"))),
];

/// Devices whose calls keep no pointer, by the second byte of the request: block devices, files, file systems, terminals
/// and the network.
const DEVICES: [i64; 6] = [0x12, 0x54, 0x58, 0x66, 0x89, 0x94];

/// How far a function reaches, where that is known.
pub fn reach(name: &str) -> Option<Reach> {
    let exact = |table: &[(&str, Reach)]| Some(table[table.binary_search_by_key(&name, |(known, _)| known).ok()?].1);
    let of_libevent = || OF_LIBEVENT.binary_search(&name).ok().map(|_| Library("libevent"));
    let by_prefix = || BY_PREFIX.iter().find(|(prefix, _)| name.starts_with(prefix)).and_then(|(_, reach)| *reach);
    exact(&OF_THE_SYSTEM).or_else(|| exact(&OF_LIBRARIES)).or_else(of_libevent).or_else(by_prefix)
}

/// How far `ioctl` reaches with this request; `None` for one that is not known.
pub fn reach_of_request(request: Option<i64>) -> Reach {
    match request {
        Some(request) if DEVICES.contains(&(request >> 8 & 0xff)) => Arguments,
        // Others hand pointers back that an earlier call gave them.
        _ => Library("devices"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(OF_THE_SYSTEM.is_sorted_by_key(|(name, _)| *name));
        assert!(OF_LIBRARIES.is_sorted_by_key(|(name, _)| *name));
        assert!(OF_LIBEVENT.is_sorted());
    }

    #[test]
    fn the_longest_prefix_comes_first() {
        for (number, (prefix, _)) in BY_PREFIX.iter().enumerate() {
            let hidden = BY_PREFIX[..number].iter().find(|(earlier, _)| prefix.starts_with(earlier));
            assert_eq!(hidden, None, "{prefix} is never found");
        }
    }

    #[test]
    fn threads_of_a_library_are_not_claimed_away() {
        assert_eq!(reach("lzma_stream_encoder_mt"), None);
        assert_eq!(reach("lzma_code"), Some(Arguments));
        assert_eq!(reach("event_loop_thread"), None);
        assert_eq!(reach("wait"), Some(Bytes));
    }

    #[test]
    fn requests_to_unknown_devices_keep_pointers() {
        assert_eq!(reach_of_request(Some(0x5413)), Arguments);
        assert_eq!(reach_of_request(Some(0x4008_550d)), Library("devices"));
        assert_eq!(reach_of_request(None), Library("devices"));
    }
}
