// `pthread_exit` unwinds the stack: destructors run before the thread ends.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

struct Account {
    ~Account() {
#ifdef RACY
        x++; // RACE!
#else
        pthread_mutex_lock(&m);
        x++; // NORACE
        pthread_mutex_unlock(&m);
#endif
    }
};

static void leave() {
    Account account;
    pthread_exit(nullptr);
}

static void *work(void *) {
    leave();
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
