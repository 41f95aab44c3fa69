//! Addresses of hosts by name. Numbers and this machine's own name are known without asking the network.

use core::ffi::{c_char, c_int};

use libc::addrinfo;

use super::library_function::LibraryFunction;
use super::program_memory::{In, Out};
use super::unmodelled;

type Resolve = unsafe extern "C" fn(*const c_char, *const c_char, *const addrinfo, *mut *mut addrinfo) -> c_int;

// SAFETY: the type is that of the C library's function.
static RESOLVE: LibraryFunction<Resolve> = unsafe { LibraryFunction::new(c"getaddrinfo") };

export! {
    /// Finds the addresses of a host and the port of a service.
    fn getaddrinfo(
        host: In<'_, c_char>,
        service: In<'_, c_char>,
        hints: In<'_, addrinfo>,
        to: Out<'_, *mut addrinfo>,
    ) -> c_int {
        // SAFETY: the program calls this function with these arguments.
        let ask = |hints: *const addrinfo| unsafe { RESOLVE.get()(host.as_ptr(), service.as_ptr(), hints, to.as_ptr()) };
        // SAFETY: a structure of numbers and pointers, for which zero is a value.
        let mut numeric = hints.get().unwrap_or_else(|| unsafe { core::mem::zeroed() });
        numeric.ai_flags |= libc::AI_NUMERICHOST;
        let answer = ask(&raw const numeric);
        if host.is_null() || answer != libc::EAI_NONAME {
            return answer;
        }
        if !host.string().is_ok_and(|name| name.to_bytes() == b"localhost") {
            unmodelled("asks the network for the address of a host");
        }
        ask(hints.as_ptr())
    }
}
