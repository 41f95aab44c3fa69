// Messages of System V hand over what came before.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>

static int data;
struct message {
    long kind;
    char text;
};
static int queue;

static void *receiver(void *unused) {
    struct message got;
    msgrcv(queue, &got, 1, 0, 0);
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    queue = msgget(IPC_PRIVATE, 0600);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    struct message message = {1, 'x'};
    msgsnd(queue, &message, 1, 0);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
