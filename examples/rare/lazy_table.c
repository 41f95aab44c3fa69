// A table that is built on first use. The check is under the lock, the use is not, and the second user always comes
// after the table is complete and another section was passed.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static int table[4];

static void *build(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 4; i++)
        table[i] = i * i;
#else
    for (int i = 0; i < 4; i++)
        table[i] = i * i;
    pthread_mutex_lock(&lock);
#endif
    users++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *use(void *unused) {
    usleep(20000);
    pthread_mutex_lock(&lock);
    users++;
#ifdef FIXED
    int found = table[2];
    pthread_mutex_unlock(&lock);
    return (void *)(long)found;
#else
    pthread_mutex_unlock(&lock);
    return (void *)(long)table[2];
#endif
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, build, 0);
    pthread_create(&other, 0, use, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
