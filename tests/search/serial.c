// Long stretches of one thread: before the first creation, between a join and the next creation, and at the end.
// With RACY nobody joins the thread that writes `total`, which the initial thread does in its last round.
// With ENDLESS the initial thread waits for itself at the end.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 1000000
#endif

struct item {
    struct item *next;
    long value;
};

static long table[256], total;
static int never;

static void *add(void *to) {
    *(long *)to += 1;
    return 0;
}

static long compute(void) {
    struct item *list = 0;
    long sum = 0;
    char text[16];
    for (int i = 0; i < ROUNDS; i++) {
        struct item *item = malloc(sizeof *item);
        item->value = i;
        item->next = list;
        *(i + 1 < ROUNDS ? &table[i % 256] : &total) += item->value;
        if (i % 1000 == 0)
            list = item;
        else
            free(item);
        memcpy(text, "a text", 7);
        sum += strlen(text);
    }
    for (struct item *item = list; item; item = item->next)
        sum += item->value;
    return sum;
}

int main(void) {
    long local = compute();
    long *block = calloc(1, sizeof *block);
    pthread_t first, thread;
    pthread_create(&first, 0, add, &total);
    pthread_create(&thread, 0, add, &table[1]);
#ifdef RACY
    pthread_detach(first);
#else
    pthread_join(first, 0);
#endif
    pthread_join(thread, 0);
    local += compute();
    pthread_create(&thread, 0, add, &local);
#ifdef SHARED
    local++;
#endif
    pthread_join(thread, 0);
    pthread_create(&thread, 0, add, block);
#ifdef SHARED
    ++*block;
#endif
    pthread_join(thread, 0);
#ifdef ENDLESS
    while (!never)
        ;
#endif
    return compute() == local;
}
