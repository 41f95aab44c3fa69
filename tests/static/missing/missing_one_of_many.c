// One function of a module is missing; the others are judged all the same.
#include <pthread.h>
#include <string.h>

struct record {
    char name[8];
    int age;
};

int validate(const struct record *r);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record records[2];
static int used, rejected;

static int reserve(void) {
    pthread_mutex_lock(&lock);
    int slot = used < 2 ? used++ : -1; // NORACE
    pthread_mutex_unlock(&lock);
    return slot;
}

static void reject(void) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    rejected++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *loader(void *arg) {
    struct record r;
    strcpy(r.name, "ada"); // NORACE
    r.age = 36; // NORACE
    int slot = validate(&r) ? reserve() : -1;
    if (slot < 0)
        reject();
    else
        records[slot] = r;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, loader, NULL);
    pthread_create(&b, NULL, loader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return used + rejected; // NORACE
}

#ifdef MODEL
int validate(const struct record *r) {
    return r->age > 40;
}
#endif
