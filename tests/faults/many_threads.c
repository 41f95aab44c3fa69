// Ten thousand threads.
#include <pthread.h>
static int x;
static void *one(void *arg) {
    x = 1; // RACE!
    return arg;
}
int main(void) {
    pthread_t t;
    for (int i = 0; i < 10000; i++)
        pthread_create(&t, 0, one, 0);
}
