// Watches what a library function does to the memory it is given.
//
// Every argument that points to memory gets a page of its own between two pages that nobody may touch. While the
// function runs, the pages of its arguments may not be touched either: each access faults, is noted with its address
// and direction, and is executed alone before the page is closed again. What the kernel touches does not fault; for
// functions that hand their arguments to the kernel the pages are filled with two patterns in turn, and compared.
//
// Output, one line each, tab-separated after the function's name:
//   arg I N           argument I is the number N
//   result N          the function returned N
//   read I            it read memory of argument I
//   write I FROM TO   it wrote bytes from FROM to TO (exclusive) of argument I
//   variable NAME     it wrote the variable
//   static            two threads got a pointer to the same memory
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGES = 6, PAGE = 4096, START = 1024 };
static const char *current;
static char *pages[PAGES], before[PAGES][PAGE];
static volatile int watched[PAGES], stepping[PAGES], reads[PAGES];
static int low[PAGES], high[PAGES];
// Bytes that the call wrote: to read them again is not to read what the caller put there.
static char own[PAGES][PAGE];

static void written(int i, int from, int to) {
    if (low[i] > high[i] || from < low[i])
        low[i] = from;
    if (to > high[i])
        high[i] = to;
    memset(own[i] + START + from, 1, to - from);
}

// Notes where a page differs from its copy.
static void compare(int i) {
    for (int at = 0; at < PAGE; at++)
        if (pages[i][at] != before[i][at])
            written(i, at - START, at + 1 - START);
}

#ifdef __x86_64__
static void on_fault(int signal, siginfo_t *info, void *context) {
    ucontext_t *u = context;
    for (int i = 0; i < PAGES; i++) {
        long at = (char *)info->si_addr - pages[i];
        if (at < 0 || at >= PAGE || !watched[i] || stepping[i])
            continue;
        mprotect(pages[i], PAGE, PROT_READ | PROT_WRITE);
        memcpy(before[i], pages[i], PAGE);
        stepping[i] = 1;
        if (u->uc_mcontext.gregs[REG_ERR] & 2)
            written(i, at - START, at + 1 - START);
        else if (!own[i][at])
            reads[i] = 1;
        u->uc_mcontext.gregs[REG_EFL] |= 0x100;
        return;
    }
    static const char text[] = "probe: a fault outside of the arguments in ";
    write(2, text, sizeof text - 1), write(2, current, strlen(current)), write(2, "\n", 1);
    _exit(3);
}

static void on_step(int signal, siginfo_t *info, void *context) {
    ucontext_t *u = context;
    u->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    for (int i = 0; i < PAGES; i++)
        if (stepping[i]) {
            compare(i);
            stepping[i] = 0;
            mprotect(pages[i], PAGE, PROT_NONE);
        }
}
#endif

static void prepare(void) {
    for (int i = 0; i < PAGES; i++) {
        char *room = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pages[i] = room + PAGE;
        mprotect(pages[i], PAGE, PROT_READ | PROT_WRITE);
    }
#ifdef __x86_64__
    static char stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, NULL);
#endif
}

static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("%s\t", current);
    vprintf(format, list);
    putchar('\n');
    va_end(list);
}

// Begins the probe of a function.
static void begin(const char *name) {
    current = name;
    for (int i = 0; i < PAGES; i++) {
        memset(pages[i], 0xa5, PAGE);
        memset(own[i], 0, PAGE);
        watched[i] = reads[i] = 0;
        low[i] = 1, high[i] = 0;
    }
}

// Memory for an argument, with this content.
static void *with(int i, const void *content, size_t len) {
    memcpy(pages[i] + START, content, len);
    watched[i] = 1;
    return pages[i] + START;
}
static void *room(int i) {
    return with(i, "", 0);
}
static char *text(int i, const char *string) {
    return with(i, string, strlen(string) + 1);
}
static wchar_t *wide(int i, const wchar_t *string) {
    size_t len = 0;
    while (string[len])
        len++;
    return with(i, string, 4 * (len + 1));
}
static long number(int i, long value) {
    say("arg %d %ld", i, value);
    return value;
}

static void open_pages(void) {
    for (int i = 0; i < PAGES; i++)
        mprotect(pages[i], PAGE, PROT_READ | PROT_WRITE);
}
static void close_pages(void) {
#ifdef __x86_64__
    for (int i = 0; i < PAGES; i++)
        if (watched[i])
            mprotect(pages[i], PAGE, PROT_NONE);
#endif
}
static void finish(void) {
    for (int i = 0; i < PAGES; i++) {
        if (reads[i])
            say("read %d", i);
        if (low[i] <= high[i])
            say("write %d %d %d", i, low[i], high[i]);
    }
}

// Calls a function while its arguments are watched. On other processors than x86-64 only changes are seen.
#define WATCH(call)                                                                                                    \
    do {                                                                                                               \
        for (int i_ = 0; i_ < PAGES; i_++)                                                                             \
            memcpy(before[i_], pages[i_], PAGE);                                                                       \
        close_pages();                                                                                                 \
        call;                                                                                                          \
        open_pages();                                                                                                  \
        for (int i_ = 0; i_ < PAGES; i_++)                                                                             \
            if (watched[i_])                                                                                           \
                compare(i_);                                                                                           \
        finish();                                                                                                      \
    } while (0)
#define WATCH_RESULT(call)                                                                                             \
    do {                                                                                                               \
        long result_ = 0;                                                                                              \
        WATCH(result_ = (long)(call));                                                                                 \
        say("result %ld", result_);                                                                                    \
    } while (0)

// Calls a function twice with its room filled by two patterns: for what the kernel writes.
#define PATTERNS(i, call)                                                                                              \
    do {                                                                                                               \
        long result_ = 0;                                                                                              \
        for (int fill_ = 0x11; fill_ < 0x100; fill_ += 0xdd) {                                                         \
            memset(pages[i], fill_, PAGE);                                                                             \
            memcpy(before[i], pages[i], PAGE);                                                                         \
            result_ = (long)(call);                                                                                    \
            compare(i);                                                                                                \
        }                                                                                                              \
        say("result %ld", result_);                                                                                    \
        finish();                                                                                                      \
    } while (0)

// Calls a function and looks whether a variable changed, from either of two values.
#define VARIABLE(name, variable, call)                                                                                 \
    do {                                                                                                               \
        int changed_ = 0;                                                                                              \
        for (int turn_ = 0; turn_ < 2; turn_++) {                                                                      \
            __typeof__(variable) value_ = (__typeof__(variable))(intptr_t)(turn_ ? 77 : 0);                            \
            variable = value_;                                                                                         \
            call;                                                                                                      \
            changed_ |= variable != value_;                                                                            \
        }                                                                                                              \
        if (changed_)                                                                                                  \
            say("variable %s", name);                                                                                  \
    } while (0)

// Whether the results of two threads' calls are the same memory.
struct asked {
    void *(*call)(void);
    void *result;
};
static pthread_barrier_t both;
static void *ask(void *arg) {
    struct asked *asked = arg;
    asked->result = asked->call();
    // The other thread asks while this one and its own memory still exist.
    pthread_barrier_wait(&both);
    return NULL;
}
static void shared(const char *name, void *(*call)(void)) {
    current = name;
    struct asked asked[2] = {{call, NULL}, {call, NULL}};
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, ask, &asked[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    say(asked[0].result && asked[0].result == asked[1].result ? "static" : "own");
}
