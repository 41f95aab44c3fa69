// --environment allocation: `calloc`, `realloc`, `posix_memalign` and `strdup` fail, too; a failed `realloc` keeps the block.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void *work(void *arg) {
    char *block = calloc(1, 4);
    if (!block)
        return arg;
    assert(block[3] == 0);
    strcpy(block, "abc");
    char *larger = realloc(block, 8);
    if (!larger) {
        assert(errno == ENOMEM && strcmp(block, "abc") == 0);
        larger = block;
    }
    char *copy = strdup(larger);
    void *aligned;
    int result = posix_memalign(&aligned, 16, 4);
#ifdef RIGHT
    int none = !copy + result;
    (void)none;
#else
    if (!copy || result)
        failed++; // RACE!
#endif
    if (!result)
        free(aligned);
    free(copy);
    free(larger);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifndef RIGHT
    failed++; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
