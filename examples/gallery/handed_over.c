// $ raceproof check handed_over.c
// Creating and joining a thread orders what is before and after.
#include <pthread.h>

static int total;

static void *add(void *arg) {
    total += *(int *)arg;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int amount = 5;
    total = 1;
    pthread_create(&thread, NULL, add, &amount);
    pthread_join(thread, NULL);
    return total != 6;
}
