// Workers take jobs from a queue of functions.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int workers) {
        for (int i = 0; i < workers; i++)
            threads_.emplace_back([this] { work(); });
    }
    void submit(std::function<void()> job) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            jobs_.push(std::move(job));
        }
        ready_.notify_one();
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            closed_ = true;
        }
        ready_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }

private:
    void work() {
        for (;;) {
            std::unique_lock<std::mutex> guard(mutex_);
            ready_.wait(guard, [this] { return closed_ || !jobs_.empty(); });
            if (jobs_.empty())
                return;
            auto job = std::move(jobs_.front());
            jobs_.pop();
            guard.unlock();
            job();
        }
    }
    std::mutex mutex_;
    std::condition_variable ready_;
    std::queue<std::function<void()>> jobs_;
    std::vector<std::thread> threads_;
    bool closed_ = false;
};

static std::mutex total_mutex;
static int total;

int main() {
    {
        Pool pool(1);
        pool.submit([] {
            std::lock_guard<std::mutex> guard(total_mutex);
            total += 2; // RACE!
        });
#ifndef RACY
        std::lock_guard<std::mutex> guard(total_mutex);
#endif
        total += 3; // RACE!
    }
    return total == 5 ? 0 : 1;
}
