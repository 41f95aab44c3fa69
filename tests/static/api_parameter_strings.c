// API parameters: strlen reads, strcpy reads one block and writes the other.
#include <pthread.h>
#include <string.h>

static char name[16] = "idle";
static const char greeting[] = "hello";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *rename_it(void *arg) {
    pthread_mutex_lock(&lock);
    strcpy(name, greeting); // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    size_t length;
    pthread_create(&thread, NULL, rename_it, NULL);
    length = strlen(greeting); // NORACE
#ifdef RACY
    length += strlen(name); // RACE!
#endif
    pthread_mutex_lock(&lock);
    length += strlen(name); // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return (int)length;
}
