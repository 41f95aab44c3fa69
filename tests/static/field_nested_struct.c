// Field by field: fields of structures inside a structure are told apart.
#include <pthread.h>

struct range {
    int from, to;
};

struct window {
    struct range rows;
    struct range columns;
};

static struct window window;

static void *scroll(void *arg) {
    struct range *r = &((struct window *)arg)->rows;
    r->from = 3; // NORACE
    r->to = 27; // RACE!
    return NULL;
}

static void *resize(void *arg) {
    struct window *w = arg;
    w->columns.from = 0; // NORACE
    w->columns.to = 80; // NORACE
#ifdef RACY
    w->rows.to++; // RACE!
#endif
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, scroll, &window);
    pthread_create(&b, NULL, resize, &window);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return window.rows.to - window.columns.to; // NORACE
}
