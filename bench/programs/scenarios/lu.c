// A matrix is split into a lower and an upper triangle by two threads, each with every other row, a barrier after each
// column. The thread that finishes first marks the last pivot for the determinant; main looks at it before it joins.
#include <pthread.h>
#include <unistd.h>

#define N 3

static double matrix[N][N] = {{4, 3, 2}, {8, 8, 5}, {4, 7, 9}};
static double determinant;
static int finished;
static pthread_barrier_t column_end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void eliminate(int column, int row) {
    double factor = matrix[row][column] / matrix[column][column];
    matrix[row][column] = factor;
    for (int j = column + 1; j < N; j++)
        matrix[row][j] -= factor * matrix[column][j];
}

static double product(void) {
    double value = 1;
    for (int i = 0; i < N; i++)
        value *= matrix[i][i];
    return value;
}

static void *work(void *arg) {
    int thread = arg != 0;
    for (int column = 0; column < N - 1; column++) {
        for (int row = column + 1; row < N; row++)
            if (row % 2 == thread)
                eliminate(column, row);
        pthread_barrier_wait(&column_end);
    }
#ifdef FIXED
    pthread_mutex_lock(&lock);
    if (finished++ == 0)
        determinant = product();
    pthread_mutex_unlock(&lock);
#else
    if (thread)
        determinant = product();
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&column_end, 0, 2);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, &finished);
    usleep(30000);
    pthread_mutex_lock(&lock);
    int early = finished;
#ifdef FIXED
    double seen = determinant;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    double seen = determinant;
#endif
    pthread_join(one, 0);
    pthread_join(two, 0);
    return early == 2 && seen == 0;
}
