// A pool's destructor sets the stop flag without the lock: a worker between its test and its wait misses the notification.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

class Worker {
public:
    Worker() : thread_([this] { run(); }) {}
    ~Worker() {
#ifdef RIGHT
        {
            std::lock_guard guard(mutex_);
            stop_ = true;
        }
#else
        stop_ = true;
#endif
        wake_.notify_all();
        thread_.join(); // DEADLOCK
    }
    void submit(int job) {
        std::lock_guard guard(mutex_);
        jobs_.push(job);
        wake_.notify_one();
    }

private:
    void run() {
        std::unique_lock guard(mutex_);
        for (;;) {
            while (!stop_ && jobs_.empty())
                wake_.wait(guard); // DEADLOCK
            if (jobs_.empty())
                return;
            sum_ += jobs_.front();
            jobs_.pop();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::queue<int> jobs_;
    std::atomic<bool> stop_{false};
    int sum_ = 0;
    std::thread thread_;
};

int main() {
    Worker worker;
    worker.submit(1);
    return 0;
}
