// atomic_flag as a try-lock.
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag busy = ATOMIC_FLAG_INIT;
static int counter;

static void *worker(void *arg) {
#ifdef RACY
    atomic_flag_test_and_set(&busy);
    {
#else
    if (!atomic_flag_test_and_set(&busy)) {
#endif
        counter++; // RACE!
        atomic_flag_clear(&busy);
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter == 0;
}
