// Which pages a run writes depends on the schedule; in every run all of them must be as at the checkpoint.
#include "rp.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { PAGES = 96, SIZE = 4096 };

char filled[PAGES][SIZE], empty[PAGES][SIZE];
char *block;
int order;

// Whether memory is as at the checkpoint.
static int is_clean(void) {
    for (int i = 0; i < PAGES; i++)
        for (int j = 0; j < SIZE; j += 64)
            if (filled[i][j] != i + 1 || empty[i][j] || block[i * SIZE + j] != 3)
                return 0;
    return 1;
}

// What a thread writes depends on how many came before it.
static void *use(void *arg) {
    int n = (int)(long)arg, rank = LOAD(order);
    STORE(order, rank + 1);
    int page = n * 30 + rank * 10;
    filled[page][0] = 77;
    empty[page + 1][SIZE - 64] = 77;
    block[(page + 2) * SIZE] = 77;
    // Written by the library, and by the kernel.
    memset(filled[page + 3], 0, SIZE);
    uname((struct utsname *)filled[page + 5]);
    uname((struct utsname *)empty[page + 6]);
    if (rank == 2) {
        // Memory that other schedules have not touched.
        char *more = AT(malloc((size_t)(n + 1) << 20));
        memset(more, n, (size_t)(n + 1) << 20);
        memset(block, n, (size_t)PAGES * SIZE);
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    block = AT(malloc(PAGES * SIZE));
    memset(block, 3, PAGES * SIZE);
    for (int i = 0; i < PAGES; i++)
        memset(filled[i], i + 1, SIZE);
    for (long i = 0; i < 3; i++) {
        AT(pthread_create(&threads[i], 0, use, (void *)i));
        if (i == 0 && !is_clean())
            return 1;
    }
    for (int i = 0; i < 3; i++)
        AT(pthread_join(threads[i], 0));
    return 0;
}
