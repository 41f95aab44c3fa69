// The main thread waits until all parts are there. C++20.
// Shows: threads: C++20 latches
#include <array>
#include <latch>
#include <thread>

static std::array<int, 2> parts;
static std::latch ready(1);

static void fill(size_t index, int value) {
    parts[index] = value; // RACE!
    ready.count_down();
}

int main() {
    std::thread worker(fill, 0, 7);
    parts[1] = 1;
#ifdef RACY
    int sum = parts[0] + parts[1]; // RACE!
    ready.wait();
#else
    ready.wait();
    int sum = parts[0] + parts[1];
#endif
    worker.join();
    return sum == 8 || sum == 1 ? 0 : 1;
}
