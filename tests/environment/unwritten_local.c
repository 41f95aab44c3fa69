// --environment uninitialised: a local that another thread is given, written on one way only.
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static int data;

struct job {
    int kind;
    char name[8];
};

static void *work(void *arg) {
    struct job *job = arg;
    struct job copy = *job;
    if (job->kind == -1) // MISUSE reads memory that was never written
        data = 1; // RACE!
    return copy.name[0] ? arg : NULL;
}

int main(void) {
    struct job job;
    strcpy(job.name, "first");
#ifdef RIGHT
    job.kind = 2;
#endif
    pthread_t thread;
    pthread_create(&thread, NULL, work, &job);
    data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
