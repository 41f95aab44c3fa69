// Create order: what main does before the first create is ordered before every thread.
#include <pthread.h>

struct settings {
    int verbose;
    int limit;
};

static struct settings settings;

static void parse(struct settings *s) {
    s->verbose = 1; // NORACE
    s->limit = 10; // NORACE
}

static void *worker(void *arg) {
    struct settings *s = arg;
    return s->verbose && s->limit > 5 ? NULL : arg; // RACE!
}

int main(void) {
    pthread_t a, b;
#ifdef RACY
    settings.verbose = 1; // NORACE
    pthread_create(&a, NULL, worker, &settings);
    settings.limit = 3; // RACE!
#else
    parse(&settings);
    pthread_create(&a, NULL, worker, &settings);
#endif
    pthread_create(&b, NULL, worker, &settings);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    parse(&settings);
    return settings.limit; // NORACE
}
