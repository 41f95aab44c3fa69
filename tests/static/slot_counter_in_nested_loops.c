// Thread-specific slots: a counter that runs through two nested loops gives each thread its slot.
#include <pthread.h>

#define ROWS 2
#define COLUMNS 1

struct cell {
    int row, column, value;
};

static struct cell cells[ROWS * COLUMNS];

static void *fill(void *arg) {
    struct cell *cell = arg;
    cell->value = cell->row + cell->column; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[ROWS * COLUMNS];
    int next = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            struct cell *cell = &cells[next];
            pthread_create(&threads[row * COLUMNS + column], NULL, fill, cell);
#ifndef RACY
            next++;
#endif
        }
    for (int i = 0; i < ROWS * COLUMNS; i++)
        pthread_join(threads[i], NULL);
    return cells[0].value; // NORACE
}
