// Work in several threads that may fail: the first exception is kept and thrown again where the others are waited for. The
// racy twin counts failures without a lock.
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

class Group {
public:
    template <class Work> void run(Work work) {
        threads_.emplace_back([this, work = std::move(work)] {
            try {
                work();
                succeeded_.fetch_add(1);
            } catch (...) {
                keep(std::current_exception());
            }
        });
    }

    /// Waits for all; throws what was thrown first.
    void wait() {
        for (std::thread &thread : threads_)
            thread.join();
        threads_.clear();
        if (first_)
            std::rethrow_exception(first_);
    }

    int succeeded() const { return succeeded_; }

private:
    void keep(std::exception_ptr failure) {
#ifdef RACY
        failed_++; // RACE!
        std::lock_guard<std::mutex> guard(mutex_);
#else
        std::lock_guard<std::mutex> guard(mutex_);
        failed_++;
#endif
        if (!first_)
            first_ = failure;
    }

    std::mutex mutex_;
    std::exception_ptr first_;
    int failed_ = 0;
    std::atomic<int> succeeded_{0};
    std::vector<std::thread> threads_;
};

static void parse(int number) {
    if (number < 0)
        throw std::out_of_range("a negative number");
}

int main() {
    Group group;
    group.run([] { parse(-1); });
    group.run([] { parse(-2); });
    try {
        group.wait();
    } catch (const std::out_of_range &error) {
        return group.succeeded() == 0 && std::string(error.what()) == "a negative number" ? 0 : 1;
    }
    return 1;
}
