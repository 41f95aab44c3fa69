// Whether the counter is rung depends on the order of two sections that no race is in, and what another thread does
// depends on that: it may look before or after, in a schedule where it looks before nothing more can race.
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

static int bell, flag, counted;
static struct pollfd set = {.events = POLLIN};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *arg) {
    if (poll(&set, 1, 0) == 1)
        counted++; // RACE!
    return arg;
}

static void *ring(void *arg) {
    pthread_mutex_lock(&m);
    int now = flag;
    pthread_mutex_unlock(&m);
    if (now)
        eventfd_write(bell, 1);
    return arg;
}

static void *allow(void *arg) {
    pthread_mutex_lock(&m);
    flag = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t threads[3];
    bell = set.fd = eventfd(0, 0);
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, ring, NULL);
    pthread_create(&threads[2], NULL, allow, NULL);
    counted++; // RACE!
    return 0;
}
