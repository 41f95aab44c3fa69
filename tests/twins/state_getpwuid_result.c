// getpwuid answers in one structure with strings beside it, which the next call overwrites.
#include <pthread.h>
#include <pwd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    struct passwd *entry = getpwuid(0); // RACE!
    char *name = entry->pw_name;
#ifdef RACY
    pthread_mutex_unlock(&lock);
    char first = name[0]; // RACE!
#else
    char first = name[0];
    pthread_mutex_unlock(&lock);
#endif
    return first ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
