// A ring for one producer and one consumer, without locks.
#include <array>
#include <atomic>
#include <optional>
#include <thread>

template <class T, size_t N> class Ring {
public:
    bool push(const T &value) {
        size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) == N)
            return false;
        slots_[tail % N] = value; // RACE!
#ifdef RACY
        tail_.store(tail + 1, std::memory_order_relaxed);
#else
        tail_.store(tail + 1, std::memory_order_release);
#endif
        return true;
    }
    std::optional<T> pop() {
        size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire))
            return {};
        T value = slots_[head % N]; // RACE!
        head_.store(head + 1, std::memory_order_release);
        return value;
    }

private:
    std::array<T, N> slots_{};
    std::atomic<size_t> head_{0}, tail_{0};
};

static Ring<int, 2> ring;

int main() {
    std::thread producer([] { ring.push(5); });
    auto value = ring.pop();
    producer.join();
    return !value || *value == 5 ? 0 : 1;
}
