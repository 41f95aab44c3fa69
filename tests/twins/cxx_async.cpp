// The result of std::async is ordered by get.
// Shows: threads: C++ futures
#include <future>

static int side;

static int work() {
    side = 1; // RACE!
    return 7;
}

int main() {
    std::future<int> result = std::async(std::launch::async, work);
#ifdef RACY
    side = 2; // RACE!
    return result.get() != 7;
#else
    int value = result.get();
    side = 2;
    return value != 7;
#endif
}
