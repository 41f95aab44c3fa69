//! The functions behind ours: those the program would have called without the recorder.

/// Defines a function that calls the next definition of its name; `versioned` for symbols with an old version that must
/// not be taken.
macro_rules! next {
    ($($(#[$meta:meta])* $name:ident $(@ $version:literal)? ($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$meta])*
        /// The C function of this name.
        ///
        /// # Safety
        /// As for the C function.
        #[inline]
        pub unsafe fn $name($($arg: $type),*) $(-> $result)? {
            static FOUND: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
            type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
            let mut found = FOUND.load(core::sync::atomic::Ordering::Relaxed);
            if found == 0 {
                #[allow(unused_mut, unused_assignments)]
                let mut version: Option<&core::ffi::CStr> = None;
                $(version = Some($version);)?
                found = find(concat!(stringify!($name), "\0"), version);
                FOUND.store(found, core::sync::atomic::Ordering::Relaxed);
            }
            // SAFETY: the C library's function of this name has this type; by the caller the arguments are right for it.
            unsafe { core::mem::transmute::<usize, Function>(found)($($arg),*) }
        }
    )*};
}

fn find(name: &str, version: Option<&core::ffi::CStr>) -> usize {
    let name = name.as_ptr().cast();
    // SAFETY: name and version are strings that end with zero.
    let found = unsafe {
        let versioned = version.map(|version| libc::dlvsym(libc::RTLD_NEXT, name, version.as_ptr()));
        versioned.filter(|found| !found.is_null()).unwrap_or_else(|| libc::dlsym(libc::RTLD_NEXT, name))
    };
    if found.is_null() {
        crate::entry::refuse("a function of the thread library is missing on this system");
    }
    found as usize
}

/// The calling thread's `errno`.
pub fn errno() -> c_int {
    // SAFETY: the C library says where the calling thread's is.
    unsafe { *libc::__errno_location() }
}

/// Sets the calling thread's `errno`.
pub fn set_errno(error: c_int) {
    // SAFETY: as in `errno`.
    unsafe { *libc::__errno_location() = error };
}

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{
    clockid_t, epoll_event, iovec, mmsghdr, msghdr, pthread_t, sembuf, siginfo_t, sigset_t, sockaddr, timespec,
};

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Routine = unsafe extern "C" fn();
/// A synchronisation object.
pub type Object = *mut c_void;

next! {
    pthread_create(handle: *mut pthread_t, attributes: *const c_void, start: Start, arg: *mut c_void) -> c_int;
    pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, time: *const timespec) -> c_int;
    pthread_clockjoin_np(thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, time: *const timespec) -> c_int;
    pthread_detach(thread: pthread_t) -> c_int;
    pthread_once(once: Object, routine: Routine) -> c_int;
    pthread_mutex_init(mutex: Object, attributes: *const c_void) -> c_int;
    pthread_mutex_destroy(mutex: Object) -> c_int;
    pthread_mutex_lock(mutex: Object) -> c_int;
    pthread_mutex_trylock(mutex: Object) -> c_int;
    pthread_mutex_timedlock(mutex: Object, time: *const timespec) -> c_int;
    pthread_mutex_clocklock(mutex: Object, clock: clockid_t, time: *const timespec) -> c_int;
    pthread_mutex_unlock(mutex: Object) -> c_int;
    pthread_rwlock_init(lock: Object, attributes: *const c_void) -> c_int;
    pthread_rwlock_destroy(lock: Object) -> c_int;
    pthread_rwlock_rdlock(lock: Object) -> c_int;
    pthread_rwlock_wrlock(lock: Object) -> c_int;
    pthread_rwlock_tryrdlock(lock: Object) -> c_int;
    pthread_rwlock_trywrlock(lock: Object) -> c_int;
    pthread_rwlock_timedrdlock(lock: Object, time: *const timespec) -> c_int;
    pthread_rwlock_timedwrlock(lock: Object, time: *const timespec) -> c_int;
    pthread_rwlock_clockrdlock(lock: Object, clock: clockid_t, time: *const timespec) -> c_int;
    pthread_rwlock_clockwrlock(lock: Object, clock: clockid_t, time: *const timespec) -> c_int;
    pthread_rwlock_unlock(lock: Object) -> c_int;
    pthread_spin_init(lock: Object, shared: c_int) -> c_int;
    pthread_spin_destroy(lock: Object) -> c_int;
    pthread_spin_lock(lock: Object) -> c_int;
    pthread_spin_trylock(lock: Object) -> c_int;
    pthread_spin_unlock(lock: Object) -> c_int;
    pthread_cond_init @ c"GLIBC_2.3.2" (cond: Object, attributes: *const c_void) -> c_int;
    pthread_cond_destroy @ c"GLIBC_2.3.2" (cond: Object) -> c_int;
    pthread_cond_wait @ c"GLIBC_2.3.2" (cond: Object, mutex: Object) -> c_int;
    pthread_cond_timedwait @ c"GLIBC_2.3.2" (cond: Object, mutex: Object, time: *const timespec) -> c_int;
    pthread_cond_clockwait(cond: Object, mutex: Object, clock: clockid_t, time: *const timespec) -> c_int;
    pthread_cond_signal @ c"GLIBC_2.3.2" (cond: Object) -> c_int;
    pthread_cond_broadcast @ c"GLIBC_2.3.2" (cond: Object) -> c_int;
    epoll_ctl(at: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    epoll_wait(fd: c_int, to: *mut epoll_event, most: c_int, limit: c_int) -> c_int;
    epoll_pwait(fd: c_int, to: *mut epoll_event, most: c_int, limit: c_int, mask: *const sigset_t) -> c_int;
    epoll_pwait2(fd: c_int, to: *mut epoll_event, most: c_int, limit: *const timespec, mask: *const sigset_t) -> c_int;
    pthread_barrier_init(barrier: Object, attributes: *const c_void, count: u32) -> c_int;
    pthread_barrier_destroy(barrier: Object) -> c_int;
    pthread_barrier_wait(barrier: Object) -> c_int;
    sem_init(sem: Object, shared: c_int, value: u32) -> c_int;
    sem_destroy(sem: Object) -> c_int;
    sem_wait(sem: Object) -> c_int;
    sem_trywait(sem: Object) -> c_int;
    sem_timedwait(sem: Object, time: *const timespec) -> c_int;
    sem_clockwait(sem: Object, clock: clockid_t, time: *const timespec) -> c_int;
    sem_post(sem: Object) -> c_int;
    sem_getvalue(sem: Object, value: *mut c_int) -> c_int;
    mtx_init(mutex: Object, kind: c_int) -> c_int;
    mtx_destroy(mutex: Object);
    mtx_lock(mutex: Object) -> c_int;
    mtx_trylock(mutex: Object) -> c_int;
    mtx_timedlock(mutex: Object, time: *const timespec) -> c_int;
    mtx_unlock(mutex: Object) -> c_int;
    cnd_init(cond: Object) -> c_int;
    cnd_destroy(cond: Object);
    cnd_wait(cond: Object, mutex: Object) -> c_int;
    cnd_timedwait(cond: Object, mutex: Object, time: *const timespec) -> c_int;
    cnd_signal(cond: Object) -> c_int;
    cnd_broadcast(cond: Object) -> c_int;
    accept(fd: c_int, from: *mut sockaddr, len: *mut u32) -> c_int;
    accept4(fd: c_int, from: *mut sockaddr, len: *mut u32, flags: c_int) -> c_int;
    connect(fd: c_int, to: *const sockaddr, len: u32) -> c_int;
    read(fd: c_int, to: *mut c_void, len: usize) -> isize;
    readv(fd: c_int, parts: *const iovec, count: c_int) -> isize;
    recv(fd: c_int, to: *mut c_void, len: usize, flags: c_int) -> isize;
    recvfrom(fd: c_int, to: *mut c_void, len: usize, flags: c_int, from: *mut sockaddr, size: *mut u32) -> isize;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize;
    eventfd_read(fd: c_int, value: *mut u64) -> c_int;
    write(fd: c_int, from: *const c_void, len: usize) -> isize;
    writev(fd: c_int, parts: *const iovec, count: c_int) -> isize;
    send(fd: c_int, from: *const c_void, len: usize, flags: c_int) -> isize;
    sendto(fd: c_int, from: *const c_void, len: usize, flags: c_int, to: *const sockaddr, size: u32) -> isize;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize;
    eventfd_write(fd: c_int, value: u64) -> c_int;
    close(fd: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    fclose(stream: *mut libc::FILE) -> c_int;
    dup2(fd: c_int, number: c_int) -> c_int;
    dup3(fd: c_int, number: c_int, flags: c_int) -> c_int;
    socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int;
    sendfile(to: c_int, from: c_int, at: *mut i64, len: usize) -> isize;
    splice(from: c_int, from_at: *mut i64, to: c_int, to_at: *mut i64, len: usize, flags: c_uint) -> isize;
    tee(from: c_int, to: c_int, len: usize, flags: c_uint) -> isize;
    vmsplice(fd: c_int, parts: *const iovec, count: usize, flags: c_uint) -> isize;
    sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut timespec) -> c_int;
    flock(fd: c_int, operation: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    mq_send(to: c_int, from: *const c_char, len: usize, priority: c_uint) -> c_int;
    mq_timedsend(to: c_int, from: *const c_char, len: usize, priority: c_uint, limit: *const timespec) -> c_int;
    mq_receive(of: c_int, to: *mut c_char, len: usize, priority: *mut c_uint) -> isize;
    mq_timedreceive(of: c_int, to: *mut c_char, len: usize, priority: *mut c_uint, limit: *const timespec) -> isize;
    msgsnd(to: c_int, from: *const c_void, len: usize, flags: c_int) -> c_int;
    msgrcv(of: c_int, to: *mut c_void, len: usize, kind: c_long, flags: c_int) -> isize;
    semop(of: c_int, operations: *mut sembuf, count: usize) -> c_int;
    semtimedop(of: c_int, operations: *mut sembuf, count: usize, limit: *const timespec) -> c_int;
    mmap(at: *mut c_void, len: usize, access: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    mremap(old: *mut c_void, old_len: usize, len: usize, flags: c_int, at: *mut c_void) -> *mut c_void;
    pthread_mutexattr_setrobust(attributes: *mut c_void, robust: c_int) -> c_int;
    pthread_kill(thread: pthread_t, signal: c_int) -> c_int;
    kill(process: libc::pid_t, signal: c_int) -> c_int;
    sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int;
    sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int;
    sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int;
    sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    __cxa_guard_acquire(guard: Object) -> c_int;
    __cxa_guard_release(guard: Object);
    __cxa_guard_abort(guard: Object);
}
