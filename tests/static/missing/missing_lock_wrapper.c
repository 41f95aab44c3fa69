// A function is missing that might be a lock; nothing may be concluded from its name.
#include <pthread.h>

void enter_critical(void);
void leave_critical(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *worker(void *arg) {
    enter_critical();
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    value++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    leave_critical();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return value; // NORACE
}

#ifdef MODEL
void enter_critical(void) {}
void leave_critical(void) {}
#endif
