// A reduction that the program defines, and objects of the C++ library.
#include <algorithm>
#include <vector>

struct Sums {
    int a = 0, b = 0;
    void add(const Sums &other) {
        a += other.a; // RACE!
        b += other.b; // RACE!
    }
};
#pragma omp declare reduction(add : Sums : omp_out.add(omp_in)) initializer(omp_priv = Sums())

int main() {
    std::vector<Sums> parts(40);
    std::vector<int> largest(40);
    Sums sums;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd reduction(add : sums)
#endif
    for (int i = 0; i < 40; i++) {
        sums.add(parts[i]);
        largest[i] = std::max(parts[i].a, i);
    }
    return sums.a;
}
