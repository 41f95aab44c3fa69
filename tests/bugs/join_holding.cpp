// A cache joins its refresher while it holds the lock that the refresher needs to finish.
#include <mutex>
#include <thread>
#include <vector>

class Cache {
public:
    void start() {
        std::lock_guard guard(mutex_);
        refresher_ = std::thread([this] { refresh(); });
    }
    void stop() {
#ifdef RIGHT
        refresher_.join();
        std::lock_guard guard(mutex_);
#else
        std::lock_guard guard(mutex_);
        refresher_.join(); // DEADLOCK
#endif
        entries_.clear();
    }

private:
    void refresh() {
        std::lock_guard guard(mutex_); // DEADLOCK
        entries_.push_back(1);
    }

    std::mutex mutex_;
    std::vector<int> entries_;
    std::thread refresher_;
};

int main() {
    Cache cache;
    cache.start();
    cache.stop();
    return 0;
}
