// Every call of the queue is locked, but `empty` and `pop` are two calls: between them another consumer takes the last job.
#include <cassert>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

class Queue {
public:
    void push(int job) {
        std::lock_guard guard(mutex_);
        jobs_.push_back(job);
    }
    bool empty() {
        std::lock_guard guard(mutex_);
        return jobs_.empty();
    }
    int pop() {
        std::lock_guard guard(mutex_);
        assert(!jobs_.empty()); // ASSERT
        int job = jobs_.front();
        jobs_.pop_front();
        return job;
    }
    std::optional<int> try_pop() {
        std::lock_guard guard(mutex_);
        if (jobs_.empty())
            return std::nullopt;
        int job = jobs_.front();
        jobs_.pop_front();
        return job;
    }

private:
    std::mutex mutex_;
    std::deque<int> jobs_;
};

static int drain(Queue &queue) {
    int sum = 0;
#ifdef RIGHT
    while (auto job = queue.try_pop())
        sum += *job;
#else
    while (!queue.empty())
        sum += queue.pop();
#endif
    return sum;
}

int main() {
    Queue queue;
    queue.push(1);
    queue.push(2);
    int theirs = 0;
    std::thread thread([&] { theirs = drain(queue); });
    int ours = drain(queue);
    thread.join();
    return ours + theirs == 3 ? 0 : 1;
}
