// A loop that may wait ends with an update that succeeds, and a lock follows: the schedule is kept after it, too.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int inside, most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tokens = 1;

static void *visit(void *argument)
{
    int now = atomic_fetch_add(&inside, 1) + 1;
    int seen = atomic_load(&most);
    while (seen < now && !atomic_compare_exchange_strong(&most, &seen, now))
        ;
    pthread_mutex_lock(&lock);
    if (tokens)
        tokens--;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&inside, 1);
    return argument;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, visit, NULL);
    visit(NULL);
    pthread_join(other, NULL);
    return 0;
}
