// Iterations append to a common vector.
#include <vector>

int main() {
    std::vector<int> all;
#pragma omp parallel for
    for (int i = 0; i < 3; i++) {
#ifndef RACY
#pragma omp critical
#endif
        all.push_back(i); // RACE!
    }
    return all.size() == 99;
}
