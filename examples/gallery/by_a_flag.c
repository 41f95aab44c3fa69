// $ raceproof predict by_a_flag.c --controlled --relaxed
// The second write happens only because the flag was set, so the two never meet. A prediction that does not look at
// values cannot know.
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, data;
static void *produce(void *arg) {
    data = 1;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *consume(void *arg) {
    pthread_mutex_lock(&lock);
    int seen = ready;
    pthread_mutex_unlock(&lock);
    if (seen)
        data = 2;
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, produce, NULL);
    pthread_create(&b, NULL, consume, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return data;
}
