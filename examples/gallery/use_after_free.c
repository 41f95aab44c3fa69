// $ raceproof check use_after_free.c
// The owner frees a message while another thread still reads it.
#include <pthread.h>
#include <stdlib.h>

struct message {
    int kind;
};

static void *reader(void *arg) {
    struct message *message = arg;
    return message->kind == 1 ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    struct message *message = malloc(sizeof *message);
    if (!message)
        return 1;
    message->kind = 1;
    pthread_create(&thread, NULL, reader, message);
    free(message);
    pthread_join(thread, NULL);
    return 0;
}
