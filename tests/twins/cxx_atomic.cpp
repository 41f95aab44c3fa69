// std::atomic publishes; a plain bool does not.
#include <atomic>
#include <thread>

#ifdef RACY
static bool ready;
#else
static std::atomic<bool> ready;
#endif
static std::atomic<int> hits;

int main() {
    std::thread worker([] {
        hits.fetch_add(1, std::memory_order_relaxed); // NORACE
        ready = true; // RACE!
    });
    bool seen = ready; // RACE!
    worker.join();
    return seen && hits.load() != 1;
}
