// A ring for one producer and one consumer that moves batches and remembers the other side's index, so that it rarely reads
// the shared one. The racy twin publishes a batch before it is written.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <thread>
#include <vector>

template <class T, size_t N> class Batches {
    static_assert((N & (N - 1)) == 0, "a power of two");

public:
    /// Writes as many as fit; how many that were.
    size_t write(std::span<const T> values) {
        const size_t at = written_.load(std::memory_order_relaxed);
        size_t room = N - (at - read_seen_);
        if (room < values.size()) {
            read_seen_ = read_.load(std::memory_order_acquire);
            room = N - (at - read_seen_);
        }
        const size_t n = std::min(room, values.size());
#ifdef RACY
        written_.store(at + n, std::memory_order_release);
#endif
        for (size_t i = 0; i < n; i++)
            slots_[(at + i) % N] = values[i]; // RACE!
#ifndef RACY
        written_.store(at + n, std::memory_order_release);
#endif
        return n;
    }

    /// Reads as many as there are; how many that were.
    size_t read(std::span<T> values) {
        const size_t at = read_.load(std::memory_order_relaxed);
        size_t ready = written_seen_ - at;
        if (ready == 0) {
            written_seen_ = written_.load(std::memory_order_acquire);
            ready = written_seen_ - at;
        }
        const size_t n = std::min(ready, values.size());
        for (size_t i = 0; i < n; i++)
            values[i] = slots_[(at + i) % N]; // RACE!
        read_.store(at + n, std::memory_order_release);
        return n;
    }

private:
    alignas(64) std::atomic<size_t> written_{0};
    size_t read_seen_ = 0;
    alignas(64) std::atomic<size_t> read_{0};
    size_t written_seen_ = 0;
    alignas(64) std::array<T, N> slots_{};
};

static Batches<int, 4> batches;

static void produce() {
    const std::vector<int> values{1, 2, 3};
    std::span<const int> rest(values);
    while (!rest.empty()) {
        size_t n = batches.write(rest.first(std::min<size_t>(rest.size(), 2)));
        rest = rest.subspan(n);
    }
}

int main() {
    std::thread producer(produce);
    std::array<int, 4> values{};
    int sum = 0;
    for (int round = 0; round < 2; round++) {
        size_t n = batches.read(values);
        for (size_t i = 0; i < n; i++)
            sum += values[i];
    }
    producer.join();
    return sum <= 6 ? 0 : 1;
}
