// Waits with time limits in a loop that counts. By default another thread ends it; with TICKS it ends by itself after eight
// rounds, while the other thread waits for it; with SLEEPS the rounds wait for nothing but time.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static int ends[2];
static int ticks;
static sem_t done;

static void *work(void *unused)
{
#if defined TICKS || defined SLEEPS
    sem_wait(&done);
#else
    write(ends[1], "", 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t worker;
    sem_init(&done, 0, 0);
    pipe(ends);
    pthread_create(&worker, NULL, work, NULL);
    struct pollfd entry = {ends[0], POLLIN, 0};
#if defined SLEEPS
    for (ticks = 0; ticks < 8; ticks++)
        poll(NULL, 0, 100);
#elif defined TICKS
    while (ticks < 8 && poll(&entry, 1, 100) == 0)
        ticks++;
#else
    while (poll(&entry, 1, 100) == 0)
        ticks++;
#endif
    sem_post(&done);
    pthread_join(worker, NULL);
    return 0;
}
