// Two files are locked in two orders.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>

static void lock_both(const char *first, const char *second) {
    int one = open(first, O_RDWR | O_CREAT, 0600), other = open(second, O_RDWR | O_CREAT, 0600);
    flock(one, LOCK_EX);
    flock(other, LOCK_EX); // DEADLOCK
    flock(other, LOCK_UN);
    flock(one, LOCK_UN);
}

static void *worker(void *arg) {
    lock_both("b", "a");
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    lock_both("a", "b");
    pthread_join(thread, NULL);
    return 0;
}
