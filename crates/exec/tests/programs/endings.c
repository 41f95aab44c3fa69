// Ends in the way its argument says, in a thread beside one that does its work.
#include "rp.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int worked;
int *volatile nothing;
volatile int zero;
const char *how;

static int deep(int n) {
    volatile char frame[1024];
    frame[0] = (char)n;
    return zero ? 0 : deep(n + 1) + frame[0];
}

// Ends the process behind the runtime's back.
static void die(void) {
    long process, result;
    __asm__ volatile("syscall" : "=a"(process) : "a"(39L /* getpid */) : "rcx", "r11", "memory");
    __asm__ volatile("syscall" : "=a"(result) : "a"(62L /* kill */), "D"(process), "S"(9L) : "rcx", "r11", "memory");
}

static void *end(void *arg) {
    STORE(worked, LOAD(worked) + 1);
    if (!strcmp(how, "null"))
        *nothing = 1;
    if (!strcmp(how, "overflow"))
        return (void *)(long)deep(0);
    if (!strcmp(how, "divide"))
        return (void *)(long)(100 / zero);
    if (!strcmp(how, "trap"))
        __builtin_trap();
    if (!strcmp(how, "abort"))
        AT(abort());
    if (!strcmp(how, "inside"))
        AT(printf("%s\n", (char *)arg + 1));
    if (!strcmp(how, "exit"))
        AT(exit(7));
    if (!strcmp(how, "loop"))
        for (;;)
            ;
    if (!strcmp(how, "steps"))
        for (;;)
            STORE(worked, 1);
    if (!strcmp(how, "kill"))
        die();
    return arg;
}

static void *work(void *arg) {
    for (int i = 0; i < 4; i++)
        STORE(worked, LOAD(worked) + 1);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t a, b;
    how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "alone"))
        return 3;
    AT(pthread_create(&a, 0, end, 0));
    AT(pthread_create(&b, 0, work, 0));
    AT(pthread_join(a, 0));
    AT(pthread_join(b, 0));
    return 0;
}
