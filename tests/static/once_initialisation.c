// Once: the initialiser runs once, and everybody who calls pthread_once sees what it wrote.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table[2];

static void fill(void) {
    table[0] = 10; // NORACE
    table[1] = 20; // RACE!
}

static int get(int i) {
    pthread_once(&once, fill);
    return table[i]; // NORACE
}

static void *worker(void *arg) {
    int *out = arg;
    *out = get(1); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    int theirs;
    pthread_create(&thread, NULL, worker, &theirs);
#ifdef RACY
    int mine = table[1]; // RACE!
#else
    int mine = get(1);
#endif
    pthread_join(thread, NULL);
    return theirs - mine; // NORACE
}
