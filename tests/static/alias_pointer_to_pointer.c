// Aliases: which buffer is written is decided through a pointer to a pointer.
#include <pthread.h>

static int front[2], back[2];
static int *drawing = back;

static void swap(int **target, int *to) {
    *target = to; // NORACE
}

static void *draw(void *arg) {
    int *buffer = drawing; // NORACE
    buffer[0] = 1; // RACE!
    buffer[1] = 2; // NORACE
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    swap(&drawing, front);
#else
    swap(&drawing, back);
#endif
    pthread_create(&thread, NULL, draw, NULL);
    front[0] = 9; // RACE!
    pthread_join(thread, NULL);
    return back[0] + front[0]; // NORACE
}
