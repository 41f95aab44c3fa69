// Paper 000's Figure 1: the second thread touches y under another lock than the first, but only if it saw x before the
// first thread changed it. LOCKS further variables (1 or 2), each with its lock, are changed by both threads in ROUNDS
// rounds.
#include <pthread.h>

#ifndef LOCKS
#define LOCKS 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

static int x, y, z, v, w;
static pthread_mutex_t f1 = PTHREAD_MUTEX_INITIALIZER, f2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t g1 = PTHREAD_MUTEX_INITIALIZER, g2 = PTHREAD_MUTEX_INITIALIZER;

static void rest(void) {
    pthread_mutex_lock(&g1);
    v++; // NORACE
    pthread_mutex_unlock(&g1);
#if LOCKS > 1
    pthread_mutex_lock(&g2);
    w++; // NORACE
    pthread_mutex_unlock(&g2);
#else
    (void)g2;
    (void)w;
#endif
}

static void *first(void *unused) {
    (void)unused;
    pthread_mutex_lock(&f2);
    x++; // NORACE
    pthread_mutex_unlock(&f2);
    pthread_mutex_lock(&f2);
    y++; // RACE!
    pthread_mutex_unlock(&f2);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&f1);
        z++; // NORACE
        pthread_mutex_unlock(&f1);
        rest();
    }
    return 0;
}

static void *second(void *unused) {
    (void)unused;
    pthread_mutex_lock(&f1);
    pthread_mutex_lock(&f2);
    z++; // NORACE
    int c = x; // NORACE
    pthread_mutex_unlock(&f2);
    pthread_mutex_unlock(&f1);
    pthread_mutex_lock(&f1);
    if (c == 0)
        y++; // RACE!
    pthread_mutex_unlock(&f1);
    for (int round = 0; round < ROUNDS; round++)
        rest();
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
