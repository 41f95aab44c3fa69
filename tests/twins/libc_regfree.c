// regexec reads the expression that regfree frees.
#include <pthread.h>
#include <regex.h>
#include <stddef.h>

static regex_t expression;

static void *worker(void *arg) {
    return regexec(&expression, "ab", 0, NULL, 0) ? NULL : arg; // RACE!
}

int main(void) {
    pthread_t thread;
    if (regcomp(&expression, "a.", REG_NOSUB))
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    regfree(&expression); // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    regfree(&expression);
#endif
    return 0;
}
