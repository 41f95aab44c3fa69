// A kernel semaphore used as a lock: down and up.
// raceproof static --entry tape_write,tape_rewind --locks linux
#include "kernel.h"

struct tape {
    struct semaphore sem;
    long position;
    int errors;
};

static struct tape tape = {.sem = LOCK_UNLOCKED};

static int move(struct tape *t, long by) {
    t->position += by; // RACE!
    return t->position < 0; // RACE!
}

int tape_write(int blocks) {
    int error;
    down(&tape.sem);
    error = move(&tape, blocks);
    tape.errors += error; // NORACE
    up(&tape.sem);
    return error;
}

void tape_rewind(void) {
#ifndef RACY
    down(&tape.sem);
#endif
    tape.position = 0; // RACE!
#ifndef RACY
    up(&tape.sem);
#endif
}

#ifdef MODEL
THREADS(tape_write(2), tape_rewind())
#endif
