// Bodies on a line: each thread computes the forces on its own from the places of all, then, after a barrier, moves them.
// The energy is summed under a lock; the smallest distance is compared under the lock and stored without it.
#include <pthread.h>
#include <unistd.h>

#define BODIES 4
#define STEPS 1

static double place[BODIES] = {0, 1, 3, 7};
static double speed[BODIES];
static double force[BODIES];
static double energy;
static double closest = 100;
static pthread_barrier_t all;
static pthread_mutex_t sums = PTHREAD_MUTEX_INITIALIZER;

// The force on a body; `*near` becomes the smallest distance met.
static double pull(int body, double *near) {
    double sum = 0;
    for (int other = 0; other < BODIES; other++) {
        if (other == body)
            continue;
        double distance = place[other] - place[body];
        double size = distance < 0 ? -distance : distance;
        if (size < *near)
            *near = size;
        sum += distance / (size * size * size);
    }
    return sum;
}

static void record(double near) {
    pthread_mutex_lock(&sums);
    energy += 1;
    int is_closer = near < closest;
#ifdef FIXED
    if (is_closer)
        closest = near;
#endif
    pthread_mutex_unlock(&sums);
#ifndef FIXED
    // Both threads find the same distance, and the one that comes second finds nothing closer.
    if (is_closer)
        closest = near;
    pthread_mutex_lock(&sums);
    energy += 1;
    pthread_mutex_unlock(&sums);
#endif
}

static void *simulate(void *arg) {
    int thread = arg != 0, start = thread * BODIES / 2, end = start + BODIES / 2;
    for (int step = 0; step < STEPS; step++) {
        double near = 100;
        for (int body = start; body < end; body++)
            force[body] = pull(body, &near);
        if (thread)
            usleep(20000);
        record(near);
        pthread_barrier_wait(&all);
        for (int body = start; body < end; body++) {
            speed[body] += force[body] / 100;
            place[body] += speed[body] / 100;
        }
        pthread_barrier_wait(&all);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&all, 0, 2);
    pthread_create(&one, 0, simulate, 0);
    pthread_create(&two, 0, simulate, &energy);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return closest < 100 ? 0 : 1;
}
