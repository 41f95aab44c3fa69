//! `stdio.h`: streams and formatted input and output, with `syslog.h`, `err.h` and `error.h`.
//!
//! Using a stream is an access to its own cell ([`Effect::Stream`](super::Effect::Stream)): the library locks streams,
//! so uses depend on each other and do not race. Standard output and standard error have no such cell.

use model::AccessKind;

use super::Effect::{
    Behind, Computed, ComputedAfter, File, Keeps, KeepsIn, Kept, Opaque, Read, Returns, ReturnsState, State,
    StateWithout, StoresBlock, Stream, UnlockedStream, Unproved, Write, WriteAfter, WriteResult,
};
use super::HookArg::{Arg, Const, Result};
use super::Size::{Of, Product, ResultTimes, String, StringMax, WideString, WideStringMax};
use super::StateAccess::{Read as Read_, Write as Write_};
use super::{
    CHANGES_NAME, CHANGES_NAMED, CHANGES_TABLE, CHILDREN, CType, Effect, FROM_FOLDER, FileUse, Format, FormatArgs,
    LOOKS_UP, LibraryFunction, LibraryState, MASKED, Role, comes_out, computed, goes_in, row,
};

/// Writes to the open file in argument 0.
const WRITES: Effect = File(0, FileUse::Content(Write_));
/// Moves the position of the open file in argument 0.
const MOVES: Effect = File(0, FileUse::Description(Write_));
/// Closes the descriptor of the stream in argument 0.
const CLOSES: Effect = Computed(computed("__rp_add_closed", &[Arg(0)], &[], &[]));

/// Uses the stream `stdin`.
const STANDARD_INPUT: Effect = Computed(computed("__rp_add_standard_input", &[], &[], &[]));

/// The same without its lock.
const UNLOCKED_INPUT: Effect = Computed(computed("__rp_add_unlocked_input", &[], &[], &[]));
/// Fills the buffer that the program gave to standard output, if it did.
const OUTPUT_BUFFERS: Effect = Computed(computed(super::OUTPUT_BUFFER, &[], &[], &[]));
const OUTPUT_KEPT: Effect = Kept(LibraryState::StreamBuffers, AccessKind::Write);

/// A `printf` with its format in this argument and the arguments of the conversions behind it.
const fn print(format: u8) -> Effect {
    formatted(format, FormatArgs::From(format + 1), false, false)
}
/// The same with a `va_list` behind the format.
const fn print_list(format: u8) -> Effect {
    formatted(format, FormatArgs::List(format + 1), false, false)
}
/// A `scanf`.
const fn scan(format: u8) -> Effect {
    formatted(format, FormatArgs::From(format + 1), true, false)
}
/// The same with a `va_list`.
const fn scan_list(format: u8) -> Effect {
    formatted(format, FormatArgs::List(format + 1), true, false)
}
/// A `wprintf`.
const fn wide_print(format: u8) -> Effect {
    formatted(format, FormatArgs::From(format + 1), false, true)
}
/// The same with a `va_list`.
const fn wide_print_list(format: u8) -> Effect {
    formatted(format, FormatArgs::List(format + 1), false, true)
}
/// A `wscanf`.
const fn wide_scan(format: u8) -> Effect {
    formatted(format, FormatArgs::From(format + 1), true, true)
}
/// The same with a `va_list`.
const fn wide_scan_list(format: u8) -> Effect {
    formatted(format, FormatArgs::List(format + 1), true, true)
}
const fn formatted(format: u8, args: FormatArgs, scan: bool, wide: bool) -> Effect {
    Effect::Format(Format { format, args, scan, wide })
}

pub(super) const ROWS: &[LibraryFunction] = &[
    row("__asprintf_chk", 3, &[print(2), WriteAfter(0, Of(CType::Pointer)), StoresBlock(0)]).variadic(),
    row("__dprintf_chk", 3, &[print(2)]).variadic(),
    row("__fbufsize", 1, &[Stream(0)]),
    row(
        "__fgets_chk",
        4,
        &[
            Stream(3),
            ComputedAfter(computed("__rp_add_string_result", &[Const(0), Arg(0), Result, Arg(2)], &[], &[0])),
            Returns(0),
        ],
    ),
    row("__flbf", 1, &[Stream(0)]),
    row("__fpending", 1, &[Stream(0)]),
    row("__fprintf_chk", 3, &[Stream(0), print(2)]).variadic(),
    row("__fpurge", 1, &[Stream(0)]),
    row("__fread_chk", 5, &[Stream(4), WriteAfter(0, ResultTimes(2)), comes_out(0, LibraryState::Bytes)]),
    row("__freadable", 1, &[Stream(0)]),
    row("__freading", 1, &[Stream(0)]),
    row("__fsetlocking", 2, &[Stream(0)]),
    row("__fwprintf_chk", 3, &[Stream(0), wide_print(2)]).variadic(),
    row("__fwritable", 1, &[Stream(0)]),
    row("__fwriting", 1, &[Stream(0)]),
    row(
        "__getdelim",
        4,
        &[
            Read(0, Of(CType::Pointer)),
            Read(1, Of(CType::SizeT)),
            Stream(3),
            Write(0, Of(CType::Pointer)),
            Write(1, Of(CType::SizeT)),
            ComputedAfter(computed("__rp_add_line", &[Arg(0), Result], &[0], &[0])),
            Behind(0, AccessKind::Write),
            StoresBlock(0),
        ],
    ),
    row("__overflow", 2, &[Stream(0)]),
    row("__printf_chk", 2, &[print(1), OUTPUT_BUFFERS, OUTPUT_KEPT]).variadic(),
    row("__snprintf_chk", 5, &[print(4), WriteAfter(0, StringMax(1))]).variadic(),
    row("__sprintf_chk", 4, &[print(3), WriteAfter(0, String)]).variadic(),
    row("__swprintf_chk", 5, &[wide_print(4), WriteAfter(0, WideStringMax(1))]).variadic(),
    row("__uflow", 1, &[Stream(0)]),
    row("__vasprintf_chk", 4, &[print_list(2), WriteAfter(0, Of(CType::Pointer)), StoresBlock(0)]),
    row("__vdprintf_chk", 4, &[print_list(2)]),
    row("__vfprintf_chk", 4, &[Stream(0), print_list(2)]),
    row("__vfwprintf_chk", 4, &[Stream(0), wide_print_list(2)]),
    row("__vprintf_chk", 3, &[print_list(1), OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("__vsnprintf_chk", 6, &[print_list(4), WriteAfter(0, StringMax(1))]),
    row("__vsprintf_chk", 5, &[print_list(3), WriteAfter(0, String)]),
    row("__vswprintf_chk", 6, &[wide_print_list(4), WriteAfter(0, WideStringMax(1))]),
    row("__vwprintf_chk", 3, &[wide_print_list(1), OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("__wprintf_chk", 2, &[wide_print(1), OUTPUT_BUFFERS, OUTPUT_KEPT]).variadic(),
    row("asprintf", 2, &[print(1), WriteAfter(0, Of(CType::Pointer)), StoresBlock(0)]).variadic(),
    row("clearerr", 1, &[Stream(0)]),
    row("clearerr_unlocked", 1, &[UnlockedStream(0)]),
    row("closelog", 0, &[State(LibraryState::Syslog, Write_)]),
    row(
        "ctermid",
        1,
        &[
            StateWithout(0, LibraryState::CtermidBuffer, Write_),
            WriteAfter(0, String),
            WriteResult(String),
            Returns(0),
            ReturnsState(LibraryState::CtermidBuffer),
        ],
    ),
    row("dprintf", 2, &[WRITES, MOVES, print(1)]).variadic(),
    row("err", 2, &[print(1)]).variadic().role(Role::Exit(0)),
    row("error", 3, &[print(2)]).variadic(),
    row("errx", 2, &[print(1)]).variadic().role(Role::Exit(0)),
    row("fclose", 1, &[Stream(0), CLOSES, Write(0, Of(CType::File)), CHANGES_TABLE]).role(Role::Free(0)),
    row("fcloseall", 0, &[Opaque("closes all streams")]),
    row("fdopen", 2, &[Read(1, String), File(0, FileUse::Number)]).role(Role::AllocateInside),
    row("feof", 1, &[Stream(0)]),
    row("feof_unlocked", 1, &[UnlockedStream(0)]),
    row("ferror", 1, &[Stream(0)]),
    row("ferror_unlocked", 1, &[UnlockedStream(0)]),
    row("fflush", 1, &[Stream(0)]),
    row("fflush_unlocked", 1, &[UnlockedStream(0)]),
    row("fgetc", 1, &[Stream(0)]),
    row("fgetc_unlocked", 1, &[UnlockedStream(0)]),
    row("fgetpos", 2, &[Stream(0), Write(1, Of(CType::FilePosition))]),
    row(
        "fgets",
        3,
        &[
            Stream(2),
            ComputedAfter(computed("__rp_add_string_result", &[Const(0), Arg(0), Result, Arg(1)], &[], &[0])),
            Returns(0),
        ],
    ),
    row(
        "fgets_unlocked",
        3,
        &[
            UnlockedStream(2),
            ComputedAfter(computed("__rp_add_string_result", &[Const(0), Arg(0), Result, Arg(1)], &[], &[0])),
            Returns(0),
        ],
    ),
    row("fgetwc", 1, &[Stream(0)]),
    row("fgetwc_unlocked", 1, &[UnlockedStream(0)]),
    row(
        "fgetws",
        3,
        &[
            Stream(2),
            ComputedAfter(computed("__rp_add_string_result", &[Const(1), Arg(0), Result, Arg(1)], &[], &[0])),
            Returns(0),
        ],
    ),
    row(
        "fgetws_unlocked",
        3,
        &[
            UnlockedStream(2),
            ComputedAfter(computed("__rp_add_string_result", &[Const(1), Arg(0), Result, Arg(1)], &[], &[0])),
            Returns(0),
        ],
    ),
    row("fileno", 1, &[Stream(0)]),
    row("fileno_unlocked", 1, &[UnlockedStream(0)]),
    row("flockfile", 1, &[Stream(0)]),
    row("fmemopen", 3, &[Read(2, String), Keeps(0), Unproved("reads and writes the caller's memory as a stream")]),
    row(
        "fopen",
        2,
        &[Read(0, String), Read(1, String), CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    )
    .role(Role::AllocateInside),
    row("fopencookie", 3, &[Opaque("calls functions of the program for its input and output")]).variadic(),
    row("fprintf", 2, &[Stream(0), print(1)]).variadic(),
    row("fputc", 2, &[Stream(1)]),
    row("fputc_unlocked", 2, &[UnlockedStream(1)]),
    row("fputs", 2, &[Read(0, String), Stream(1)]),
    row("fputs_unlocked", 2, &[Read(0, String), UnlockedStream(1)]),
    row("fputwc", 2, &[Stream(1)]),
    row("fputwc_unlocked", 2, &[UnlockedStream(1)]),
    row("fputws", 2, &[Read(0, WideString), Stream(1)]),
    row("fputws_unlocked", 2, &[Read(0, WideString), UnlockedStream(1)]),
    row("fread", 4, &[Stream(3), WriteAfter(0, ResultTimes(1)), comes_out(0, LibraryState::Bytes)]),
    row("fread_unlocked", 4, &[UnlockedStream(3), WriteAfter(0, ResultTimes(1)), comes_out(0, LibraryState::Bytes)]),
    row(
        "freopen",
        3,
        &[
            Read(0, String),
            Read(1, String),
            Stream(2),
            Computed(computed("__rp_add_closed", &[Arg(2)], &[], &[])),
            CHANGES_NAME,
            FROM_FOLDER,
            MASKED,
            CHANGES_TABLE,
            CHANGES_NAMED,
            Returns(2),
        ],
    ),
    row("fscanf", 2, &[Stream(0), scan(1)]).variadic(),
    row("fseek", 3, &[Stream(0)]),
    row("fseeko", 3, &[Stream(0)]),
    row("fsetpos", 2, &[Read(1, Of(CType::FilePosition)), Stream(0)]),
    row("ftell", 1, &[Stream(0)]),
    row("ftello", 1, &[Stream(0)]),
    row("ftrylockfile", 1, &[Stream(0)]),
    row("funlockfile", 1, &[Stream(0)]),
    row("fwide", 2, &[Stream(0)]),
    row("fwprintf", 2, &[Stream(0), wide_print(1)]).variadic(),
    row("fwrite", 4, &[Read(0, Product(1, 2)), Stream(3), goes_in(0, LibraryState::Bytes)]),
    row("fwrite_unlocked", 4, &[Read(0, Product(1, 2)), UnlockedStream(3), goes_in(0, LibraryState::Bytes)]),
    row("fwscanf", 2, &[Stream(0), wide_scan(1)]).variadic(),
    row("getc", 1, &[Stream(0)]),
    row("getc_unlocked", 1, &[UnlockedStream(0)]),
    row("getchar", 0, &[STANDARD_INPUT]),
    row("getchar_unlocked", 0, &[UNLOCKED_INPUT, State(LibraryState::UnlockedInput, Write_)]),
    row(
        "getdelim",
        4,
        &[
            Read(0, Of(CType::Pointer)),
            Read(1, Of(CType::SizeT)),
            Stream(3),
            Write(0, Of(CType::Pointer)),
            Write(1, Of(CType::SizeT)),
            ComputedAfter(computed("__rp_add_line", &[Arg(0), Result], &[0], &[0])),
            Behind(0, AccessKind::Write),
            StoresBlock(0),
        ],
    ),
    row(
        "getline",
        3,
        &[
            Read(0, Of(CType::Pointer)),
            Read(1, Of(CType::SizeT)),
            Stream(2),
            Write(0, Of(CType::Pointer)),
            Write(1, Of(CType::SizeT)),
            ComputedAfter(computed("__rp_add_line", &[Arg(0), Result], &[0], &[0])),
            Behind(0, AccessKind::Write),
            StoresBlock(0),
        ],
    ),
    row(
        "gets",
        1,
        &[
            STANDARD_INPUT,
            ComputedAfter(computed("__rp_add_string_result", &[Const(0), Arg(0), Result, Const(u64::MAX)], &[], &[0])),
            Returns(0),
        ],
    ),
    row("getw", 1, &[Stream(0)]),
    row("getwc", 1, &[Stream(0)]),
    row("getwc_unlocked", 1, &[UnlockedStream(0)]),
    row("getwchar", 0, &[STANDARD_INPUT]),
    row("getwchar_unlocked", 0, &[UNLOCKED_INPUT, State(LibraryState::UnlockedInput, Write_)]),
    row(
        "open_memstream",
        2,
        &[
            Write(0, Of(CType::Pointer)),
            Write(1, Of(CType::SizeT)),
            Keeps(0),
            Keeps(1),
            Unproved("stores through its arguments in later calls"),
        ],
    ),
    row(
        "open_wmemstream",
        2,
        &[
            Write(0, Of(CType::Pointer)),
            Write(1, Of(CType::SizeT)),
            Keeps(0),
            Keeps(1),
            Unproved("stores through its arguments in later calls"),
        ],
    ),
    row("openlog", 3, &[Read(0, String), State(LibraryState::Syslog, Write_), Keeps(0)]),
    row("pclose", 1, &[Stream(0), Write(0, Of(CType::File)), CHANGES_TABLE, CHILDREN]).role(Role::Free(0)).by_runtime(),
    row("perror", 1, &[Read(0, String)]),
    row(
        "popen",
        2,
        &[
            Read(0, String),
            Read(1, String),
            CHILDREN,
            FROM_FOLDER,
            CHANGES_TABLE,
            State(LibraryState::Environment, Read_),
        ],
    )
    .role(Role::AllocateInside)
    .by_runtime(),
    row("printf", 1, &[print(0), OUTPUT_BUFFERS, OUTPUT_KEPT]).variadic(),
    row("putc", 2, &[Stream(1)]),
    row("putc_unlocked", 2, &[UnlockedStream(1)]),
    row("putchar", 1, &[OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("putchar_unlocked", 1, &[State(LibraryState::UnlockedOutput, Write_)]),
    row("puts", 1, &[Read(0, String), OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("putw", 2, &[Stream(1)]),
    row("putwc", 2, &[Stream(1)]),
    row("putwc_unlocked", 2, &[UnlockedStream(1)]),
    row("putwchar", 1, &[OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("putwchar_unlocked", 1, &[State(LibraryState::UnlockedOutput, Write_)]),
    row("remove", 1, &[Read(0, String), CHANGES_NAME, FROM_FOLDER]),
    row("rename", 2, &[Read(0, String), Read(1, String), CHANGES_NAME, FROM_FOLDER]),
    row("rewind", 1, &[Stream(0)]),
    row("scanf", 1, &[STANDARD_INPUT, scan(0)]).variadic(),
    row("setbuf", 2, &[Stream(0), KeepsIn(1, LibraryState::StreamBuffers)]),
    row("setbuffer", 3, &[Stream(0), KeepsIn(1, LibraryState::StreamBuffers)]),
    row("setlinebuf", 1, &[Stream(0)]),
    row("setlogmask", 1, &[State(LibraryState::Syslog, Write_)]),
    row("setvbuf", 4, &[Stream(0), KeepsIn(1, LibraryState::StreamBuffers)]),
    row("snprintf", 3, &[print(2), WriteAfter(0, StringMax(1))]).variadic(),
    row("sprintf", 2, &[print(1), WriteAfter(0, String)]).variadic(),
    row("sscanf", 2, &[Read(0, String), scan(1)]).variadic(),
    row("swprintf", 3, &[wide_print(2), WriteAfter(0, WideStringMax(1))]).variadic(),
    row("swscanf", 2, &[Read(0, WideString), wide_scan(1)]).variadic(),
    row("syslog", 2, &[State(LibraryState::Syslog, Write_), print(1)]).variadic(),
    row("tempnam", 2, &[Read(0, String), Read(1, String), State(LibraryState::Environment, Read_), LOOKS_UP])
        .role(Role::AllocateInside),
    row("tmpfile", 0, &[CHANGES_TABLE]).role(Role::AllocateInside),
    row(
        "tmpnam",
        1,
        &[
            StateWithout(0, LibraryState::TmpnamBuffer, Write_),
            WriteResult(String),
            Returns(0),
            ReturnsState(LibraryState::TmpnamBuffer),
        ],
    ),
    row("tmpnam_r", 1, &[LOOKS_UP, WriteAfter(0, String), Returns(0)]),
    row("ungetc", 2, &[Stream(1)]),
    row("ungetwc", 2, &[Stream(1)]),
    row("vasprintf", 3, &[print_list(1), WriteAfter(0, Of(CType::Pointer)), StoresBlock(0)]),
    row("vdprintf", 3, &[WRITES, MOVES, print_list(1)]),
    row("verr", 3, &[print_list(1)]).role(Role::Exit(0)),
    row("verrx", 3, &[print_list(1)]).role(Role::Exit(0)),
    row("vfprintf", 3, &[Stream(0), print_list(1)]),
    row("vfscanf", 3, &[Stream(0), scan_list(1)]),
    row("vfwprintf", 3, &[Stream(0), wide_print_list(1)]),
    row("vfwscanf", 3, &[Stream(0), wide_scan_list(1)]),
    row("vprintf", 2, &[print_list(0), OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("vscanf", 2, &[STANDARD_INPUT, scan_list(0)]),
    row("vsnprintf", 4, &[print_list(2), WriteAfter(0, StringMax(1))]),
    row("vsprintf", 3, &[print_list(1), WriteAfter(0, String)]),
    row("vsscanf", 3, &[Read(0, String), scan_list(1)]),
    row("vswprintf", 4, &[wide_print_list(2), WriteAfter(0, WideStringMax(1))]),
    row("vswscanf", 3, &[Read(0, WideString), wide_scan_list(1)]),
    row("vsyslog", 3, &[State(LibraryState::Syslog, Write_), print_list(1)]),
    row("vwarn", 2, &[print_list(0)]),
    row("vwarnx", 2, &[print_list(0)]),
    row("vwprintf", 2, &[wide_print_list(0), OUTPUT_BUFFERS, OUTPUT_KEPT]),
    row("vwscanf", 2, &[STANDARD_INPUT, wide_scan_list(0)]),
    row("warn", 1, &[print(0)]).variadic(),
    row("warnx", 1, &[print(0)]).variadic(),
    row("wprintf", 1, &[wide_print(0), OUTPUT_BUFFERS, OUTPUT_KEPT]).variadic(),
    row("wscanf", 1, &[STANDARD_INPUT, wide_scan(0)]).variadic(),
];

pub(super) const ALIASES: &[(&str, &str)] = &[
    ("_IO_feof", "feof"),
    ("_IO_ferror", "ferror"),
    ("_IO_getc", "getc"),
    ("_IO_putc", "putc"),
    ("__isoc23_fscanf", "fscanf"),
    ("__isoc23_fwscanf", "fwscanf"),
    ("__isoc23_scanf", "scanf"),
    ("__isoc23_sscanf", "sscanf"),
    ("__isoc23_swscanf", "swscanf"),
    ("__isoc23_vfscanf", "vfscanf"),
    ("__isoc23_vfwscanf", "vfwscanf"),
    ("__isoc23_vscanf", "vscanf"),
    ("__isoc23_vsscanf", "vsscanf"),
    ("__isoc23_vswscanf", "vswscanf"),
    ("__isoc23_vwscanf", "vwscanf"),
    ("__isoc23_wscanf", "wscanf"),
    ("__isoc99_fscanf", "fscanf"),
    ("__isoc99_fwscanf", "fwscanf"),
    ("__isoc99_scanf", "scanf"),
    ("__isoc99_sscanf", "sscanf"),
    ("__isoc99_swscanf", "swscanf"),
    ("__isoc99_vfscanf", "vfscanf"),
    ("__isoc99_vfwscanf", "vfwscanf"),
    ("__isoc99_vscanf", "vscanf"),
    ("__isoc99_vsscanf", "vsscanf"),
    ("__isoc99_vswscanf", "vswscanf"),
    ("__isoc99_vwscanf", "vwscanf"),
    ("__isoc99_wscanf", "wscanf"),
    ("fgetpos64", "fgetpos"),
    ("fopen64", "fopen"),
    ("freopen64", "freopen"),
    ("fseeko64", "fseeko"),
    ("fsetpos64", "fsetpos"),
    ("ftello64", "ftello"),
    ("tmpfile64", "tmpfile"),
];
