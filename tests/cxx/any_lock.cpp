// Readers wait for a version by `condition_variable_any` with a lock of readers. The racy twin's reader looks at the data after
// it has given the lock back. C++20.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

class Versions {
public:
    void publish(std::string text) {
        {
            std::unique_lock<std::shared_mutex> guard(mutex_);
            text_ = std::move(text); // RACE!
            version_++;
        }
        changed_.notify_all();
    }

    /// The size of the text as soon as there is a version after this one.
    size_t wait_for_more_than(int version) {
        std::shared_lock<std::shared_mutex> guard(mutex_);
        changed_.wait(guard, [&] { return version_ > version; });
#ifdef RACY
        guard.unlock();
#endif
        return text_.size(); // RACE!
    }

private:
    std::shared_mutex mutex_;
    std::condition_variable_any changed_;
    std::string text_;
    int version_ = 0;
};

static Versions versions;

int main() {
    size_t seen = 0;
    {
        std::jthread reader([&seen] { seen = versions.wait_for_more_than(0); });
        versions.publish("first");
        versions.publish("second");
    }
    return seen == 5 || seen == 6 ? 0 : 1;
}
