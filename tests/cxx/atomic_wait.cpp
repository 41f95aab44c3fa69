// A flag that is waited for publishes data. C++20.
// Shows: threads: C++20 waiting for atomics
#include <atomic>
#include <thread>

#ifdef RACY
constexpr auto publish = std::memory_order_relaxed;
#else
constexpr auto publish = std::memory_order_release;
#endif

static std::atomic<int> state;
static int payload;

static void produce() {
    payload = 17; // RACE!
    state.store(1, publish);
    state.notify_one();
}

int main() {
    std::thread producer(produce);
    state.wait(0, std::memory_order_acquire);
    int seen = payload; // RACE!
    producer.join();
    return seen == 17 ? 0 : 1;
}
