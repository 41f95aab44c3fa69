// Steensgaard partitions: the locks of two subsystems never mix, though both go through pointers.
#include <pthread.h>

struct net {
    pthread_mutex_t *lock;
    int sent;
};

struct disk {
    pthread_mutex_t *lock;
    int blocks;
};

static pthread_mutex_t net_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t disk_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct net net;
static struct disk disk;

static void send_one(struct net *n) {
    pthread_mutex_lock(n->lock);
    n->sent++; // NORACE
    pthread_mutex_unlock(n->lock);
}

static void write_one(struct disk *d) {
    pthread_mutex_lock(d->lock);
    d->blocks++; // RACE!
    pthread_mutex_unlock(d->lock);
}

static void *worker(void *arg) {
    send_one(&net);
    write_one(&disk);
    return arg;
}

int main(void) {
    pthread_t thread;
    net.lock = &net_mutex; // NORACE
    disk.lock = &disk_mutex; // NORACE
    pthread_create(&thread, NULL, worker, NULL);
    send_one(&net);
#ifdef RACY
    pthread_mutex_lock(net.lock);
    disk.blocks++; // RACE!
    pthread_mutex_unlock(net.lock);
#else
    write_one(&disk);
#endif
    pthread_join(thread, NULL);
    return net.sent + disk.blocks; // NORACE
}
