// What an iteration does after its ordered part is not ordered.
enum { N = 3 };
static int last;

int main(void) {
    int sum = 0;
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        {
            sum += i;
#ifndef RACY
            last = i;
#endif
        }
#ifdef RACY
        last = i; // RACE!
#endif
    }
    return sum + last == 99;
}
