// Two threads wait for two bytes of a pipe. Each counts if it gets the byte it wants: both do only if the one that was
// created later reads first. Pipes do not synchronise.
#include <pthread.h>
#include <unistd.h>

static int ends[2];
static int counted;

static void *reader(void *wanted) {
    char byte = 0;
    if (read(ends[0], &byte, 1) == 1 && byte == *(char *)wanted)
        counted++; // RACE!
    return NULL;
}

int main(void) {
    static char letters[2] = "ab";
    pthread_t one, two;
    if (pipe(ends))
        return 1;
    pthread_create(&one, NULL, reader, &letters[1]);
    pthread_create(&two, NULL, reader, &letters[0]);
    for (int i = 0; i < 2; i++)
        if (write(ends[1], &letters[i], 1) != 1)
            return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
