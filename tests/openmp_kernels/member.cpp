// A member function with a region changes a member of its object.
struct Counter {
    int hits = 0;
    void run(int n) {
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(+ : hits)
#endif
        for (int i = 0; i < n; i++)
            hits++; // RACE!
    }
};

int main() {
    Counter counter;
    counter.run(4);
    return counter.hits == 99;
}
