// Function pointers: the callback is called with the lock held by its caller.
#include <pthread.h>

struct table {
    pthread_mutex_t lock;
    int entries[2];
};

static struct table table = {PTHREAD_MUTEX_INITIALIZER, {1, 2}};
static int sum;

static void for_each(struct table *t, void (*visit)(int *)) {
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < 2; i++)
        visit(&t->entries[i]);
#ifdef RACY
    pthread_mutex_unlock(&t->lock);
    visit(&t->entries[0]);
#else
    visit(&t->entries[0]);
    pthread_mutex_unlock(&t->lock);
#endif
}

static void add(int *entry) {
    sum += *entry; // RACE!
}

static void age(int *entry) {
    --*entry; // RACE!
}

static void *worker(void *arg) {
    for_each(&table, add);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    for_each(&table, age);
    for_each(&table, add);
    pthread_join(thread, NULL);
    return sum; // NORACE
}
