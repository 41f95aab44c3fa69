// A function returns with the lock held, but releases it before it throws.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void enter(long number) {
    pthread_mutex_lock(&m);
    if (number > 0) {
        pthread_mutex_unlock(&m);
        throw number;
    }
}

static void *work(void *arg) {
    try {
        enter((long)arg);
        x++; // RACE!
        pthread_mutex_unlock(&m);
    } catch (long number) {
#ifdef RACY
        x += number; // RACE!
#else
        pthread_mutex_lock(&m);
        x += number; // NORACE
        pthread_mutex_unlock(&m);
#endif
    }
    return nullptr;
}

int main() {
    pthread_t one, two;
    pthread_create(&one, nullptr, work, (void *)0);
    pthread_create(&two, nullptr, work, (void *)1);
    pthread_join(one, nullptr);
    pthread_join(two, nullptr);
    return x; // NORACE
}
