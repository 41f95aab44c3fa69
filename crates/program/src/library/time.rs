//! `time.h`, `sys/time.h`, `sys/times.h`. The runtime gives each thread a clock of its own.

use super::Effect::{self, ComputedAfter, Opaque, Read, Returns, ReturnsState, State, Unproved, Write, WriteResult};
use super::HookArg::{Arg, Const, Result};
use super::Size::{Bytes, Of, String, WideString};
use super::StateAccess::{Read as Read_, Write as Write_};
use super::{CType, LibraryFunction, LibraryState, computed, row};

/// A timer that sends a signal when it expires.
const SENDS_LATER: &[Effect] = &[State(LibraryState::SignalActions, Read_), Unproved("sends a signal")];

pub(super) const ROWS: &[LibraryFunction] = &[
    row("alarm", 1, SENDS_LATER),
    row(
        "asctime",
        1,
        &[
            Read(0, Of(CType::Tm)),
            State(LibraryState::AsctimeBuffer, Write_),
            WriteResult(String),
            ReturnsState(LibraryState::AsctimeBuffer),
        ],
    ),
    row("asctime_r", 2, &[Read(0, Of(CType::Tm)), Write(1, Bytes(26)), Returns(1)]),
    row("clock", 0, &[]),
    row("clock_getcpuclockid", 2, &[Write(1, Of(CType::ClockId))]),
    row("clock_getres", 2, &[Write(1, Of(CType::Timespec))]),
    row("clock_gettime", 2, &[Write(1, Of(CType::Timespec))]),
    row("clock_settime", 2, &[Opaque("sets the clock")]),
    row(
        "ctime",
        1,
        &[
            Read(0, Of(CType::Time)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            State(LibraryState::LocaltimeBuffer, Write_),
            State(LibraryState::AsctimeBuffer, Write_),
            WriteResult(String),
            ReturnsState(LibraryState::AsctimeBuffer),
        ],
    ),
    row(
        "ctime_r",
        2,
        &[
            Read(0, Of(CType::Time)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            Write(1, Bytes(26)),
            Returns(1),
        ],
    ),
    row("difftime", 2, &[]),
    row("ftime", 1, &[Write(0, Of(CType::Timeb))]),
    row("getdate", 1, &[Opaque("reads a template file")]),
    row("getitimer", 2, &[Write(1, Of(CType::Itimerval))]),
    row("getrusage", 2, &[Write(1, Of(CType::Rusage))]),
    row("gettimeofday", 2, &[Write(0, Of(CType::Timeval)), Write(1, Of(CType::Timezone))]),
    row(
        "gmtime",
        1,
        &[
            Read(0, Of(CType::Time)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            State(LibraryState::LocaltimeBuffer, Write_),
            WriteResult(Of(CType::Tm)),
            ReturnsState(LibraryState::LocaltimeBuffer),
        ],
    ),
    row(
        "gmtime_r",
        2,
        &[
            Read(0, Of(CType::Time)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            Write(1, Of(CType::Tm)),
            Returns(1),
        ],
    ),
    row(
        "localtime",
        1,
        &[
            Read(0, Of(CType::Time)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            State(LibraryState::LocaltimeBuffer, Write_),
            WriteResult(Of(CType::Tm)),
            ReturnsState(LibraryState::LocaltimeBuffer),
        ],
    ),
    row(
        "localtime_r",
        2,
        &[
            Read(0, Of(CType::Time)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            Write(1, Of(CType::Tm)),
            Returns(1),
        ],
    ),
    row(
        "mktime",
        1,
        &[
            Read(0, Of(CType::Tm)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            Write(0, Of(CType::Tm)),
        ],
    ),
    row(
        "setitimer",
        3,
        &[
            Read(1, Of(CType::Itimerval)),
            State(LibraryState::SignalActions, Read_),
            Write(2, Of(CType::Itimerval)),
            Unproved("sends a signal"),
        ],
    ),
    row("settimeofday", 2, &[Opaque("sets the clock")]),
    row(
        "strftime",
        4,
        &[
            Read(2, String),
            Read(3, Of(CType::Tm)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            ComputedAfter(computed("__rp_add_produced", &[Const(1), Arg(0), Result], &[], &[0])),
        ],
    ),
    row(
        "strftime_l",
        5,
        &[
            Read(2, String),
            Read(3, Of(CType::Tm)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            ComputedAfter(computed("__rp_add_produced", &[Const(1), Arg(0), Result], &[], &[0])),
        ],
    ),
    row(
        "strptime",
        3,
        &[Read(0, String), Read(1, String), Read(2, Of(CType::Tm)), Write(2, Of(CType::Tm)), Returns(0)],
    ),
    row("time", 1, &[Write(0, Of(CType::Time))]),
    row(
        "timegm",
        1,
        &[
            Read(0, Of(CType::Tm)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            Write(0, Of(CType::Tm)),
        ],
    ),
    row(
        "timelocal",
        1,
        &[
            Read(0, Of(CType::Tm)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            Write(0, Of(CType::Tm)),
        ],
    ),
    row("timer_create", 3, &[Read(1, Of(CType::SignalEvent)), Write(2, Of(CType::Timer))]),
    row("timer_delete", 1, &[]),
    row("timer_getoverrun", 1, &[]),
    row("timer_gettime", 2, &[Write(1, Of(CType::Itimerspec))]),
    row(
        "timer_settime",
        4,
        &[
            Read(2, Of(CType::Itimerspec)),
            State(LibraryState::SignalActions, Read_),
            Write(3, Of(CType::Itimerspec)),
            Unproved("sends a signal"),
        ],
    ),
    row("times", 1, &[Write(0, Of(CType::Tms))]),
    row("timespec_get", 2, &[Write(0, Of(CType::Timespec))]),
    row("timespec_getres", 2, &[Write(0, Of(CType::Timespec))]),
    row("tzset", 0, &[State(LibraryState::Environment, Read_), State(LibraryState::TimeZone, Write_)]),
    row("ualarm", 2, SENDS_LATER),
    row(
        "wcsftime",
        4,
        &[
            Read(2, WideString),
            Read(3, Of(CType::Tm)),
            State(LibraryState::Environment, Read_),
            State(LibraryState::TimeZone, Write_),
            ComputedAfter(computed("__rp_add_produced", &[Const(4), Arg(0), Result], &[], &[0])),
        ],
    ),
];
