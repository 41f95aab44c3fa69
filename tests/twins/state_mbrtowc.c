// mbrtowc without a state of the caller's uses one of its own.
#include <pthread.h>
#include <string.h>
#include <wchar.h>

static void *worker(void *arg) {
    wchar_t wide;
#ifdef RACY
    mbrtowc(&wide, "a", 1, NULL); // RACE!
#else
    mbstate_t state;
    memset(&state, 0, sizeof state);
    mbrtowc(&wide, "a", 1, &state);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
