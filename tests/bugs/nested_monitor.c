// Nested monitor lockout (Lister, 1977): the wait releases the inner lock, the outer one stays held.
#include <pthread.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int slots, used;

static void take_slot(void) {
#ifdef RIGHT
    pthread_mutex_lock(&inner);
    while (slots == 0)
        pthread_cond_wait(&filled, &inner);
    slots--;
    pthread_mutex_unlock(&inner);
    pthread_mutex_lock(&outer);
    used++;
    pthread_mutex_unlock(&outer);
#else
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    while (slots == 0)
        pthread_cond_wait(&filled, &inner); // DEADLOCK
    slots--;
    used++;
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
#endif
}

static void add_slot(void) {
    pthread_mutex_lock(&outer); // DEADLOCK
    pthread_mutex_lock(&inner);
    slots++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
}

static void *user(void *arg) {
    take_slot();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    add_slot();
    pthread_join(thread, NULL); // DEADLOCK
    return used == 1 ? 0 : 1;
}
