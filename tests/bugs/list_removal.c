// Fine-grained list whose removal locks the predecessor only: two neighbours removed at once, and one stays (Herlihy and Shavit, ch. 9).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int key;
    pthread_mutex_t lock;
    _Atomic(struct node *) next;
};

static struct node nodes[4];

static int remove_key(int key) {
    struct node *before = &nodes[0];
    pthread_mutex_lock(&before->lock);
    struct node *at = atomic_load(&before->next);
    while (at->key < key) {
        pthread_mutex_lock(&at->lock);
        pthread_mutex_unlock(&before->lock);
        before = at;
        at = atomic_load(&before->next);
    }
    int found = at->key == key;
    if (found) {
#ifdef RIGHT
        pthread_mutex_lock(&at->lock);
#endif
        struct node *after = atomic_load(&at->next);
        atomic_store(&before->next, after);
#ifdef RIGHT
        pthread_mutex_unlock(&at->lock);
#endif
    }
    pthread_mutex_unlock(&before->lock);
    return found;
}

static void *remover(void *arg) {
    return remove_key((int)(long)arg) ? arg : NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 4; i++) {
        nodes[i].key = i;
        pthread_mutex_init(&nodes[i].lock, NULL);
        atomic_init(&nodes[i].next, i < 3 ? &nodes[i + 1] : NULL);
    }
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, remover, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&nodes[0].next) == &nodes[3]); // ASSERT
    return 0;
}
