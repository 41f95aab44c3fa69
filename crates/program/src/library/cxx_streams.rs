//! Streams of libstdc++, by mangled name.
//!
//! Objects of the standard streams (`std::cout` …) may be used concurrently without a data race
//! ([iostream.objects.overview]); any other stream object may not, so using one is an access to it, and looking at it
//! (a member that is `const`) a read. A stream has several addresses: that of each of its bases. The hook
//! `__rp_add_iostream` finds the one object behind them, with the buffer that it uses, and knows the standard streams.
//!
//! What returns an object (`str`, `getloc`) has the place for it as its first argument, before the stream; base
//! constructors of classes with a virtual base have a table as their second one.

use model::AccessKind;

use super::Effect::{
    self, Behind, Calls, Computed, ComputedAfter, Read, Returns, State, StoresBlock, StoresPointer, Write, WriteAfter,
};
use super::HookArg::{Arg, Const};
use super::Size::{Arg as Len, Bytes, Of, String, StringMax};
use super::{
    CHANGES_NAME, CHANGES_NAMED, CHANGES_TABLE, CType, FROM_FOLDER, HookArg, LibraryFunction, LibraryState, MASKED,
    StateAccess, computed, row,
};

/// A class with `std::ios` as a virtual base.
const WITH_IOS: HookArg = Const(0);
/// `std::ios`, and what it is made of.
const IOS_ITSELF: HookArg = Const(1);
/// A buffer.
const BUFFER_ITSELF: HookArg = Const(2);
/// As [`WITH_IOS`], [`IOS_ITSELF`] and [`BUFFER_ITSELF`], where the object is only looked at.
const LOOKED_AT: [HookArg; 3] = [Const(4), Const(5), Const(6)];

/// Uses the stream in an argument.
const STREAM: Effect = Computed(computed("__rp_add_iostream", &[Arg(0), WITH_IOS], &[0], &[0]));
const STREAM_1: Effect = Computed(computed("__rp_add_iostream", &[Arg(1), WITH_IOS], &[1], &[1]));
/// Uses the state of a stream.
const IOS: Effect = Computed(computed("__rp_add_iostream", &[Arg(0), IOS_ITSELF], &[0], &[0]));
/// Uses a buffer.
const BUFFER: Effect = Computed(computed("__rp_add_iostream", &[Arg(0), BUFFER_ITSELF], &[0], &[0]));
const BUFFER_1: Effect = Computed(computed("__rp_add_iostream", &[Arg(1), BUFFER_ITSELF], &[1], &[1]));
/// Looks at a stream, its state, or a buffer.
const LOOKS: Effect = Computed(computed("__rp_add_iostream", &[Arg(0), LOOKED_AT[0]], &[0], &[]));
const LOOKS_1: Effect = Computed(computed("__rp_add_iostream", &[Arg(1), LOOKED_AT[0]], &[1], &[]));
const LOOKS_AT_IOS: Effect = Computed(computed("__rp_add_iostream", &[Arg(0), LOOKED_AT[1]], &[0], &[]));
const LOOKS_AT_IOS_1: Effect = Computed(computed("__rp_add_iostream", &[Arg(1), LOOKED_AT[1]], &[1], &[]));
const LOOKS_AT_BUFFER: Effect = Computed(computed("__rp_add_iostream", &[Arg(0), LOOKED_AT[2]], &[0], &[]));
const LOOKS_AT_BUFFER_1: Effect = Computed(computed("__rp_add_iostream", &[Arg(1), LOOKED_AT[2]], &[1], &[]));
/// Makes an object: nothing in it can be looked at before.
const NEW: Effect = Write(0, Of(CType::Pointer));
/// Reads the `std::string` in an argument.
pub(super) const STRING_1: Effect = Computed(computed("__rp_add_cxx_string", &[Arg(1)], &[1], &[]));
const STRING_2: Effect = Computed(computed("__rp_add_cxx_string", &[Arg(2)], &[2], &[]));
/// Its content may be in a block of its own.
pub(super) const CONTENT_1: Effect = Behind(1, AccessKind::Read);
const CONTENT_2: Effect = Behind(2, AccessKind::Read);
/// Makes a `std::string` in argument 0; its content is in the string itself or in a new block.
const TEXT: Effect = Write(0, Of(CType::CxxString));
const TEXT_BLOCK: Effect = StoresBlock(0);
const TEXT_INSIDE: Effect = StoresPointer(0, 0);
/// Gives the `std::string` in argument 1 another content: in the block that it has, in itself, or in a new block.
const TEXT_1: Effect = Write(1, Of(CType::CxxString));
const TEXT_1_WRITTEN: Effect = ComputedAfter(computed("__rp_add_cxx_text", &[Arg(1)], &[], &[1]));
const TEXT_1_CONTENT: Effect = Behind(1, AccessKind::Write);
const TEXT_1_BLOCK: Effect = StoresBlock(1);
const TEXT_1_INSIDE: Effect = StoresPointer(1, 1);

pub(super) const ROWS: &[LibraryFunction] = &[
    row(
        "_ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_AT_BUFFER_1],
    ),
    row(
        "_ZNKRSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_1],
    ),
    row(
        "_ZNKRSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_1],
    ),
    row(
        "_ZNKRSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_1],
    ),
    row("_ZNKSt15basic_streambufIcSt11char_traitsIcEE6getlocEv", 2, &[Write(0, Of(CType::Pointer)), LOOKS_AT_BUFFER_1]),
    row("_ZNKSt15basic_streambufIwSt11char_traitsIwEE6getlocEv", 2, &[Write(0, Of(CType::Pointer)), LOOKS_AT_BUFFER_1]),
    row("_ZNKSt6locale4nameB5cxx11Ev", 2, &[TEXT, TEXT_BLOCK, TEXT_INSIDE, Read(1, Of(CType::Pointer))]),
    row("_ZNKSt6locale4nameEv", 2, &[TEXT, TEXT_BLOCK, TEXT_INSIDE, Read(1, Of(CType::Pointer))]),
    row(
        "_ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_AT_BUFFER_1],
    ),
    row(
        "_ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_1],
    ),
    row(
        "_ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_1],
    ),
    row(
        "_ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, LOOKS_1],
    ),
    row("_ZNKSt8ios_base6getlocEv", 2, &[Write(0, Of(CType::Pointer)), LOOKS_AT_IOS_1]),
    row("_ZNKSt8ios_base7failureB5cxx114whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row(
        "_ZNOSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, BUFFER_1],
    ),
    row(
        "_ZNOSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, STREAM_1],
    ),
    row(
        "_ZNOSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, STREAM_1],
    ),
    row(
        "_ZNOSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv",
        2,
        &[TEXT, TEXT_BLOCK, TEXT_INSIDE, STREAM_1],
    ),
    row("_ZNSi10_M_extractIbEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Bool)), Returns(0)]),
    row("_ZNSi10_M_extractIdEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Double)), Returns(0)]),
    row("_ZNSi10_M_extractIeEERSiRT_", 2, &[STREAM, Write(1, Of(CType::LongDouble)), Returns(0)]),
    row("_ZNSi10_M_extractIfEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Float)), Returns(0)]),
    row("_ZNSi10_M_extractIjEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Int)), Returns(0)]),
    row("_ZNSi10_M_extractIlEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Long)), Returns(0)]),
    row("_ZNSi10_M_extractImEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Long)), Returns(0)]),
    row("_ZNSi10_M_extractItEERSiRT_", 2, &[STREAM, Write(1, Of(CType::Short)), Returns(0)]),
    row("_ZNSi10_M_extractIxEERSiRT_", 2, &[STREAM, Write(1, Of(CType::LongLong)), Returns(0)]),
    row("_ZNSi10_M_extractIyEERSiRT_", 2, &[STREAM, Write(1, Of(CType::LongLong)), Returns(0)]),
    row("_ZNSi3getERc", 2, &[STREAM, Write(1, Bytes(1)), Returns(0)]),
    row(
        "_ZNSi4readEPcl",
        3,
        &[STREAM, ComputedAfter(computed("__rp_add_gcount", &[Arg(0), Arg(1)], &[0], &[1])), Returns(0)],
    ),
    row("_ZNSi7getlineEPcl", 3, &[STREAM, WriteAfter(1, StringMax(2)), Returns(0)]),
    row("_ZNSi7getlineEPclc", 4, &[STREAM, WriteAfter(1, StringMax(2)), Returns(0)]),
    row("_ZNSirsEPFRSiS_E", 2, &[STREAM, Calls(1), Returns(0)]),
    row("_ZNSirsEPFRSt8ios_baseS0_E", 2, &[STREAM, Calls(1), Returns(0)]),
    row("_ZNSirsERb", 2, &[STREAM, Write(1, Of(CType::Bool)), Returns(0)]),
    row("_ZNSirsERd", 2, &[STREAM, Write(1, Of(CType::Double)), Returns(0)]),
    row("_ZNSirsERe", 2, &[STREAM, Write(1, Of(CType::LongDouble)), Returns(0)]),
    row("_ZNSirsERf", 2, &[STREAM, Write(1, Of(CType::Float)), Returns(0)]),
    row("_ZNSirsERi", 2, &[STREAM, Write(1, Of(CType::Int)), Returns(0)]),
    row("_ZNSirsERj", 2, &[STREAM, Write(1, Of(CType::Int)), Returns(0)]),
    row("_ZNSirsERl", 2, &[STREAM, Write(1, Of(CType::Long)), Returns(0)]),
    row("_ZNSirsERm", 2, &[STREAM, Write(1, Of(CType::Long)), Returns(0)]),
    row("_ZNSirsERs", 2, &[STREAM, Write(1, Of(CType::Short)), Returns(0)]),
    row("_ZNSirsERt", 2, &[STREAM, Write(1, Of(CType::Short)), Returns(0)]),
    row("_ZNSirsERx", 2, &[STREAM, Write(1, Of(CType::LongLong)), Returns(0)]),
    row("_ZNSirsERy", 2, &[STREAM, Write(1, Of(CType::LongLong)), Returns(0)]),
    row("_ZNSo5writeEPKcl", 3, &[STREAM, Read(1, Len(2)), Returns(0)]),
    row("_ZNSo9_M_insertIPKvEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertIbEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertIdEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertIeEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertIlEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertImEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertIxEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSo9_M_insertIyEERSoT_", 2, &[STREAM, Returns(0)]),
    row("_ZNSolsEPFRSoS_E", 2, &[STREAM, Calls(1), Returns(0)]),
    row("_ZNSolsEPFRSt8ios_baseS0_E", 2, &[STREAM, Calls(1), Returns(0)]),
    row("_ZNSolsEPFRSt9basic_iosIcSt11char_traitsIcEES3_E", 2, &[STREAM, Calls(1), Returns(0)]),
    row("_ZNSolsEPKv", 2, &[STREAM, Returns(0)]),
    row(
        "_ZNSt13basic_fstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
        3,
        &[Read(1, String), STREAM, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt13basic_fstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, STREAM, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt13basic_fstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode",
        3,
        &[Read(1, String), NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt13basic_fstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt13basic_fstreamIcSt11char_traitsIcEEC2EPKcSt13_Ios_Openmode",
        4,
        &[Read(2, String), NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt13basic_fstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
        3,
        &[Read(1, String), STREAM, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, STREAM, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode",
        3,
        &[Read(1, String), NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2EPKcSt13_Ios_Openmode",
        4,
        &[Read(2, String), NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
        3,
        &[Read(1, String), STREAM, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, STREAM, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode",
        3,
        &[Read(1, String), NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2EPKcSt13_Ios_Openmode",
        4,
        &[Read(2, String), NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, NEW, CHANGES_NAME, FROM_FOLDER, MASKED, CHANGES_TABLE, CHANGES_NAMED],
    ),
    row(
        "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, BUFFER],
    ),
    row(
        "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW],
    ),
    row("_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode", 2, &[NEW]),
    row(
        "_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW],
    ),
    row("_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode", 2, &[NEW]),
    row(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, Write(1, Of(CType::CxxString)), STREAM],
    ),
    row(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, STREAM],
    ),
    row(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, Write(1, Of(CType::CxxString)), NEW],
    ),
    row(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW],
    ),
    row("_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode", 2, &[NEW]),
    row(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, Write(2, Of(CType::CxxString)), NEW],
    ),
    row(
        "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, NEW],
    ),
    row("_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode", 3, &[NEW]),
    row(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, Write(1, Of(CType::CxxString)), STREAM],
    ),
    row(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, STREAM],
    ),
    row(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, Write(1, Of(CType::CxxString)), NEW],
    ),
    row(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW],
    ),
    row("_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode", 2, &[NEW]),
    row(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, Write(2, Of(CType::CxxString)), NEW],
    ),
    row(
        "_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, NEW],
    ),
    row("_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode", 3, &[NEW]),
    row(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, Write(1, Of(CType::CxxString)), STREAM],
    ),
    row(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE",
        2,
        &[STRING_1, CONTENT_1, STREAM],
    ),
    row(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, Write(1, Of(CType::CxxString)), NEW],
    ),
    row(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        3,
        &[STRING_1, CONTENT_1, NEW],
    ),
    row("_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode", 2, &[NEW]),
    row(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, Write(2, Of(CType::CxxString)), NEW],
    ),
    row(
        "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode",
        4,
        &[STRING_2, CONTENT_2, NEW],
    ),
    row("_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode", 3, &[NEW]),
    row("_ZNSt8ios_base15sync_with_stdioEb", 1, &[State(LibraryState::Process, StateAccess::Write)]),
    row("_ZNSt8ios_base4InitC1Ev", 1, &[]),
    row("_ZNSt8ios_base4InitC2Ev", 1, &[]),
    row("_ZNSt8ios_base4InitD1Ev", 1, &[]),
    row("_ZNSt8ios_base4InitD2Ev", 1, &[]),
    row("_ZNSt8ios_base6xallocEv", 0, &[]),
    row("_ZNSt8ios_base7failureB5cxx11D1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt8ios_base7failureB5cxx11D2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row(
        "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l",
        3,
        &[STREAM, Read(1, Len(2)), Returns(0)],
    ),
    row("_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", 1, &[STREAM, Returns(0)]),
    row("_ZSt4endsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", 1, &[STREAM, Returns(0)]),
    row("_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", 1, &[STREAM, Returns(0)]),
    row(
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        2,
        &[STREAM, TEXT_1, TEXT_1_WRITTEN, TEXT_1_CONTENT, TEXT_1_BLOCK, TEXT_1_INSIDE, Returns(0)],
    ),
    row(
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_",
        3,
        &[STREAM, TEXT_1, TEXT_1_WRITTEN, TEXT_1_CONTENT, TEXT_1_BLOCK, TEXT_1_INSIDE, Returns(0)],
    ),
    row("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", 2, &[STREAM, Read(1, String), Returns(0)]),
    row("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", 2, &[STREAM, Returns(0)]),
    row(
        "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        2,
        &[STREAM, STRING_1, CONTENT_1, Returns(0)],
    ),
    row("_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_", 2, &[STREAM, Write(1, Bytes(1)), Returns(0)]),
    row(
        "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE",
        2,
        &[STREAM, TEXT_1, TEXT_1_WRITTEN, TEXT_1_CONTENT, TEXT_1_BLOCK, TEXT_1_INSIDE, Returns(0)],
    ),
];

static USES: LibraryFunction = row("std::basic_ostream", 1, &[STREAM, Returns(0)]).variadic();
static LOOKS_AT: LibraryFunction = row("std::basic_ostream const", 1, &[LOOKS, Returns(0)]).variadic();
static USES_IOS: LibraryFunction = row("std::basic_ios", 1, &[IOS, Returns(0)]).variadic();
static LOOKS_AT_STATE: LibraryFunction = row("std::basic_ios const", 1, &[LOOKS_AT_IOS, Returns(0)]).variadic();
static USES_BUFFER: LibraryFunction = row("std::basic_streambuf", 1, &[BUFFER, Returns(0)]).variadic();
static LOOKS_AT_CONTENT: LibraryFunction =
    row("std::basic_streambuf const", 1, &[LOOKS_AT_BUFFER, Returns(0)]).variadic();
static MAKES: LibraryFunction = row("std::basic_ios::basic_ios", 1, &[NEW]).variadic();

/// Classes as they are mangled after `_ZN` or `_ZNK`, with what using and looking at one is.
const CLASSES: [(&[&str], [&LibraryFunction; 2]); 3] = [
    (
        &[
            "Sd",
            "Si",
            "So",
            "St13basic_fstreamI",
            "St13basic_istreamI",
            "St13basic_ostreamI",
            "St14basic_ifstreamI",
            "St14basic_iostreamI",
            "St14basic_ofstreamI",
            "St7__cxx1118basic_stringstreamI",
            "St7__cxx1119basic_istringstreamI",
            "St7__cxx1119basic_ostringstreamI",
        ],
        [&USES, &LOOKS_AT],
    ),
    (&["St8ios_base", "St9basic_iosI"], [&USES_IOS, &LOOKS_AT_STATE]),
    (
        &["St13basic_filebufI", "St15basic_streambufI", "St7__cxx1115basic_stringbufI"],
        [&USES_BUFFER, &LOOKS_AT_CONTENT],
    ),
];

/// Parameters that are as good as numbers.
const ENUMERATIONS: [&str; 4] = ["St12_Ios_Iostate", "St12_Ios_Seekdir", "St13_Ios_Fmtflags", "St13_Ios_Openmode"];

/// Members whose first argument is no stream: of objects that streams make for themselves, and what returns an object.
const OTHERS: [&str; 5] = ["6sentry", "St8ios_base4Init", "St8ios_base7failure", "__xfer_bufptrs", "13get_allocator"];

/// Members of stream classes whose parameters are numbers and that return no object. A family's row is also found under
/// the family's own name, which lowered programs use.
pub(super) fn by_prefix(name: &str) -> Option<&'static LibraryFunction> {
    let families = CLASSES.iter().flat_map(|(_, family)| family.iter().copied()).chain([&MAKES]);
    if let Some(family) = families.into_iter().find(|family| family.name == name) {
        return Some(family);
    }
    let (member, is_const) = match name.strip_prefix("_ZNK") {
        Some(member) => (member, true),
        None => (name.strip_prefix("_ZN")?, false),
    };
    let (before, parameters) = member.rsplit_once('E')?;
    let parameters = ENUMERATIONS.iter().fold(parameters.to_owned(), |rest, name| rest.replace(name, ""));
    if !parameters.bytes().all(|c| b"vbcahstijlmxyfde".contains(&c)) {
        return None;
    }
    let (_, family) = CLASSES.iter().find(|(classes, _)| classes.iter().any(|class| member.starts_with(class)))?;
    if OTHERS.iter().any(|other| member.contains(other)) {
        return None;
    }
    if before.ends_with("C1") || before.ends_with("C2") {
        return Some(&MAKES);
    }
    Some(family[usize::from(is_const)])
}
