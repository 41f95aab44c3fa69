// In C++20 a relaxed store ends a release sequence, even if its thread began it.
#include <atomic>
#include <thread>

static std::atomic<int> state;
static int data;

int main() {
    std::thread producer([] {
        data = 1; // RACE!
        state.store(1, std::memory_order_release);
#ifdef RACY
        state.store(2, std::memory_order_relaxed);
#else
        state.store(2, std::memory_order_release);
#endif
    });
    if (state.load(std::memory_order_acquire) == 2)
        data = 2; // RACE!
    producer.join();
}
