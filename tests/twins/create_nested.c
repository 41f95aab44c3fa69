// A thread created by a thread: joining the parent does not wait for a detached grandchild.
#include <pthread.h>

static int data;

static void *grandchild(void *arg) {
    (void)arg;
    data = 1; // RACE!
    return NULL;
}

static void *child(void *arg) {
    (void)arg;
    pthread_t thread;
    pthread_create(&thread, NULL, grandchild, NULL);
#ifdef RACY
    pthread_detach(thread);
#else
    pthread_join(thread, NULL);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    pthread_join(thread, NULL);
    return data == 5; // RACE!
}
