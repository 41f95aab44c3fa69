// Field by field: bit-fields beside each other are one memory location.
#include <pthread.h>

struct flags {
#ifdef RACY
    unsigned dirty : 1;
    unsigned locked : 1;
#else
    unsigned char dirty;
    unsigned char locked;
#endif
};

static struct flags flags;

static void *mark(void *arg) {
    flags.dirty = 1; // RACE!
    return arg;
}

static void *hold(void *arg) {
    flags.locked = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, mark, NULL);
    pthread_create(&b, NULL, hold, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return flags.dirty + flags.locked; // NORACE
}
