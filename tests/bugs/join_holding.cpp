// A cache joins its refresher while it holds the lock that the refresher needs to finish.
#include <map>
#include <mutex>
#include <string>
#include <thread>

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
        entries_["motd"] = "hello";
    }

    std::mutex mutex_;
    std::map<std::string, std::string> entries_;
    std::thread refresher_;
};

int main() {
    Cache cache;
    cache.start();
    cache.stop();
    return 0;
}
