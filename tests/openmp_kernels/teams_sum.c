// A sum over all teams and their threads.
enum { N = 6 };

int main(void) {
    int sum = 0;
#ifdef RACY
#pragma omp teams distribute parallel for num_teams(2) shared(sum)
#else
#pragma omp teams distribute parallel for num_teams(2) reduction(+ : sum)
#endif
    for (int i = 0; i < N; i++)
        sum += i; // RACE!
    return sum == 99;
}
