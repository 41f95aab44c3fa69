//! What every row must satisfy.

use std::collections::BTreeSet;

use super::*;
use crate::Architecture;

#[test]
fn groups_are_sorted_without_duplicates() {
    let mut names = BTreeSet::new();
    for (group, rows) in GROUPS {
        for pair in rows.windows(2) {
            assert!(pair[0].name < pair[1].name, "{group}: `{}` before `{}`", pair[0].name, pair[1].name);
        }
        for row in rows {
            assert!(names.insert(row.name), "`{}` twice", row.name);
        }
    }
    for pair in threads::functions().windows(2) {
        assert!(pair[0].name < pair[1].name, "threads: `{}` before `{}`", pair[0].name, pair[1].name);
    }
    for function in threads::functions() {
        assert!(names.insert(function.name), "`{}` twice", function.name);
    }
    for (alias, name) in ALIASES.into_iter().flatten() {
        assert!(names.insert(alias), "`{alias}` twice");
        assert_eq!(lookup(alias).map(|f| f.name), Some(*name), "alias `{alias}`");
    }
}

/// The arguments a size refers to, and whether it is known only after the call.
fn size_args(size: Size) -> (Vec<u8>, bool) {
    match size {
        Size::IfZero(_) => (vec![], true),
        Size::Bytes(_) | Size::Of(_) | Size::Array(..) | Size::String | Size::WideString => (vec![], false),
        Size::Arg(a) | Size::Scaled(a, _) | Size::StringMax(a) | Size::WideStringMax(a) => (vec![a], false),
        Size::Product(a, b) => (vec![a, b], false),
        Size::Result => (vec![], true),
        Size::ResultTimes(a) => (vec![a], true),
    }
}

fn check(name: &str, params: u8, variadic: bool, effects: &[Effect]) {
    let computed = |c: &Computed, after: bool| {
        assert!(c.hook.starts_with("__rp_add_"), "{name}: hook {}", c.hook);
        assert!(after || !c.args.contains(&HookArg::Result), "{name}: no result before the call");
        let of_args = c.args.iter().filter_map(|a| match a {
            HookArg::Arg(a) => Some(*a),
            HookArg::Result | HookArg::Const(_) => None,
        });
        of_args.chain(c.reads.iter().copied()).chain(c.writes.iter().copied()).collect::<Vec<_>>()
    };
    for effect in effects {
        let args = match effect {
            Effect::Read(a, size) | Effect::Write(a, size) => {
                let (mut args, after) = size_args(*size);
                assert!(!after, "{name}: {effect:?} needs the result");
                args.push(*a);
                args
            }
            Effect::ReadAfter(a, size) | Effect::WriteAfter(a, size) => {
                let (mut args, _) = size_args(*size);
                args.push(*a);
                args
            }
            Effect::Computed(c) => computed(c, false),
            Effect::ComputedAfter(c) => computed(c, true),
            Effect::Stream(a) | Effect::UnlockedStream(a) | Effect::Returns(a) | Effect::Calls(a) => vec![*a],
            Effect::Keeps(a) | Effect::KeepsIn(a, _) | Effect::StateWithout(a, ..) | Effect::File(a, _) => vec![*a],
            Effect::StoresBlock(a) | Effect::Advances(a) | Effect::ReturnsBehind(a) | Effect::Behind(a, _) => vec![*a],
            Effect::WriteResult(size) => size_args(*size).0,
            Effect::Passes(passage) => vec![passage.arg],
            Effect::StoresPointer(a, b) | Effect::Copies(a, b) => vec![*a, *b],
            Effect::Format(f) => {
                if let FormatArgs::From(first) = f.args {
                    assert!(variadic && first == params, "{name}: variadic arguments start at {params}");
                }
                match f.args {
                    FormatArgs::From(_) => vec![f.format],
                    FormatArgs::List(list) => vec![f.format, list],
                }
            }
            Effect::State(..) | Effect::ReturnsState(_) | Effect::Opaque(_) | Effect::Unproved(_) => vec![],
            Effect::Links(nodes, _) => nodes.to_vec(),
            Effect::ReturnsLinked(a, _) => vec![*a],
            Effect::Kept(..) | Effect::ReturnsKept(_) => vec![],
        };
        for arg in args {
            assert!(arg < params, "{name}: {effect:?} names argument {arg} of {params}");
        }
    }
}

#[test]
fn effects_stay_within_the_prototype() {
    for function in functions() {
        check(function.name, function.params, function.variadic, function.effects);
        if let Role::Free(arg) | Role::Exit(arg) = function.role {
            assert!(arg < function.params, "{}", function.name);
        }
    }
    for function in threads::functions() {
        check(function.name, function.params, false, function.effects);
    }
}

#[test]
fn rows_say_what_is_expected() {
    let row = |name: &str| lookup(name).unwrap_or_else(|| panic!("`{name}` is missing"));
    assert_eq!(row("memcpy").effects[0], Effect::Read(1, Size::Arg(2)));
    assert!(row("epoll_wait").by_runtime && !row("epoll_ctl").is_opaque());
    assert_eq!(row("__isoc99_sscanf").name, "sscanf");
    assert!(row("sqrt").is_pure() && row("__errno_location").is_pure());
    assert!(!row("strtok").is_pure() && !row("free").is_pure());
    assert!(row("fgets").ends_after_call() && !row("strlen").ends_after_call());
    assert_eq!(row("_ZdlPvm").role, Role::Free(0));
    assert_eq!(row("_ZSt20__throw_length_errorPKc").role, Role::Throws);
    for member in ["_ZSt20__throw_length_errorPKc", "_ZNSolsEi", "_ZNSaIcEC1Ev", "_ZNSt6localeD1Ev"] {
        assert_eq!(lookup(row(member).name), Some(row(member)), "a family is found by its own name");
    }
    assert!(lookup("_ZNSolsEi").is_some(), "std::ostream << int");
    assert!(lookup("_ZNSo9_M_insertIdEERSoT_").is_some_and(|f| !f.is_pure()), "std::ostream << double");
    assert!(lookup("_ZNSi3getEPcl").is_none(), "a pointer parameter that is not described");
    assert!(lookup("frobnicate").is_none());
}

#[test]
fn every_type_is_in_a_row() {
    let effects = functions().flat_map(|f| f.effects).chain(threads::functions().iter().flat_map(|f| f.effects));
    let mut used: BTreeSet<CType> = effects.filter_map(Effect::size).filter_map(Size::depends_on).collect();
    used.extend(LibraryState::ALL.iter().flat_map(|state| state.variables()).map(|(_, ty)| *ty));
    // Lowering needs it for `va_copy`.
    used.insert(CType::VaList);
    for ty in CType::ALL {
        assert!(used.contains(ty), "no row needs the size of `{}`", ty.spelling());
    }
}

#[test]
fn sizes_are_those_of_the_architecture_or_not_known() {
    let stat = Size::Of(CType::Stat);
    assert_eq!(stat.fixed(Architecture::X86_64), Some(144));
    assert_eq!(stat.fixed(Architecture::Aarch64), Some(128));
    assert_eq!(stat.fixed(Architecture::Other), None);
    assert_eq!(Size::Array(CType::Short, 3).fixed(Architecture::Aarch64), Some(6));
    assert_eq!(Size::Array(CType::Short, 3).fixed(Architecture::Other), None);
    assert_eq!(Size::Bytes(26).fixed(Architecture::Other), Some(26));
    assert_eq!(Size::Scaled(1, CType::Pollfd).fixed(Architecture::X86_64), None, "an argument decides it");
}

#[test]
fn calls_that_wait() {
    assert!(may_wait("epoll_wait") && may_wait("__read_chk") && may_wait("writev"));
    assert!(!may_wait("close") && !may_wait("epoll_ctl") && !may_wait("frobnicate"));
    assert!(functions().filter(|f| may_wait(f.name)).count() == 34, "a name that is no row");
}

/// The states that a row writes.
fn written(function: &LibraryFunction) -> Vec<LibraryState> {
    let state = |effect: &Effect| match effect {
        Effect::State(state, StateAccess::Write) | Effect::StateWithout(_, state, StateAccess::Write) => Some(*state),
        _ => None,
    };
    function.effects.iter().filter_map(state).collect()
}

#[test]
fn what_runs_have_to_find_out_has_a_hook() {
    for function in functions() {
        let name = function.name;
        let computed = |e: &Effect| matches!(e, Effect::Computed(_) | Effect::ComputedAfter(_));
        let is_told = function.by_runtime || function.effects.iter().any(computed);
        assert!(!function.reaches_behind() || is_told, "`{name}` has no hook");
        for effect in function.effects {
            if let Effect::WriteResult(_) = effect {
                assert!(!written(function).is_empty(), "`{name}` writes a result that belongs to no state");
            }
        }
    }
}

#[test]
fn what_is_kept_is_used() {
    // What `random` does to the array that `initstate` was given goes through `Keeps`.
    let uses = |state: LibraryState| {
        let kept = |e: &Effect| matches!(e, Effect::Kept(s, _) | Effect::ReturnsKept(s) if *s == state);
        functions().any(|f| f.effects.iter().any(kept))
    };
    for function in functions() {
        for effect in function.effects {
            if let Effect::KeepsIn(_, state) = effect {
                assert!(uses(*state), "nothing uses what `{}` keeps", function.name);
            }
        }
    }
}

/// Functions that POSIX does not require to be thread-safe (2.9.1), as far as the C library has them.
const NOT_THREAD_SAFE: &str = "asctime catgets crypt ctime drand48 ecvt encrypt endgrent endpwent endutxent fcvt \
    getc_unlocked getchar_unlocked getenv getgrent getgrgid getgrnam gethostent getlogin getnetbyaddr \
    getnetbyname getnetent getopt getprotobyname getprotobynumber getprotoent getpwent getpwnam getpwuid getservbyname \
    getservbyport getservent getutxent getutxid getutxline gmtime hcreate hdestroy hsearch inet_ntoa l64a lgamma lgammaf \
    lgammal localeconv localtime lrand48 mrand48 nl_langinfo ptsname putc_unlocked putchar_unlocked putenv pututxline rand \
    readdir setenv setgrent setkey setlocale setpwent setutxent strtok tmpnam ttyname unsetenv wctomb";

#[test]
fn functions_that_need_not_be_thread_safe_have_a_state() {
    // In the GNU C library `catgets` has none, and a stream of a folder is the caller's.
    let harmless = ["catgets", "getenv", "nl_langinfo", "readdir", "rand"];
    for name in NOT_THREAD_SAFE.split_whitespace() {
        let row = lookup(name).unwrap_or_else(|| panic!("`{name}` has no row"));
        let unlocked = |e: &Effect| matches!(e, Effect::UnlockedStream(_));
        let races = written(row).iter().any(|state| !state.is_locked()) || row.effects.iter().any(unlocked);
        assert!(races || row.is_opaque() || harmless.contains(&name), "two calls of `{name}` do not conflict");
    }
    let reads = |name: &str, state| lookup(name).unwrap().effects.contains(&Effect::State(state, StateAccess::Read));
    assert!(reads("getenv", LibraryState::Environment) && reads("nl_langinfo", LibraryState::Locale));
    assert!(written(lookup("rand").unwrap()).iter().all(|state| state.is_locked()), "the library locks `rand`");
}

#[test]
fn states_have_codes() {
    for (index, state) in LibraryState::ALL.iter().enumerate() {
        assert_eq!(state.index() as usize, index);
        assert_eq!(LibraryState::from_index(state.index()), Some(*state));
        assert!(!state.name().is_empty());
    }
    let code = LibraryState::Strtok.code(StateAccess::Write);
    assert_eq!((code & 0xff, code >> 8 & 0xff, code >> 16), (LibraryState::Strtok.index(), 3, 0), "plain");
    let code = LibraryState::Random.code(StateAccess::Write);
    assert_eq!(code >> 8, 3 | 1 << 8, "relaxed");
    assert_eq!(LibraryState::Environment.code(StateAccess::Read) >> 8, 1);
}

#[test]
fn tables_of_the_runtime() {
    for symbol in ["_ZTVNSt6thread6_StateE", "_ZTVN10__cxxabiv120__si_class_type_infoE", "_ZTINSt6thread6_StateE"] {
        assert!(super::is_runtime_table(symbol), "{symbol}");
    }
    // Tables of classes that objects can have, and of the program's own.
    for symbol in ["_ZTVSt9basic_iosIcSt11char_traitsIcEE", "_ZTV5Shape", "_ZTI5Shape"] {
        assert!(!super::is_runtime_table(symbol), "{symbol}");
    }
}
