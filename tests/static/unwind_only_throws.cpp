// A function that is left only by throwing, with an object to destroy on the way: the caller's handler runs.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static thread_local int destroyed;

struct Note {
    ~Note() { destroyed++; } // NORACE
};

[[noreturn]] static void fail() {
    Note note;
    throw 1;
}

static void *work(void *) {
    try {
        fail();
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
