// A flag tells the reader when the message is there: the net keeps its values.
#include <pthread.h>

static int message;
static int there;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *write_message(void *arg) {
    message = 42; // NORACE
    pthread_mutex_lock(&lock);
    there = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t writer;
    pthread_create(&writer, 0, write_message, 0);
    pthread_mutex_lock(&lock);
    int may_read = there;
    pthread_mutex_unlock(&lock);
    int read = may_read ? message : 0; // NORACE
    pthread_join(writer, 0);
    return read == 7;
}
