// Money moves between accounts; one account's balance is changed outside of the critical section.
enum { N = 3, ACCOUNTS = 3 };
static int balance[ACCOUNTS] = {10, 10, 10};

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        int from = i % ACCOUNTS, to = (i + 1) % ACCOUNTS;
#pragma omp critical
        {
            balance[from] -= 1; // RACE!
#ifndef RACY
            balance[to] += 1;
#endif
        }
#ifdef RACY
        balance[to] += 1; // RACE!
#endif
    }
    return balance[0] == 99;
}
