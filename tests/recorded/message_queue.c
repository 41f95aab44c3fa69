// A message queue hands over what came before.
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int data;
static mqd_t queue;

static void *receiver(void *unused) {
    char got[16];
    mq_receive(queue, got, sizeof got, NULL);
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    char name[32];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
    snprintf(name, sizeof name, "/raceproof-%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    mq_send(queue, "x", 1, 0);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    mq_unlink(name);
    return 0;
}
