//! `string.h`, `strings.h` and the numbers in strings of `stdlib.h`.
//!
//! `strerror` and `strsignal` use thread-local buffers in the GNU C library.

use model::AccessKind;

use super::Effect::{
    Advances, Behind, Computed, ComputedAfter, Copies, KeepsIn, Kept, Read, Returns, ReturnsBehind, ReturnsKept, State,
    StoresPointer, Write, WriteAfter,
};
use super::HookArg::{Arg, Const, Result};
use super::Size::{Arg as Len, Of, String, StringMax};
use super::StateAccess;
use super::{CType, LibraryFunction, LibraryState, Role, computed, row};

/// `__rp_add_compare` flags.
pub(super) const WIDE: u64 = 1;
const FOLD: u64 = 2;
/// Kinds of `__rp_add`.
const READ: u64 = 1;

/// `__rp_add_number` for a floating number.
pub(super) const FLOAT: u64 = u64::MAX;
/// No limit.
pub(super) const ALL: u64 = u64::MAX;

pub(super) const ROWS: &[LibraryFunction] = &[
    row("__xpg_strerror_r", 3, &[WriteAfter(1, StringMax(2))]),
    row("atof", 1, &[Computed(computed("__rp_add_number", &[Arg(0), Const(FLOAT)], &[0], &[]))]),
    row("atoi", 1, &[Computed(computed("__rp_add_number", &[Arg(0), Const(10)], &[0], &[]))]),
    row("atol", 1, &[Computed(computed("__rp_add_number", &[Arg(0), Const(10)], &[0], &[]))]),
    row("atoll", 1, &[Computed(computed("__rp_add_number", &[Arg(0), Const(10)], &[0], &[]))]),
    row("basename", 1, &[Read(0, String), Returns(0)]),
    row("bcmp", 3, &[Read(0, Len(2)), Read(1, Len(2))]),
    row("bcopy", 3, &[Read(0, Len(2)), Write(1, Len(2)), Copies(1, 0)]),
    row("bzero", 2, &[Write(0, Len(1))]),
    row("dirname", 1, &[Read(0, String), Write(0, String), Returns(0)]),
    row("explicit_bzero", 2, &[Write(0, Len(1))]),
    row("ffs", 1, &[]),
    row("ffsl", 1, &[]),
    row("ffsll", 1, &[]),
    row("index", 2, &[Read(0, String), Returns(0)]),
    row(
        "memccpy",
        4,
        &[
            ComputedAfter(computed("__rp_add_copied", &[Arg(0), Arg(1), Result, Arg(3)], &[1], &[0])),
            Copies(0, 1),
            Returns(0),
        ],
    ),
    row(
        "memchr",
        3,
        &[ComputedAfter(computed("__rp_add_until", &[Const(READ), Arg(0), Result, Arg(2)], &[0], &[])), Returns(0)],
    ),
    row("memcmp", 3, &[Read(0, Len(2)), Read(1, Len(2))]),
    row("memcpy", 3, &[Read(1, Len(2)), Write(0, Len(2)), Copies(0, 1), Returns(0)]),
    row("memfrob", 2, &[Read(0, Len(1)), Write(0, Len(1)), Returns(0)]),
    row("memmem", 4, &[Read(0, Len(1)), Read(2, Len(3)), Returns(0)]),
    row("memmove", 3, &[Read(1, Len(2)), Write(0, Len(2)), Copies(0, 1), Returns(0)]),
    row("mempcpy", 3, &[Read(1, Len(2)), Write(0, Len(2)), Copies(0, 1), Returns(0)]),
    row("memrchr", 3, &[Read(0, Len(2)), Returns(0)]),
    row("memset", 3, &[Write(0, Len(2)), Returns(0)]),
    row(
        "rawmemchr",
        2,
        &[ComputedAfter(computed("__rp_add_until", &[Const(READ), Arg(0), Result, Const(0)], &[0], &[])), Returns(0)],
    ),
    row("rindex", 2, &[Read(0, String), Returns(0)]),
    row("stpcpy", 2, &[Read(1, String), WriteAfter(0, String), Returns(0)]),
    row("stpncpy", 3, &[Read(1, StringMax(2)), Write(0, Len(2)), Returns(0)]),
    row("strcasecmp", 2, &[compare(&[Arg(0), Arg(1), Const(ALL), Const(FOLD)])]),
    row("strcasestr", 2, &[Read(0, String), Read(1, String), Returns(0)]),
    row("strcat", 2, &[append(&[Arg(0), Arg(1), Const(ALL), Const(0)]), Returns(0)]),
    row("strchr", 2, &[Read(0, String), Returns(0)]),
    row(
        "strchrnul",
        2,
        &[ComputedAfter(computed("__rp_add_until", &[Const(READ), Arg(0), Result, Const(0)], &[0], &[])), Returns(0)],
    ),
    row("strcmp", 2, &[compare(&[Arg(0), Arg(1), Const(ALL), Const(0)])]),
    row("strcoll", 2, &[Read(0, String), Read(1, String), State(LibraryState::Locale, StateAccess::Read)]),
    row("strcpy", 2, &[Read(1, String), WriteAfter(0, String), Returns(0)]),
    row("strcspn", 2, &[Read(0, String), Read(1, String)]),
    row("strdup", 1, &[Read(0, String)]).role(Role::AllocateInside),
    row("strerror", 1, &[]),
    row("strerror_r", 3, &[WriteAfter(1, StringMax(2)), Returns(1)]),
    row("strfry", 1, &[Read(0, String), Write(0, String), Returns(0)]),
    row("strlen", 1, &[Read(0, String)]),
    row("strncasecmp", 3, &[compare(&[Arg(0), Arg(1), Arg(2), Const(FOLD)])]),
    row("strncat", 3, &[append(&[Arg(0), Arg(1), Arg(2), Const(0)]), Returns(0)]),
    row("strncmp", 3, &[compare(&[Arg(0), Arg(1), Arg(2), Const(0)])]),
    row("strncpy", 3, &[Read(1, StringMax(2)), Write(0, Len(2)), Returns(0)]),
    row("strndup", 2, &[Read(0, StringMax(1))]).role(Role::AllocateInside),
    row("strnlen", 2, &[Read(0, StringMax(1))]),
    row("strpbrk", 2, &[Read(0, String), Read(1, String), Returns(0)]),
    row("strrchr", 2, &[Read(0, String), Returns(0)]),
    row(
        "strsep",
        2,
        &[
            Computed(computed("__rp_add_separate", &[Arg(0), Arg(1)], &[0, 1], &[0])),
            Behind(0, AccessKind::Read),
            Behind(0, AccessKind::Write),
            Advances(0),
            ReturnsBehind(0),
        ],
    ),
    row("strsignal", 1, &[]),
    row("strspn", 2, &[Read(0, String), Read(1, String)]),
    row("strstr", 2, &[Read(0, String), Read(1, String), Returns(0)]),
    row("strtod", 2, NUMBER_FLOAT),
    row("strtod_l", 3, NUMBER_FLOAT),
    row("strtof", 2, NUMBER_FLOAT),
    row("strtof_l", 3, NUMBER_FLOAT),
    row("strtoimax", 3, NUMBER),
    row(
        "strtok",
        2,
        &[
            State(LibraryState::Strtok, StateAccess::Write),
            Computed(computed("__rp_add_token", &[Arg(0), Arg(1), Const(0)], &[0, 1], &[0])),
            Kept(LibraryState::Strtok, AccessKind::Read),
            Kept(LibraryState::Strtok, AccessKind::Write),
            KeepsIn(0, LibraryState::Strtok),
            Returns(0),
            ReturnsKept(LibraryState::Strtok),
        ],
    ),
    row(
        "strtok_r",
        3,
        &[
            Computed(computed("__rp_add_token", &[Arg(0), Arg(1), Arg(2)], &[0, 1, 2], &[0, 2])),
            Behind(2, AccessKind::Read),
            Behind(2, AccessKind::Write),
            Advances(2),
            StoresPointer(2, 0),
            Returns(0),
            ReturnsBehind(2),
        ],
    ),
    row("strtol", 3, NUMBER),
    row("strtol_l", 4, NUMBER),
    row("strtold", 2, NUMBER_FLOAT),
    row("strtold_l", 3, NUMBER_FLOAT),
    row("strtoll", 3, NUMBER),
    row("strtoll_l", 4, NUMBER),
    row("strtoq", 3, NUMBER),
    row("strtoul", 3, NUMBER),
    row("strtoul_l", 4, NUMBER),
    row("strtoull", 3, NUMBER),
    row("strtoull_l", 4, NUMBER),
    row("strtoumax", 3, NUMBER),
    row("strtouq", 3, NUMBER),
    row("strverscmp", 2, &[Read(0, String), Read(1, String)]),
    row("strxfrm", 3, &[Read(1, String), Write(0, Len(2))]),
    row("swab", 3, &[Read(0, Len(2)), Write(1, Len(2)), Copies(1, 0)]),
];

/// Reads both strings up to their first difference.
const fn compare(args: &'static [super::HookArg]) -> super::Effect {
    Computed(computed("__rp_add_compare", args, &[0, 1], &[]))
}

/// Reads both strings and writes the second behind the first.
const fn append(args: &'static [super::HookArg]) -> super::Effect {
    Computed(computed("__rp_add_append", args, &[0, 1], &[0]))
}

const NUMBER: &[super::Effect] = &[
    Computed(computed("__rp_add_number", &[Arg(0), Arg(2)], &[0], &[])),
    Write(1, Of(CType::Pointer)),
    StoresPointer(1, 0),
];
const NUMBER_FLOAT: &[super::Effect] = &[
    Computed(computed("__rp_add_number", &[Arg(0), Const(FLOAT)], &[0], &[])),
    Write(1, Of(CType::Pointer)),
    StoresPointer(1, 0),
];

pub(super) const ALIASES: &[(&str, &str)] = &[
    ("__bzero", "bzero"),
    ("__explicit_bzero_chk", "explicit_bzero"),
    ("__isoc23_strtoimax", "strtoimax"),
    ("__isoc23_strtol", "strtol"),
    ("__isoc23_strtol_l", "strtol_l"),
    ("__isoc23_strtoll", "strtoll"),
    ("__isoc23_strtoll_l", "strtoll_l"),
    ("__isoc23_strtoul", "strtoul"),
    ("__isoc23_strtoul_l", "strtoul_l"),
    ("__isoc23_strtoull", "strtoull"),
    ("__isoc23_strtoull_l", "strtoull_l"),
    ("__isoc23_strtoumax", "strtoumax"),
    ("__memcpy_chk", "memcpy"),
    ("__memmove_chk", "memmove"),
    ("__mempcpy", "mempcpy"),
    ("__mempcpy_chk", "mempcpy"),
    ("__memset_chk", "memset"),
    ("__rawmemchr", "rawmemchr"),
    ("__stpcpy", "stpcpy"),
    ("__stpcpy_chk", "stpcpy"),
    ("__stpncpy", "stpncpy"),
    ("__stpncpy_chk", "stpncpy"),
    ("__strcat_chk", "strcat"),
    ("__strcpy_chk", "strcpy"),
    ("__strdup", "strdup"),
    ("__strncat_chk", "strncat"),
    ("__strncpy_chk", "strncpy"),
    ("__strndup", "strndup"),
    ("__strtok_r", "strtok_r"),
    ("__strtol_internal", "strtol"),
    ("__xpg_basename", "dirname"),
];
