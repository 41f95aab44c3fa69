// Objects in a section of their own are reached through the names that the linker gives to its bounds.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int first __attribute__((section("counters"), used));
static int second __attribute__((section("counters"), used));
extern int __start_counters[], __stop_counters[];

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    first++; // RACE!
    second++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
    for (int *counter = __start_counters; counter < __stop_counters; counter++)
        *counter = 0; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
    pthread_join(thread, NULL);
    return 0;
}
