// A handler releases the lock and throws again; what the outer handler touches is no longer protected.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void inner() {
    pthread_mutex_lock(&m);
    try {
        x++; // RACE!
        throw 1;
    } catch (...) {
        pthread_mutex_unlock(&m);
        throw;
    }
}

static void *work(void *) {
    try {
        inner();
    } catch (int) {
#ifdef RACY
        x++; // RACE!
#else
        pthread_mutex_lock(&m);
        x++; // NORACE
        pthread_mutex_unlock(&m);
#endif
    }
    return nullptr;
}

int main() {
    pthread_t one, two;
    pthread_create(&one, nullptr, work, nullptr);
    pthread_create(&two, nullptr, work, nullptr);
    pthread_join(one, nullptr);
    pthread_join(two, nullptr);
    return x; // NORACE
}
