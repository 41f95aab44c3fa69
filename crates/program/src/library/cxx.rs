//! What compiled C++ calls in libstdc++ and its ABI library, by mangled name.
//!
//! Exception objects, type information and locales are shared by reference counts that the library updates
//! atomically.

use super::Effect::{Calls, Computed, Links, Read, Returns, ReturnsLinked, State, Write, WriteAfter};
use super::HookArg::{Arg, Const};
use super::Links::{List, Tree};
use super::Size::{Arg as Len, Bytes, Of, String};
use super::StateAccess::Write as Write_;
use super::cxx_streams::{CONTENT_1, STRING_1};
use super::{CType, LibraryFunction, LibraryState, Role, computed, row};

pub(super) const ROWS: &[LibraryFunction] = &[
    row("_Unwind_Backtrace", 2, &[Calls(0)]),
    row("_Unwind_DeleteException", 1, &[]),
    row("_Unwind_GetIP", 1, &[]),
    row("_Unwind_Resume", 1, &[]).role(Role::Throws),
    row("_Unwind_Resume_or_Rethrow", 1, &[]).role(Role::Throws),
    row("_ZNKSt10bad_typeid4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row("_ZNKSt11logic_error4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row("_ZNKSt13bad_exception4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row("_ZNKSt13runtime_error4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row("_ZNKSt17bad_function_call4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row(
        "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",
        2,
        &[Read(0, Of(CType::RehashPolicy)), Write(0, Of(CType::RehashPolicy))],
    ),
    row(
        "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
        4,
        &[Read(0, Of(CType::RehashPolicy)), Write(0, Of(CType::RehashPolicy))],
    ),
    row("_ZNKSt8bad_cast4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row("_ZNKSt9bad_alloc4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    row("_ZNKSt9exception4whatEv", 1, &[Read(0, Of(CType::Exception)), Returns(0)]),
    // Locks of the C++ library for atomic operations on shared pointers. The mutexes are the runtime's.
    row("_ZNSt10_Sp_lockerC1EPKv", 2, &[Write(0, Bytes(2))]),
    row("_ZNSt10_Sp_lockerC1EPKvS1_", 3, &[Write(0, Bytes(2))]),
    row("_ZNSt10_Sp_lockerC2EPKv", 2, &[Write(0, Bytes(2))]),
    row("_ZNSt10_Sp_lockerC2EPKvS1_", 3, &[Write(0, Bytes(2))]),
    row("_ZNSt10_Sp_lockerD1Ev", 1, &[Read(0, Bytes(2))]),
    row("_ZNSt10_Sp_lockerD2Ev", 1, &[Read(0, Bytes(2))]),
    row("_ZNSt10bad_typeidD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt10bad_typeidD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt11logic_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt11logic_errorC1ERKS_", 2, &[Read(1, Of(CType::LogicError)), Write(0, Of(CType::LogicError))]),
    row("_ZNSt11logic_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt11logic_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt11logic_errorC2ERKS_", 2, &[Read(1, Of(CType::LogicError)), Write(0, Of(CType::LogicError))]),
    row("_ZNSt11logic_errorD1Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt11logic_errorD2Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt11range_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt11range_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt11range_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt11range_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt11range_errorD1Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt11range_errorD2Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt12bad_weak_ptrD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt12bad_weak_ptrD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt12domain_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt12domain_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt12domain_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt12domain_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt12domain_errorD1Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt12domain_errorD2Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt12future_errorD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt12future_errorD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt12length_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt12length_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt12length_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt12length_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt12length_errorD1Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt12length_errorD2Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt12out_of_rangeC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt12out_of_rangeC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt12out_of_rangeC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt12out_of_rangeC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt12out_of_rangeD1Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt12out_of_rangeD2Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt12system_errorD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt12system_errorD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt13__future_base12_Result_baseC1Ev", 1, &[Write(0, Of(CType::FutureResult))]),
    row("_ZNSt13__future_base12_Result_baseC2Ev", 1, &[Write(0, Of(CType::FutureResult))]),
    row("_ZNSt13__future_base12_Result_baseD1Ev", 1, &[Write(0, Of(CType::FutureResult))]),
    row("_ZNSt13__future_base12_Result_baseD2Ev", 1, &[Write(0, Of(CType::FutureResult))]),
    row("_ZNSt13bad_exceptionD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt13bad_exceptionD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt13random_device16_M_getval_pretr1Ev", 1, &[]),
    row("_ZNSt13random_device7_M_finiEv", 1, &[]),
    row(
        "_ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1],
    ),
    row("_ZNSt13random_device9_M_getvalEv", 1, &[]),
    row("_ZNSt13runtime_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt13runtime_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt13runtime_errorC1ERKS_", 2, &[Read(1, Of(CType::RuntimeError)), Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt13runtime_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt13runtime_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt13runtime_errorC2ERKS_", 2, &[Read(1, Of(CType::RuntimeError)), Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt13runtime_errorD1Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt13runtime_errorD2Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt14overflow_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt14overflow_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt14overflow_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt14overflow_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt14overflow_errorD1Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt14overflow_errorD2Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
        1,
        &[Read(0, Of(CType::ExceptionPtr)), Write(0, Of(CType::ExceptionPtr))],
    ),
    row(
        "_ZNSt15__exception_ptr13exception_ptr4swapERS0_",
        2,
        &[
            Read(0, Of(CType::ExceptionPtr)),
            Read(1, Of(CType::ExceptionPtr)),
            Write(0, Of(CType::ExceptionPtr)),
            Write(1, Of(CType::ExceptionPtr)),
        ],
    ),
    row("_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv", 1, &[Read(0, Of(CType::ExceptionPtr))]),
    row("_ZNSt15__exception_ptr13exception_ptrC1EPv", 2, &[Write(0, Of(CType::ExceptionPtr))]),
    row(
        "_ZNSt15__exception_ptr13exception_ptrC1ERKS0_",
        2,
        &[Read(1, Of(CType::ExceptionPtr)), Write(0, Of(CType::ExceptionPtr))],
    ),
    row("_ZNSt15__exception_ptr13exception_ptrC1Ev", 1, &[Write(0, Of(CType::ExceptionPtr))]),
    row(
        "_ZNSt15__exception_ptr13exception_ptrC2ERKS0_",
        2,
        &[Read(1, Of(CType::ExceptionPtr)), Write(0, Of(CType::ExceptionPtr))],
    ),
    row("_ZNSt15__exception_ptr13exception_ptrC2Ev", 1, &[Write(0, Of(CType::ExceptionPtr))]),
    row("_ZNSt15__exception_ptr13exception_ptrD1Ev", 1, &[Read(0, Of(CType::ExceptionPtr))]),
    row("_ZNSt15__exception_ptr13exception_ptrD2Ev", 1, &[Read(0, Of(CType::ExceptionPtr))]),
    row(
        "_ZNSt15__exception_ptr13exception_ptraSERKS0_",
        2,
        &[
            Read(1, Of(CType::ExceptionPtr)),
            Read(0, Of(CType::ExceptionPtr)),
            Write(0, Of(CType::ExceptionPtr)),
            Returns(0),
        ],
    ),
    row("_ZNSt15underflow_errorC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt15underflow_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt15underflow_errorC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::RuntimeError))]),
    row(
        "_ZNSt15underflow_errorC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::RuntimeError))],
    ),
    row("_ZNSt15underflow_errorD1Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt15underflow_errorD2Ev", 1, &[Write(0, Of(CType::RuntimeError))]),
    row("_ZNSt16invalid_argumentC1EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt16invalid_argumentC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt16invalid_argumentC2EPKc", 2, &[Read(1, String), Write(0, Of(CType::LogicError))]),
    row(
        "_ZNSt16invalid_argumentC2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        2,
        &[STRING_1, CONTENT_1, Write(0, Of(CType::LogicError))],
    ),
    row("_ZNSt16invalid_argumentD1Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt16invalid_argumentD2Ev", 1, &[Write(0, Of(CType::LogicError))]),
    row("_ZNSt17bad_function_callD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt17bad_function_callD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt19_Sp_make_shared_tag5_S_eqERKSt9type_info", 1, &[]),
    row("_ZNSt20bad_array_new_lengthD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt20bad_array_new_lengthD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt3_V215system_categoryEv", 0, &[]),
    row("_ZNSt3_V216generic_categoryEv", 0, &[]),
    row("_ZNSt6chrono12system_clock3nowEv", 0, &[]),
    row("_ZNSt6chrono3_V212steady_clock3nowEv", 0, &[]),
    row("_ZNSt6chrono3_V212system_clock3nowEv", 0, &[]),
    row("_ZNSt6thread20hardware_concurrencyEv", 0, &[]),
    row("_ZNSt6thread6_StateD1Ev", 1, &[Write(0, Of(CType::Pointer))]),
    row("_ZNSt6thread6_StateD2Ev", 1, &[Write(0, Of(CType::Pointer))]),
    row(
        "_ZNSt8__detail15_List_node_base10_M_reverseEv",
        1,
        &[Computed(computed("__rp_add_list_all", &[Arg(0)], &[0], &[0])), Links(&[0], List)],
    ),
    row(
        "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_",
        3,
        &[
            Computed(computed("__rp_add_list_transfer", &[Arg(0), Arg(1), Arg(2)], &[0, 1, 2], &[0, 1, 2])),
            Links(&[0, 1, 2], List),
        ],
    ),
    row(
        "_ZNSt8__detail15_List_node_base4swapERS0_S1_",
        2,
        &[
            Computed(computed("__rp_add_list_all", &[Arg(0)], &[0], &[0])),
            Computed(computed("__rp_add_list_all", &[Arg(1)], &[1], &[1])),
            Links(&[0, 1], List),
        ],
    ),
    row(
        "_ZNSt8__detail15_List_node_base7_M_hookEPS0_",
        2,
        &[Computed(computed("__rp_add_list_hook", &[Arg(0), Arg(1)], &[0, 1], &[0, 1])), Links(&[0, 1], List)],
    ),
    row(
        "_ZNSt8__detail15_List_node_base9_M_unhookEv",
        1,
        &[Computed(computed("__rp_add_list_unhook", &[Arg(0)], &[0], &[0])), Links(&[0], List)],
    ),
    row("_ZNSt8bad_castD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt8bad_castD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt9bad_allocD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt9bad_allocD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt9exceptionD1Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZNSt9exceptionD2Ev", 1, &[Write(0, Of(CType::Exception))]),
    row("_ZSt10unexpectedv", 0, &[]).role(Role::Abort),
    row("_ZSt11_Hash_bytesPKvmm", 3, &[Read(0, Len(1))]),
    row("_ZSt13get_terminatev", 0, &[]),
    row("_ZSt13set_terminatePFvvE", 1, &[State(LibraryState::Process, Write_)]),
    row("_ZSt15_Fnv_hash_bytesPKvmm", 3, &[Read(0, Len(1))]),
    row("_ZSt15future_categoryv", 0, &[]),
    row("_ZSt15get_new_handlerv", 0, &[]),
    row("_ZSt15set_new_handlerPFvvE", 1, &[State(LibraryState::Process, Write_)]),
    row("_ZSt15system_categoryv", 0, &[]),
    row("_ZSt16generic_categoryv", 0, &[]),
    row("_ZSt17current_exceptionv", 1, &[Write(0, Of(CType::ExceptionPtr))]),
    row("_ZSt17iostream_categoryv", 0, &[]),
    row("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE", 1, &[Read(0, Of(CType::ExceptionPtr))])
        .role(Role::Throws),
    row(
        "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
        1,
        &[Computed(computed("__rp_add_tree_step", &[Arg(0), Const(0)], &[0], &[])), ReturnsLinked(0, Tree)],
    ),
    row(
        "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
        1,
        &[Computed(computed("__rp_add_tree_step", &[Arg(0), Const(0)], &[0], &[])), ReturnsLinked(0, Tree)],
    ),
    row(
        "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
        1,
        &[Computed(computed("__rp_add_tree_step", &[Arg(0), Const(1)], &[0], &[])), ReturnsLinked(0, Tree)],
    ),
    row(
        "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
        1,
        &[Computed(computed("__rp_add_tree_step", &[Arg(0), Const(1)], &[0], &[])), ReturnsLinked(0, Tree)],
    ),
    row("_ZSt18uncaught_exceptionv", 0, &[]),
    row("_ZSt19uncaught_exceptionsv", 0, &[]),
    row("_ZSt21__glibcxx_assert_failPKciS0_S0_", 4, &[]).role(Role::AssertionFailed),
    row(
        "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_",
        2,
        &[
            Computed(computed("__rp_add_tree_change", &[Arg(0), Arg(1), Const(2)], &[0, 1], &[0, 1])),
            Links(&[0, 1], Tree),
            Returns(0),
        ],
    ),
    row(
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        4,
        &[
            Write(1, Of(CType::TreeNode)),
            Computed(computed("__rp_add_tree_change", &[Arg(2), Arg(3), Const(1)], &[2, 3], &[2, 3])),
            Links(&[1, 2, 3], Tree),
        ],
    ),
    row("_ZSt9terminatev", 0, &[]).role(Role::Abort),
    row("_ZdaPv", 1, &[]).role(Role::Free(0)),
    row("_ZdaPvRKSt9nothrow_t", 2, &[]).role(Role::Free(0)),
    row("_ZdaPvSt11align_val_t", 2, &[]).role(Role::Free(0)),
    row("_ZdaPvSt11align_val_tRKSt9nothrow_t", 3, &[]).role(Role::Free(0)),
    row("_ZdaPvm", 2, &[]).role(Role::Free(0)),
    row("_ZdaPvmSt11align_val_t", 3, &[]).role(Role::Free(0)),
    row("_ZdlPv", 1, &[]).role(Role::Free(0)),
    row("_ZdlPvRKSt9nothrow_t", 2, &[]).role(Role::Free(0)),
    row("_ZdlPvSt11align_val_t", 2, &[]).role(Role::Free(0)),
    row("_ZdlPvSt11align_val_tRKSt9nothrow_t", 3, &[]).role(Role::Free(0)),
    row("_ZdlPvm", 2, &[]).role(Role::Free(0)),
    row("_ZdlPvmSt11align_val_t", 3, &[]).role(Role::Free(0)),
    row("_Znam", 1, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_ZnamRKSt9nothrow_t", 2, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_ZnamSt11align_val_t", 2, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_ZnamSt11align_val_tRKSt9nothrow_t", 3, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_Znwm", 1, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_ZnwmRKSt9nothrow_t", 2, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_ZnwmSt11align_val_t", 2, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("_ZnwmSt11align_val_tRKSt9nothrow_t", 3, &[]).role(Role::Allocate { size: Len(0), zeroed: false }),
    row("__cxa_allocate_exception", 1, &[]).role(Role::AllocateInside),
    row("__cxa_bad_cast", 0, &[]).role(Role::Throws),
    row("__cxa_bad_typeid", 0, &[]).role(Role::Throws),
    row("__cxa_begin_catch", 1, &[Returns(0)]),
    row("__cxa_call_terminate", 1, &[]).role(Role::Abort),
    row("__cxa_call_unexpected", 1, &[]).role(Role::Abort),
    row("__cxa_current_exception_type", 0, &[]),
    row("__cxa_deleted_virtual", 0, &[]).role(Role::Abort),
    row(
        "__cxa_demangle",
        4,
        &[
            Read(0, String),
            Read(2, Of(CType::SizeT)),
            Write(2, Of(CType::SizeT)),
            Write(3, Of(CType::Int)),
            WriteAfter(1, String),
        ],
    )
    .role(Role::AllocateInside),
    row("__cxa_end_catch", 0, &[]),
    row("__cxa_free_exception", 1, &[]),
    row("__cxa_get_exception_ptr", 1, &[Returns(0)]),
    row("__cxa_init_primary_exception", 3, &[Returns(0)]),
    row("__cxa_pure_virtual", 0, &[]).role(Role::Abort),
    row("__cxa_rethrow", 0, &[]).role(Role::Throws),
    row("__cxa_throw", 3, &[]).role(Role::Throws),
    row("__cxa_throw_bad_array_length", 0, &[]).role(Role::Throws),
    row("__cxa_throw_bad_array_new_length", 0, &[]).role(Role::Throws),
    row("__dynamic_cast", 4, &[Read(0, Of(CType::Pointer)), Returns(0)]),
    row("__gxx_personality_v0", 5, &[]),
];

static THROWS: LibraryFunction = row("std::__throw_", 0, &[]).variadic().role(Role::Throws);
static ALLOCATOR: LibraryFunction = row("std::allocator", 1, &[]).variadic();
static LOCALE: LibraryFunction = row("std::locale", 0, &[Returns(0)]).variadic();

/// Families of functions too many to list: `std::__throw_*`, locales and allocators. A family's row is also found under the family's own name, which lowered programs use.
pub(super) fn by_prefix(name: &str) -> Option<&'static LibraryFunction> {
    if let Some(family) = [&THROWS, &ALLOCATOR, &LOCALE].into_iter().find(|family| family.name == name) {
        return Some(family);
    }
    if let Some(rest) = name.strip_prefix("_ZSt") {
        let function = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return function.starts_with("__throw_").then_some(&THROWS);
    }
    let member = name.strip_prefix("_ZNK").or_else(|| name.strip_prefix("_ZN"))?;
    // Allocators of characters have no state; this is making and ending one.
    if let Some(function) = member.strip_prefix("SaIcE").or_else(|| member.strip_prefix("SaIwE")) {
        return function.starts_with(['C', 'D']).then_some(&ALLOCATOR);
    }
    let (_, parameters) = member.rsplit_once('E')?;
    if !parameters.bytes().all(|c| b"vbcahstijlmxyfde".contains(&c)) {
        return None;
    }
    member.starts_with("St6locale").then_some(&LOCALE)
}
