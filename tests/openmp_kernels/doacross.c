// An iteration waits for the one before; with another distance, for too early a one.
enum { N = 5 };
static int a[N + 2];
#ifdef RACY
#define DISTANCE 2
#else
#define DISTANCE 1
#endif

int main(void) {
#pragma omp parallel for ordered(1) schedule(static, 1)
    for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - DISTANCE)
        a[i] = a[i - 1] + 1; // RACE!
#pragma omp ordered depend(source)
    }
    return a[1] == 9;
}
