// Escapes: the argument is handed over; writing to it afterwards comes too late.
#include <pthread.h>

struct request {
    int id;
    int size;
};

static void *serve(void *arg) {
    struct request *r = arg;
    r->size = r->id * 10; // RACE!
    return NULL;
}

int main(void) {
    struct request request = {0, 0};
    pthread_t thread;
#ifdef RACY
    pthread_create(&thread, NULL, serve, &request);
    request.id = 4; // RACE!
#else
    request.id = 4; // NORACE
    pthread_create(&thread, NULL, serve, &request);
#endif
    pthread_join(thread, NULL);
    return request.size; // NORACE
}
