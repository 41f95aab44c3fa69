// Thread-locals, constructors, arguments and environment.
#define RP_TLS
#define RP_CTORS
#include <stdint.h>
const struct {
    int value, zero;
} __rp_tls_image = {41, 0};
const uint64_t __rp_tls_size = sizeof(__rp_tls_image);
#include "rp.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE (((int *)__rp_tls_base)[0])
#define ZERO (((int *)__rp_tls_base)[1])
int constructed, shared;

void __rp_user_ctors(void) { STORE(constructed, 1); }

static void *count(void *arg) {
    if (VALUE != 41 || ZERO != 0)
        abort();
    for (int i = 0; i < 5; i++) {
        VALUE++;
        errno = VALUE;
        STORE(shared, LOAD(shared) + 1);
        if (errno != VALUE)
            abort();
    }
    return (void *)(long)VALUE;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    void *result;
    for (int i = 0; i < 2; i++)
        AT(pthread_create(&threads[i], 0, count, 0));
    VALUE = 1;
    for (int i = 0; i < 2; i++) {
        AT(pthread_join(threads[i], &result));
        AT(printf("%ld ", (long)result));
    }
    AT(printf("%d %d", VALUE, constructed));
    for (int i = 1; i < argc; i++) {
        AT(printf(" %s", argv[i]));
        // Arguments are the program's to change; the next run must not see it.
        argv[i][0] = '!';
    }
    AT(printf(" %s\n", getenv("RACEPROOF_WIRE_FD") ? "wire" : "clean"));
    return 0;
}
