// A semaphore with a name is one semaphore, whoever opens it; without its name it stays in use.
// Shows: threads: semaphores, also with names, within the program
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static int data;

static void *producer(void *arg) {
    sem_t *ready = sem_open("/raceproof-twin", 0);
    data = 1; // RACE!
    sem_post(ready);
    sem_close(ready);
    return arg;
}

int main(void) {
    sem_unlink("/raceproof-twin");
    sem_t *ready = sem_open("/raceproof-twin", O_CREAT | O_EXCL, 0600, 0);
    assert(ready != SEM_FAILED);
    assert(sem_open("/raceproof-twin", O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
#ifndef RACY
    sem_wait(ready);
#endif
    data++; // RACE!
    pthread_join(thread, NULL);
    assert(sem_unlink("/raceproof-twin") == 0);
    assert(sem_open("/raceproof-twin", 0) == SEM_FAILED && errno == ENOENT);
    sem_post(ready);
    sem_close(ready);
    return 0;
}
