// Races first, then uses up something of the machine, or does away with it. -DNAME says what.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int shared;
static char block[1 << 16];

static void *work(void *arg) {
    shared++;
    return arg;
}

static void use_up(void) {
#if defined ENDLESS_FILE
    int file = open("endless", O_CREAT | O_WRONLY, 0600);
    while (write(file, block, sizeof block) > 0)
        ;
#elif defined FILES
    for (long i = 0;; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%ld", i);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        if (file < 0)
            break;
        close(file);
    }
#elif defined DESCRIPTORS
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
#elif defined MAPPINGS
    for (;;) {
        char *pages = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            break;
        memset(pages, 1, 1 << 24);
    }
#elif defined ERRORS
    for (;;)
        fprintf(stderr, "an endless complaint about nothing\n");
#elif defined KILL
    kill(getpid(), SIGKILL);
#elif defined CLOCK
    struct timespec far = {1, 0};
    clock_settime(CLOCK_REALTIME, &far);
#elif defined CLOSES
    for (int i = 0; i < 1024; i++)
        close(i);
#elif defined ABORT
    abort();
#else
#error what?
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    shared++;
    pthread_join(thread, NULL);
    use_up();
    return block[0];
}
