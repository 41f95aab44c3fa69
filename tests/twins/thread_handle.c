// A new thread may start before its creator has stored its handle: it has to ask for its own.
#include <pthread.h>
#include <stddef.h>

static pthread_t handle;

static void *work(void *arg) {
#ifdef RACY
    pthread_t own = handle; // RACE!
#else
    pthread_t own = pthread_self();
#endif
    return pthread_equal(own, pthread_self()) ? arg : NULL;
}

int main(void) {
    pthread_create(&handle, NULL, work, NULL); // RACE!
    pthread_join(handle, NULL);
    return 0;
}
