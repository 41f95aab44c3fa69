// Attributes of the process and state of the C library.
#include "leftovers.h"
#include <fenv.h>
#include <getopt.h>
#include <grp.h>
#include <locale.h>
#include <sched.h>
#include <spawn.h>
#include <search.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <wchar.h>

static rlim_t soft(int which) {
    struct rlimit limit;
    return getrlimit(which, &limit) ? 0 : limit.rlim_cur;
}

static void lower(int which, rlim_t to) {
    struct rlimit limit;
    getrlimit(which, &limit);
    limit.rlim_cur = to;
    setrlimit(which, &limit);
}

static int cpus(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

static cpu_set_t one(void) {
    cpu_set_t all, set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &set);
            break;
        }
    return set;
}

static mode_t mask(void) {
    mode_t now = umask(0);
    umask(now);
    return now;
}

static int timer(int which) {
    struct itimerval value;
    return getitimer(which, &value) == 0 && value.it_value.tv_sec == 0 && value.it_value.tv_usec == 0;
}

static void set_timer(int which) {
    struct itimerval value = {.it_value = {.tv_sec = 1000}};
    setitimer(which, &value, 0);
}

static int is_default(int signal) {
    struct sigaction action;
    return sigaction(signal, 0, &action) == 0 && action.sa_handler == SIG_DFL;
}

static int blocked(int signal) {
    sigset_t set;
    sigprocmask(SIG_BLOCK, 0, &set);
    return sigismember(&set, signal);
}

static void block(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, 0);
}

static int is_pending(int signal) {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

static pid_t run_child(const char *command) {
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)0);
        _exit(127);
    }
    return pid;
}

static pid_t run_child_on(int input) {
    pid_t pid = fork();
    if (pid == 0) {
        dup2(input, 0);
        execl("/bin/cat", "cat", (char *)0);
        _exit(127);
    }
    return pid;
}

static posix_spawn_file_actions_t actions;

// Whether a program can be started with these actions; it is waited for.
static int spawn(void) {
    pid_t pid;
    int status = -1;
    char *argv[] = {"true", 0};
    if (posix_spawn(&pid, "/bin/true", &actions, 0, argv, argv + 1) == 0)
        waitpid(pid, &status, 0);
    return status;
}

static char *folder(void) {
    return getcwd(buffer, sizeof buffer);
}

static char start[256];

#define LIMIT(name, to) KIND(limit_##name, number = soft(RLIMIT_##name), soft(RLIMIT_##name) == (rlim_t)number, lower(RLIMIT_##name, to))
LIMIT(CORE, 0)
LIMIT(FSIZE, 1 << 30)
LIMIT(STACK, 1 << 20)
LIMIT(CPU, 100000)
LIMIT(DATA, 1L << 40)
LIMIT(AS, 1L << 47)
LIMIT(MEMLOCK, 4096)
LIMIT(NOFILE, 64)
LIMIT(NPROC, 50)
LIMIT(SIGPENDING, 10)
LIMIT(MSGQUEUE, 1000)
LIMIT(RSS, 1L << 40)
KIND(limit_by_prlimit, number = soft(RLIMIT_CORE), soft(RLIMIT_CORE) == (rlim_t)number,
     struct rlimit limit = {0, 0}; prlimit(0, RLIMIT_CORE, &limit, 0))
KIND(hard_limit, struct rlimit limit; getrlimit(RLIMIT_SIGPENDING, &limit); number = limit.rlim_max,
     ({ struct rlimit limit; getrlimit(RLIMIT_SIGPENDING, &limit); limit.rlim_max == (rlim_t)number; }),
     struct rlimit limit = {5, 5}; setrlimit(RLIMIT_SIGPENDING, &limit))
KIND(child, , waitpid(-1, 0, WNOHANG) == -1 && errno == ECHILD, run_child("exit 2"))
KIND(signal_of_a_child, block(SIGCHLD), !is_pending(SIGCHLD), run_child("exit 2"))
KIND(child_that_waits, if (pipe(pair)) abort(), waitpid(-1, 0, WNOHANG) == -1 && errno == ECHILD, run_child_on(pair[0]))
KIND(output_of_a_child, fd = memfd_create("out", 0), size_of(fd) == 0, dup2(fd, 1); run_child("echo hello"))
KIND(input_of_a_child, fd = file_with(memfd_create("in", 0), "abc"); lseek(fd, 0, SEEK_SET),
     lseek(fd, 0, SEEK_CUR) == 0, dup2(fd, 0); run_child("cat >/dev/null"))
KIND(command, , waitpid(-1, 0, WNOHANG) == -1 && errno == ECHILD, popen("echo hello; exit 3", "r"))
KIND(actions_of_a_child, posix_spawn_file_actions_init(&actions), spawn() == 0,
     posix_spawn_file_actions_addopen(&actions, 0, "/no/such/file", O_RDONLY, 0))
KIND(mask, umask(022), mask() == 022, umask(077))
KIND(mask_of_a_file, umask(022),
     ({ int f = open("isolation-mask", O_CREAT | O_RDWR, 0666); int is = mode_of(f) == 0644; close(f); is; }), umask(0))
KIND(folder, strcpy(start, folder()), !strcmp(folder(), start), chdir("/"))
KIND(folder_by_descriptor, strcpy(start, folder()); fd = open("/", O_RDONLY | O_DIRECTORY), !strcmp(folder(), start),
     fchdir(fd))
KIND(relative_name, , access("etc/passwd", F_OK) != 0, chdir("/"))
KIND(nice_value, errno = 0; number = getpriority(PRIO_PROCESS, 0), getpriority(PRIO_PROCESS, 0) == number, nice(1))
KIND(priority, number = getpriority(PRIO_PROCESS, 0), getpriority(PRIO_PROCESS, 0) == number,
     setpriority(PRIO_PROCESS, 0, 3))
KIND(affinity, number = cpus(), cpus() == number, cpu_set_t set = one(); sched_setaffinity(0, sizeof set, &set))
KIND(affinity_of_a_thread, number = cpus(), cpus() == number,
     cpu_set_t set = one(); pthread_setaffinity_np(pthread_self(), sizeof set, &set))
KIND(scheduling_policy, , sched_getscheduler(0) == SCHED_OTHER,
     struct sched_param p = {0}; sched_setscheduler(0, SCHED_BATCH, &p))
KIND(scheduling_of_a_thread, , sched_getscheduler(0) == SCHED_OTHER,
     struct sched_param p = {0}; pthread_setschedparam(pthread_self(), SCHED_BATCH, &p))
KIND(process_name, prctl(PR_SET_NAME, "first"), (prctl(PR_GET_NAME, buffer), 1), prctl(PR_SET_NAME, "second"))
KIND(thread_name, , (pthread_getname_np(pthread_self(), buffer, 16), strcmp(buffer, "other") != 0),
     pthread_setname_np(pthread_self(), "other"))
KIND(dumpable, , prctl(PR_GET_DUMPABLE) == 1, prctl(PR_SET_DUMPABLE, 0))
KIND(timer_slack, number = prctl(PR_GET_TIMERSLACK), prctl(PR_GET_TIMERSLACK) == number, prctl(PR_SET_TIMERSLACK, 12345))
KIND(keep_capabilities, , prctl(PR_GET_KEEPCAPS) == 0, prctl(PR_SET_KEEPCAPS, 1))
KIND(no_new_privileges, , prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
KIND(child_reaper, , (prctl(PR_GET_CHILD_SUBREAPER, &other), other == 0), prctl(PR_SET_CHILD_SUBREAPER, 1))
KIND(persona, number = personality(0xffffffff), personality(0xffffffff) == number, personality(number ^ SHORT_INODE))
KIND(group_of_processes, number = getpgid(0), getpgid(0) == number, setpgid(0, 0))
KIND(session, number = getsid(0), getsid(0) == number, setsid())
KIND(effective_user, number = geteuid(), geteuid() == number, seteuid(65534))
KIND(effective_group, number = getegid(), getegid() == number, setegid(65534))
KIND(user, number = getuid(), getuid() == number, setuid(65534))
KIND(group, number = getgid(), getgid() == number, setgid(65534))
KIND(real_user, number = getuid(), getuid() == number, setreuid(65534, 65534))
KIND(real_group, number = getgid(), getgid() == number, setregid(65534, 65534))
KIND(saved_user, number = getuid(), getuid() == number, setresuid(65534, 65534, 65534))
KIND(interval_timer, , timer(ITIMER_REAL), set_timer(ITIMER_REAL))
KIND(virtual_timer, , timer(ITIMER_VIRTUAL), set_timer(ITIMER_VIRTUAL))
KIND(profiling_timer, , timer(ITIMER_PROF), set_timer(ITIMER_PROF))
KIND(alarm_clock, , timer(ITIMER_REAL), alarm(1000))
KIND(posix_timer, , (buffer[0] == 0),
     timer_t t; struct sigevent e = {.sigev_notify = SIGEV_NONE}; buffer[0] = timer_create(CLOCK_MONOTONIC, &e, &t) == 0)
KIND(ignored_signal, , is_default(SIGUSR1), signal(SIGUSR1, SIG_IGN))
KIND(handled_signal, , is_default(SIGUSR2), struct sigaction a = {.sa_handler = SIG_IGN}; sigaction(SIGUSR2, &a, 0))
KIND(blocked_signal, , !blocked(SIGUSR1), block(SIGUSR1))
KIND(blocked_by_main, block(SIGUSR2), blocked(SIGUSR2), sigset_t s; sigemptyset(&s); sigprocmask(SIG_SETMASK, &s, 0))
KIND(locale, setlocale(LC_ALL, "C"), !strcmp(setlocale(LC_ALL, 0), "C"), setlocale(LC_ALL, "C.UTF-8"))
KIND(locale_of_a_thread, , uselocale(0) == LC_GLOBAL_LOCALE, uselocale(newlocale(LC_ALL_MASK, "C", 0)))
KIND(environment, setenv("KIND", "first", 1), !strcmp(getenv("KIND"), "first"), setenv("KIND", "second", 1))
KIND(environment_removed, setenv("KIND", "first", 1), getenv("KIND") != 0, unsetenv("KIND"))
KIND(environment_string, putenv(strcpy(buffer, "KIND=first")), !strcmp(getenv("KIND"), "first"), strcpy(buffer, "KIND=other"))
KIND(time_zone, setenv("TZ", "UTC", 1); tzset(), timezone == 0, setenv("TZ", "EST5", 1); tzset())
KIND(random_numbers, srand(1); number = rand(); srand(1), rand() == number, rand())
KIND(random_numbers_48, srand48(1); number = lrand48(); srand48(1), lrand48() == number, lrand48())
KIND(random_state, srandom(7); number = random(); srandom(7), random() == number, random())
KIND(options, optind = 1, optind == 1, optind = 5)
KIND(tokens, strtok(strcpy(buffer, "a b c"), " "), !strcmp(strtok(0, " "), "b"), strtok(0, " "))
KIND(rounding, , fegetround() == FE_TONEAREST, fesetround(FE_UPWARD))
KIND(arithmetic_exceptions, feclearexcept(FE_ALL_EXCEPT), !fetestexcept(FE_OVERFLOW), feraiseexcept(FE_OVERFLOW))
KIND(error_number, errno = 0, errno == 0, errno = EIO)
KIND(hash_table, hcreate(8), hsearch((ENTRY){.key = "k"}, FIND) == 0, ENTRY e = {"k", 0}; hsearch(e, ENTER))
KIND(locked_pages, , 1, mlockall(MCL_CURRENT); munlockall())
KIND(mask_by_number, umask(022), mask() == 022, syscall(SYS_umask, 077))
KIND(folder_by_number, strcpy(start, folder()), !strcmp(folder(), start), syscall(SYS_chdir, "/"))
KIND(io_priority, number = syscall(SYS_ioprio_get, 1, 0), syscall(SYS_ioprio_get, 1, 0) == number,
     syscall(SYS_ioprio_set, 1, 0, (2 << 13) | 7))
KIND(heap, number = (long)malloc(1 << 20); free((void *)number), 1, malloc(1 << 20))
KIND(groups, number = getgroups(0, 0), getgroups(0, 0) == number,
     gid_t g[3] = {1, 2, 3}; setgroups(3, g))

LIST_KINDS(ROW(limit_CORE) ROW(limit_FSIZE) ROW(limit_STACK) ROW(limit_CPU) ROW(limit_DATA) ROW(limit_AS)
ROW(limit_MEMLOCK) ROW(limit_NOFILE) ROW(limit_NPROC) ROW(limit_SIGPENDING) ROW(limit_MSGQUEUE) ROW(limit_RSS)
ROW(limit_by_prlimit) ROW(hard_limit) ROW(mask) ROW(mask_of_a_file) ROW(folder) ROW(folder_by_descriptor)
ROW(relative_name) ROW(nice_value) ROW(priority) ROW(affinity) ROW(affinity_of_a_thread) ROW(scheduling_policy)
ROW(scheduling_of_a_thread) ROW(process_name) ROW(thread_name) ROW(dumpable) ROW(timer_slack) ROW(keep_capabilities)
ROW(no_new_privileges) ROW(child_reaper) ROW(persona) ROW(group_of_processes) ROW(session) ROW(effective_user)
ROW(effective_group) ROW(user) ROW(group) ROW(real_user) ROW(real_group) ROW(saved_user) ROW(interval_timer)
ROW(virtual_timer) ROW(profiling_timer) ROW(alarm_clock) ROW(posix_timer) ROW(ignored_signal) ROW(handled_signal)
ROW(blocked_signal) ROW(blocked_by_main) ROW(locale) ROW(locale_of_a_thread) ROW(environment) ROW(environment_removed)
ROW(environment_string) ROW(time_zone) ROW(random_numbers) ROW(random_numbers_48) ROW(random_state) ROW(options)
ROW(tokens) ROW(rounding) ROW(arithmetic_exceptions) ROW(error_number) ROW(hash_table) ROW(locked_pages)
ROW(child) ROW(signal_of_a_child) ROW(child_that_waits) ROW(output_of_a_child) ROW(input_of_a_child) ROW(command)
ROW(actions_of_a_child) ROW(mask_by_number) ROW(folder_by_number) ROW(io_priority) ROW(heap) ROW(groups))
