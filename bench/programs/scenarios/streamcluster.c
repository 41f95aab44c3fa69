// A stream of points is clustered in chunks: two threads give their points to the nearer centre and add up what that costs;
// then the first one opens another centre if it pays. The cost is reset for the next chunk after the barrier instead of
// before it.
#include <pthread.h>
#include <unistd.h>

#define POINTS 4
#define CHUNKS 2

static int points[CHUNKS][POINTS] = {{1, 2, 8, 9}, {3, 12, 7, 20}};
static int centres[3] = {0, 10, 10};
static int opened = 2;
static long cost, total;
static pthread_barrier_t chunk_end;
static pthread_mutex_t cost_lock = PTHREAD_MUTEX_INITIALIZER;

static int nearest(int point, int known) {
    int best = 1000;
    for (int c = 0; c < known; c++) {
        int distance = point < centres[c] ? centres[c] - point : point - centres[c];
        if (distance < best)
            best = distance;
    }
    return best;
}

static void close_chunk(int chunk) {
    if (cost > 8)
        centres[opened - 1] = points[chunk][POINTS - 1];
    total += cost;
#ifdef FIXED
    cost = 0;
#endif
}

static void *cluster(void *arg) {
    int thread = arg != 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int mine = 0;
        for (int i = thread; i < POINTS; i += 2)
            mine += nearest(points[chunk][i], opened);
        if (thread)
            usleep(10000);
        pthread_mutex_lock(&cost_lock);
        cost += mine;
        pthread_mutex_unlock(&cost_lock);
        pthread_barrier_wait(&chunk_end);
        if (!thread)
            close_chunk(chunk);
        pthread_barrier_wait(&chunk_end);
#ifndef FIXED
        // The other thread is slow, so that its addition always comes after this, and a section of this one's.
        if (!thread && chunk == 0) {
            cost = 0;
            pthread_mutex_lock(&cost_lock);
            total++;
            pthread_mutex_unlock(&cost_lock);
        }
#endif
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&chunk_end, 0, 2);
    pthread_create(&one, 0, cluster, 0);
    pthread_create(&two, 0, cluster, &total);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return total > 0 ? 0 : 1;
}
