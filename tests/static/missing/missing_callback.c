// A function is missing: it calls back, on the caller's thread or on another one.
#include <pthread.h>

void for_each_file(void (*visit)(int size));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long bytes;
static int untouched;

static void add(int size) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    bytes += size; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *scan(void *arg) {
    for_each_file(add);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, scan, NULL);
    untouched++; // NORACE
    for_each_file(add);
    pthread_join(thread, NULL);
    return untouched;
}

#ifdef MODEL
void for_each_file(void (*visit)(int size)) {
    visit(10);
    visit(20);
}
#endif
