// An exception is caught within its iteration; the handler counts.
#include <stdexcept>

int main() {
    int failures = 0;
#pragma omp parallel for
    for (int i = 0; i < 4; i++) {
        try {
            if (i % 2)
                throw std::runtime_error("odd");
        } catch (const std::exception &) {
#ifndef RACY
#pragma omp atomic
#endif
            failures++; // RACE!
        }
    }
    return failures == 99;
}
