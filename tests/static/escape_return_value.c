// Escapes: a heap block handed to the joining thread as the result; in the racy twin somebody sees it before that.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *preview;

static void *build(void *arg) {
    int *table = malloc(2 * sizeof *table);
    table[0] = 1; // NORACE
#ifdef RACY
    pthread_mutex_lock(&lock);
    preview = table; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    table[1] = 2; // RACE!
    return arg == NULL ? table : NULL;
}

int main(void) {
    pthread_t builder;
    void *table;
    int seen = 0;
    pthread_create(&builder, NULL, build, NULL);
    pthread_mutex_lock(&lock);
    if (preview != NULL) // NORACE
        seen = preview[1]; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(builder, &table);
    seen += ((int *)table)[1]; // NORACE
    ((int *)table)[0] = seen; // NORACE
    free(table);
    return seen;
}
