// Each thread counts for itself and adds the result at the end.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static int total;
static thread_local int own;

static void flush() {
#ifndef RACY
    std::lock_guard<std::mutex> guard(mutex);
#endif
    total += own; // RACE!
}

static void work(int rounds) {
    for (int i = 0; i < rounds; i++)
        own++;
    flush();
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 1; i <= 2; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    return total <= 3 ? 0 : 1;
}
