// Two halves of an array are summed at once.
#include <future>
#include <numeric>
#include <vector>

static std::vector<int> numbers(4, 1);
static long steps;

static int sum(size_t from, size_t to) {
#ifdef RACY
    steps++; // RACE!
#endif
    int result = 0;
    for (size_t i = from; i < to; i++)
        result += numbers[i];
    return result;
}

int main() {
    auto half = std::async(std::launch::async, sum, 0, 2);
    int rest = sum(2, 4);
    int all = half.get() + rest;
    steps++;
    return all == 4 ? 0 : 1;
}
