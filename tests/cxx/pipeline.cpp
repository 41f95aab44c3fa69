// A bounded queue between two stages.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

template <class T> class Channel {
public:
    void put(T value) {
        std::unique_lock<std::mutex> guard(mutex_);
        room_.wait(guard, [this] { return items_.size() < 1; });
        items_.push_back(value); // RACE!
        filled_.notify_one();
    }
    T take() {
        std::unique_lock<std::mutex> guard(mutex_);
        filled_.wait(guard, [this] { return !items_.empty(); });
        T value = items_.front();
        items_.pop_front(); // RACE!
        room_.notify_one();
        return value;
    }
    bool is_idle() {
#ifndef RACY
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        return items_.empty(); // RACE!
    }

private:
    std::mutex mutex_;
    std::condition_variable room_, filled_;
    std::deque<T> items_;
};

static Channel<int> channel;

int main() {
    std::thread producer([] {
        for (int i = 1; i <= 2; i++)
            channel.put(i);
    });
    int sum = channel.take();
    bool idle = channel.is_idle();
    sum += channel.take();
    producer.join();
    (void)idle;
    return sum == 3 ? 0 : 1;
}
