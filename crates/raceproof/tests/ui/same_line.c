// Two threads run the same function: the race is between a line and itself.
#include <pthread.h>

struct account {
    int number;
    long balance;
};
static struct account accounts[4];

static void *pay(void *arg) {
    accounts[2].balance = 100; // RACE!
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, pay, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
