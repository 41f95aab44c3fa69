// A message is written before an atomic counter is raised, and read after the counter was raised again by the reader:
// the order of the counter's updates hides that nobody waits.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int arrivals;
static char message[16];

static void *writer(void *unused) {
    message[0] = 'x';
    atomic_store(&arrivals, 1);
    return unused;
}

static void *reader(void *unused) {
    usleep(20000);
#ifdef FIXED
    return atomic_fetch_add(&arrivals, 1) == 1 ? (void *)(long)message[0] : 0;
#else
    atomic_fetch_add(&arrivals, 1);
    return (void *)(long)message[0];
#endif
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&other, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
