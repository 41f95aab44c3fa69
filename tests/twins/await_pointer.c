// A loop that waits for a pointer, which clang keeps in a temporary in each round; and one that gives up after three rounds,
// which a local counts that lives on from round to round.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct message {
    int length;
};

static _Atomic(struct message *) sent;
static struct message message;
static int looks;

static void *receiver(void *arg) {
    while (atomic_load(&sent) == NULL)
        ;
    return atomic_load(&sent)->length == 5 ? arg : NULL; // RACE!
}

static void *impatient(void *arg) {
    volatile int tries = 0;
    while (atomic_load(&sent) == NULL && tries < 3)
        tries++;
    looks = tries;
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, receiver, NULL);
    pthread_create(&threads[1], NULL, impatient, NULL);
#ifdef RACY
    atomic_store(&sent, &message);
    message.length = 5; // RACE!
#else
    message.length = 5;
    atomic_store(&sent, &message);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return looks > 3;
}
