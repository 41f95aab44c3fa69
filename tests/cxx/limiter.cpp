// At most so many at once, by a counting semaphore, and at most so many in a period, by a bucket of tokens. The racy twin
// keeps the most that were inside at once without a lock. C++20.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

class Bucket {
public:
    explicit Bucket(int capacity) : capacity_(capacity), tokens_(capacity) {}

    bool take() {
        std::lock_guard<std::mutex> guard(mutex_);
        if (tokens_ == 0) {
            refused_++;
            return false;
        }
        tokens_--;
        return true;
    }

    void refill() {
        std::lock_guard<std::mutex> guard(mutex_);
        tokens_ = capacity_;
    }

    int refused() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return refused_;
    }

private:
    mutable std::mutex mutex_;
    const int capacity_;
    int tokens_;
    int refused_ = 0;
};

class Gate {
public:
    template <class Work> void through(Work work) {
        slots_.acquire();
        const int now = inside_.fetch_add(1) + 1;
#ifdef RACY
        most_ = std::max(most_, now); // RACE!
#else
        {
            std::lock_guard<std::mutex> guard(mutex_);
            most_ = std::max(most_, now);
        }
#endif
        work();
        inside_.fetch_sub(1);
        slots_.release();
    }
    int most() const { return most_; }

private:
    std::counting_semaphore<4> slots_{2};
    std::atomic<int> inside_{0};
    std::mutex mutex_;
    int most_ = 0;
};

static Bucket bucket(1);
static Gate gate;

static void client() {
    gate.through([] { bucket.take(); });
}

int main() {
    std::thread other(client);
    client();
    other.join();
    bucket.refill();
    return gate.most() <= 2 && bucket.refused() == 1 ? 0 : 1;
}
