// mbsrtowcs advances the pointer that its argument points to.
#include <pthread.h>
#include <string.h>
#include <wchar.h>

static const char *source = "ab";
static wchar_t wide[4];

static void *worker(void *arg) {
    mbstate_t state;
    memset(&state, 0, sizeof state);
    mbsrtowcs(wide, &source, 4, &state); // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    const char *seen = source; // RACE!
#else
    wchar_t seen = wide[3];
#endif
    pthread_join(thread, NULL);
    return seen != 0;
}
