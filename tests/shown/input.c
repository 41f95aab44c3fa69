// What the program is given decides how many threads it makes.
// Shows: input: the command line after `--`, and `--stdin`
// options: --stdin input.c -- 2
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int letters;

static void *count(void *arg) {
    char text[16];
    pthread_mutex_lock(&lock);
    if (fgets(text, sizeof text, stdin) != NULL && text[0] == '/')
        letters++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    int many = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < many && i < 4; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < many && i < 4; i++)
        pthread_join(threads[i], NULL);
    if (many != 2 || letters == 0)
        abort();
    return 0;
}
