// Words are counted apart and put together.
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

using Counts = std::unordered_map<int, int>;

static std::mutex mutex;
static int total;

static Counts count(int first) {
    Counts counts;
    counts[first]++;
    counts[first + 1]++;
    return counts;
}

static void merge(const Counts &counts) {
#ifndef RACY
    std::lock_guard<std::mutex> guard(mutex);
#endif
    for (const auto &[word, times] : counts)
        total += times; // RACE!
}

int main() {
    std::thread other([] { merge(count(1)); });
    merge(count(2));
    other.join();
    return total <= 4 ? 0 : 1;
}
