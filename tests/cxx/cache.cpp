// Readers share a cache; whoever misses fills it.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

class Cache {
public:
    int get(const std::string &key) {
        {
            std::shared_lock<std::shared_mutex> guard(mutex_);
            auto found = entries_.find(key);
            if (found != entries_.end())
                return found->second;
        }
#ifdef RACY
        std::shared_lock<std::shared_mutex> guard(mutex_);
#else
        std::unique_lock<std::shared_mutex> guard(mutex_);
#endif
        misses_++; // RACE!
        return entries_.size() < 8 ? 1 : 0;
    }

private:
    std::shared_mutex mutex_;
    std::map<std::string, int> entries_;
    int misses_ = 0;
};

static Cache cache;

int main() {
    std::thread other([] { cache.get("left"); });
    int right = cache.get("right");
    other.join();
    return right == 1 ? 0 : 1;
}
