// A configuration that readers take as a snapshot, by the atomic functions for shared pointers; whoever changes it copies it
// first. The racy twin changes the current one in place.
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct Settings {
    int timeout = 10;
    int retries = 3;
    std::string server = "a server with a name that is long";
};

class Configuration {
public:
    Configuration() : current_(std::make_shared<Settings>()) {}

    std::shared_ptr<const Settings> get() const { return std::atomic_load(&current_); }

    template <class Change> void change(Change change) {
        std::lock_guard<std::mutex> guard(mutex_);
        std::shared_ptr<Settings> old = std::atomic_load(&current_);
#ifdef RACY
        change(*old);
#else
        auto copy = std::make_shared<Settings>(*old);
        change(*copy);
        std::atomic_store(&current_, std::move(copy));
#endif
    }

private:
    std::mutex mutex_;
    std::shared_ptr<Settings> current_;
};

static Configuration configuration;

int main() {
    std::thread admin([] {
        configuration.change([](Settings &settings) {
            settings.timeout = 20; // RACE!
        });
    });
    auto settings = configuration.get();
    int timeout = settings->timeout; // RACE!
    admin.join();
    return timeout == 10 || timeout == 20 ? 0 : 1;
}
