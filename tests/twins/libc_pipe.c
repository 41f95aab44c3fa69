// Data handed over through a pipe: the reader waits for the writer.
// Shows: waiting: `read`, `write` on pipes between threads of the program
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static char inbox[4];

static void *writer(void *arg) {
    char message[4] = "abc"; // NORACE
    return write(ends[1], message, 4) == 4 ? arg : NULL; // NORACE
}

static void *peeker(void *arg) {
#ifdef RACY
    return inbox[1] ? arg : NULL; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t one, two;
    if (pipe(ends))
        return 1;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, peeker, NULL);
    ssize_t n = read(ends[0], inbox, 4); // RACE!
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return n != 4 || inbox[2] != 'c';
}
