// Values are counted into plain integers, atomically while threads run, plainly before and after. The racy twin forgets the
// atomic reference for one of the counters. C++20.
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

class Histogram {
public:
    void add(int value) {
        const size_t bucket = value < 10 ? 0 : value < 100 ? 1 : 2;
        std::atomic_ref<int>(counts_[bucket]).fetch_add(1, std::memory_order_relaxed);
#ifdef RACY
        total_++; // RACE!
#else
        std::atomic_ref<int>(total_).fetch_add(1, std::memory_order_relaxed);
#endif
    }
    int total() const { return total_; }
    int sum() const {
        int sum = 0;
        for (int count : counts_)
            sum += count;
        return sum;
    }

private:
    std::array<int, 3> counts_{};
    int total_ = 0;
};

static Histogram histogram;

static void count(const std::vector<int> &values) {
    for (int value : values)
        histogram.add(value);
}

int main() {
    const std::vector<int> small{1, 20}, large{300};
    std::thread other([&] { count(small); });
    count(large);
    other.join();
    return histogram.sum() == 3 && histogram.total() <= 3 ? 0 : 1;
}
