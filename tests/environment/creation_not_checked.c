// --environment creation: a handle that was never stored is joined.
#include <pthread.h>
#include <stddef.h>

static void *work(void *arg) {
    return arg;
}

int main(void) {
    pthread_t thread = 0;
    int result = pthread_create(&thread, NULL, work, NULL);
#ifdef RIGHT
    if (result == 0)
#endif
        pthread_join(thread, NULL); // MISUSE joins a thread that does not exist
    (void)result;
    return 0;
}
