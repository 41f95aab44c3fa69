// hsearch keeps the keys that it is given and compares them in later calls.
#include <pthread.h>
#include <search.h>

static char name[] = "key";

static void *worker(void *arg) {
    ENTRY entry = {"key", 0};
    return hsearch(entry, FIND) ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    ENTRY entry = {name, 0};
    hcreate(8);
    hsearch(entry, ENTER);
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    name[3] = 0; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
