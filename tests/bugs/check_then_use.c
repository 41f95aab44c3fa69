// A connection's buffer is tested and used in two steps while the closer sets it to null (Apache and MySQL, Lu and others, ASPLOS 2008).
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(char *) buffer;
static char room[16];

static void *closer(void *arg) {
    atomic_store(&buffer, NULL);
    return arg;
}

static int fill(char text) {
#ifdef RIGHT
    char *here = atomic_load(&buffer);
    if (here == NULL)
        return 0;
    here[0] = text;
#else
    if (atomic_load(&buffer) == NULL)
        return 0;
    *atomic_load(&buffer) = text; // CRASH
#endif
    return 1;
}

int main(void) {
    pthread_t thread;
    atomic_init(&buffer, room);
    pthread_create(&thread, NULL, closer, NULL);
    int filled = fill('x');
    pthread_join(thread, NULL);
    return filled > 1;
}
