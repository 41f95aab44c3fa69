// A cache of the most recently used: a list in order of use and a map into it. The racy twin takes the size for what needs
// no lock.
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

template <class Key, class Value> class Lru {
public:
    explicit Lru(size_t capacity) : capacity_(capacity) {}

    std::optional<Value> get(const Key &key) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto found = index_.find(key);
        if (found == index_.end())
            return std::nullopt;
        entries_.splice(entries_.begin(), entries_, found->second); // RACE!
        return found->second->second;
    }

    void put(const Key &key, Value value) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto found = index_.find(key);
        if (found != index_.end()) {
            found->second->second = std::move(value);
            entries_.splice(entries_.begin(), entries_, found->second); // RACE!
            return;
        }
        if (entries_.size() == capacity_)
            evict();
        entries_.emplace_front(key, std::move(value)); // RACE!
        index_[key] = entries_.begin();
    }

    size_t size() const {
#ifndef RACY
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        return entries_.size(); // RACE!
    }

    unsigned evicted() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return evicted_;
    }

private:
    void evict() {
        index_.erase(entries_.back().first);
        entries_.pop_back(); // RACE!
        evicted_++;
    }

    using Entries = std::list<std::pair<Key, Value>>;

    mutable std::mutex mutex_;
    Entries entries_;
    std::unordered_map<Key, typename Entries::iterator> index_;
    size_t capacity_;
    unsigned evicted_ = 0;
};

static Lru<int, std::string> cache(2);

static void fill() {
    cache.put(1, "one");
    cache.put(2, "two");
    cache.get(1);
    cache.put(3, "three, which takes the place of two");
}

int main() {
    std::thread filler(fill);
    size_t size = cache.size();
    filler.join();
    return size <= 2 && cache.evicted() == 1 && cache.get(1) && !cache.get(2) ? 0 : 1;
}
