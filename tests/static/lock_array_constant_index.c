// Arrays of locks: constant indices tell the elements apart.
#include <pthread.h>

enum { INBOX, OUTBOX, BOXES };

static pthread_mutex_t locks[BOXES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int letters[BOXES];

static void *clerk(void *arg) {
    pthread_mutex_lock(&locks[INBOX]);
    letters[INBOX]++; // NORACE
    pthread_mutex_unlock(&locks[INBOX]);
    pthread_mutex_lock(&locks[OUTBOX]);
    letters[OUTBOX]++; // RACE!
    pthread_mutex_unlock(&locks[OUTBOX]);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, clerk, NULL);
    pthread_mutex_lock(&locks[INBOX]);
    letters[INBOX]--; // NORACE
#ifdef RACY
    letters[OUTBOX]--; // RACE!
#endif
    pthread_mutex_unlock(&locks[INBOX]);
    pthread_join(thread, NULL);
    return letters[INBOX] + letters[OUTBOX]; // NORACE
}
