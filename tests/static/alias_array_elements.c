// Aliases: a pointer walks through an array that another thread writes at one place.
#include <pthread.h>

static int grid[4];

static void clear(int *from, int *to) {
    while (from < to)
        *from++ = 0; // RACE!
}

static void *cleaner(void *arg) {
    clear(grid, grid + 2);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, cleaner, NULL);
#ifdef RACY
    grid[1] = 5; // RACE!
#endif
    pthread_join(thread, NULL);
    grid[1]++; // NORACE
    return grid[0] + grid[3]; // NORACE
}
