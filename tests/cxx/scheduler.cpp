// A scheduler of jobs: jobs have priorities and come in that order, results are futures. The racy twin counts finished jobs
// after it has given the lock back.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace jobs {

enum class Priority { Low, Normal, High };

class Job {
public:
    Job(Priority priority, uint64_t number) : priority_(priority), number_(number) {}
    virtual ~Job() = default;
    virtual void run() = 0;

    /// Whether another job comes first: by priority, then in the order of submission.
    bool is_after(const Job &other) const {
        if (priority_ != other.priority_)
            return priority_ < other.priority_;
        return number_ > other.number_;
    }

private:
    Priority priority_;
    uint64_t number_;
};

template <class Work> class WorkJob final : public Job {
public:
    using Result = std::invoke_result_t<Work>;

    WorkJob(Priority priority, uint64_t number, Work work)
        : Job(priority, number), task_(std::move(work)) {}
    std::future<Result> result() { return task_.get_future(); }
    void run() override { task_(); }

private:
    std::packaged_task<Result()> task_;
};

struct Later {
    bool operator()(const std::unique_ptr<Job> &one, const std::unique_ptr<Job> &other) const {
        return one->is_after(*other);
    }
};

class Scheduler {
public:
    explicit Scheduler(unsigned workers) {
        workers_.reserve(workers);
        for (unsigned i = 0; i < workers; i++)
            workers_.emplace_back(&Scheduler::work, this);
    }

    Scheduler(const Scheduler &) = delete;
    Scheduler &operator=(const Scheduler &) = delete;

    ~Scheduler() { close(); }

    template <class Work> auto submit(Priority priority, Work work) {
        std::unique_lock<std::mutex> guard(mutex_);
        if (closed_)
            throw std::runtime_error("the scheduler is closed");
        auto job = std::make_unique<WorkJob<Work>>(priority, submitted_++, std::move(work));
        auto result = job->result();
        queue_.push_back(std::move(job));
        std::push_heap(queue_.begin(), queue_.end(), Later{});
        guard.unlock();
        ready_.notify_one();
        return result;
    }

    void close() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (closed_)
                return;
            closed_ = true;
        }
        ready_.notify_all();
        for (std::thread &worker : workers_)
            worker.join();
    }

    unsigned finished() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return finished_; // RACE!
    }

private:
    std::unique_ptr<Job> next() {
        std::unique_lock<std::mutex> guard(mutex_);
        ready_.wait(guard, [this] { return closed_ || !queue_.empty(); });
        if (queue_.empty())
            return nullptr;
        std::pop_heap(queue_.begin(), queue_.end(), Later{});
        auto job = std::move(queue_.back());
        queue_.pop_back();
        return job;
    }

    void work() {
        while (auto job = next()) {
            job->run();
#ifndef RACY
            std::lock_guard<std::mutex> guard(mutex_);
#endif
            finished_++; // RACE!
        }
    }

    mutable std::mutex mutex_;
    std::condition_variable ready_;
    std::vector<std::unique_ptr<Job>> queue_;
    std::vector<std::thread> workers_;
    uint64_t submitted_ = 0;
    unsigned finished_ = 0;
    bool closed_ = false;
};

} // namespace jobs

int main() {
    int sum = 0;
    bool named = false;
    {
        jobs::Scheduler scheduler(1);
        auto number = scheduler.submit(jobs::Priority::Low, [] { return 20; });
        auto text = scheduler.submit(jobs::Priority::High, [] { return std::string("a name"); });
        named = text.get() == "a name";
        sum = number.get();
        if (scheduler.finished() > 2)
            return 1;
        scheduler.close();
        sum += static_cast<int>(scheduler.finished());
    }
    return named && sum == 22 ? 0 : 1;
}
