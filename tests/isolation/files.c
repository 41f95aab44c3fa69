// Files, descriptors, what they are open as, and memory that is mapped.
#include "leftovers.h"
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#define NAME "isolation-file"

static FILE *stream;
static char *map;

static int flags(int file) {
    return fcntl(file, F_GETFL);
}

static int created(void) {
    return file_with(open(NAME, O_CREAT | O_TRUNC | O_RDWR, 0644), "first");
}

static int removed(void) {
    int file = created();
    unlink(NAME);
    return file;
}

static int nameless(void) {
    return file_with(open("/tmp", O_TMPFILE | O_RDWR, 0600), "first");
}

static int in_memory(void) {
    return file_with(memfd_create("file", MFD_ALLOW_SEALING), "first");
}

static int of_stream(void) {
    stream = tmpfile();
    fputs("first", stream);
    fflush(stream);
    return fileno(stream);
}

static int option(int s, int name) {
    int value = 0;
    socklen_t len = sizeof value;
    return getsockopt(s, SOL_SOCKET, name, &value, &len) ? -1 : value;
}

static void set_option(int s, int name, int value) {
    setsockopt(s, SOL_SOCKET, name, &value, sizeof value);
}

static void set_times(int file, time_t to) {
    struct timespec times[2] = {{to, 0}, {to, 0}};
    futimens(file, times);
}

// Every kind of file that has its content outside the program's memory, and every way to change it.
#define CONTENTS(kind, open)                                                                       \
    KIND(kind##_content, fd = open, begins(fd, "first"), pwrite(fd, "other", 5, 0))                  \
    KIND(kind##_longer, fd = open, size_of(fd) == 5, pwrite(fd, "more", 4, 5))                       \
    KIND(kind##_shorter, fd = open, begins(fd, "first"), ftruncate(fd, 1))                           \
    KIND(kind##_position, fd = open; lseek(fd, 2, SEEK_SET), lseek(fd, 0, SEEK_CUR) == 2, lseek(fd, 4, SEEK_SET)) \
    KIND(kind##_mode, fd = open; fchmod(fd, 0644), mode_of(fd) == 0644, fchmod(fd, 0600))            \
    KIND(kind##_appends, fd = open, !(flags(fd) & O_APPEND), fcntl(fd, F_SETFL, O_APPEND))           \
    KIND(kind##_duplicate, fd = dup(open), begins(fd, "first"), pwrite(fd, "other", 5, 0))           \
    KIND(kind##_closed, fd = open, begins(fd, "first"), pwrite(fd, "other", 5, 0); close(fd))        \
    KIND(kind##_allocated, fd = open, size_of(fd) == 5, posix_fallocate(fd, 0, 100))                 \
    KIND(kind##_vector, fd = open; lseek(fd, 0, SEEK_SET), begins(fd, "first"),                      \
         struct iovec v = {"other", 5}; writev(fd, &v, 1))
CONTENTS(named, created())
CONTENTS(removed, removed())
CONTENTS(nameless, nameless())
CONTENTS(memory, in_memory())
CONTENTS(stream, of_stream())

KIND(stream_written, fd = of_stream(), begins(fd, "first"), fseek(stream, 0, SEEK_SET); fputs("other", stream); fflush(stream))
KIND(stream_read, fd = of_stream(); rewind(stream), fgetc(stream) == 'f', fgetc(stream))
KIND(ended_stream, fd = of_stream(); rewind(stream), fgetc(stream) == 'f', fclose(stream); fd = of_stream())
KIND(stream_buffer, stream = fopen(NAME, "w+"); setvbuf(stream, 0, _IOFBF, 64), ftell(stream) == 0, fputs("x", stream))
KIND(error_of_a_stream, stream = fopen("/dev/null", "r"), !ferror(stream), fputc('x', stream))
KIND(made, , access(NAME, F_OK) != 0, close(created()))
KIND(unlinked, close(created()), access(NAME, F_OK) == 0, unlink(NAME))
KIND(moved, close(created()), access(NAME, F_OK) == 0, rename(NAME, NAME "-2"))
KIND(moved_over, close(created()); close(file_with(open(NAME "-2", O_CREAT | O_RDWR | O_TRUNC, 0644), "second")),
     ({ int f = open(NAME, O_RDONLY); int is = begins(f, "first"); close(f); is; }), rename(NAME "-2", NAME))
KIND(cut_by_name, close(created()), ({ struct stat s; stat(NAME, &s) == 0 && s.st_size == 5; }), truncate(NAME, 0))
KIND(mode_by_name, close(created()), ({ struct stat s; stat(NAME, &s) == 0 && (s.st_mode & 0777) == 0644; }),
     chmod(NAME, 0600))
KIND(new_folder, , access(NAME "-d", F_OK) != 0, mkdir(NAME "-d", 0755); rmdir(NAME "-d"))
KIND(new_link, close(created()), access(NAME "-l", F_OK) != 0, link(NAME, NAME "-l"); unlink(NAME "-l"))
KIND(new_symbolic_link, close(created()), access(NAME "-s", F_OK) != 0, symlink(NAME, NAME "-s"); unlink(NAME "-s"))
KIND(new_pipe_name, , access(NAME "-p", F_OK) != 0, mkfifo(NAME "-p", 0600); unlink(NAME "-p"))
KIND(temporary_name, strcpy(buffer, "isolation-XXXXXX"), strstr(buffer, "XXXXXX") != 0, close(mkstemp(buffer)); unlink(buffer))
KIND(next_number, fd = open("/dev/null", O_RDONLY); close(fd), ({ int f = open("/dev/null", O_RDONLY); close(f); f == fd; }),
     open("/dev/null", O_RDONLY))
KIND(closed_number, fd = open("/dev/null", O_RDONLY), flags(fd) >= 0, close(fd))
KIND(replaced_number, fd = created(); other = open("/dev/null", O_RDWR), size_of(fd) == 5, dup2(other, fd))
KIND(standard_input, , flags(0) >= 0, close(0))
KIND(standard_output_flags, number = flags(1), flags(1) == number, fcntl(1, F_SETFL, number ^ O_NONBLOCK))
KIND(standard_input_flags, number = flags(0), flags(0) == number, fcntl(0, F_SETFL, number ^ O_NONBLOCK))
KIND(closes_on_exec, fd = created(), fcntl(fd, F_GETFD) == 0, fcntl(fd, F_SETFD, FD_CLOEXEC))
KIND(stays_on_exec, fd = open("/dev/null", O_RDONLY | O_CLOEXEC), fcntl(fd, F_GETFD) == FD_CLOEXEC, fcntl(fd, F_SETFD, 0))
KIND(stays_on_exec_closed, fd = open("/dev/null", O_RDONLY | O_CLOEXEC), fcntl(fd, F_GETFD) == FD_CLOEXEC, close(fd))
KIND(seals, fd = in_memory(), fcntl(fd, F_GET_SEALS) == 0, fcntl(fd, F_ADD_SEALS, F_SEAL_GROW))
KIND(times, fd = created(); set_times(fd, 1), ({ struct stat s; fstat(fd, &s) == 0 && s.st_mtime == 1; }), set_times(fd, 9))
KIND(sent, fd = in_memory(); other = in_memory(), begins(fd, "first"), lseek(other, 0, SEEK_SET); sendfile(fd, other, 0, 5))
KIND(copied, fd = in_memory(); other = in_memory(), size_of(fd) == 5,
     loff_t from = 0; copy_file_range(other, &from, fd, 0, 5, 0))
KIND(whole_file_lock, fd = created(); other = open(NAME, O_RDWR), flock(other, LOCK_EX | LOCK_NB) == 0, flock(fd, LOCK_UN))
KIND(owner_of_signals, pipe(pair), fcntl(pair[0], F_GETOWN) == 0, fcntl(pair[0], F_SETOWN, getpgrp()))
KIND(signal_of_a_pipe, pipe(pair), fcntl(pair[0], F_GETSIG) == 0, fcntl(pair[0], F_SETSIG, SIGUSR1))
KIND(size_of_a_pipe, pipe(pair); number = fcntl(pair[0], F_GETPIPE_SZ), fcntl(pair[0], F_GETPIPE_SZ) == number,
     fcntl(pair[0], F_SETPIPE_SZ, 1 << 18))
KIND(bytes_of_a_pipe, pipe2(pair, O_NONBLOCK); write(pair[1], "x", 1), read(pair[0], buffer, 9) == 1, write(pair[1], "xy", 2))
KIND(waiting_of_a_pipe, pipe(pair), !(flags(pair[0]) & O_NONBLOCK), fcntl(pair[0], F_SETFL, O_NONBLOCK))
KIND(not_waiting_of_a_pipe, pipe2(pair, O_NONBLOCK), (flags(pair[0]) & O_NONBLOCK), fcntl(pair[0], F_SETFL, 0))
KIND(waiting_by_device, pipe(pair), !(flags(pair[0]) & O_NONBLOCK), int on = 1; ioctl(pair[0], FIONBIO, &on))
KIND(end_of_a_pipe, pipe2(pair, O_NONBLOCK), read(pair[0], buffer, 1) == -1, close(pair[1]))
KIND(bytes_of_a_socket, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), read(pair[0], buffer, 1) == -1,
     write(pair[1], "x", 1))
KIND(half_closed_socket, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), read(pair[0], buffer, 1) == -1,
     shutdown(pair[1], SHUT_WR))
KIND(option_of_a_pair, socketpair(AF_UNIX, SOCK_STREAM, 0, pair); number = option(pair[0], SO_PASSCRED),
     option(pair[0], SO_PASSCRED) == number, set_option(pair[0], SO_PASSCRED, 1))
KIND(option_of_a_socket, fd = socket(AF_INET, SOCK_STREAM, 0), option(fd, SO_REUSEADDR) == 0, set_option(fd, SO_REUSEADDR, 1))
KIND(option_of_a_datagram_socket, fd = socket(AF_INET, SOCK_DGRAM, 0), option(fd, SO_BROADCAST) == 0,
     set_option(fd, SO_BROADCAST, 1))
KIND(buffer_of_a_socket, fd = socket(AF_INET, SOCK_STREAM, 0); number = option(fd, SO_RCVBUF),
     option(fd, SO_RCVBUF) == number, set_option(fd, SO_RCVBUF, 8192))
KIND(waiting_of_a_socket, fd = socket(AF_INET, SOCK_STREAM, 0), !(flags(fd) & O_NONBLOCK), fcntl(fd, F_SETFL, O_NONBLOCK))
KIND(event_counter, fd = eventfd(1, EFD_NONBLOCK), ({ eventfd_t v; eventfd_read(fd, &v) == 0 && v == 1; }), eventfd_write(fd, 5))
KIND(interest_list, fd = epoll_create1(0); pipe(pair),
     ({ struct epoll_event e = {.events = EPOLLIN}; epoll_ctl(fd, EPOLL_CTL_MOD, pair[0], &e) == -1; }),
     struct epoll_event e = {.events = EPOLLIN}; epoll_ctl(fd, EPOLL_CTL_ADD, pair[0], &e))
KIND(timer_descriptor, fd = timerfd_create(CLOCK_MONOTONIC, 0),
     ({ struct itimerspec t; timerfd_gettime(fd, &t) == 0 && t.it_value.tv_sec == 0; }),
     struct itimerspec t = {.it_value = {.tv_sec = 1000}}; timerfd_settime(fd, 0, &t, 0))
KIND(private_map, map = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); map[5000] = 1,
     map[5000] == 1, map[5000] = 2)
KIND(shared_map, map = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); map[5000] = 1,
     map[5000] == 1, map[5000] = 2)
KIND(map_of_a_file, fd = in_memory(); map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), map[0] == 'f', map[0] = 'x')
KIND(shared_map_of_a_file, fd = in_memory(); map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
     begins(fd, "first"), if (map != MAP_FAILED) map[0] = 'x')
KIND(ended_map, map = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); map[1] = 3, map[1] == 3,
     if (map) { munmap(map, 4096); map = 0; })
KIND(new_map, , 1, mmap(0, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
KIND(map_by_number, , buffer[0] == 0,
     buffer[0] = syscall(SYS_mmap, 0, 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L) != -1)
KIND(descriptor_by_number, fd = open("/dev/null", O_RDONLY), flags(fd) >= 0, syscall(SYS_close, fd))
KIND(content_by_number, fd = in_memory(), begins(fd, "first"), syscall(SYS_pwrite64, fd, "other", 5L, 0L))
KIND(segment, number = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT); map = number < 0 ? 0 : shmat(number, 0, 0);
     if (number >= 0) shmctl(number, IPC_RMID, 0), !map || map == (char *)-1 || map[0] == 0,
     if (map && map != (char *)-1) map[0] = 1)
KIND(semaphore_by_name, sem_unlink("/isolation-semaphore"),
     ({ sem_t *s = sem_open("/isolation-semaphore", 0); s == SEM_FAILED; }),
     sem_open("/isolation-semaphore", O_CREAT, 0600, 1); sem_unlink("/isolation-semaphore"))
KIND(range_closed, fd = open("/dev/null", O_RDONLY), flags(fd) >= 0, close_range(3, ~0u, 0))
KIND(all_closed, fd = open("/dev/null", O_RDONLY), flags(fd) >= 0, for (int i = 3; i < 1100; i++) close(i))
KIND(many_files, , access(NAME "-300", F_OK) != 0,
     for (int i = 0; i < 301; i++) { char n[64]; sprintf(n, NAME "-%d", i); close(creat(n, 0600)); unlink(n); })
KIND(many_open, number = open("/dev/null", O_RDONLY); close(number),
     ({ int f = open("/dev/null", O_RDONLY); close(f); f == number; }), for (int i = 0; i < 950; i++) open("/dev/null", O_RDONLY))
KIND(few_descriptors, fd = created(), begins(fd, "first"),
     struct rlimit l = {16, 16}; setrlimit(RLIMIT_NOFILE, &l); pwrite(fd, "other", 5, 0))

#define ROWS(kind)                                                                                  \
    ROW(kind##_content) ROW(kind##_longer) ROW(kind##_shorter) ROW(kind##_position) ROW(kind##_mode) \
    ROW(kind##_appends) ROW(kind##_duplicate) ROW(kind##_closed) ROW(kind##_allocated) ROW(kind##_vector)
LIST_KINDS(ROWS(named) ROWS(removed) ROWS(nameless) ROWS(memory) ROWS(stream) ROW(stream_written) ROW(stream_read)
ROW(ended_stream) ROW(stream_buffer) ROW(error_of_a_stream) ROW(made) ROW(unlinked) ROW(moved) ROW(moved_over)
ROW(cut_by_name) ROW(mode_by_name) ROW(new_folder) ROW(new_link) ROW(new_symbolic_link) ROW(new_pipe_name)
ROW(temporary_name) ROW(next_number) ROW(closed_number) ROW(replaced_number) ROW(standard_input)
ROW(standard_output_flags) ROW(standard_input_flags) ROW(closes_on_exec) ROW(stays_on_exec) ROW(stays_on_exec_closed)
ROW(seals) ROW(times) ROW(sent) ROW(copied) ROW(whole_file_lock) ROW(owner_of_signals) ROW(signal_of_a_pipe)
ROW(size_of_a_pipe) ROW(bytes_of_a_pipe) ROW(waiting_of_a_pipe) ROW(not_waiting_of_a_pipe) ROW(waiting_by_device)
ROW(end_of_a_pipe) ROW(bytes_of_a_socket) ROW(half_closed_socket) ROW(option_of_a_pair) ROW(option_of_a_socket)
ROW(option_of_a_datagram_socket) ROW(buffer_of_a_socket) ROW(waiting_of_a_socket) ROW(event_counter) ROW(interest_list)
ROW(timer_descriptor) ROW(private_map) ROW(shared_map) ROW(map_of_a_file) ROW(shared_map_of_a_file) ROW(ended_map)
ROW(new_map) ROW(map_by_number) ROW(descriptor_by_number) ROW(content_by_number) ROW(segment)
ROW(semaphore_by_name) ROW(range_closed) ROW(all_closed) ROW(many_files) ROW(many_open) ROW(few_descriptors))
