// Rwlock modes: a rwlock in each object, with a reader and writers through pointers.
#include <pthread.h>

struct document {
    pthread_rwlock_t lock;
    int words;
    int edits;
};

static struct document documents[2] = {{.lock = PTHREAD_RWLOCK_INITIALIZER}, {.lock = PTHREAD_RWLOCK_INITIALIZER}};

static void edit(struct document *d) {
    pthread_rwlock_wrlock(&d->lock);
    d->words += 3; // RACE!
    d->edits++; // NORACE
    pthread_rwlock_unlock(&d->lock);
}

static int words(struct document *d) {
#ifndef RACY
    pthread_rwlock_rdlock(&d->lock);
#endif
    int n = d->words; // RACE!
#ifndef RACY
    pthread_rwlock_unlock(&d->lock);
#endif
    return n;
}

static void *editor(void *arg) {
    edit(&((struct document *)arg)[0]);
    edit(&((struct document *)arg)[1]);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, editor, documents);
    int n = words(&documents[1]);
    edit(&documents[1]);
    pthread_join(thread, NULL);
    return n;
}
