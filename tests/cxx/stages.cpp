// Three stages joined by channels of fixed size that can be closed: numbers, their texts, and their lengths. The racy twin's
// last stage hands its sum over without a channel.
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace flow {

template <class T> class Channel {
public:
    explicit Channel(size_t capacity) : capacity_(capacity) {}

    /// Waits for room; whether the channel still takes anything.
    bool put(T value) {
        std::unique_lock<std::mutex> guard(mutex_);
        room_.wait(guard, [this] { return closed_ || values_.size() < capacity_; });
        if (closed_)
            return false;
        values_.push_back(std::move(value));
        guard.unlock();
        filled_.notify_one();
        return true;
    }

    /// Waits for a value; nothing once the channel is closed and empty.
    std::optional<T> take() {
        std::unique_lock<std::mutex> guard(mutex_);
        filled_.wait(guard, [this] { return closed_ || !values_.empty(); });
        if (values_.empty())
            return std::nullopt;
        std::optional<T> value(std::move(values_.front()));
        values_.pop_front();
        guard.unlock();
        room_.notify_one();
        return value;
    }

    void close() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            closed_ = true;
        }
        filled_.notify_all();
        room_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::condition_variable room_;
    std::deque<T> values_;
    size_t capacity_;
    bool closed_ = false;
};

/// A thread that turns what one channel has into what another takes.
template <class In, class Out> class Stage {
public:
    Stage(Channel<In> &in, Channel<Out> &out, std::function<Out(const In &)> turn)
        : thread_([&in, &out, turn = std::move(turn)] {
              while (auto value = in.take()) {
                  if (!out.put(turn(*value)))
                      break;
              }
              out.close();
          }) {}
    ~Stage() { thread_.join(); }

private:
    std::thread thread_;
};

} // namespace flow

static int sum;

int main() {
    flow::Channel<int> numbers(1);
    flow::Channel<std::string> texts(1);
    flow::Channel<size_t> sums(1);
    int seen = 0;
    {
        flow::Stage<int, std::string> to_text(numbers, texts, [](const int &n) { return std::to_string(n); });
        std::thread last([&] {
            while (auto text = texts.take())
                sum += static_cast<int>(text->size()); // RACE!
            sums.put(static_cast<size_t>(sum));
        });
        numbers.put(100);
        numbers.close();
#ifdef RACY
        seen = sum; // RACE!
#else
        seen = static_cast<int>(sums.take().value_or(0));
#endif
        last.join();
    }
    return seen == 3 || seen == 0 ? 0 : 1;
}
