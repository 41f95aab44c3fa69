// A request lives on the stack of a client that gives up waiting; the server still writes its answer there.
#include <errno.h>
#include <pthread.h>
#include <time.h>

struct request {
    int question;
    int answer;
    int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static struct request *pending;

static void *server(void *arg) {
    pthread_mutex_lock(&lock);
    struct request *request = pending;
#ifdef RIGHT
    if (request != NULL) {
        request->answer = 2 * request->question;
        request->done = 1;
        pthread_cond_signal(&answered);
    }
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    if (request != NULL) {
        request->answer = 2 * request->question; // RACE!
        pthread_mutex_lock(&lock);
        request->done = 1; // RACE
        pthread_cond_signal(&answered);
        pthread_mutex_unlock(&lock);
    }
#endif
    return arg;
}

static int ask(int question) {
    struct request request = {question, 0, 0}; // RACE!
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    pthread_mutex_lock(&lock);
    pending = &request;
    int error = 0;
    while (!request.done && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&answered, &lock, &limit);
    pending = NULL;
    int answer = request.done ? request.answer : -1;
    pthread_mutex_unlock(&lock);
    return answer;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, server, NULL);
    int first = ask(1);
    int second = ask(2);
    pthread_join(thread, NULL);
    return first + second > 4;
}
