// How many bytes a character may have depends on the order of the two calls.
// Shows: the process: a locale that changes while other threads use it
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static size_t longest;

static void *work(void *arg) {
    longest = MB_CUR_MAX;
    return arg;
}

int main(void) {
    pthread_t thread;
    setlocale(LC_ALL, "C");
    pthread_create(&thread, NULL, work, NULL);
    setlocale(LC_ALL, "C.UTF-8"); // REFUSED changes the locale
    pthread_join(thread, NULL);
    return longest == 0;
}
