// lgamma stores the sign of its result in signgam, which others may read; lgamma_r stores it where the caller says.
#define _GNU_SOURCE
#include <assert.h>
#include <math.h>
#include <pthread.h>

static void *worker(void *arg) {
#ifdef RACY
    return lgamma(-0.5) > 0 ? arg : NULL; // RACE!
#else
    int sign;
    double result = lgamma_r(-0.5, &sign);
    assert(sign == -1);
    return result > 0 ? arg : NULL;
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int before = signgam; // RACE!
    pthread_join(thread, NULL);
    (void)before;
    return 0;
}
