//! The hooks under the names that instrumented code calls.

/// Defines the hooks of this crate as C functions that report to `$sink`. Addresses come as 64-bit numbers; `docs/runtime-abi.md`
/// has the interface.
#[macro_export]
macro_rules! export_hooks {
    ($sink:ty) => {
        $crate::export_hooks! { @each $sink;
            __rp_add_number(string: u64, base: u64) = strings::number;
            __rp_add_copied(to: u64, from: u64, result: u64, max: u64) = strings::copied;
            __rp_add_until(kind: u64, at: u64, result: u64, max: u64) = strings::until;
            __rp_add_compare(left: u64, right: u64, max: u64, flags: u64) = strings::compare;
            __rp_add_append(to: u64, from: u64, max: u64, flags: u64) = strings::append;
            __rp_add_token(string: u64, delimiters: u64, position: u64) = strings::token;
            __rp_add_token_wide(string: u64, delimiters: u64, position: u64) = strings::token_wide;
            __rp_add_separate(string: u64, delimiters: u64) = strings::separate;
            __rp_add_string_result(wide: u64, at: u64, result: u64, max: u64) = strings::string_result;
            __rp_add_closed(stream: u64) = streams::closed;
            __rp_add_file(fd: i64, used: u32) = streams::file;
            __rp_add_format(format: u64, flags: u32, count: u32, arguments: u64) = format::with_arguments;
            __rp_add_format_list(format: u64, flags: u32, list: u64) = format::with_list;
            __rp_add_lsearch(base: u64, count: u64, width: u64, result: u64) = transfers::lsearch;
            __rp_add_line(line: u64, result: i64) = transfers::line;
            __rp_add_converted(to: u64, from: u64, result: u64, unit: u64) = strings::converted;
            __rp_add_block(block: u64) = transfers::block;
            __rp_add_address_list(list: u64) = transfers::address_list;
            __rp_add_entry_name(at: u64) = transfers::entry_name;
            __rp_add_environment(kind: u64, name: u64) = environment::environment;
            __rp_add_hash_entry(entry: u64) = transfers::hash_entry;
            __rp_add_options(options: u64) = options::long_options;
            __rp_add_standard_output() = streams::standard_output;
            __rp_add_string_behind(at: u64, wide: u64, max: u64) = strings::string_behind;
            __rp_add_strings(entry: u64, words: u64) = transfers::strings_in;
            __rp_add_words(count: u64, words: u64, letters: u64) = options::words;
            __rp_add_standard_input() = transfers::standard_input;
            __rp_add_unlocked_input() = transfers::unlocked_input;
            __rp_add_produced(unit: u64, at: u64, result: u64) = transfers::produced;
            __rp_add_vector(kind: u64, vector: u64, count: u64, result: i64) = transfers::vector;
            __rp_add_sized(at: u64, len: u64) = transfers::sized;
            __rp_add_inet(kind: u64, family: u64, at: u64) = transfers::inet;
            __rp_add_iostream(object: u64, how: u64) = containers::iostream;
            __rp_add_of_stream(at: u64, size: u64, writes: u64) = containers::of_stream;
            __rp_add_gcount(stream: u64, at: u64) = containers::gcount;
            __rp_add_cxx_string(string: u64) = containers::cxx_string;
            __rp_add_cxx_text(string: u64) = containers::cxx_text;
            __rp_add_tree_change(node: u64, header: u64, depth: u64) = containers::tree_change;
            __rp_add_tree_step(node: u64, forward: u64) = containers::tree_step;
            __rp_add_list_hook(node: u64, position: u64) = containers::list_hook;
            __rp_add_list_unhook(node: u64) = containers::list_unhook;
            __rp_add_list_transfer(node: u64, first: u64, last: u64) = containers::list_transfer;
            __rp_add_list_all(header: u64) = containers::list_all;
        }
    };
    (@each $sink:ty; $($symbol:ident($($arg:ident: $type:ty),*) = $module:ident::$function:ident;)*) => {$(
        #[doc = concat!("[`effects::", stringify!($module), "::", stringify!($function), "`]($crate::", stringify!($module), "::", stringify!($function), ")")]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub extern "C" fn $symbol($($arg: $type),*) {
            $crate::$module::$function::<$sink>($($arg),*);
        }
    )*};
}
