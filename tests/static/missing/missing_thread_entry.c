// A thread function is missing: what it does to its argument is not known.
#include <pthread.h>

void *monitor(void *arg);

struct health {
    int ok;
    int checks;
};

static struct health health;
static int errors;

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, monitor, &health);
    errors++; // NORACE
#ifdef RACY
    health.checks++;
#endif
    pthread_join(thread, NULL);
    return errors;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses;

static void *user(void *arg) {
    pthread_mutex_lock(&lock);
    uses++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

__attribute__((constructor)) static void early(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
#ifdef RACY
    uses = 0; // RACE!
#endif
    pthread_join(thread, NULL);
}

#ifdef MODEL
void *monitor(void *arg) {
    return arg;
}
#endif
