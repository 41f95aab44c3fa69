// Semaphores of System V hand over what came before.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int data;
static int semaphores;

static void *receiver(void *unused) {
    struct sembuf down = {0, -1, 0};
    semop(semaphores, &down, 1);
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    struct sembuf up = {0, 1, 0};
    semop(semaphores, &up, 1);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    semctl(semaphores, 0, IPC_RMID);
    return 0;
}
