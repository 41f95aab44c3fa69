// The shape of paper 003's launch control: TASKS threads report under locks; two of them share a word that no lock
// protects.
#include <pthread.h>

#ifndef TASKS
#define TASKS 2
#endif

static int status, log_length, armed;
static pthread_mutex_t status_lock = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;

static void report(void) {
    pthread_mutex_lock(&status_lock);
    status++; // NORACE
    pthread_mutex_unlock(&status_lock);
    pthread_mutex_lock(&log_lock);
    log_length++; // NORACE
    pthread_mutex_unlock(&log_lock);
}

static void *arm(void *task) {
    report();
    armed = *(int *)task; // RACE!
    return 0;
}

static void *watch(void *unused) {
    (void)unused;
    report();
    return 0;
}

int main(void) {
    pthread_t tasks[TASKS];
    int numbers[2] = {1, 2};
    pthread_create(&tasks[0], 0, arm, &numbers[0]);
    pthread_create(&tasks[1], 0, arm, &numbers[1]);
    for (int i = 2; i < TASKS; i++)
        pthread_create(&tasks[i], 0, watch, 0);
    for (int i = 0; i < TASKS; i++)
        pthread_join(tasks[i], 0);
    return 0;
}
