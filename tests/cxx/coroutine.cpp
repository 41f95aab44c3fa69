// A coroutine that changes threads: what it does before `co_await` is done by its caller, what comes after by a worker. The
// racy twin counts in the caller what the coroutine counts in the worker. C++20.
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

/// A thread that resumes coroutines.
class Worker {
public:
    Worker() : thread_([this] { run(); }) {}
    ~Worker() {
        post(nullptr);
        thread_.join();
    }
    void post(std::coroutine_handle<> handle) {
        std::lock_guard<std::mutex> guard(mutex_);
        ready_.push_back(handle);
        arrived_.notify_one();
    }

    /// Goes on in the worker.
    auto here() {
        struct Awaiter {
            Worker &worker;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> handle) { worker.post(handle); }
            void await_resume() const noexcept {}
        };
        return Awaiter{*this};
    }

private:
    void run() {
        for (;;) {
            std::coroutine_handle<> next;
            {
                std::unique_lock<std::mutex> guard(mutex_);
                arrived_.wait(guard, [this] { return !ready_.empty(); });
                next = ready_.front();
                ready_.pop_front();
            }
            if (!next)
                return;
            next.resume();
        }
    }
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::coroutine_handle<>> ready_;
    std::thread thread_;
};

/// A coroutine whose end can be waited for.
class Job {
public:
    struct promise_type {
        std::binary_semaphore *done = nullptr;
        Job get_return_object() { return Job(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<promise_type> handle) noexcept { handle.promise().done->release(); }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };

    explicit Job(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    Job(Job &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    ~Job() {
        if (handle_)
            handle_.destroy();
    }
    void start() {
        handle_.promise().done = &done_;
        handle_.resume();
    }
    void wait() { done_.acquire(); }

private:
    std::coroutine_handle<promise_type> handle_;
    std::binary_semaphore done_{0};
};

static int steps;

static Job work(Worker &worker) {
    steps++;
    co_await worker.here();
    steps++; // RACE!
}

int main() {
    Worker worker;
    Job job = work(worker);
    job.start();
#ifdef RACY
    steps++; // RACE!
    job.wait();
#else
    job.wait();
    steps++;
#endif
    return steps == 3 || steps == 2 ? 0 : 1;
}
