// A pool of connections: who needs one waits for a lease, which gives it back at the end of its scope; broken ones are
// replaced. The racy twin marks a connection as broken after its lease is over.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace net {

class Connection {
public:
    explicit Connection(int number) : number_(number) {}
    std::string ask(const std::string &question) {
        asked_++;
        return std::to_string(number_) + ":" + question;
    }
    int asked() const { return asked_; }
    void mark_broken() { broken_ = true; }      // RACE!
    bool is_broken() const { return broken_; } // RACE!

private:
    int number_;
    int asked_ = 0;
    bool broken_ = false;
};

class Pool;

/// A connection for as long as it lives.
class Lease {
public:
    Lease(Pool &pool, std::unique_ptr<Connection> connection) : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease &&other) noexcept : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}
    Lease &operator=(Lease &&) = delete;
    ~Lease();
    Connection *operator->() const { return connection_.get(); }
    Connection *get() const { return connection_.get(); }

private:
    Pool *pool_;
    std::unique_ptr<Connection> connection_;
};

class Pool {
public:
    explicit Pool(int most) : most_(most) {}

    Lease lease() {
        std::unique_lock<std::mutex> guard(mutex_);
        returned_.wait(guard, [this] { return !free_.empty() || open_ < most_; });
        if (free_.empty()) {
            open_++;
            return Lease(*this, std::make_unique<Connection>(open_));
        }
        auto connection = std::move(free_.back());
        free_.pop_back();
        return Lease(*this, std::move(connection));
    }

    void give_back(std::unique_ptr<Connection> connection) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (connection->is_broken()) {
                open_--;
                connection.reset(); // RACE!
            } else {
                free_.push_back(std::move(connection));
            }
        }
        returned_.notify_one();
    }

    int open() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return open_;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Connection>> free_;
    int open_ = 0;
    int most_;
};

inline Lease::~Lease() {
    if (pool_ && connection_)
        pool_->give_back(std::move(connection_));
}

} // namespace net

static net::Pool pool(1);

static void client(const char *question, bool breaks) {
    net::Connection *used = nullptr;
    {
        net::Lease lease = pool.lease();
        used = lease.get();
        lease->ask(question);
#ifndef RACY
        if (breaks)
            used->mark_broken();
#endif
    }
#ifdef RACY
    if (breaks)
        used->mark_broken();
#endif
    (void)used;
}

int main() {
    std::thread other(client, "who", true);
    client("what", false);
    other.join();
    return pool.open() <= 1 ? 0 : 1;
}
