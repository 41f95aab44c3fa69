// Relaxed atomics and explicit flushes on both sides.
static int data, flag, seen;

int main(void) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            data = 42; // RACE!
#ifndef RACY
#pragma omp flush
#endif
#pragma omp atomic write
            flag = 1;
        }
#pragma omp section
        {
            int ready;
#pragma omp atomic read
            ready = flag;
#pragma omp flush
            if (ready)
                seen = data; // RACE!
        }
    }
    return seen == 9;
}
