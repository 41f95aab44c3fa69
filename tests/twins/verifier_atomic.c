// Accesses in two atomic sections do not race; one outside does.
// Shows: threads: sections that no other thread interrupts (`__VERIFIER_atomic_begin`)
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static int counter, copy;

static void *worker(void *arg) {
    __VERIFIER_atomic_begin();
    counter = counter + 1; // RACE!
    copy = counter; // RACE!
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
#ifdef RACY
    counter = 7; // RACE!
#else
    __VERIFIER_atomic_begin();
    int same = counter == copy;
    __VERIFIER_atomic_end();
    if (!same)
        counter = 7;
#endif
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
