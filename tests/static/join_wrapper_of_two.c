// Join by wrapper: a function that joins the wrong one of two.
#include <pthread.h>

static int left, right;

static void *go_left(void *arg) {
    left = 1; // NORACE
    return arg;
}

static void *go_right(void *arg) {
    right = 1; // RACE!
    return arg;
}

static void wait_for(pthread_t thread) {
    pthread_join(thread, NULL);
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, go_left, NULL);
    pthread_create(&b, NULL, go_right, NULL);
    wait_for(a);
    left++; // NORACE
#ifdef RACY
    right++; // RACE!
    wait_for(b);
#else
    wait_for(b);
    right++; // NORACE
#endif
    return left + right; // NORACE
}
