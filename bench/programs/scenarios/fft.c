// A Fourier transform of four points by two threads, one stage after the other with a barrier in between. The barrier
// after the points have been put in order is missing; a line in the log orders the threads nearly always.
#include <pthread.h>
#include <unistd.h>

#define POINTS 4
#define STAGES 2

struct point {
    double real, imaginary;
};

static struct point input[POINTS] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
static struct point data[POINTS];
static int lines;
static pthread_barrier_t stage_end;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

// The turn by a quarter, k times, for as many points as a stage joins.
static struct point turned(struct point p, int k) {
    struct point q = {p.imaginary, -p.real};
    return k ? q : p;
}

static void put_in_order(int thread) {
    static const int place[POINTS] = {0, 2, 1, 3};
    for (int i = 2 * thread; i < 2 * thread + 2; i++)
        data[i] = input[place[i]];
}

static void note(void) {
    pthread_mutex_lock(&log_lock);
    lines++;
    pthread_mutex_unlock(&log_lock);
}

// Joins the points at `at` and `at + half`.
static void butterfly(int at, int half, int k) {
    struct point a = data[at], b = turned(data[at + half], k);
    data[at].real = a.real + b.real;
    data[at].imaginary = a.imaginary + b.imaginary;
    data[at + half].real = a.real - b.real;
    data[at + half].imaginary = a.imaginary - b.imaginary;
}

static void *transform(void *arg) {
    int thread = arg != 0;
    if (thread)
        usleep(20000);
    put_in_order(thread);
    note();
#ifdef FIXED
    pthread_barrier_wait(&stage_end);
#else
    // The first thread is early, the second comes long after it.
    if (!thread)
        usleep(40000);
    note();
#endif
    // The thread joins points that the other one has put there.
    butterfly(thread ? 0 : 2, 1, 0);
    pthread_barrier_wait(&stage_end);
    butterfly(thread, 2, thread);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&stage_end, 0, 2);
    pthread_create(&one, 0, transform, 0);
    pthread_create(&two, 0, transform, &lines);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return data[0].real == 10 ? 0 : 1;
}
