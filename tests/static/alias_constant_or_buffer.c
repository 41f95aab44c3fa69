// Aliases: one pointer may be to a constant or to a buffer. Nobody writes the constant.
#include <pthread.h>

static const char idle[8] = "idle", done[8] = "done";
static const char *const names[2] = {idle, done};
static char busy[8] = "busy";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *status(int working) { return working ? busy : (char *)idle; }

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    status(1)[0] = 'B'; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        sum += names[i][0]; // NORACE
#ifdef RACY
    sum += busy[0]; // RACE!
#endif
    pthread_mutex_lock(&lock);
    sum += busy[0]; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return sum == 0;
}
