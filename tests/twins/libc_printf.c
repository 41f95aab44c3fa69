// printf reads the strings it prints; snprintf writes its buffer.
#include <pthread.h>
#include <stdio.h>

static char name[16] = "unnamed", buffer[64];

static void *worker(void *arg) {
#ifdef RACY
    name[0] = 'U'; // RACE!
    buffer[1] = 'x'; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    printf("%d %-8s|\n", 5, name); // RACE!
    snprintf(buffer, sizeof buffer, "%5.2f %d", 1.5, 7); // RACE!
    pthread_join(thread, NULL);
    return 0;
}
