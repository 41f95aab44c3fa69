// A cache in shards: each shard has its own reader/writer lock, entries expire by a clock that the program turns itself, and
// figures about hits and misses are kept for each shard. The racy twin looks an entry up under the lock of readers and
// refreshes it there.
#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cache {

using Clock = unsigned;

struct Entry {
    std::string value;
    Clock expires = 0;
    unsigned uses = 0;
};

struct Figures {
    unsigned hits = 0;
    unsigned misses = 0;
    unsigned expired = 0;

    Figures &operator+=(const Figures &other) {
        hits += other.hits;
        misses += other.misses;
        expired += other.expired;
        return *this;
    }
};

class Shard {
public:
    void put(const std::string &key, std::string value, Clock expires) {
        std::unique_lock<std::shared_mutex> guard(mutex_);
        Entry &entry = entries_[key];
        entry.value = std::move(value);
        entry.expires = expires;
        entry.uses = 0;
    }

    std::optional<std::string> get(const std::string &key, Clock now) {
#ifdef RACY
        std::shared_lock<std::shared_mutex> guard(mutex_);
#else
        std::unique_lock<std::shared_mutex> guard(mutex_);
#endif
        auto found = entries_.find(key);
        if (found == entries_.end()) {
            figures_.misses++; // RACE!
            return std::nullopt;
        }
        if (found->second.expires <= now) {
            figures_.expired++; // RACE!
            return std::nullopt;
        }
        found->second.uses++; // RACE!
        figures_.hits++;      // RACE!
        return found->second.value;
    }

    bool contains(const std::string &key) const {
        std::shared_lock<std::shared_mutex> guard(mutex_);
        return entries_.count(key) != 0;
    }

    size_t sweep(Clock now) {
        std::unique_lock<std::shared_mutex> guard(mutex_);
        size_t removed = 0;
        for (auto at = entries_.begin(); at != entries_.end();) {
            if (at->second.expires <= now) {
                at = entries_.erase(at);
                removed++;
            } else {
                ++at;
            }
        }
        return removed;
    }

    Figures figures() const {
        std::shared_lock<std::shared_mutex> guard(mutex_);
        return figures_;
    }

    size_t size() const {
        std::shared_lock<std::shared_mutex> guard(mutex_);
        return entries_.size();
    }

private:
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string, Entry> entries_;
    Figures figures_;
};

template <size_t N> class Cache {
public:
    void put(const std::string &key, std::string value, Clock expires) {
        shard(key).put(key, std::move(value), expires);
    }
    std::optional<std::string> get(const std::string &key, Clock now) { return shard(key).get(key, now); }
    bool contains(const std::string &key) const { return shard(key).contains(key); }

    size_t sweep(Clock now) {
        size_t removed = 0;
        for (Shard &shard : shards_)
            removed += shard.sweep(now);
        return removed;
    }

    Figures figures() const {
        Figures sum;
        for (const Shard &shard : shards_)
            sum += shard.figures();
        return sum;
    }

    size_t size() const {
        size_t sum = 0;
        for (const Shard &shard : shards_)
            sum += shard.size();
        return sum;
    }

private:
    static size_t index(const std::string &key) { return (key.empty() ? 0 : static_cast<size_t>(key.front())) % N; }
    Shard &shard(const std::string &key) { return shards_[index(key)]; }
    const Shard &shard(const std::string &key) const { return shards_[index(key)]; }

    std::array<Shard, N> shards_;
};

} // namespace cache

static cache::Cache<2> names;

static void reader(const char *key) {
    auto found = names.get(key, 1);
    if (!found)
        names.contains(key);
}

int main() {
    names.put("a", "a name that does not fit into the string itself", 5);
    names.put("b", "another", 5);
    std::thread one(reader, "a");
    reader("a");
    one.join();
    cache::Figures figures = names.figures();
    size_t removed = names.sweep(9);
    return figures.hits <= 2 && removed == 2 && names.size() == 0 ? 0 : 1;
}
