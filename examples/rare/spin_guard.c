// A spin lock guards a ring's head; the tail is written outside. The second thread is so late that the guard orders them.
#include <pthread.h>
#include <unistd.h>

static pthread_spinlock_t guard;
static int head;
static int tail;

static void *push(void *unused) {
#ifdef FIXED
    pthread_spin_lock(&guard);
    tail = 1;
#else
    tail = 1;
    pthread_spin_lock(&guard);
#endif
    head++;
    pthread_spin_unlock(&guard);
    return unused;
}

static void *pop(void *unused) {
    usleep(20000);
    pthread_spin_lock(&guard);
    head++;
#ifdef FIXED
    tail = 0;
    pthread_spin_unlock(&guard);
#else
    pthread_spin_unlock(&guard);
    tail = 0;
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_spin_init(&guard, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&one, 0, push, 0);
    pthread_create(&other, 0, pop, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
