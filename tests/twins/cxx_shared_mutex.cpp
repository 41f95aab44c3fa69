// std::shared_mutex: shared holders may only read.
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static int config;

int main() {
    std::thread reader([] {
        std::shared_lock<std::shared_mutex> lock(m);
#ifdef RACY
        config++; // RACE!
#else
        volatile int seen = config;
        (void)seen;
#endif
    });
    {
        std::shared_lock<std::shared_mutex> lock(m);
        volatile int seen = config; // RACE!
        (void)seen;
    }
    {
        std::unique_lock<std::shared_mutex> lock(m);
        config = 2; // NORACE
    }
    reader.join();
    return 0;
}
