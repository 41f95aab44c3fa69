// Function pointers: a structure of operations, as file systems and drivers have them.
#include <pthread.h>

struct device;

struct operations {
    void (*write)(struct device *, int);
    int (*read)(struct device *);
};

struct device {
    const struct operations *ops;
    pthread_mutex_t lock;
    int data;
};

static void locked_write(struct device *d, int value) {
    pthread_mutex_lock(&d->lock);
    d->data = value; // RACE!
    pthread_mutex_unlock(&d->lock);
}

static int locked_read(struct device *d) {
#ifndef RACY
    pthread_mutex_lock(&d->lock);
#endif
    int value = d->data; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&d->lock);
#endif
    return value;
}

static const struct operations operations = {locked_write, locked_read};
static struct device device = {&operations, PTHREAD_MUTEX_INITIALIZER, 0};

static void *writer(void *arg) {
    struct device *d = arg;
    d->ops->write(d, 7); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, &device);
    int seen = device.ops->read(&device); // NORACE
    pthread_join(thread, NULL);
    return seen;
}
