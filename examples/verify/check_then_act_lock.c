// CheckThenAct-Lock of the paper's table 1: the data is looked at under the lock too.
#include <pthread.h>
#include <stdio.h>

static int data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *change(void *arg) {
    pthread_mutex_lock(&lock);
    data = data + 1; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *look(void *arg) {
    pthread_mutex_lock(&lock);
    if (data > 3) // NORACE
        puts("much");
    else
        puts("little");
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, change, 0);
        pthread_create(&thread, 0, look, 0);
    }
}
