// Escapes: a local is shared from the moment its address is in a global.
#include <pthread.h>

struct session {
    int id;
    int bytes;
};

static struct session *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *account(void *arg) {
    pthread_mutex_lock(&lock);
    if (current != NULL) // NORACE
        current->bytes += 100; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    struct session mine = {1, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, account, NULL);
    mine.id = 2; // NORACE
    pthread_mutex_lock(&lock);
    current = &mine; // NORACE
    pthread_mutex_unlock(&lock);
#ifdef RACY
    mine.bytes++; // RACE!
#else
    pthread_mutex_lock(&lock);
    mine.bytes++; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return mine.bytes; // NORACE
}
