// A function throws with the lock held, and the handler releases it.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

[[noreturn]] static void enter_and_fail() {
    pthread_mutex_lock(&m);
#ifdef RACY
    pthread_mutex_unlock(&m);
#endif
    throw 1;
}

static void *work(void *) {
    try {
        enter_and_fail();
    } catch (int) {
        x++; // RACE!
#ifndef RACY
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
