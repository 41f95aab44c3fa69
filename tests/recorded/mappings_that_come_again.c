// A mapping at an address where another thread had one is another object.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static int data;

static void *worker(void *unused) {
    for (int i = 0; i < 50; i++) {
        int *mapping = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mapping[0] = i;
        munmap(mapping, 4096);
#ifdef RACY
        data++; // RACE!
#endif
        usleep(10);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
