// container_of: a work queue passes the embedded work, the handler finds the device around it.
#include <pthread.h>
#include <stddef.h>

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

struct work {
    void (*run)(struct work *);
};

struct device {
    pthread_mutex_t lock;
    int interrupts;
    struct work work;
};

static struct device device;

static void handle(struct work *w) {
    struct device *d = container_of(w, struct device, work);
#ifndef RACY
    pthread_mutex_lock(&d->lock);
#endif
    d->interrupts++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&d->lock);
#endif
}

static void *run_work(void *arg) {
    struct work *w = arg;
    w->run(w); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&device.lock, NULL);
    device.work.run = handle; // NORACE
    pthread_create(&thread, NULL, run_work, &device.work);
    pthread_mutex_lock(&device.lock);
    device.interrupts = 0; // RACE!
    pthread_mutex_unlock(&device.lock);
    pthread_join(thread, NULL);
    return device.interrupts; // NORACE
}
