// A library that traces calls of threads: each thread registers itself under a lock and appends lines to the buffer under
// another. How much is traced is a word that may be changed while threads run, and that no lock protects.
#include <pthread.h>
#include <unistd.h>

#define THREADS 2
#define LINES 8

enum level { NOTHING, ENTRIES, EVERYTHING };

static enum level level = ENTRIES;
static int registered;
static pthread_t threads_known[THREADS];
static struct {
    int thread, kind;
} buffer[LINES];
static int used;
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lines = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
static pthread_mutex_t level_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static int trace_register(pthread_t self) {
    pthread_mutex_lock(&registry);
    int number = registered++;
    threads_known[number] = self;
    pthread_mutex_unlock(&registry);
    return number;
}

static enum level trace_level(void) {
#ifdef FIXED
    pthread_mutex_lock(&level_lock);
    enum level now = level;
    pthread_mutex_unlock(&level_lock);
    return now;
#else
    return level;
#endif
}

static void trace_set_level(enum level wanted) {
#ifdef FIXED
    pthread_mutex_lock(&level_lock);
    level = wanted;
    pthread_mutex_unlock(&level_lock);
#else
    level = wanted;
#endif
}

static void trace(int thread, int kind) {
    if (trace_level() < ENTRIES)
        return;
    pthread_mutex_lock(&lines);
    if (used < LINES) {
        buffer[used].thread = thread;
        buffer[used].kind = kind;
        used++;
    }
    pthread_mutex_unlock(&lines);
}

static void *work(void *unused) {
    int thread = trace_register(pthread_self());
    trace(thread, 1);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, 0);
    usleep(30000);
    pthread_mutex_lock(&lines);
    int before = used;
    pthread_mutex_unlock(&lines);
    trace_set_level(before > 1 ? NOTHING : EVERYTHING);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
