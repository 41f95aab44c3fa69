// Each data base of the network has a buffer of its own.
#include <netdb.h>
#include <pthread.h>

static void *worker(void *arg) {
    return getprotobyname("tcp") ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    getprotobynumber(6); // RACE!
#else
    getservbyname("http", "tcp");
#endif
    pthread_join(thread, NULL);
    return 0;
}
