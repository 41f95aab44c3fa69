// inet_ntoa answers in a buffer of the library; inet_ntop in the caller's.
#include <arpa/inet.h>
#include <pthread.h>

static void *worker(void *arg) {
    struct in_addr address = {.s_addr = 0x0100007f};
#ifdef RACY
    char *text = inet_ntoa(address); // RACE!
    return text[0] == '1' ? arg : NULL; // RACE!
#else
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address, text, sizeof text);
    return text[0] == '1' ? arg : NULL;
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
