// The example of the paper: `x` under `m`, `y` bare. The order in which the two sections nearly always come hides the
// race on `y`: the first thread's section happens before the second's.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *first(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&m);
    y = 1;
#else
    y = 1;
    pthread_mutex_lock(&m);
#endif
    x = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *second(void *unused) {
    usleep(20000);
    pthread_mutex_lock(&m);
    x = 2;
#ifdef FIXED
    y = 2;
    pthread_mutex_unlock(&m);
#else
    pthread_mutex_unlock(&m);
    y = 2;
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, first, 0);
    pthread_create(&other, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return y == 0;
}
