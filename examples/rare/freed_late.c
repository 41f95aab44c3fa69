// The owner frees a node after a pause that is always long enough for the user of the node. A lock for something else
// orders the two in practice.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static int length;
static int *node;

static void *user(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&list);
    if (node)
        *node = 5;
    length++;
#else
    *node = 5;
    pthread_mutex_lock(&list);
    length++;
#endif
    pthread_mutex_unlock(&list);
    return unused;
}

static void *owner(void *unused) {
    usleep(30000);
    pthread_mutex_lock(&list);
#ifdef FIXED
    length--;
    free(node);
    node = 0;
    pthread_mutex_unlock(&list);
#else
    length--;
    pthread_mutex_unlock(&list);
    free(node);
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    node = malloc(sizeof *node);
    pthread_create(&one, 0, user, 0);
    pthread_create(&other, 0, owner, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
