// Two threads of a million plain accesses each.
#include "rp.h"
#include <pthread.h>

int shared[2];

static void *work(void *arg) {
    for (int i = 0; i < 500000; i++)
        STORE(shared[(long)arg], LOAD(shared[(long)arg]) + 1);
    return 0;
}

int main(void) {
    pthread_t a, b;
    AT(pthread_create(&a, 0, work, (void *)0));
    AT(pthread_create(&b, 0, work, (void *)1));
    AT(pthread_join(a, 0));
    AT(pthread_join(b, 0));
    return 0;
}
