// Heap objects: the argument is given away to the thread, which frees it.
#include <pthread.h>
#include <stdlib.h>

struct request {
    int client;
    int length;
};

static void *serve(void *arg) {
    struct request *r = arg;
    int length = r->length; // RACE!
    free(r); // RACE!
    return length > 0 ? NULL : arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        struct request *r = malloc(sizeof *r);
        r->client = i; // NORACE
        r->length = 10 * i; // NORACE
        pthread_create(&threads[i], NULL, serve, r);
#ifdef RACY
        r->length++; // RACE!
#endif
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
