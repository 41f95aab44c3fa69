// Thread-local data: locals whose address goes to a callee of the same thread stay the thread's own.
#include <pthread.h>
#include <string.h>

struct parser {
    char text[8];
    int position;
};

#ifdef RACY
static struct parser shared_parser;
#endif

static void advance(struct parser *p) {
    p->position++; // RACE!
    p->text[p->position] = 'x'; // RACE!
}

static void *parse(void *arg) {
#ifdef RACY
    struct parser *p = &shared_parser;
#else
    struct parser own;
    struct parser *p = &own;
#endif
    memset(p, 0, sizeof *p); // RACE!
    advance(p);
    return p->position == 1 ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, parse, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, parse, NULL);
    parse(NULL);
    pthread_join(thread, NULL);
    return 0;
}
