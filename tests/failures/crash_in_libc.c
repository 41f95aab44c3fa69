// strlen of a null pointer, in one order of events.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic(const char *) name;

static void *reader(void *arg) {
    const char *seen = name;
    return strlen(seen) ? arg : NULL; // CRASH
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    name = "known";
    pthread_join(thread, NULL);
    return 0;
}
