// A program of one kind of state, named by its first argument. The first thread to get the lock finds the state as `main`
// left it, in every schedule; then both threads change it. A run that begins with what an earlier one left behind fails the
// assertion. Compiled with NATIVE it is an ordinary program; otherwise it is linked with the runtime as it is, because its
// only accesses are those of the functions it calls.
#pragma once
#define _GNU_SOURCE
#ifndef NATIVE
#include "rp.h"
#endif
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct kind {
    const char *name;
    void (*prepare)(void);
    int (*untouched)(void);
    void (*change)(void);
};

// Name, what `main` does first, whether the state is as `main` left it, and the change.
#define KIND(name, prepare, untouched, ...)                 \
    static void prepare_##name(void) { prepare; }           \
    static int untouched_##name(void) { return untouched; } \
    static void change_##name(void) { __VA_ARGS__; }
#define ROW(name) {#name, prepare_##name, untouched_##name, change_##name},

// Descriptors and numbers that a kind keeps between the three.
static int fd, other, pair[2];
static long number;
static char buffer[256];

// The start of an open file, without moving its position.
static inline int begins(int file, const char *text) {
    char got[64] = {0};
    ssize_t len = pread(file, got, sizeof got - 1, 0);
    return len == (ssize_t)strlen(text) && !strcmp(got, text);
}

static inline off_t size_of(int file) {
    struct stat s;
    return fstat(file, &s) ? -1 : s.st_size;
}

static inline mode_t mode_of(int file) {
    struct stat s;
    return fstat(file, &s) ? 0 : s.st_mode & 07777;
}

static inline int file_with(int file, const char *text) {
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    return file;
}

#define LIST_KINDS(...)                                                                          \
    static const struct kind kinds[] = {__VA_ARGS__};                                            \
    static const struct kind *kind;                                                              \
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;                                    \
    static int turns;                                                                            \
    static void *run(void *arg) {                                                                \
        pthread_mutex_lock(&mutex);                                                              \
        if (!turns++)                                                                            \
            assert(kind->untouched());                                                           \
        kind->change();                                                                          \
        pthread_mutex_unlock(&mutex);                                                            \
        return arg;                                                                              \
    }                                                                                            \
    int main(int argc, char **argv) {                                                            \
        if (argc < 2) {                                                                          \
            for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)                            \
                puts(kinds[i].name);                                                             \
            return 0;                                                                            \
        }                                                                                        \
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)                                \
            if (!strcmp(kinds[i].name, argv[1]))                                                 \
                kind = &kinds[i];                                                                \
        if (!kind)                                                                               \
            return 1;                                                                            \
        kind->prepare();                                                                         \
        pthread_t a, b;                                                                          \
        pthread_create(&a, 0, run, 0);                                                           \
        pthread_create(&b, 0, run, 0);                                                           \
        pthread_join(a, 0);                                                                      \
        pthread_join(b, 0);                                                                      \
        return 0;                                                                                \
    }
