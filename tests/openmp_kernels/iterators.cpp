// A loop over iterators; in the racy twin an element also changes its neighbour.
#include <vector>

int main() {
    std::vector<int> v(6, 1);
#pragma omp parallel for schedule(static, 1)
    for (auto it = v.begin(); it < v.end(); ++it) {
        *it += 1; // RACE!
#ifdef RACY
        if (it + 1 != v.end())
            *(it + 1) += 1; // RACE!
#endif
    }
    return v[0] == 99;
}
