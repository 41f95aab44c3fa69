// Many threads, nested three deep.
#include "rp.h"
#include <pthread.h>
#include <stdlib.h>

int leaves;

static void *grow(void *arg) {
    long depth = (long)arg;
    char *own = AT(malloc(50));
    own[0] = 1;
    if (depth == 2) {
        STORE(leaves, LOAD(leaves) + own[0]);
    } else {
        pthread_t children[4];
        for (int i = 0; i < 4; i++)
            if (AT(pthread_create(&children[i], 0, grow, (void *)(depth + 1))))
                abort();
        for (int i = 0; i < 4; i++)
            AT(pthread_join(children[i], 0));
    }
    AT(free(own));
    return 0;
}

int main(void) {
    pthread_t children[6];
    for (int i = 0; i < 6; i++)
        AT(pthread_create(&children[i], 0, grow, (void *)0));
    for (int i = 0; i < 6; i++)
        AT(pthread_join(children[i], 0));
    return leaves != 96;
}
