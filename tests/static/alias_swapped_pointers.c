// Aliases: after a swap each name means the other object.
#include <pthread.h>

struct account {
    int cents;
};

static struct account alice = {100}, bob = {50};

static void *pay(void *arg) {
    struct account *from = arg;
    from->cents -= 10; // RACE!
    return NULL;
}

int main(void) {
    struct account *a = &alice, *b = &bob;
    pthread_t thread;
    pthread_create(&thread, NULL, pay, a);
#ifdef RACY
    struct account *t = a;
    a = b;
    b = t;
#endif
    b->cents += 10; // RACE!
    pthread_join(thread, NULL);
    return alice.cents + bob.cents; // NORACE
}
